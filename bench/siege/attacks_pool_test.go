package siege

import (
	"github.com/cowboy-foundation/cowboy/bench/boundary"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// The attacks on the places of the pool: by what stands high there and is in no block.

func unknownDeployers() attack {
	turn := 0
	return attack{
		name: "B6-unknown-deployers", what: "deployments nobody knows the use of, with the largest limits, each of its own sender",
		lanes: neverRun().lanes,
		crowd: 8_000,
		setup: func(*siege) { turn = 0 },
		block: func(s *siege) {
			for n, refused := 0, 0; n < 1_400 && refused < 3; n++ {
				turn++
				d := actor.Deployment{Source: []byte("x"), Salt: []byte{1}, Manifest: boundary.EncodeManifest(boundary.All())}
				if s.strike(stranger(turn%8_000), chain.Tx{Payload: actor.AppendPayload(nil, &d), CyclesLimit: s.params().MaxTxCycles, CellsLimit: 20_000, TipPerCycle: bid}) != nil {
					refused++
				}
			}
		},
	}
}

func wrongLane() attack {
	turn := 0
	return attack{
		name: "B6-wrong-lane", what: "payments behind an instruction whose limit no block of its lane can hold",
		lanes: neverRun().lanes,
		wave:  40, again: func(*siege) { turn = 0 },
		setup: func(s *siege) {
			turn = 0
			for i := range 16 {
				s.register(foe(i))
			}
		},
		block: func(s *siege) {
			if turn > 8 {
				return
			}
			for range 8 {
				from := foe(turn)
				turn++
				body := list(number(chain.OpRunnerHeartbeat))
				if s.strike(from, chain.Tx{To: &chain.AddrRunnerRegistry, Payload: body, CyclesLimit: s.params().MaxTxCycles, CellsLimit: 1_000, TipPerCycle: bid}) != nil {
					continue // the others would be payments like anybody's
				}
				for range 255 {
					to := foe(0)
					_ = s.strike(from, chain.Tx{To: &to, Value: 1, CyclesLimit: 21_000, TipPerCycle: bid})
				}
			}
		},
	}
}

func heldActors() attack {
	const actors = 8
	var at []chain.Address
	turn := 0
	return attack{
		name: "B6-held-actors", what: "payments behind messages to actors whose own timers hold what the messages need",
		lanes: neverRun().lanes,
		wave:  100, again: func(*siege) { turn = 0 },
		setup: func(s *siege) {
			at, turn = nil, 0
			for i := range actors {
				at = append(at, s.deploy(foe(i), []byte(`from cowboy_sdk import *
@public
def go(msg):
    for i in range(2):
        schedule_timer_ex(current_block() + 1, "tick", None, 0, None, None, 1000000, 400)
def tick(msg):
    schedule_timer_ex(current_block() + 1, "tick", None, 0, None, None, 1000000, 400)
@public
def rest(msg):
    pass
`), 1, boundary.EncodeManifest(boundary.All()), nil, wealth/2))
			}
			for i, a := range at {
				s.alone(s.tx(foe(i), chain.Tx{To: &a, Payload: message("go", null()), CyclesLimit: 400_000, CellsLimit: 20_000, TipPerCycle: bid}))
			}
		},
		block: func(s *siege) {
			if turn > 0 {
				return
			}
			for i, a := range at {
				from := foe(20 + i)
				turn++
				_ = s.strike(from, chain.Tx{To: &a, Payload: message("rest", null()), CyclesLimit: 1_900_000, CellsLimit: 1_000, TipPerCycle: bid})
				for range 255 {
					to := foe(0)
					_ = s.strike(from, chain.Tx{To: &to, Value: 1, CyclesLimit: 21_000, TipPerCycle: bid})
				}
			}
		},
	}
}

func largeBodies() attack {
	turn := 0
	return attack{
		name: "B6-large-bodies", what: "payments with the largest memos, which fill the bytes of the pool",
		lanes: neverRun().lanes, first: true,
		crowd: 2_000,
		setup: func(*siege) { turn = 0 },
		block: func(s *siege) {
			for _, size := range []int{120_000, 20_000, 2_000, 300, 1} {
				for n, refused := 0, 0; n < 30 && refused < 2; n++ {
					turn++
					to := foe(0)
					if s.strike(stranger(turn%2_000), chain.Tx{To: &to, Value: 1, Payload: make([]byte, size), CyclesLimit: 21_000, CellsLimit: chain.Cells(size) + 1_000, TipPerCycle: bid, TipPerCell: bid * 20}) != nil {
						refused++
					}
				}
			}
		},
	}
}

// evictingBodies come after the honest: behind large bodies that fill the bytes of the
// lane, a few more that pay more than those.
func evictingBodies() attack {
	turn := 0
	memo := func(s *siege, tip chain.Wei) error {
		const size = 120_000
		turn++
		to := foe(0)
		return s.strike(stranger(turn%2_000), chain.Tx{To: &to, Value: 1, Payload: make([]byte, size), CyclesLimit: 21_000, CellsLimit: size + 1_000, TipPerCycle: tip, TipPerCell: 20 * tip})
	}
	return attack{
		name: "B6-evicting-bodies", what: "large memos that pay more than others, for which all small transactions leave",
		lanes: neverRun().lanes,
		crowd: 2_000,
		setup: func(*siege) { turn = 0 },
		block: func(s *siege) {
			for n, refused := 0, 0; n < 30 && refused < 2; n++ {
				if memo(s, bid) != nil {
					refused++
				}
			}
			for n := range 2 {
				_ = memo(s, bid<<(2*n+2))
			}
		},
	}
}

func taughtDeployers() attack {
	const senders = 8
	turn := 0
	deploy := func(s *siege, from chain.Address, salt int, source string, init *actor.Init) error {
		d := actor.Deployment{Source: []byte(source), Salt: []byte{byte(salt >> 8), byte(salt)}, Manifest: boundary.EncodeManifest(boundary.All()), Init: init}
		return s.strike(from, chain.Tx{Payload: actor.AppendPayload(nil, &d), CyclesLimit: 4_000_000, CellsLimit: 20_000, TipPerCycle: bid})
	}
	return attack{
		name: "B6-taught-deployers", what: "deployments by senders whose first one used all of its limit, and that use nothing of it",
		lanes: neverRun().lanes,
		setup: func(s *siege) {
			turn = 0
			for i := range senders {
				_ = deploy(s, foe(i), 0, spinner, &actor.Init{Handler: "go", Payload: null()})
				s.next()
			}
		},
		block: func(s *siege) {
			for n, refused := 0, 0; n < 250*senders && refused < 3; n++ {
				turn++
				if deploy(s, foe(turn%senders), turn, "x", nil) != nil {
					refused++
				}
			}
		},
	}
}

func wideLane() attack {
	a := wideCrowd()
	a.name, a.lanes = "B6-wide-lane", neverRun().lanes
	return a
}
