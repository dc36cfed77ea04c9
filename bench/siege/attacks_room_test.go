package siege

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/bench/boundary"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
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
			c.LaneBytes[chain.LaneUser] = 128 << 20 / 100
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

func parkedFlood() attack {
	turn := 0
	return attack{
		name: "B6-parked-and-poor", what: "transactions whose turn never comes: nonces ahead, caps at the base fee of today",
		lanes: neverRun().lanes,
		block: func(s *siege) {
			for range 100 {
				turn++
				from, to := foe(turn%foes), foe(0)
				ahead := s.tx(from, chain.Tx{To: &to, Value: 1, CyclesLimit: 21_000, TipPerCycle: 50})
				ahead.Tx.Nonce += 1 + uint64(turn)%40
				_ = s.strikeAs(s.verified(from, *ahead.Tx))
			}
			for range 100 {
				turn++
				to := foe(0)
				_ = s.strike(foe(turn%foes), chain.Tx{To: &to, Value: wealth, CyclesLimit: 21_000, TipPerCycle: 50})
			}
		},
	}
}

func manyNeverRun() attack {
	var at []chain.Address
	turn := 0
	return attack{
		name: "B6-many-never-run", what: "messages to eight actors whose buckets are always empty, from many funders",
		lanes: neverRun().lanes,
		setup: func(s *siege) {
			at, turn = nil, 0
			for i := range 8 {
				at = append(at, s.deploy(foe(i), []byte("from cowboy_sdk import public\n@public\ndef go(msg):\n    while True:\n        pass\n"), 1, boundary.EncodeManifest(boundary.All()), nil, 0))
			}
		},
		block: func(s *siege) {
			for range 200 {
				turn++
				to := at[turn%len(at)]
				_ = s.strike(foe(turn%foes), chain.Tx{To: &to, Payload: message("go", null()), TipPerCycle: bid, CyclesLimit: s.params().Actor.BlockCyclesBurst, CellsLimit: 10})
			}
		},
	}
}

func modestHogs() attack {
	var at []chain.Address
	turn := 0
	return attack{
		name: "B5-modest-hogs", what: "forty messages to own actors that use a fiftieth of their limits, and one all",
		setup: func(s *siege) {
			at, turn = nil, 0
			for i := range 20 {
				at = append(at, s.deploy(foe(i), []byte("from cowboy_sdk import public\n@public\ndef go(msg):\n    while msg.payload:\n        pass\n"), 1, boundary.EncodeManifest(boundary.All()), nil, 0))
			}
		},
		block: func(s *siege) {
			for range 40 {
				turn++
				to, arg := at[turn%len(at)], null()
				if turn%40 == 0 {
					arg = number(1)
				}
				_ = s.strike(foe(turn%foes), chain.Tx{To: &to, Payload: message("go", arg), TipPerCycle: bid, CyclesLimit: s.params().Actor.BlockCycles, CellsLimit: 10_000})
			}
		},
	}
}

// spinner burns all that a message may use.
const spinner = "from cowboy_sdk import public\n@public\ndef go(msg):\n    while True:\n        pass\n"

func becomingActors() attack {
	const each = 215 // of four senders: as many as a block has room for
	const crowd = 4 * leastBlocks
	turn, n := 0, 0
	return attack{
		name: "B5-becoming-actors", what: "payments with a memo to an address that becomes an actor in the same block",
		crowd: crowd,
		setup: func(*siege) { turn, n = 0, 0 },
		block: func(s *siege) {
			n++
			source := []byte(fmt.Sprint("#", n, "\n", spinner))
			to := actor.AddressOf(foe(100), []byte{1}, source)
			for range 4 {
				turn++
				for range each {
					_ = s.strike(stranger(turn%crowd), chain.Tx{To: &to, Payload: message("go", null()), CyclesLimit: 1_000_000, CellsLimit: 100, MaxFeePerCycle: 30, MaxFeePerCell: 30, TipPerCycle: bid})
				}
			}
			d := actor.Deployment{Source: source, Salt: []byte{1}, Manifest: boundary.EncodeManifest(boundary.All())}
			_ = s.strike(foe(100), chain.Tx{Payload: actor.AppendPayload(nil, &d), CyclesLimit: 200_000, CellsLimit: 10_000, TipPerCycle: 50})
		},
	}
}

