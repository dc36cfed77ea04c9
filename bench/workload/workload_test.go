package workload

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/solo"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
)

// unbounded makes the folder of a chain whose block space is no limit.
func unbounded(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := PrepareChain(dir, "", time.Millisecond); err != nil {
		t.Fatal(err)
	}
	return dir
}

// writeTemplate writes the file of a genesis to complete.
func writeTemplate(t *testing.T, g *genesis.Genesis) string {
	t.Helper()
	raw, err := g.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "genesis.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
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

// TestTimeGoesOnWhenAChainIsOpenedAgain: a chain that is opened anew for each of
// many measures stays a block time apart, and does not run away.
func TestTimeGoesOnWhenAChainIsOpenedAgain(t *testing.T) {
	dir, last := t.TempDir(), uint64(0)
	if _, err := PrepareChain(dir, "", 10*time.Second); err != nil { // soon ahead of the wall's clock
		t.Fatal(err)
	}
	for opening := range 4 {
		err := onChain(dir, parallel.Config{Mode: parallel.Sequential, Workers: 1}, func(c *solo.Chain) error {
			if _, err := c.Block(t.Context()); err != nil {
				return err
			}
			head := c.Head()
			now := head.Block.Header.TimestampMillis
			if passed := now - last; opening > 0 && passed != head.Force.Params.BlockTimeMillis {
				t.Errorf("opening %d: %d ms passed, want %d", opening, passed, head.Force.Params.BlockTimeMillis)
			}
			last = now
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPayersWaitForTheirTurn: no sender has more transactions in the pool than it
// keeps of one.
func TestPayersWaitForTheirTurn(t *testing.T) {
	a, b := &Person{}, &Person{}
	from := func(who *Person, n int) []Order { return slices.Repeat([]Order{{From: who}}, n) }
	for _, tt := range []struct {
		name   string
		orders []Order
		want   int
	}{
		{"nobody", nil, 0},
		{"all that one may have", from(a, solo.SenderTxs), solo.SenderTxs},
		{"one more", from(a, solo.SenderTxs+1), solo.SenderTxs},
		{"one more behind another's", slices.Concat(from(a, solo.SenderTxs-1), from(b, 7), from(a, 2)), solo.SenderTxs + 7},
		{"two", slices.Concat(from(a, solo.SenderTxs), from(b, solo.SenderTxs)), 2 * solo.SenderTxs},
	} {
		if got := atOnce(tt.orders); got != tt.want {
			t.Errorf("%s: %d at once, want %d", tt.name, got, tt.want)
		}
	}
}
