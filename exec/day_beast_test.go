package exec_test

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// beast does what it is told, one operation after the other. It counts what
// reaches it and says what it sends, so that both can be held to the receipts.
const beast = `
from cowboy_sdk import (
    actor, public, emit_event, send, call, transfer, get_balance, spawn, create_deferred_tx, current_block, rent, storage, CowboyError,
    schedule_timer_ex, extend_timer, cancel_timer,
    token_create, token_transfer, token_transfer_batch, token_transfer_from, token_approve, token_mint, token_burn,
)

@actor
class Beast:
    @public
    def init(self, msg):
        self.storage["got"] = 0
        self.storage["ticks"] = 0
        for i in range(msg.payload):
            self.storage["k" + str(i)] = "x" * 900

    @public
    def count(self, msg):
        self.storage["got"] += 1

    @public
    def relay(self, msg):
        self.storage["got"] += 1
        if msg.payload:
            self.tell(self.address, msg.payload - 1, "relay", 0, 30_000 * msg.payload)

    @public
    def tick(self, msg):
        self.storage["ticks"] += 1
        if msg.payload:
            self.tell(self.address, 0, "count", 0, 30_000)

    @public
    def getGasBid(self, msg):
        height = msg.payload["current_block_height"]
        if height % 5 == 0:
            raise ValueError("no bid today")
        return {"tip": height % 7, "max_fee": height % 11 * 3}

    @public
    def can_transfer(self, msg):
        return msg.payload["amount"] % 4 != 0

    @public
    def on_transfer(self, msg):
        self.tell(self.address, 0, "count", 0, 10_000)

    @public
    def act(self, msg):
        for op, *args in msg.payload:
            try:
                getattr(self, "do_" + op)(*args)
            except CowboyError as e:
                emit_event("refused", e.code)

    def tell(self, to, payload, handler, value, cycles):
        emit_event("sent", send(to, payload, handler, value=value, cycles=cycles))

    def do_set(self, key, size):
        self.storage["k" + str(key)] = "x" * size

    def do_drop(self, key):
        self.storage.delete("k" + str(key))

    def do_scan(self, limit):
        self.storage["seen"] = [key for key, _ in storage.scan("k", limit)]

    def do_send(self, to, cycles, value):
        self.tell(to, 0, "count", value, cycles)

    def do_relay(self, steps):
        self.tell(self.address, steps, "relay", 0, 30_000 * (steps + 1))

    def do_defer(self, to, handler, ahead, value):
        at = current_block() + ahead
        emit_event("deferred", [create_deferred_tx(to, handler, 0, height=at, value=value, cycles_limit=30_000, cells_limit=200), to])

    def do_call(self, to):
        call(to, "act", [["set", 1, 10], ["send", self.address, 30_000, 0]])

    def do_loop(self, to):
        call(to, "act", [["loop", self.address]])

    def do_pay(self, to, amount):
        transfer(to, min(amount, get_balance(self.address)))

    def do_ruin(self, to, ahead):
        schedule_timer_ex(current_block() + ahead, "tick", 0, cycles_limit=40_000, cells_limit=2000)
        for i in range(4):
            self.storage["k" + str(i)] = "x" * 900
        transfer(to, get_balance(self.address))

    def do_bear(self, salt):
        spawn(bytes([salt]), init=0)

    def do_timer(self, ahead, every, to, bidder, cycles):
        self.storage["timer"] = schedule_timer_ex(
            current_block() + ahead, "tick", ahead % 2, every=every, target=to, gba=bidder, cycles_limit=cycles, cells_limit=2000)

    def do_extend(self, ahead):
        if "timer" in self.storage:
            extend_timer(self.storage["timer"], current_block() + ahead)

    def do_cancel(self):
        if "timer" in self.storage:
            cancel_timer(self.storage["timer"])
            self.storage.delete("timer")

    def do_rent(self, epochs):
        rent.prepay(epochs=epochs)

    def do_bond(self, size):
        storage.bond(size)

    def do_coin(self, supply, hook):
        token_create("Beast coin", "BST", 2, supply, None, hook)

    def do_give(self, token, to, amount):
        token_transfer(token, to, amount)

    def do_share(self, token, to, amount):
        token_transfer_batch(token, [[to, amount], [self.address, 1], [to, 1]])

    def do_take(self, token, owner, amount):
        token_transfer_from(token, owner, self.address, amount)

    def do_allow(self, token, to, amount):
        token_approve(token, to, amount)

    def do_mint(self, token, to, amount):
        token_mint(token, to, amount)

    def do_melt(self, token, amount):
        token_burn(token, amount)

    def do_burn(self, n):
        for _ in range(n):
            pass

    def do_fail(self):
        raise ValueError("told to")
`

// Bounds, so that neither herd nor tokens grow without end.
const (
	breeders = 8  // beasts that have children: theirs have none
	mints    = 20 // tokens, about
)

