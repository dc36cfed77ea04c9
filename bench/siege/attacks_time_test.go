package siege

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/bench/boundary"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// The attacks on time: more of it than cycles pay for.

// bid is the tip of the attackers, above that of the honest.
const bid = 3

// strikeMessage sends a message of the attack with all that its actor may use.
func (s *siege) strikeMessage(from, to chain.Address, handler string, arg []byte) {
	_ = s.strike(from, chain.Tx{ // the attack goes on whatever the pool says
		To: &to, Payload: message(handler, arg), TipPerCycle: bid,
		CyclesLimit: s.params().Actor.BlockCycles, CellsLimit: 60_000,
	})
}

// largest deploys the largest of several sizes that the chain takes.
func (s *siege) largest(from chain.Address, of func(size int) *actor.Deployment, sizes ...int) chain.Address {
	s.t.Helper()
	for _, size := range sizes {
		d := of(size)
		tx := s.tx(from, chain.Tx{Value: d.Value, Payload: actor.AppendPayload(nil, d), CyclesLimit: s.params().MaxTxCycles, CellsLimit: s.params().MaxTxCells, TipPerCycle: 5})
		if s.offer(tx) != nil {
			continue
		}
		for range 3 {
			b := s.next()
			for i, in := range b.event.Txs {
				if in.Hash == tx.Hash && b.event.Receipts[i].Code == chain.CodeOK {
					a := actor.AddressOf(from, d.Salt, d.Source)
					s.actors = append(s.actors, a)
					return a
				}
			}
		}
	}
	s.t.Fatal("no size is taken")
	return chain.Address{}
}

func coldPrograms() attack {
	const programs = 12
	var caller chain.Address
	var cold []chain.Address
	turn := 0
	return attack{
		name: "B2-cold-programs", what: "one message calls many large programs",
		setup: func(s *siege) {
			cold, turn = nil, 0
			for i := range programs {
				cold = append(cold, s.largest(foe(i%foes), func(size int) *actor.Deployment {
					return &actor.Deployment{Source: boundary.Large(0, size, i), Salt: []byte{byte(i)}, Manifest: boundary.EncodeManifest(boundary.All())}
				}, 120_000, 60_000, 24_000))
			}
			caller = s.deploy(foe(0), []byte("from cowboy_sdk import *\n@public\ndef go(msg):\n    for a in msg.payload:\n        try:\n            call(a, 'ping', None)\n        except CowboyError:\n            pass\n"), 1, boundary.EncodeManifest(boundary.All()), nil, 0)
		},
		block: func(s *siege) {
			turn++
			s.strikeMessage(foe(turn%foes), caller, "go", addresses(cold))
		},
	}
}

func fatRecords() attack {
	var caller chain.Address
	var fat []chain.Address
	turn := 0
	return attack{
		name: "B3-fat-records", what: "host calls about actors with the largest manifests",
		setup: func(s *siege) {
			fat, turn = nil, 0
			for i := range 4 {
				fat = append(fat, s.largest(foe(20+i), func(size int) *actor.Deployment {
					return &actor.Deployment{Source: []byte("from cowboy_sdk import public\n@public\ndef ping(msg):\n    pass\n"), Salt: []byte{1}, Manifest: boundary.FatManifest(size)}
				}, 60_000, 8_000, 2_000))
			}
			caller = s.deploy(foe(20), []byte(`from cowboy_sdk import *
@public
def go(msg):
    for i in range(100000):
        a = msg.payload[i % len(msg.payload)]
        get_actor(a)
        transfer(a, 1)
`), 2, boundary.EncodeManifest(boundary.All()), nil, 1_000*chain.WeiPerCBY)
		},
		block: func(s *siege) {
			turn++
			s.strikeMessage(foe(20+turn%20), caller, "go", addresses(fat))
		},
	}
}

func timerChurn() attack {
	var at []chain.Address
	turn := 0
	return attack{
		name: "W1-timer-churn", what: "timers set and cancelled, and scans of nothing",
		setup: func(s *siege) {
			at, turn = nil, 0
			for i := range 3 {
				at = append(at, s.deploy(foe(40+i), []byte(`from cowboy_sdk import *
@public
def go(msg):
    for i in range(100000):
        cancel_timer(set_timer(current_block() + 2000000 + 7919 * i, 'ping'))
        storage.scan('zzz%d' % i, 100)
        rent.status()
`), byte(i), boundary.EncodeManifest(boundary.All()), nil, 1_000*chain.WeiPerCBY))
			}
		},
		block: func(s *siege) {
			turn++
			for i, a := range at {
				s.strikeMessage(foe(40+(turn+i)%10), a, "go", null())
			}
		},
	}
}

func hotCode() attack {
	var hot []chain.Address
	turn := 0
	return attack{
		name: "W3-hot-code", what: "one actor of whom everybody writes, by hidden ways",
		setup: func(s *siege) {
			hot, turn = nil, 0
			for i := range 2 {
				hot = append(hot, s.deploy(foe(50+i), []byte(`from cowboy_sdk import *
@public
def go(msg):
    storage.set('n', (storage.get('n') or 0) + 1)
    send(msg.payload, None, 'more', 0, 30000)
@public
def more(msg):
    storage.set('n', (storage.get('n') or 0) + 1)
`), byte(i), boundary.EncodeManifest(boundary.All()), nil, 0))
			}
		},
		block: func(s *siege) {
			for i := range 12 {
				turn++
				to := hot[i%2]
				_ = s.strike(foe(50+turn%20), chain.Tx{To: &to, Payload: message("go", raw(hot[(i+1)%2][:])), TipPerCycle: bid, CyclesLimit: 120_000, CellsLimit: 2_000})
			}
		},
	}
}

func drainedBucket() attack {
	turn := 0
	return attack{
		name: "W2-drained-bucket", what: "messages that burn all cycles of an honest actor with timers",
		block: func(s *siege) {
			for range 3 {
				turn++
				s.strikeMessage(foe(70+turn%40), s.honest.clock, "spin", null())
			}
		},
	}
}

func forgedBlobs() attack {
	var thief, keeper chain.Address
	var hash []byte
	turn := 0
	return attack{
		name: "B1-forged-blobs", what: "raw bytes restored under the name of a blob",
		params: func(p *params.Params) {
			p.Rent.ChargeBlocks, p.EpochBlocks, p.Rent.GraceEpochs, p.Rent.WarningEpochs = 10, 5, 2, 1
			p.Rent.PricePerByteYear = 100_000_000_000
		},
		setup: func(s *siege) {
			keeper = s.deploy(foe(0), []byte("from cowboy_sdk import *\n@public\ndef init(msg):\n    return blob_commit(b'x' * 60000)\n"), 1, boundary.EncodeManifest(boundary.All()), nil, 0)
			out := s.alone(s.tx(foe(0), chain.Tx{To: &keeper, Payload: message("init", null()), CyclesLimit: 900_000, CellsLimit: 200_000}))
			hash = out[2:]
			thief = s.deploy(foe(0), []byte(`from cowboy_sdk import *
@public
def go(msg):
    a, h, junk = msg.payload
    try:
        storage.restore(a, {"__blob:" + h.hex(): junk})
    except CowboyError:
        pass
    return blob_get(h)
`), 2, boundary.EncodeManifest(boundary.All()), nil, wealth/2)
			for range 60 {
				s.next()
			}
		},
		block: func(s *siege) {
			turn++
			s.strikeMessage(foe(turn%foes), thief, "go", list(raw(keeper[:]), raw(hash), text(fmt.Sprint("text", turn))))
		},
	}
}
