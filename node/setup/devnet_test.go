package setup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/datadir"
)

// TestLanesOfADevnet: either table of the specification by its name (resolution
// 2.1), and no other chain in the same folder.
func TestLanesOfADevnet(t *testing.T) {
	for _, profile := range params.LaneProfiles() {
		dir := t.TempDir()
		g, err := PrepareDevnet(dir, DevnetOptions{Lanes: profile})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := params.LaneProfileShares(profile)
		if g.Params.LaneProfile != profile || g.Params.LaneShareBasisPoints != want {
			t.Errorf("%s: %q with %v", profile, g.Params.LaneProfile, g.Params.LaneShareBasisPoints)
		}
		for _, again := range params.LaneProfiles() {
			if _, err := PrepareDevnet(dir, DevnetOptions{Lanes: again}); again == profile && err != nil || again != profile && !errors.Is(err, ErrDevnetExists) {
				t.Errorf("%s, then %s: %v", profile, again, err)
			}
		}
	}
	if _, err := PrepareDevnet(t.TempDir(), DevnetOptions{Lanes: "custom"}); err == nil {
		t.Error("custom names no shares")
	}
}

// TestSeveralStartTwice: the options that dealt a chain of several validators are
// welcome on its folder again, others are not.
func TestSeveralStartTwice(t *testing.T) {
	dir, opts := t.TempDir(), DevnetOptions{BlockTime: 250 * time.Millisecond}
	dealt, err := Deal(dir, DealOptions{DevnetOptions: opts, Validators: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, again := range []DevnetOptions{opts, {}} {
		g, err := ResumeDevnet(dir, again)
		if err != nil || g.Hash() != dealt.Hash() {
			t.Errorf("%+v again: %v", again, err)
		}
	}
	if _, err := ResumeDevnet(dir, DevnetOptions{BlockTime: time.Second}); !errors.Is(err, ErrDevnetExists) {
		t.Errorf("another block time: %v", err)
	}
}

// TestGenesisIsNotInvented: a folder that lost its genesis and holds a chain gets no
// other one, keeps its keys, and is told where to take it from.
func TestGenesisIsNotInvented(t *testing.T) {
	alone, several := t.TempDir(), t.TempDir()
	if _, err := PrepareDevnet(alone, DevnetOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Deal(several, DealOptions{Validators: 4}); err != nil {
		t.Fatal(err)
	}
	member := datadir.DealtFolder(several, 0)
	for _, dir := range []string{alone, member} {
		if err := os.Mkdir(filepath.Join(dir, datadir.StoreFolder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f := func(name, dir, next string, start func() error) {
		t.Helper()
		file := filepath.Join(dir, datadir.GenesisFile)
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		err = start()
		if !errors.Is(err, datadir.ErrGenesisMissing) || errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), next) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
		if stands(file) {
			t.Errorf("%s: a genesis was made", name)
		}
		if err := os.WriteFile(file, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f("devnet", alone, "backup", func() error { _, err := PrepareDevnet(alone, DevnetOptions{}); return err })
	f("run", alone, "backup", func() error { _, err := datadir.LoadGenesis(alone); return err })
	f("several", several, "cp "+filepath.Join(member, datadir.GenesisFile), func() error { _, err := ResumeDevnet(several, DevnetOptions{}); return err })
	f("deal", several, "cp ", func() error { _, err := Deal(several, DealOptions{Validators: 4}); return err })
	f("validator of several", member, "any other node", func() error { _, err := datadir.LoadGenesis(member); return err })
	for _, name := range []string{filepath.Join(alone, datadir.KeysFile), filepath.Join(member, datadir.KeysFile), filepath.Join(alone, "votes.watermark")} {
		if !stands(name) {
			t.Errorf("%s was removed", name)
		}
	}
	// A making that was cut short holds no chain, and is begun anew.
	fresh := t.TempDir()
	if _, err := PrepareDevnet(fresh, DevnetOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(fresh, datadir.GenesisFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := PrepareDevnet(fresh, DevnetOptions{}); err != nil {
		t.Errorf("cut short: %v", err)
	}
}