func looksLarge() attack {
	const (
		names   = 84
		waiting = 1_200
		lesson  = 120_000
		crowd   = 6_000
	)
	var at chain.Address
	turn := 0
	call := func(s *siege, payload []byte, tip chain.Wei) {
		turn++
		_ = s.strike(stranger(turn%crowd), chain.Tx{To: &at, Payload: message(fmt.Sprint("h", turn%names), raw(payload)), TipPerCell: tip, CyclesLimit: 30_000, CellsLimit: lesson * 5 / 4})
	}
	teach := func(s *siege) {
		for turn = 0; turn < names; {
			for range 7 {
				call(s, make([]byte, lesson), 1)
			}
			s.pass()
		}
		for range 20 { // the base fee falls again
			s.pass()
		}
	}
	return attack{
		name: "B5-looks-large", what: "crowds of small messages to handlers that once took much of a block",
		transfers: transfersOfABlock, crowd: crowd,
		setup: func(s *siege) {
			at = s.deploy(foe(0), []byte("from cowboy_sdk import public\n@public\ndef go(msg):\n    pass\n"), 1, boundary.EncodeManifest(boundary.All()), nil, 0)
			turn = 0
			teach(s)
		},
		wave: 50, again: teach,
		block: func(s *siege) {
			n := 60
			if turn == names {
				n = waiting
			}
			for range n {
				call(s, nil, 60)
			}
		},
	}
}

func unknownCrowd() attack {
	const waiting = 300
	const crowd = waiting + 40*leastBlocks
	var at chain.Address
	turn, all := 0, true
	return attack{
		name: "B5-unknown-crowd", what: "messages nobody knows the use of, with limits of half a block's cells, and one that makes the second not fit",
		crowd: crowd,
		wave:  100, again: func(*siege) { all = true },
		setup: func(s *siege) {
			turn, all = 0, true
			at = s.deploy(foe(0), []byte("from cowboy_sdk import public\n@public\ndef go(msg):\n    pass\n"), 1, boundary.EncodeManifest(boundary.All()), nil, 0)
		},
		block: func(s *siege) {
			n := 10
			if all {
				n, all = waiting, false
			}
			for range n {
				turn++
				_ = s.strike(stranger(turn%crowd), chain.Tx{To: &at, Payload: message(fmt.Sprint("h", turn), null()), TipPerCell: 80, CyclesLimit: 30_000, CellsLimit: s.params().MaxTxCells})
			}
			_ = s.strike(foe(turn%foes), chain.Tx{To: &at, Payload: message("go", null()), TipPerCycle: 5, CyclesLimit: 30_000, CellsLimit: 100})
		},
	}
}

func drainedCrowd() attack {
	const people = 3_000
	var hot chain.Address
	var drains []chain.Address
	turn := 0
	return attack{
		name: "B5-drained-crowd", what: "a crowd of small messages to an actor whose bucket others empty in the same block",
		crowd: people,
		wave:  100, again: func(*siege) { turn = 0 },
		setup: func(s *siege) {
			drains, turn = nil, 0
			hot = s.deploy(foe(0), []byte(spinner), 1, boundary.EncodeManifest(boundary.All()), nil, 0)
			for i := range 8 {
				drains = append(drains, s.deploy(foe(0), []byte(`from cowboy_sdk import *
@public
def go(msg):
    try:
        call(msg.payload, 'go', None, 2000000)
    except CowboyError:
        pass
`), byte(i+2), boundary.EncodeManifest(boundary.All()), nil, 0))
			}
		},
		block: func(s *siege) {
			for i := range people {
				if turn > 0 {
					break
				}
				_ = s.strike(stranger(i), chain.Tx{To: &hot, Payload: message("go", null()), CyclesLimit: 21_900, CellsLimit: 100, MaxFeePerCycle: 3_000, MaxFeePerCell: 3_000, TipPerCycle: bid})
			}
			for _, a := range drains {
				turn++
				_ = s.strike(foe(turn%foes), chain.Tx{To: &a, Payload: message("go", raw(hot[:])), TipPerCycle: 50, CyclesLimit: 1_150_000, CellsLimit: 1_000})
			}
		},
	}
}