// tell is a message to a beast: a few operations, and now and then money.
func (d *day) tell(from chain.Address) *chain.Tx {
	at := d.rng.IntN(len(d.herd))
	n := 1 + d.rng.IntN(4)
	ops := cbor.AppendArray(nil, n)
	for range n {
		ops = d.operation(ops, at < breeders)
	}
	to := d.herd[at]
	if spurned(to) && d.chance(4) {
		ops = call(cbor.AppendArray(nil, 1), "ruin", d.someone(), 70+d.rng.Uint64N(60))
	}
	tx := d.c.program(from, &to, actor.AppendMessage(nil, "act", ops)).Tx
	tx.CyclesLimit = chain.Cycles(60_000 + d.rng.Uint64N(600_000))
	if l, err := actor.ReadQuota(d.ground, to); err == nil && !d.chance(20) {
		tx.CyclesLimit = max(60_000, min(tx.CyclesLimit, l.Left(&d.c.g.Params.Actor, d.height+1)))
	}
	tx.CellsLimit = chain.Cells(500 + d.rng.Uint64N(40_000))
	if may, err := actor.MayHold(d.ground, to); err == nil && !spurned(to) && (may && d.chance(2) || d.chance(8)) {
		tx.Value = chain.Wei(d.rng.Uint64N(100 * uint64(chain.WeiPerCBY)))
	}
	return tx
}

// spurned beasts get no money once they are there and spend what they have, so
// that they are evicted with timers that still wait.
func spurned(a chain.Address) bool { return a[19]%3 == 0 }

// operation appends one of the beast's operations.
func (d *day) operation(b []byte, bears bool) []byte {
	n := d.rng.Uint64N
	peer := d.beast()
	coins := n(uint64(2 * chain.WeiPerCBY))
	switch d.rng.IntN(29) {
	case 0, 1, 2, 3:
		return call(b, "set", n(20), n(3_000))
	case 4:
		return call(b, "drop", n(20))
	case 5, 6:
		return call(b, "send", peer, 20_000+n(100_000), n(2)*coins)
	case 7:
		return call(b, "relay", n(12))
	case 8, 9:
		return call(b, "defer", peer, []string{"count", "count", "nobody"}[n(3)], 1+n(12), n(2)*coins)
	case 10:
		return call(b, "call", peer)
	case 11:
		return call(b, "loop", peer)
	case 12, 13:
		return call(b, "pay", d.someone(), n(uint64(80*chain.WeiPerCBY)))
	case 14:
		if bears {
			return call(b, "bear", n(3))
		}
		return call(b, "burn", n(2_000))
	case 15, 16, 17:
		return call(b, "timer", 1+n(90), n(2)*n(12), []any{nil, peer}[n(2)], []any{nil, nil, peer}[n(3)], 40_000+n(60_000))
	case 18:
		return call(b, "extend", n(100))
	case 19:
		return call(b, "cancel")
	case 20:
		return call(b, "rent", 1+n(50))
	case 21:
		return call(b, "bond", 5_000+n(18_000))
	case 22:
		return call(b, "burn", n(30_000))
	case 23:
		return call(b, "fail")
	case 24:
		return call(b, "scan", 1+n(30))
	}
	return d.tokenOperation(b, peer)
}

// tokenOperation appends one that is about tokens.
func (d *day) tokenOperation(b []byte, peer chain.Address) []byte {
	n := d.rng.Uint64N
	id := d.token()
	switch d.rng.IntN(8) {
	case 0:
		if len(d.tokens) < mints {
			return call(b, "coin", n(1_000_000), []any{nil, peer}[n(2)])
		}
		return call(b, "melt", id, n(3_000))
	case 1, 2:
		return call(b, "give", id, d.anybody(), n(5_000))
	case 3:
		return call(b, "share", id, d.anybody(), n(500))
	case 4:
		return call(b, "take", id, d.anybody(), n(500))
	case 5:
		return call(b, "allow", id, d.anybody(), n(5_000))
	case 6:
		return call(b, "mint", id, d.anybody(), n(100_000))
	}
	return call(b, "melt", id, n(3_000))
}

// call appends [name, argument, …]; addresses and hashes become text, as programs
// know them.
func call(b []byte, name string, args ...any) []byte {
	b = cbor.AppendText(cbor.AppendArray(b, 1+len(args)), name)
	for _, a := range args {
		switch a := a.(type) {
		case nil:
			b = cbor.AppendNull(b)
		case uint64:
			b = cbor.AppendUint(b, a)
		case string:
			b = cbor.AppendText(b, a)
		case chain.Address:
			b = cbor.AppendText(b, a.String())
		case chain.Hash:
			b = cbor.AppendText(b, a.String())
		}
	}
	return b
}
