package siege

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/bench/boundary"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/lanes"
)

// The attacks on room: in blocks, in the pool, and in what others own.

func limitHogs() attack {
	turn := 0
	return attack{
		name: "B5-limit-hogs", what: "two transfers whose limits fill a block",
		transfers: transfersOfABlock,
		block: func(s *siege) {
			for range 2 {
				turn++
				to := foe(0)
				_ = s.strike(foe(turn%foes), chain.Tx{To: &to, Value: 1, Payload: []byte{1}, CyclesLimit: s.params().MaxTxCycles, CellsLimit: 10, TipPerCycle: bid})
			}
		},
	}
}

// smallLane is a user lane in which a hundredth of the transactions of the default
// one are as many as all.
const smallLane = 1_310

func neverRun() attack {
	var at chain.Address
	turn := 0
	return attack{
		name: "B6-never-run", what: "messages to an actor whose bucket is always empty",
		lanes: func(c *lanes.Config) {
			c.LaneTxs[chain.LaneUser] = smallLane
			c.LaneBytes[chain.LaneUser] = 256 << 20 / 100
		},
		setup: func(s *siege) {
			at = s.deploy(foe(110), []byte("from cowboy_sdk import public\n@public\ndef go(msg):\n    while True:\n        pass\n"), 1, boundary.EncodeManifest(boundary.All()), nil, 0)
			turn = 0
		},
		block: func(s *siege) {
			for range 200 {
				turn++
				_ = s.strike(foe(turn%foes), chain.Tx{To: &at, Payload: message("go", null()), TipPerCycle: bid, CyclesLimit: s.params().Actor.BlockCyclesBurst, CellsLimit: 10})
			}
		},
	}
}

// errSquatted says that a restoration did not come through.
var errSquatted = errors.New("no restoration came through")

func squatters() attack {
	var victim chain.Address
	var from chain.Height
	turn, done, tried := 0, 0, 0
	owner := foe(foes - 1) // who does nothing else
	return attack{
		name: "B11-squatters", what: "a restoration begun again and again by others",
		params: forgedBlobs().params,
		setup: func(s *siege) {
			turn, done, tried = 0, 0, 0
			victim = s.deploy(owner, []byte("from cowboy_sdk import *\n@public\ndef init(msg):\n    for i in range(20):\n        storage.set('p%d' % i, 'x' * 1000)\n"), 1,
				boundary.EncodeManifest(boundary.All()), &actor.Init{Handler: "init", Payload: null()}, 0)
			for range 60 {
				s.next()
			}
			from = s.height
		},
		block: func(s *siege) {
			begin := func(by chain.Address) chain.Tx {
				body := list(number(chain.OpRestoreBegin), raw(victim[:]), number(uint64(s.height)+100))
				return chain.Tx{To: &chain.AddrRent, Payload: body, CyclesLimit: 100_000, CellsLimit: 1_000, TipPerCycle: bid}
			}
			for i, in := range s.last.event.Txs {
				if in.Sender == owner && s.last.event.Receipts[i].Code == chain.CodeOK && s.height > from+3 && done == 0 {
					done = tried
				}
			}
			for range 20 {
				turn++
				_ = s.strike(foe(turn%100), begin(foe(turn%100)))
			}
			if done == 0 && s.height > from+2 {
				tried++
				_ = s.offer(s.tx(owner, begin(owner))) // its place in the next block is chance
			}
		},
		check: func(*siege) error {
			if done == 0 || done > 3 {
				return fmt.Errorf("%w: the owner began %d times, the first success was number %d", errSquatted, tried, done)
			}
			return nil
		},
	}
}
