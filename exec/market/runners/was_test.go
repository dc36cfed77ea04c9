package runners

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// waiting are the heights of jobs that may still be drawn for.
type waiting map[chain.Height]bool

func (w waiting) SubmittedWithin(from, before chain.Height) (bool, error) {
	for h := range w {
		if h >= from && h < before {
			return true, nil
		}
	}
	return false, nil
}

func tableRows(t *testing.T, view state.View, table string) int {
	t.Helper()
	rows, err := view.Scan(chain.AddrRunnerRegistry, state.Span{Prefix: key(table), Entries: 1 << 20, Bytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	return len(rows)
}

// TestStandingsAsTheyWere changes runners in every block and reads them as they were at the
// end of each block that somebody still asks for, out of a copy that was made then.
func TestStandingsAsTheyWere(t *testing.T) { // resolution 12.16
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 16))
		p := params.Default()
		p.Runner.StakeFloor = 1
		maps, asked := statetest.NewMaps(nil), waiting{}
		copies, bitmaps := map[chain.Height][]Weighed{}, map[chain.Height]selection.Bitmap{}
		var all []chain.Address
		for h := chain.Height(1); h <= 60; h++ {
			b := &Book{State: state.NewOverlay(maps), Params: &p, Height: h}
			for range rng.IntN(6) {
				a := chain.Address{0: byte(rng.IntN(80)), 1: 1}
				if r, err := Read(b.State, a); err != nil {
					t.Fatal(err)
				} else if r == nil {
					o := &Offer{Capabilities: chain.Capabilities{MaxConcurrentJobs: 1}}
					if _, err := b.Register(a, 100, 0, o, unpaid); err != nil {
						t.Fatal(err)
					}
					all = append(all, a)
					continue
				}
				if err := b.Disagreed(a); err != nil {
					t.Fatal(err)
				}
			}
			must(t, b.Fold(asked))
			if len(all) > 0 { // a change behind the fold, and another fold
				must(t, b.Succeeded(all[rng.IntN(len(all))], false))
				must(t, b.Fold(asked))
			}
			for at := range asked {
				if rng.IntN(6) == 0 {
					delete(asked, at)
				}
			}
			must(t, b.Forget(asked))
			maps.Write(b.State.Delta())
			if rng.IntN(2) == 0 {
				asked[h] = true
				bitmaps[h] = make(selection.Bitmap, (len(all)+7)/8)
				for i := range all {
					if rng.IntN(3) > 0 {
						bitmaps[h][i/8] |= 1 << (i % 8)
					}
				}
				for i, a := range all {
					if bitmaps[h].Has(uint32(i)) {
						r, err := Read(maps, a)
						must(t, err)
						copies[h] = append(copies[h], Weighed{a, r.Stake, r.Standing})
					}
				}
			}
			for at := range asked {
				if got, err := WeighedAt(maps, at, bitmaps[at]); err != nil || !reflect.DeepEqual(got, copies[at]) {
					t.Fatalf("seed %d, block %d: of block %d\n%v, %v, want\n%v", seed, h, at, got, err, copies[at])
				}
			}
			if kept, queued := tableRows(t, maps, tableWas), tableRows(t, maps, tableGone); kept != queued || len(asked) == 0 && kept > 0 {
				t.Fatalf("seed %d, block %d: %d pages are kept, %d in the queue", seed, h, kept, queued)
			}
		}
	}
}

// TestOneJobKeepsAPageOnce: however long a job waits and whatever changes meanwhile.
func TestOneJobKeepsAPageOnce(t *testing.T) {
	p := params.Default()
	p.Runner.StakeFloor = 1
	maps := statetest.NewMaps(nil)
	for h := chain.Height(1); h <= 200; h++ {
		b := &Book{State: state.NewOverlay(maps), Params: &p, Height: h}
		if h == 1 {
			for i := range byte(40) { // two pages of standings
				o := &Offer{Capabilities: chain.Capabilities{MaxConcurrentJobs: 1}}
				if _, err := b.Register(chain.Address{i}, 100, 0, o, unpaid); err != nil {
					t.Fatal(err)
				}
			}
		} else {
			must(t, b.Disagreed(chain.Address{byte(h % 40)}))
		}
		must(t, b.Fold(waiting{5: true}))
		must(t, b.Forget(waiting{5: true}))
		maps.Write(b.State.Delta())
	}
	if n := tableRows(t, maps, tableWas); n != 2 {
		t.Errorf("%d pages are kept for one job, want 2", n)
	}
}

// TestLongJobKeepsItsPagesAlone: what was kept for jobs that are over goes, though a job of
// before them may still be drawn for; also where more is kept than a block looks at.
func TestLongJobKeepsItsPagesAlone(t *testing.T) {
	const runners = 20 * standingPage
	p := params.Default()
	p.Runner.StakeFloor = 1
	maps, most := statetest.NewMaps(nil), 0
	for h := chain.Height(1); h <= 300; h++ {
		b := &Book{State: state.NewOverlay(maps), Params: &p, Height: h}
		if h == 1 {
			for i := range uint16(runners) {
				o := &Offer{Capabilities: chain.Capabilities{MaxConcurrentJobs: 1}}
				if _, err := b.Register(chain.Address{byte(i >> 8), byte(i)}, 100, 0, o, unpaid); err != nil {
					t.Fatal(err)
				}
			}
		} else {
			for i := range uint16(10) { // ten pages in each block
				n := (uint16(h)*7 + i*standingPage) % runners
				must(t, b.Disagreed(chain.Address{byte(n >> 8), byte(n)}))
			}
		}
		asked := waiting{5: true, h - 1: true}
		must(t, b.Fold(asked))
		must(t, b.Forget(asked))
		maps.Write(b.State.Delta())
		most = max(most, tableRows(t, maps, tableWas))
	}
	if most > 3*20+ForgetStep {
		t.Errorf("%d pages were kept at a time for two jobs and 20 pages", most)
	}
	b := &Book{State: state.NewOverlay(maps), Params: &p, Height: 301}
	must(t, b.Forget(waiting{}))
	must(t, b.Forget(waiting{}))
	maps.Write(b.State.Delta())
	if n := tableRows(t, maps, tableWas) + tableRows(t, maps, tableGone) + tableRows(t, maps, "wasat"); n != 0 {
		t.Errorf("%d rows are left when nobody waits", n)
	}
}
