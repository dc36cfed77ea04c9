package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestStrangersHoldUpNoSends: before an actor for which a message waits that reserves its
// whole bucket, and never has it where the actor is used in every block, others' sends go at
// once and cost what they did. Its own sender's wait behind it, and so do those which the
// actor has the cycles for only if those who wait go without.
func TestStrangersHoldUpNoSends(t *testing.T) { // resolutions 7.8, 11.21; ADR 165
	const burst = 420_000 // of the bucket, which gets 100,000 a block
	for _, tt := range []struct {
		rule  string
		whose string // of the message that waits
		sends uint64 // cycles that each send reserves
		want  string // trace of the sends of a block
	}{
		{"a stranger's", "stranger", 60_000, "1:ok "},
		{"a stranger's, beside a send that leaves no refill", "stranger", 330_000, "2:ok "},
		{"one of its own", "own", 60_000, "2:ok "},
		{"nobody's", "", 60_000, "1:ok "},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			c, a, b := slow(t)
			from := map[string]chain.Address{"stranger": bob, "own": a}[tt.whose]
			if tt.whose != "" {
				c.put(func(o *state.Overlay) error {
					it := &mailbox.Item{
						From: from, To: b, Origin: bob, Handler: "burn", Payload: cbor.AppendUint(nil, 1), Cycles: burst, Cells: 40, Parked: c.height,
					}
					actor.WriteQuota(o, a, actor.Quota{Sent: 1})
					actor.WriteQuota(o, b, actor.Quota{Waiting: 1, Level: burst / 2, LevelAt: c.height})
					return mailbox.Push(o, it, 9)
				})
			}
			for n := range 5 {
				use := c.program(alice, &b, actor.AppendMessage(nil, "log", cbor.AppendNull(nil))).Tx
				use.CyclesLimit = 60_000
				send := c.program(bob, &a, actor.AppendMessage(nil, "tell", tell(b, "log", tt.sends, 0, 1))).Tx
				send.CyclesLimit, send.CellsLimit = 400_000, 12_000
				if tt.want == "1:ok " {
					send.CellsLimit = 500 // what an estimate before says
				}
				r := c.block(verified(use, alice), verified(send, bob))
				if n == 0 {
					continue // the bucket is half full
				}
				if got := trace(&r.Receipts[1]); got != tt.want {
					t.Fatalf("block %d: the send is %q, want %q: %+v", n, got, tt.want, r.Receipts[1])
				}
				if tt.want == "2:ok " {
					return
				}
			}
			if want := uint64(len(tt.whose) / len("stranger")); c.waiting(b) != want {
				t.Errorf("%d wait, want %d", c.waiting(b), want)
			}
		})
	}
}
