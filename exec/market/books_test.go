package market_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/books"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// TestBooksFindWhatIsMissing: a coin more or less in any of the market's accounts, or a
// record with money that is gone, is found.
func TestBooksFindWhatIsMissing(t *testing.T) {
	w := newWorld(t)
	w.p.Runner.StakeFloor = 1_000
	w.p.Runner.MaxRegistered = 100
	for n := byte(1); n <= 3; n++ {
		w.fund(chain.Address{0: 9, 19: n}, 1_000_000)
	}
	m := &model{w: w}
	rng := rand.New(rand.NewPCG(3, 3))
	held := func() books.Books {
		b, err := books.Read(w.maps)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// Bounded: the model submits and freezes within a few blocks of this seed.
	for range 200 {
		if b := held(); b.Escrows > 0 && b.Frozen > 0 {
			break
		}
		m.block(rng)
	}
	b := held()
	if b.Stakes == 0 || b.Escrows == 0 || b.Frozen == 0 || b.Runners == [runners.Healths]uint64{} || b.Jobs == [jobs.Phases]uint64{} {
		t.Fatalf("nothing to check: %+v", b)
	}
	if err := b.Check(w.maps); err != nil {
		t.Fatal(err)
	}
	for a := byte(1); a <= 5; a++ {
		addr := chain.SystemAddress(uint16(a))
		was, had := w.maps.Accounts[addr]
		more := was
		more.Balance++
		w.maps.Accounts[addr] = more
		if err := b.Check(w.maps); !errors.Is(err, books.ErrUnbalanced) {
			t.Errorf("account %d has a coin too many: %v", a, err)
		}
		if w.maps.Accounts[addr] = was; !had {
			delete(w.maps.Accounts, addr)
		}
	}
	for account, tables := range map[chain.Address][]string{
		chain.AddrRunnerRegistry: {runners.TableRunner}, chain.AddrJobDispatcher: {jobs.TableJob, jobs.TableSeat},
	} {
		for _, table := range tables {
			whole := maps.Clone(w.maps.Storages[account])
			maps.DeleteFunc(w.maps.Storages[account], func(k state.StorageKey, _ []byte) bool {
				return len(k) > len(table) && string(k[1:1+len(table)]) == table
			})
			if b := held(); !errors.Is(b.Check(w.maps), books.ErrUnbalanced) {
				t.Errorf("without %s the books add up: %+v", table, b)
			}
			w.maps.Storages[account] = whole
		}
	}
}

// TestBooksCountWhatIsKept: the bytes of results that are kept, as rows come, change and go; a
// row that is none is an error.
func TestBooksCountWhatIsKept(t *testing.T) {
	m := statetest.NewMaps(nil)
	var b books.Books
	write := func(id chain.Hash, row []byte) error {
		o := state.NewOverlay(m)
		o.SetStorage(chain.AddrJobDispatcher, jobs.KeptKey(id), row)
		err := b.Follow(m, o.Delta())
		m.Write(o.Delta())
		return err
	}
	row := func(bytes int) []byte {
		return (&jobs.Kept{To: chain.Address{1}, Format: chain.FormatText, Data: make([]byte, bytes)}).Encode()
	}
	for n, step := range []struct {
		id   byte
		row  []byte
		want uint64
	}{{1, row(100), 100}, {2, row(7), 107}, {1, row(50), 57}, {1, nil, 7}, {2, nil, 0}} {
		if err := write(chain.Hash{step.id}, step.row); err != nil || b.Kept != step.want {
			t.Errorf("step %d: %d bytes, %v, want %d", n, b.Kept, err, step.want)
		}
		if whole, err := books.Read(m); err != nil || whole != b {
			t.Errorf("step %d: %+v from the whole, %v, want %+v", n, whole, err, b)
		}
	}
	if err := write(chain.Hash{3}, row(1)[:20]); !errors.Is(err, jobs.ErrRecord) {
		t.Errorf("a row that is none: %v", err)
	}
	if _, err := books.Read(m); !errors.Is(err, jobs.ErrRecord) {
		t.Errorf("a state with a row that is none: %v", err)
	}
}
