package lanes

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/roles"
)

// drawn are accounts all of which were drawn for some jobs.
type drawn struct {
	accounts
	jobs  []chain.Hash
	err   error
	reads *int // counted, where it is there
}

func (d drawn) Storage(a chain.Address, k state.StorageKey) ([]byte, error) {
	if d.reads != nil {
		*d.reads++
	}
	for _, job := range d.jobs {
		for who := range 256 {
			if a == chain.AddrJobDispatcher && k == roles.SeatKey(job, chain.Address{byte(who)}) {
				return []byte{0}, d.err
			}
		}
	}
	return nil, d.err
}

// commitment is of a runner of the job.
func (m *maker) commitment(from byte, nonce uint64, job chain.Hash) *chain.VerifiedTx {
	tx := m.in(chain.LaneRunner, m.transfer(from, nonce, 1, 1_000_000))
	b := cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpResultCommit)
	tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = &chain.AddrResultVerifier, cbor.AppendBytes(cbor.AppendBytes(b, job[:]), make([]byte, 32)), 10_000
	return tx
}

// TestStraysTakeNoRoom: commitments for a job that was pruned since they came are in no
// selection, keep nobody out and leave the pool, their senders' other transactions stay.
func TestStraysTakeNoRoom(t *testing.T) {
	var m maker
	pruned, live := chain.Hash{1}, chain.Hash{2}
	before := drawn{accounts: wealthy(), jobs: []chain.Hash{pruned, live}}
	l := running(t, DefaultConfig(), before)
	var batch, honest []*chain.VerifiedTx
	for from := range byte(100) {
		batch = append(batch, m.commitment(from, 0, pruned), m.transfer(from, 1, 1, 30_000))
	}
	for from := range byte(3) {
		honest = append(honest, m.commitment(100+from, 0, live))
	}
	for i, err := range l.Admit(t.Context(), append(batch, honest...)) {
		if err != nil {
			t.Fatalf("transaction %d: %v", i, err)
		}
	}
	p := params.Default()
	after := before
	after.jobs = []chain.Hash{live}
	packed, err := l.Pack(t.Context(), *request(&p, after))
	if err != nil {
		t.Fatal(err)
	}
	if got := names(packed.Txs); len(packed.Txs) != len(honest) {
		t.Errorf("packed %s, want the %d of the live job", got, len(honest))
	}
	var want chain.Usage
	for _, tx := range honest {
		want = sum(want, chain.Usage{Cycles: tx.Tx.CyclesLimit, Cells: tx.Tx.CellsLimit})
	}
	if got := packed.Counted[chain.LaneRunner]; got != want {
		t.Errorf("counted %v, want the live job's %v alone", got, want)
	}
	if s := l.Stats(); s.Lanes[chain.LaneRunner].Txs != len(honest) || s.Lanes[chain.LaneUser].Txs != 100 {
		t.Errorf("%d commitments and %d payments wait, want %d and 100", s.Lanes[chain.LaneRunner].Txs, s.Lanes[chain.LaneUser].Txs, len(honest))
	}

	broken := errors.New("broken")
	after.err = broken
	if _, err := l.Pack(t.Context(), *request(&p, after)); !errors.Is(err, broken) || !errors.As(err, new(*ReadError)) {
		t.Errorf("a state that cannot be read: %v, want a *ReadError", err)
	}
}

// TestAnOlderParentDropsNobody: who was drawn since the parent of a block that is packed late has
// no seat there, and stays in the pool.
func TestAnOlderParentDropsNobody(t *testing.T) {
	var m maker
	job := chain.Hash{1}
	view := drawn{accounts: wealthy(), jobs: []chain.Hash{job}}
	l := running(t, DefaultConfig(), view)
	if err := l.Admit(t.Context(), []*chain.VerifiedTx{m.commitment(1, 0, job)})[0]; err != nil {
		t.Fatal(err)
	}
	p := params.Default()
	before := view
	before.jobs = nil
	late := request(&p, before)
	late.Height = 0
	if txs := mustPack(t, l, late); len(txs) != 0 {
		t.Errorf("packed %s on a parent without the seat", names(txs))
	}
	if txs := mustPack(t, l, request(&p, view)); len(txs) != 1 {
		t.Errorf("packed %d, want the commitment", len(txs))
	}
}

// TestStraysAreBounded: a pick reads no more strays than it may, and the next ones go on.
func TestStraysAreBounded(t *testing.T) {
	var m maker
	pruned := chain.Hash{1}
	view := drawn{accounts: wealthy(), jobs: []chain.Hash{pruned}}
	cfg := DefaultConfig()
	cfg.PackMisses = 4
	l := running(t, cfg, view)
	for from := range byte(150) {
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{m.commitment(from, 0, pruned)})[0]; err != nil {
			t.Fatal(err)
		}
	}
	view.jobs = nil
	p := params.Default()
	for _, want := range []int{150 - 64, 150 - 2*64, 0} {
		if txs := mustPack(t, l, request(&p, view)); len(txs) != 0 {
			t.Fatalf("packed %s", names(txs))
		}
		if got := l.Stats().Lanes[chain.LaneRunner].Txs; got != want {
			t.Fatalf("%d wait, want %d", got, want)
		}
	}
}

// TestAnOlderParentIsReadWithinBounds: on a parent that has none of the seats a pick reads no
// more of them than of strays.
func TestAnOlderParentIsReadWithinBounds(t *testing.T) {
	var m maker
	job := chain.Hash{1}
	view := drawn{accounts: wealthy(), jobs: []chain.Hash{job}}
	cfg := DefaultConfig()
	cfg.PackMisses = 4
	l := running(t, cfg, view)
	for from := range byte(150) {
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{m.commitment(from, 0, job)})[0]; err != nil {
			t.Fatal(err)
		}
	}
	p := params.Default()
	reads := 0
	before := view
	before.jobs, before.reads = nil, &reads
	late := request(&p, before)
	late.Height = 0
	if txs := mustPack(t, l, late); len(txs) != 0 || reads != 64 {
		t.Errorf("packed %s after %d reads, want none after 64", names(txs), reads)
	}
	if got := l.Stats().Lanes[chain.LaneRunner].Txs; got != 150 {
		t.Errorf("%d wait, want all 150", got)
	}
}
