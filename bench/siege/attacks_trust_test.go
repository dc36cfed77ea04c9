package siege

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/bench/boundary"
	"github.com/cowboy-foundation/cowboy/chain"
)

// The attacks on what a proposer believes of transactions that it has not executed.

// wideCrowd outbids everybody with transfers of which no block can hold more than one
// half: each starts only where half a block is left.
func wideCrowd() attack {
	turn := 0
	return attack{
		name: "B5-wide-crowd", what: "a block full of transfers whose limits are those of half a block, each of its own sender",
		crowd: 1_000,
		block: func(s *siege) {
			for range 1_000 {
				turn++
				to := foe(0)
				_ = s.strike(stranger(turn%1_000), chain.Tx{To: &to, Value: 1, CyclesLimit: s.params().MaxTxCycles, CellsLimit: 10, TipPerCycle: bid})
			}
		},
	}
}

// turnedHandlers has handlers that were seen to do little, each of which does all that
// its limit allows when it is called for the second time, without a tip.
func turnedHandlers() attack {
	const actors, handlers = 20, 40
	var at []chain.Address
	turn := 0
	teach := func(s *siege) {
		for h := range handlers {
			for i := range actors {
				_ = s.strike(foe((h*actors+i)%foes), chain.Tx{To: &at[i], Payload: message(fmt.Sprint("h", h), null()), CyclesLimit: 400_000, CellsLimit: 1_000})
			}
			if h%10 == 9 {
				s.pass()
			}
		}
		for range 4 {
			s.pass()
		}
	}
	return attack{
		name: "B5-turned-handlers", what: "handlers that did little once and now use all of their limits",
		transfers: 450, // half of a block, and twice the target: who pays rises until somebody does not
		wave:      24,
		setup: func(s *siege) {
			at, turn = nil, 0
			var source strings.Builder
			source.WriteString("from cowboy_sdk import public\n")
			for i := range handlers {
				fmt.Fprintf(&source, "@public\ndef h%d(msg):\n    while msg.payload:\n        pass\n", i)
			}
			for i := range actors {
				at = append(at, s.deploy(foe(i), []byte(source.String()), 1, boundary.EncodeManifest(boundary.All()), nil, 0))
			}
			teach(s)
		},
		again: func(s *siege) { // who took much looks again as if it took little
			for range 3 {
				teach(s)
			}
		},
		block: func(s *siege) {
			h := fmt.Sprint("h", turn%handlers)
			turn++
			for i := range at {
				_ = s.strike(foe((turn*actors+i)%foes), chain.Tx{To: &at[i], Payload: message(h, number(1)), CyclesLimit: s.params().Actor.BlockCycles, CellsLimit: 1_000})
			}
		},
	}
}

// TestWhoPaysMoreStandsBeforeTurnedHandlers: what nobody expected to use much takes no
// place from who pays a tip, in no block: not from messages (ADR 142), and from payments no
// more than makes no proposer doubt, an eighth of the target (ADR 94), until the next block.
func TestWhoPaysMoreStandsBeforeTurnedHandlers(t *testing.T) {
	a := turnedHandlers()
	s := newSiege(t, &a)
	a.setup(s)
	s.settle()
	hostile, most := 0, int(s.params().CyclesTarget/8/s.params().Intrinsic.TransferCycles)
	for range 6 {
		s.live(a.transfers)
		a.block(s)
		b := s.next()
		s.note(&b)
		for _, tx := range b.event.Txs {
			if s.hostile[tx.Hash] {
				hostile++
			}
		}
		payments, messages := 0, 0
		for _, left := range s.honest.sent {
			if left.message {
				messages++
			} else if payments++; left.at+1 < s.height {
				t.Errorf("block %d leaves out a payment that waits since block %d", s.height, left.at)
			}
		}
		if payments > most || messages > 1 { // one that has just run may keep its actor's cycles
			t.Errorf("block %d leaves out %d honest payments and %d messages", s.height, payments, messages)
		}
	}
	t.Logf("%d of the attack in six blocks, %d packed again", hostile, s.makers[0].Stats.PackedAnew.Load())
	if s.makers[0].Stats.PackedAnew.Load() == 0 {
		t.Error("no selection was fuller than expected: the attack does not work any more")
	}
}
