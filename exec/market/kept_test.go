package market_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/state"
)

// keptNow is how many bytes the kept pages take, with their queue and all keys.
func (w *world) keptNow() (sum int) {
	w.t.Helper()
	for _, table := range []string{"was/", "wasq/"} {
		list, err := w.maps.Scan(chain.AddrRunnerRegistry, state.Span{
			Prefix: state.NewStorageKey(state.VMNamespaceSystem, []byte(table)), Entries: 1 << 20, Bytes: 1 << 30,
		})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range list {
			sum += len(e.Key) + len(e.Value)
		}
	}
	return sum
}

// TestWhatIsKeptIsPaid: jobs ask for the standings of every block for a day, and others move
// runners on as many pages as they can, by their silence in each attempt and by the failure
// of the job. What is kept is at most twice what the seats have paid for it.
func TestWhatIsKeptIsPaid(t *testing.T) {
	const pages, moving = 12, 3
	w := newWorld(t)
	w.p.Job.RetriesPerBlock = 1_000
	me := chain.Address{9, 9}
	w.block(chain.Hash{}, func(d *jobs.Dispatch) {
		for n := range 32 * pages {
			enlist(t, d, chain.Address{byte(n), byte(n >> 8), 1}, w.p.Runner.StakeFloor, chain.RateCard{}, 1_000)
		}
	})
	seats, most := 0, 0
	for step := range 70 {
		w.block(chain.Hash{byte(step)}, func(d *jobs.Dispatch) {
			submit(t, d, chain.Hash{1, byte(step)}, order{by: me, runners: 1, agree: 1, timeout: 80_000})
			if step < moving {
				submit(t, d, chain.Hash{2, byte(step)}, order{by: me, runners: 16, agree: 9, timeout: 20})
				seats += 16 * int(w.p.Job.MaxRetries)
			}
		})
		kept := w.keptNow()
		if paid := seats * runners.KeptBytes; kept > 2*paid {
			t.Fatalf("%d bytes are kept, and %d cells were paid for them", kept, paid)
		}
		most = max(most, kept)
	}
	if most < 3*pages*runners.KeptBytes {
		t.Errorf("%d bytes are kept at most: nothing was moved", most)
	}
}