func timerHogs() attack {
	var at []chain.Address
	turn := 0
	return attack{
		name: "B5-timer-hogs", what: "timers with the usual limits that use a fiftieth of them",
		setup: func(s *siege) {
			at, turn = nil, 0
			for i := range 2 {
				at = append(at, s.deploy(foe(90+i), []byte(`from cowboy_sdk import *
@public
def go(msg):
    for i in range(8):
        set_timer(current_block() + 3, "rest")
def rest(msg):
    pass
`), byte(i), boundary.EncodeManifest(boundary.All()), nil, wealth/2))
			}
		},
		block: func(s *siege) {
			for _, a := range at {
				turn++
				_ = s.strike(foe(turn%foes), chain.Tx{To: &a, Payload: message("go", null()), TipPerCycle: bid, CyclesLimit: 100_000, CellsLimit: 20_000})
			}
		},
	}
}

func headOfLine() attack {
	var at chain.Address
	turn := 0
	return attack{
		name: "B8-head-of-line", what: "one message before each honest actor that reserves all which its bucket holds",
		setup: func(s *siege) {
			turn = 0
			at = s.deploy(foe(80), []byte(`from cowboy_sdk import *
@public
def go(msg):
    to, cycles = msg.payload
    create_deferred_tx(to, "count", None, current_block() + 1, 0, cycles, 500)
`), 1, boundary.EncodeManifest(boundary.All()), nil, 0)
		},
		block: func(s *siege) {
			if turn++; turn%4 != 1 || turn > 4*neighbours {
				return // the bucket of the attack's actor fills again
			}
			most := s.params().Actor.BlockCyclesBurst
			to := s.honest.actors[turn/4]
			_ = s.strike(foe(80+turn%30), chain.Tx{To: &at, Payload: message("go", list(raw(to[:]), number(uint64(most-50_000)))), TipPerCycle: bid, CyclesLimit: most, CellsLimit: 20_000})
		},
	}
}

// errPumped says that deliveries which were paid long ago have made others' dearer.
var errPumped = errors.New("what was paid before has raised the base fee")

func savedUp() attack {
	const blocks, aBlock = 12, 9
	var banks, burners []chain.Address
	var before chain.Wei
	turn := 0
	return attack{
		name: "B8-saved-up", what: "deferred messages, bought below the target, that fill blocks when they are due",
		setup: func(s *siege) {
			banks, burners, turn = nil, nil, 0
			for i := range 2 {
				banks = append(banks, s.deploy(foe(i), []byte(`from cowboy_sdk import *
@public
def go(msg):
    to, at, cycles = msg.payload
    create_deferred_tx(to, "burn", None, at, 0, cycles, 50)
`), byte(i), boundary.EncodeManifest(boundary.All()), nil, 0))
			}
			for i := range 20 {
				burners = append(burners, s.deploy(foe(i), []byte("from cowboy_sdk import public\n@public\ndef burn(msg):\n    while True:\n        pass\n"), byte(50+i), boundary.EncodeManifest(boundary.All()), nil, 0))
			}
			most := s.params().Actor.BlockCyclesBurst
			due := s.height + blocks*aBlock/2 + neighbours + 10
			for turn < blocks*aBlock {
				for _, bank := range banks {
					to := burners[turn%len(burners)]
					arg := list(raw(to[:]), number(uint64(due)), number(uint64(most)-120_000))
					_ = s.strike(foe(turn%foes), chain.Tx{To: &bank, Payload: message("go", arg), CyclesLimit: most, CellsLimit: 2_000})
					turn++
				}
				s.next()
			}
			before = s.last.event.Block.Header.BaseFees[chain.LaneUser].PerCycle
		},
		block: func(*siege) {},
		check: func(s *siege) error {
			if now := s.last.event.Block.Header.BaseFees[chain.LaneUser].PerCycle; now > before {
				return fmt.Errorf("%w: from %d to %d", errPumped, before, now)
			}
			return nil
		},
	}
}

func promisedTimers() attack {
	return attack{
		name: "W2-promised-timers", what: "timers that strangers make honest actors set, whose limits are promised to them",
		block: pester(6, func(s *siege) chain.Tx {
			return chain.Tx{Payload: message("remind", number(uint64(s.height)+4)), TipPerCycle: bid, CyclesLimit: 60_000, CellsLimit: 3_000}
		}),
	}
}

