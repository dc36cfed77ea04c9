package node

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/node/blockdoc"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/release"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/node/tools"
)

// otherBuild is the cost table of a build where one price differs.
func otherBuild(t *testing.T) chain.Hash {
	t.Helper()
	calls := host.DefaultCosts()
	calls.StorageRead++
	return chain.Hash(pvm.CostTableHash(code.DefaultCosts(), calls))
}

// refusesTables expects a *TablesError about a table.
func refusesTables(t *testing.T, what string, err error, table string) {
	t.Helper()
	var other *datadir.TablesError
	if !errors.As(err, &other) || other.Table != table {
		t.Errorf("%s: %v, want a TablesError about %s", what, err, table)
		return
	}
	if other.Want == other.Have || !strings.Contains(err.Error(), "use the build") {
		t.Errorf("%s: the error does not say what to do: %v", what, err)
	}
}

// replays has a first block judged against a genesis.
func replays(t *testing.T, g *genesis.Genesis) error {
	t.Helper()
	_, err := tools.CheckBlock(t.Context(), &blockdoc.Document{Genesis: g.Hash(), Place: blockdoc.Place{Height: 1}}, "", g, nil)
	return err
}

// TestGenesisOfAnotherBuildIsRefused runs a build against the genesis of one
// where a single price differs.
func TestGenesisOfAnotherBuildIsRefused(t *testing.T) {
	dir := t.TempDir()
	g, err := setup.PrepareDevnet(dir, setup.DevnetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Params.Machine != datadir.MachineTables() {
		t.Fatalf("a new genesis has tables %v, this build %v", g.Params.Machine, datadir.MachineTables())
	}
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Devnet, cfg.Version = dir, true, release.Version

	costs, texts := *g, *g
	costs.Params.Machine.CostTable = otherBuild(t)
	texts.Params.Machine.ExceptionTexts[0] ^= 1
	if costs.Hash() == g.Hash() || texts.Hash() == g.Hash() {
		t.Error("another table gives the same genesis hash")
	}
	for table, other := range map[string]*genesis.Genesis{"cost_table": &costs, "exception_texts": &texts} {
		_, err := Open(cfg, other, slog.New(slog.DiscardHandler))
		refusesTables(t, "Open", err, table)
		refusesTables(t, "SyncState", SyncState(t.Context(), cfg, other, true, slog.New(slog.DiscardHandler)), table)
		refusesTables(t, "replay", replays(t, other), table)
	}
	raw, err := costs.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, datadir.GenesisFile), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = setup.PrepareDevnet(dir, setup.DevnetOptions{})
	refusesTables(t, "resumed devnet", err, "cost_table")
}

// TestTemplateOfAnotherBuildIsRefused completes templates that name tables.
func TestTemplateOfAnotherBuildIsRefused(t *testing.T) {
	deal := func(machine params.MachineTables) error {
		g := genesis.DevnetTemplate()
		g.Params.Machine = machine
		raw, err := g.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "template.json")
		if err := os.WriteFile(file, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err = setup.PrepareDevnet(t.TempDir(), setup.DevnetOptions{GenesisFile: file})
		return err
	}
	own := datadir.MachineTables()
	if err := deal(own); err != nil {
		t.Errorf("a template with this build's tables: %v", err)
	}
	other := own
	other.CostTable = otherBuild(t)
	refusesTables(t, "template", deal(other), "cost_table")
}

// TestGenesisOfMissingModuleIsRefused: a list that names a module which this build
// has not, before anything is opened or made.
func TestGenesisOfMissingModuleIsRefused(t *testing.T) { // resolution 14.10
	refuses := func(what string, err error) {
		t.Helper()
		var missing *exec.MissingModule
		if !errors.As(err, &missing) || missing.Name != "numpy" || !strings.Contains(err.Error(), "base64, cbor2, collections") {
			t.Errorf("%s: %v", what, err)
		}
	}
	dir := t.TempDir()
	g, err := setup.PrepareDevnet(dir, setup.DevnetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other := *g
	other.Params.Actor.Imports = []string{"json", "numpy"}
	if other.Hash() == g.Hash() {
		t.Error("another list gives the same genesis hash")
	}
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Devnet, cfg.Version = dir, true, release.Version
	_, err = Open(cfg, &other, slog.New(slog.DiscardHandler))
	refuses("Open", err)
	refuses("replay", replays(t, &other))
	refuses("SyncState", SyncState(t.Context(), cfg, &other, true, slog.New(slog.DiscardHandler)))
	template := genesis.DevnetTemplate()
	template.Params.Actor.Imports = []string{"numpy"}
	raw, err := template.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "template.json")
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	fresh := t.TempDir()
	_, err = setup.PrepareDevnet(fresh, setup.DevnetOptions{GenesisFile: file})
	refuses("template", err)
	if left, err := os.ReadDir(fresh); err != nil || len(left) != 0 {
		t.Errorf("a refused template left %v, %v", left, err)
	}
}
