package parallel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/state"
)

// hidden calls whom nobody finds in its argument.
const hidden = `
from cowboy_sdk import actor, public, call

@actor
class Hidden:
    @public
    def init(self, msg):
        self.storage["n"] = 0

    @public
    def bump(self, msg):
        self.storage["n"] = self.storage["n"] + 1

    @public
    def hit(self, msg):
        call(bytes([b ^ 255 for b in msg.payload]), "bump", None)
`

// herd is hidden actors of accounts of their own.
type herd struct {
	owners, actors []chain.Address
	nonce          uint64
}

// message has each of some actors called by its owner.
func (h *herd) messages(handler string, arg []byte) (txs []*chain.VerifiedTx) {
	h.nonce++
	for i := range h.actors {
		tx := &chain.Tx{Nonce: h.nonce, To: &h.actors[i], Payload: actor.AppendMessage(nil, handler, arg), CyclesLimit: 400_000, CellsLimit: 5000}
		txs = append(txs, verified(tx, h.owners[i]))
	}
	return txs
}

// TestHostileMakesItselfSequential: messages that conflict where nobody can foresee it
// run alone after one try, in their block and, every time longer, in the blocks after.
// Those of others run beside each other, in all blocks.
func TestHostileMakesItselfSequential(t *testing.T) {
	const honest, hostile, hubs, blocks = 72, 24, 12, 12
	pool := engines(t, 3)
	p, m := params.Default(), newState()
	p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = 1<<40, 1<<41
	in := inputs(&p, 1)
	in.Engine = pool[2]
	apply := func(txs []*chain.VerifiedTx) {
		t.Helper()
		r, err := exec.Apply(m, in, txs)
		if err != nil {
			t.Fatal(err)
		}
		m.Write(r.Delta)
		in.Height++
	}
	// The code of the hostile is each one's own: of a shared one habits are learned.
	settle := func(kind byte, n int) *herd {
		h := &herd{}
		for i := range n {
			owner := chain.Address{0xdd, kind, byte(i), 19: 1}
			a := state.NewAccount()
			a.Balance = rich
			m.Accounts[owner] = a
			d := &actor.Deployment{
				Source: fmt.Appendf(nil, "%s# %d\n", hidden, kind/2*byte(i)), Manifest: manifest.Manifest("storage.kv"),
				Init: &actor.Init{Handler: "init", Payload: cbor.AppendNull(nil)},
			}
			h.owners, h.actors = append(h.owners, owner), append(h.actors, actor.AddressOf(owner, d.Salt, d.Source))
			apply([]*chain.VerifiedTx{verified(&chain.Tx{Payload: actor.AppendPayload(nil, d), CyclesLimit: 3_000_000, CellsLimit: 100_000}, owner)})
		}
		return h
	}
	good, bad, hub := settle(1, honest), settle(2, hostile), settle(3, hubs)
	x, err := parallel.New(parallel.Config{Mode: parallel.Auto, Workers: 2}, pool[:2])
	if err != nil {
		t.Fatal(err)
	}
	x.Shake(shaker(5))
	block := func(round int, attacked bool) (did parallel.Stats) {
		var txs []*chain.VerifiedTx
		mine, theirs := good.messages("bump", cbor.AppendNull(nil)), []*chain.VerifiedTx(nil)
		if attacked {
			to := hub.actors[round] // habits do not help
			for i := range to {
				to[i] ^= 255
			}
			theirs = bad.messages("hit", cbor.AppendBytes(nil, to[:]))
		}
		for i, tx := range mine {
			if txs = append(txs, tx); len(theirs) > i/3 && i%3 == 0 {
				txs = append(txs, theirs[i/3])
			}
		}
		before := x.Stats()
		want := text(exec.Apply(m, in, txs))
		if got := text(x.Apply(m, in, txs)); got != want || strings.HasPrefix(want, "error") {
			t.Fatal(difference(got, want))
		}
		apply(txs)
		did = x.Stats()
		did.Reexecuted, did.Alone, did.Parallel, did.Waited = did.Reexecuted-before.Reexecuted, did.Alone-before.Alone, did.Parallel-before.Parallel, did.Waited-before.Waited
		return did
	}
	if s := block(0, true); s.Parallel != 1 || s.Reexecuted == 0 {
		t.Fatalf("nobody conflicted: %+v", s)
	}
	for range 3 {
		if s := block(0, false); s.Parallel != 1 || s.Reexecuted+s.Alone != 0 {
			t.Errorf("one hostile block, and the next: %+v", s)
		}
	}
	reruns, attacked := uint64(0), 0
	for round := 1; round < blocks; round++ {
		s := block(round, true)
		attacked++
		reruns += s.Reexecuted
		if s.Parallel != 1 || s.Alone > hostile {
			t.Errorf("round %d: %+v", round, s)
		}
	}
	s := x.Stats()
	t.Logf("%d attacked blocks of %d messages: %d ran again, %d alone", attacked, hostile, reruns, s.Alone)
	if reruns > 5*hostile || s.Abandoned != 0 || s.Parallel != s.Blocks {
		t.Errorf("%d ran again: %+v", reruns, s)
	}
}
