package workload

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// worker is what everybody has one of. A handler's work is that of a small one of
// a real program.
const worker = `
from cowboy_sdk import actor, public, call, get_block_height, send, set_timer

@actor
class Worker:
    @public
    def work(self, msg):
        n = self.storage.get("n", 0)
        for i in range(100):
            n = (n * 31 + i) % 1000003
        self.storage["n"] = n
        return n

    @public
    def step(self, msg):
        self.storage["n"] = self.storage.get("n", 0) + 1

    @public
    def ask(self, msg):
        return call(msg.payload, "work", None)

    @public
    def pass_on(self, msg):
        self.step(msg)
        if msg.payload:
            rest = msg.payload[1:]
            send(msg.payload[0], rest, "pass_on", 0, 60000 + 90000 * len(rest))

    @public
    def spread(self, msg):
        self.step(msg)
        for target in msg.payload:
            send(target, None, "step", 0, 60000)

    @public
    def later(self, msg):
        ahead, count = msg.payload
        for _ in range(count):
            set_timer(get_block_height() + ahead, "step", None)

    @public
    def swallow(self, msg):
        self.storage["size"] = len(msg.payload)
`

// coin is a token in Python: one actor, a balance for each holder.
const coin = `
from cowboy_sdk import actor, public

@actor
class Coin:
    @public
    def pay(self, msg):
        mine, theirs = msg.sender, "0x" + msg.payload.hex()
        self.storage[mine] = self.storage.get(mine, 1000000) - 1
        self.storage[theirs] = self.storage.get(theirs, 1000000) + 1
`

// market is a pool of two goods whose product stays.
const market = `
from cowboy_sdk import actor, public

@actor
class Market:
    @public
    def swap(self, msg):
        x, y = self.storage.get("pool", [1000000000, 1000000000])
        out = y - (x * y + x) // (x + msg.payload)
        self.storage["pool"] = [x + msg.payload, y - out]
        return out
`

// sleeper sets its timers when it is made, as many for a block as cost no
// surcharge, and keeps some records.
const sleeper = `
from cowboy_sdk import actor, set_timer

# Of kind %d.

@actor
class Sleeper:
    def init(self, msg):
        first, apart, count, records = msg.payload
        for i in range(count):
            set_timer(first + i // 8 * apart, "tick", None)
        for i in range(records):
            self.storage[f"record {i}"] = {"number": i, "text": "what an actor keeps " * 4}
        self.storage["ticks"] = 0

    def tick(self, msg):
        self.storage["ticks"] += 1
`

// sleepersABlock is how many timers a sleeper sets for one block.
const sleepersABlock = 8

// sleeperKinds is how many programs the sleepers have.
const sleeperKinds = 4

func sleeperSource(i int) string { return fmt.Sprintf(sleeper, i%sleeperKinds) }

// deploy is the order for an actor, and where it will be.
func deploy(from *Person, source string, salt []byte, init *actor.Init, value chain.Wei) (Order, chain.Address) {
	d := actor.Deployment{
		Source: []byte(source), Salt: salt, Init: init,
		Manifest: manifest.Manifest("econ.hold_balance", "storage.kv", "timer.schedule"),
	}
	return Order{
		From: from, Payload: actor.AppendPayload(nil, &d), Value: value,
		Limit: chain.Usage{Cycles: 1_900_000, Cells: 200_000},
	}, actor.AddressOf(from.Address, salt, d.Source)
}

// message is the order for a call of a handler.
func message(from *Person, to chain.Address, handler string, arg []byte) Order {
	if arg == nil {
		arg = cbor.AppendNull(nil)
	}
	return Order{
		From: from, To: &to, Payload: actor.AppendMessage(nil, handler, arg),
		Limit: chain.Usage{Cycles: 1_900_000, Cells: 100_000},
	}
}

// transfer is the order for a payment.
func transfer(from *Person, to chain.Address, value chain.Wei) Order {
	return Order{From: from, To: &to, Value: value, Limit: chain.Usage{Cycles: 21_000}}
}
