package ledger

import (
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/lanes"
)

// TestHonestTransfersBesideAFullLane: a user lane that is full of messages which never
// run (B6 of the soundness review) and of transfers and messages with limits of whole
// blocks that use nothing (B5), all at higher tips, takes nine tenths of the honest
// transfers, each within three blocks.
func TestHonestTransfersBesideAFullLane(t *testing.T) {
	const hostile, honest, places = 160, 100, 200
	f := newFixture(t)
	f.inMemory = true
	l, _, to, parent, _ := f.crowded(t, hostile+honest)
	head, params := l.Head(), &f.genesis.Params
	cfg := lanes.DefaultConfig()
	cfg.LaneTxs[chain.LaneUser] = places
	room, err := lanes.New(cfg, params, f.genesis.ChainID, lanes.FinalizedHead{
		Height: head.Height(), View: head.State, BaseFees: BaseFeesAfter(params, &head.Block.Header),
	})
	if err != nil {
		t.Fatal(err)
	}
	l.cfg.Pool = room
	nonces := map[int]uint64{}
	offer := func(n int, tx chain.Tx) bool {
		tx.Nonce = nonces[n]
		if room.Admit(t.Context(), []*chain.VerifiedTx{f.sent(person(t, n), tx)})[0] != nil {
			return false
		}
		nonces[n]++
		return true
	}
	fill := func(block int) { // the hostile fill whatever is free, and drain the actor
		for n := range hostile {
			switch {
			case n%8 == 0:
				offer(n, chain.Tx{To: &chain.Address{0xbb}, Payload: []byte{0x80}, CyclesLimit: 10_000_000, CellsLimit: 10, TipPerCycle: 8})
			case n%8 == 1:
				offer(n, chain.Tx{To: &chain.Address{0xbb}, CyclesLimit: 10_000_000, TipPerCycle: 8})
			case nonces[n] == 0:
				offer(n, chain.Tx{To: &to, Payload: actor.AppendMessage(nil, "go", cbor.AppendNull(nil)), CyclesLimit: 2_021_000, CellsLimit: 100, TipPerCycle: 8})
			}
		}
	}
	waiting, included := map[chain.Hash]chain.Height{}, 0
	refused := 0
	for block := range 6 {
		fill(block)
		for n := hostile; n < hostile+honest && block < 3; n++ {
			tx := chain.Tx{To: &chain.Address{0xaa}, Value: 1, CyclesLimit: 21_000, Nonce: nonces[n]}
			signed := f.sent(person(t, n), tx)
			if room.Admit(t.Context(), []*chain.VerifiedTx{signed})[0] != nil {
				refused++
				continue
			}
			nonces[n]++
			waiting[signed.Hash] = chain.Height(block)
		}
		e := f.next(t, l, &parent)
		for _, tx := range e.Txs {
			if came, ok := waiting[tx.Hash]; ok && chain.Height(block)-came < 3 {
				included++
			}
		}
		if err := room.Finalized(t.Context(), e.Head()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d honest transfers within three blocks, %d refused; the pool: %+v", included, 3*honest, refused, room.Stats().Lanes[chain.LaneUser])
	if 10*included < 9*3*honest {
		t.Errorf("%d of %d honest transfers were included within three blocks, want nine tenths", included, 3*honest)
	}
}

// next makes a block and makes it final.
func (f *fixture) next(t *testing.T, l *Ledger, parent *engine.ParentRef) Event {
	t.Helper()
	f.now = f.now.Add(time.Minute)
	round := beacon.Round{View: parent.Round.View + 1}
	made, err := l.Propose(t.Context(), engine.ProposeRequest{Round: round, Parent: *parent})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Finalized(t.Context(), engine.Finalization{Round: round, Digest: made.Digest, Certificate: []byte("c")}); err != nil {
		t.Fatal(err)
	}
	*parent = engine.ParentRef{Round: round, Digest: made.Digest}
	return <-l.Events()
}
