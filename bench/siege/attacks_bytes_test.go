package siege

import (
	"github.com/cowboy-foundation/cowboy/bench/boundary"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// The attacks on bytes: more of them than cells pay for.

func spawnFlood() attack {
	var at []chain.Address
	turn := 0
	return attack{
		name: "B4-spawn-flood", what: "children who inherit the largest manifest, and sources",
		setup: func(s *siege) {
			at, turn = nil, 0
			for i := range 3 {
				at = append(at, s.largest(foe(i), func(size int) *actor.Deployment {
					return &actor.Deployment{Source: []byte(`from cowboy_sdk import *
@public
def go(msg):
    n = msg.payload
    for i in range(1000):
        spawn((n * 1000 + i).to_bytes(8, "big"))
@public
def sources(msg):
    n = msg.payload
    spawn(n.to_bytes(8, "big"), "from cowboy_sdk import public\n#" + "x" * 40000 + str(n))
`), Salt: []byte{byte(i)}, Manifest: boundary.FatManifest(size)}
				}, 60_000, 8_000, 2_000))
			}
		},
		block: func(s *siege) {
			for i, a := range at {
				turn++
				// What reaches its limit is undone: so few children that they fit.
				handler := "go"
				if i == 2 {
					handler = "sources"
				}
				s.strikeMessage(foe(turn%foes), a, handler, number(uint64(turn)))
			}
		},
	}
}

func longLists() attack {
	turn := 0
	return attack{
		name: "B7-long-lists", what: "transfers with access lists of 40 KB",
		block: func(s *siege) {
			for range 103 {
				turn++
				var entries []chain.AccessEntry
				for i := range 256 {
					e := chain.AccessEntry{Address: chain.Address{0: 9, 17: byte(turn), 18: byte(i >> 8), 19: byte(i)}}
					for k := range 4 {
						e.Keys = append(e.Keys, chain.Hash{0: byte(i), 1: byte(k)})
					}
					entries = append(entries, e)
				}
				to := foe(0)
				_ = s.strike(foe(turn%foes), chain.Tx{To: &to, Value: 1, CyclesLimit: 21_000, CellsLimit: s.cellsOf(48_000), TipPerCycle: bid, AccessList: entries})
			}
		},
	}
}

// cellsOf is a limit of cells for those who must pay for bytes.
func (s *siege) cellsOf(bytes int) chain.Cells { return chain.Cells(bytes) }

func deferredFlood() attack {
	var at []chain.Address
	turn := 0
	return attack{
		name: "B8-deferred-flood", what: "deferred messages to thousands of addresses without code",
		setup: func(s *siege) {
			at, turn = nil, 0
			for i := range 3 {
				at = append(at, s.deploy(foe(100+i), []byte(`from cowboy_sdk import *
@public
def go(msg):
    first, n, cycles, cells = msg.payload
    for i in range(n):
        create_deferred_tx("0x77%038x" % (first * 1000 + i), "x", None, current_block() + 2, 0, cycles, cells)
`), byte(i), boundary.EncodeManifest(boundary.All()), nil, 10_000*chain.WeiPerCBY))
			}
		},
		block: func(s *siege) {
			// As many as the cycles of a message last for, whatever the least limits are.
			for i, plan := range [][]uint64{{650, 1, 1}, {80, 10_000, 100}, {30, 22_000, 300}} {
				turn++
				arg := list(number(uint64(turn)), number(plan[0]), number(plan[1]), number(plan[2]))
				s.strikeMessage(foe(100+turn%10), at[i], "go", arg)
			}
		},
	}
}

func emptyFirings() attack {
	var at []chain.Address
	return attack{
		name: "B14-empty-firings", what: "intervals that fire at addresses without code",
		setup: func(s *siege) {
			at = nil
			for i := range 8 {
				a := s.deploy(foe(i), []byte(`from cowboy_sdk import *
@public
def go(msg):
    for i in range(16):
        schedule_timer_ex(msg.payload, "x", None, 1, None, "0x77%038x" % i, 5000, 10)
`), byte(i), boundary.EncodeManifest(boundary.All()), nil, 50_000*chain.WeiPerCBY)
				s.alone(s.tx(foe(i), chain.Tx{To: &a, Payload: message("go", number(uint64(s.height)+3)), CyclesLimit: 900_000, CellsLimit: 50_000}))
				at = append(at, a)
			}
		},
		block: func(*siege) {},
	}
}

func newEntries() attack {
	var at []chain.Address
	turn := 0
	return attack{
		name: "B9-new-entries", what: "as many new entries as cells pay for: storage, approvals, accounts, events",
		setup: func(s *siege) {
			at, turn = nil, 0
			for i := range 4 {
				at = append(at, s.deploy(foe(i), []byte(`from cowboy_sdk import *
@public
def init(msg):
    storage.set("k", token_create("n", "T", 2, 1000000))
@public
def go(msg):
    n, what = msg.payload
    k = storage.get("k")
    for i in range(60):
        a = "0x77%030x%08x" % (n, i)
        if what == 0:
            storage.set(a[20:], 1)
        elif what == 1:
            token_approve(k, a, 1)
        elif what == 2:
            transfer(a, 1)
        else:
            emit_event("e", i)
`), byte(i), boundary.EncodeManifest(boundary.All()), &actor.Init{Handler: "init", Payload: null()}, 100*chain.WeiPerCBY))
			}
		},
		block: func(s *siege) {
			for i, a := range at {
				turn++
				s.strikeMessage(foe(turn%foes), a, "go", list(number(uint64(turn)), number(uint64(i))))
			}
		},
	}
}
