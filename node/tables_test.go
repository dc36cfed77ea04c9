package node

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
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
	var other *TablesError
	if !errors.As(err, &other) || other.Table != table {
		t.Errorf("%s: %v, want a TablesError about %s", what, err, table)
		return
	}
	if other.Want == other.Have || !strings.Contains(err.Error(), "use the build") {
		t.Errorf("%s: the error does not say what to do: %v", what, err)
	}
}

// TestGenesisOfAnotherBuildIsRefused runs a build against the genesis of one
// where a single price differs.
func TestGenesisOfAnotherBuildIsRefused(t *testing.T) {
	dir := t.TempDir()
	g, err := PrepareDevnet(dir, DevnetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Params.Machine != MachineTables() {
		t.Fatalf("a new genesis has tables %v, this build %v", g.Params.Machine, MachineTables())
	}
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Devnet, cfg.Version = dir, true, Version

	costs, texts := *g, *g
	costs.Params.Machine.CostTable = otherBuild(t)
	texts.Params.Machine.ExceptionTexts[0] ^= 1
	if costs.Hash() == g.Hash() || texts.Hash() == g.Hash() {
		t.Error("another table gives the same genesis hash")
	}
	for table, other := range map[string]*chain.Genesis{"cost_table": &costs, "exception_texts": &texts} {
		_, err := Open(cfg, other, slog.New(slog.DiscardHandler))
		refusesTables(t, "Open", err, table)
		refusesTables(t, "SyncState", SyncState(t.Context(), cfg, other, true, slog.New(slog.DiscardHandler)), table)
		_, err = newReplay(other)
		refusesTables(t, "replay", err, table)
	}
	raw, err := costs.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, genesisFile), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = PrepareDevnet(dir, DevnetOptions{})
	refusesTables(t, "resumed devnet", err, "cost_table")
}

// TestTemplateOfAnotherBuildIsRefused completes templates that name tables.
func TestTemplateOfAnotherBuildIsRefused(t *testing.T) {
	deal := func(machine chain.MachineTables) error {
		g := chain.DevnetGenesisTemplate()
		g.Params.Machine = machine
		raw, err := g.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "template.json")
		if err := os.WriteFile(file, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err = PrepareDevnet(t.TempDir(), DevnetOptions{GenesisFile: file})
		return err
	}
	own := MachineTables()
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
	g, err := PrepareDevnet(dir, DevnetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other := *g
	other.Params.Actor.Imports = []string{"json", "numpy"}
	if other.Hash() == g.Hash() {
		t.Error("another list gives the same genesis hash")
	}
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Devnet, cfg.Version = dir, true, Version
	_, err = Open(cfg, &other, slog.New(slog.DiscardHandler))
	refuses("Open", err)
	_, err = newReplay(&other)
	refuses("replay", err)
	refuses("SyncState", SyncState(t.Context(), cfg, &other, true, slog.New(slog.DiscardHandler)))
	template := chain.DevnetGenesisTemplate()
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
	_, err = PrepareDevnet(fresh, DevnetOptions{GenesisFile: file})
	refuses("template", err)
	if left, err := os.ReadDir(fresh); err != nil || len(left) != 0 {
		t.Errorf("a refused template left %v, %v", left, err)
	}
}