// pester sends each honest actor so many of a message in each block, from one foe after the other.
func pester(times int, tx func(*siege) chain.Tx) func(*siege) {
	turn := 0
	return func(s *siege) {
		for _, to := range s.honest.actors {
			for range times {
				turn++
				sent := tx(s)
				sent.To = &to
				_ = s.strike(foe(turn%foes), sent)
			}
		}
	}
}

// errSquatted says that a restoration did not come through.
var errSquatted = errors.New("no restoration came through")

// squatBlocks is how long one who puts no data may keep others from restoring.
const squatBlocks = 65

// wealthOfFoes is what all attackers have.
func (s *siege) wealthOfFoes() (sum chain.Wei) {
	view := s.verifier.Head().State
	for i := range foes {
		account, _, err := view.Account(foe(i))
		if err != nil {
			s.t.Fatal(err)
		}
		sum += account.Balance
	}
	return sum
}

func squatters() attack {
	var victim chain.Address
	var from chain.Height
	turn, done, tried := 0, 0, 0
	rich := chain.Wei(0)
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
			from, rich = s.height, s.wealthOfFoes()
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
		check: func(s *siege) error {
			if done > 0 {
				return nil
			}
			// Whoever keeps others out puts down a bond for each span. It doubles within a
			// charge period (exec/rent has the tests): a day on a chain, a few blocks here.
			spans := chain.Wei(s.height-from) / squatBlocks
			if lost, want := rich-s.wealthOfFoes(), spans*s.params().Rent.RestoreBond; lost < want {
				return fmt.Errorf("%w: the owner began %d times, and it cost %d base units of %d to keep them out", errSquatted, tried, lost, want)
			}
			return nil
		},
	}
}

// errNoRoom says that strangers have left no room for the grant of a friend.
var errNoRoom = errors.New("the grant of a friend does not come through")

func strangersGrants() attack {
	var at []chain.Address
	var victim chain.Address
	turn := 0
	grant := func(scope, to chain.Address, name string, constraints entitlements.Constraints) chain.Tx {
		where := entitlements.Scope{Kind: entitlements.ScopeActor, Name: string(scope[:])}
		what := entitlements.Action{Kind: entitlements.ActionActorExecuteHandler, Name: name}
		body := list(number(chain.OpEntitlementGrant), raw(to[:]), raw(where.Append(nil)), raw(what.Append(nil)), raw(constraints.Append(nil)))
		return chain.Tx{To: &chain.AddrEntitlements, Payload: body, CyclesLimit: 150_000, CellsLimit: 3_000, TipPerCycle: bid}
	}
	return attack{
		name: "W5-strangers-grants", what: "grants to one who did not ask, until there is no room for others",
		setup: func(s *siege) {
			at, turn, victim = nil, 0, person(honestPeople-1)
			for i := range 4 {
				at = append(at, s.deploy(foe(i), []byte("from cowboy_sdk import public\n@public\ndef go(msg):\n    pass\n"), byte(i), boundary.EncodeManifest(boundary.All()), nil, 0))
			}
		},
		block: func(s *siege) {
			for range 16 {
				turn++
				by := turn % len(at)
				_ = s.strike(foe(by), grant(at[by], victim, fmt.Sprint("h", turn), entitlements.Constraints{Irrevocable: true}))
			}
		},
		check: func(s *siege) error {
			tx := s.tx(person(0), grant(s.honest.actors[0], victim, "work", entitlements.Constraints{}))
			if err := s.offer(tx); err != nil {
				return err
			}
			for range inTimeBlocks + 2 {
				b := s.next()
				for i, in := range b.event.Txs {
					switch code := b.event.Receipts[i].Code; {
					case in.Hash != tx.Hash:
					case code != chain.CodeOK:
						return fmt.Errorf("%w: %s", errNoRoom, chain.CodeName(code))
					default:
						return nil
					}
				}
			}
			return errNoRoom
		},
	}
}

func reservedBuckets() attack {
	return attack{
		name: "W2-reserved-buckets", what: "messages to honest actors whose limits are most of what these have for a block, and that use nothing of it",
		block: pester(3, func(s *siege) chain.Tx {
			return chain.Tx{Payload: message("nothing", null()), TipPerCycle: bid, CyclesLimit: s.params().Actor.BlockCycles * 9 / 10, CellsLimit: 100}
		}),
	}
}
