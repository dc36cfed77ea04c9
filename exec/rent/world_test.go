package rent

import (
	"encoding/binary"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

var (
	herd  = chain.Address{0xaa}
	payer = chain.Address{0xbb}
)

func noTimers(chain.Address) (uint64, error) { return 0, nil }

// world is a state with real roots, block by block.
type world struct {
	*statetest.Rooted
	t      *testing.T
	params params.Params
	burned chain.Wei
	events []chain.Event
}

func newWorld(t *testing.T) *world {
	w := &world{Rooted: statetest.NewRooted(), t: t, params: params.Default()}
	w.params.Rent.RestoreBond = 0 // but where a test is of it
	return w
}

// block executes one block: the rent, do, the end. It holds the sum of the
// balances of the accounts that the tests use to what was burned.
func (w *world) block(h chain.Height, do func(*Block)) Work {
	w.t.Helper()
	b := &Block{State: state.NewOverlay(w), Params: &w.params, Height: h, Timers: noTimers}
	before := w.money(b.State)
	work, err := b.Begin()
	w.must(err)
	if after := w.money(b.State); after != before-work.Burned {
		w.t.Fatalf("block %d: balances went from %d to %d, burned %d", h, before, after, work.Burned)
	}
	if do != nil {
		do(b)
	}
	w.must(b.End(w))
	w.must(w.Write(b.State.Delta()))
	w.burned += work.Burned
	w.events = append(w.events, work.Events...)
	return work
}

func (w *world) money(o *state.Overlay) (sum chain.Wei) {
	for _, a := range []chain.Address{herd, payer, chain.AddrRent} {
		n, err := funds.Balance(o, a)
		w.must(err)
		sum += n
	}
	return sum
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// spent is must, for what burns bonds.
func (w *world) spent(burned chain.Wei, err error) {
	w.t.Helper()
	w.must(err)
	w.burned += burned
}

// store writes a storage of so many bytes for an actor, which gets a balance.
func (w *world) store(b *Block, addr chain.Address, bytes uint64, balance chain.Wei) {
	a, _, err := b.State.Account(addr)
	w.must(err)
	a.CodeHash, a.Balance = chain.Hash{1}, balance
	b.State.SetAccount(addr, a)
	for n := uint64(0); bytes > 0; n++ {
		size := min(bytes, 4096)
		if bytes-size > 0 && bytes-size < 16 {
			size -= 16
		}
		key := state.NewStorageKey(state.VMNamespacePVM, binary.BigEndian.AppendUint64(nil, n))
		b.State.SetStorage(addr, key, make([]byte, size-uint64(len(key))))
		bytes -= size
	}
}

func (w *world) status(h chain.Height, a chain.Address) Status {
	w.t.Helper()
	s, err := (&Block{State: state.NewOverlay(w), Params: &w.params, Height: h}).Status(a)
	w.must(err)
	return s
}

func (w *world) balance(a chain.Address) chain.Wei {
	n, err := funds.Balance(state.NewOverlay(w), a)
	w.must(err)
	return n
}

func (w *world) names() (names []string) {
	for _, e := range w.events {
		names = append(names, e.Name)
	}
	return names
}
