package workload

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/solo"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node"
)

// unbounded makes the folder of a chain whose block space is no limit.
func unbounded(t *testing.T) string {
	t.Helper()
	raw, err := chain.UnboundedTemplate().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	template := filepath.Join(t.TempDir(), "genesis.json")
	if err := os.WriteFile(template, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := node.PrepareDevnet(dir, node.DevnetOptions{GenesisFile: template, BlockTime: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func openChain(t *testing.T, dir string) *solo.Chain {
	t.Helper()
	c, err := solo.Open(dir, solo.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestWorkloadsDoWhatTheyAreFor runs a small block of every workload: all of its
// transactions are included and succeed, but for those spoiled on purpose.
func TestWorkloadsDoWhatTheyAreFor(t *testing.T) {
	c := openChain(t, unbounded(t))
	town, err := NewTown(t.Context(), c, TownConfig{Seed: 1, People: 110, Markets: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			w, _ := Find(name)
			m, err := town.Measure(t.Context(), w, 40, 1)
			if err != nil {
				t.Fatal(err)
			}
			if m.Txs != w.Most(40)-m.Refused || m.Refused != 40*w.Spoiled/100 {
				t.Errorf("%d included and %d refused of 40", m.Txs, m.Refused)
			}
		})
	}
}

// TestTownAfterTown: a chain that goes on takes another town of the same seed.
func TestTownAfterTown(t *testing.T) {
	c := openChain(t, unbounded(t))
	w, _ := Find("lane-mix")
	for range 2 {
		town, err := NewTown(t.Context(), c, TownConfig{Seed: 1, People: 20, Markets: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := town.Measure(t.Context(), w, 40, 1); err != nil {
			t.Fatal(err)
		}
	}
}
