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
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

const users = 6

func user(i int) chain.Address { return chain.Address{0: byte(0x10 + i), 19: 7} }

// rich is what each user has at first.
const rich = 1_000_000 * chain.WeiPerCBY

// newState returns a state in which the users are rich.
func newState() *statetest.Maps {
	d := state.NewDelta()
	for i := range users {
		a := state.NewAccount()
		a.Balance = rich
		d.SetAccount(user(i), a)
	}
	supply := cbor.AppendUints(nil, users*uint64(rich), 0, 0, 0, users*uint64(rich)) // issued, burned, year, total at its start
	d.SetStorage(chain.AddrTreasury, state.NewStorageKey(state.VMNamespaceSystem, []byte("supply")), supply)
	return statetest.NewMaps(d)
}

func inputs(p *params.Params, h chain.Height) exec.Inputs {
	in := exec.Inputs{
		Params: p, ChainID: 1, Height: h, TimestampMillis: 1000 * uint64(h), Proposer: user(0),
		Validators: []chain.Validator{{Stake: 100, RewardAddress: user(1)}},
	}
	for lane := range in.BaseFees {
		in.BaseFees[lane] = chain.FeePair{PerCycle: 1, PerCell: 1}
	}
	return in
}

// engines returns n of them, with one runtime.
func engines(t testing.TB, n int) []*pvm.Engine {
	t.Helper()
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	list := make([]*pvm.Engine, n)
	for i := range list {
		list[i] = pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits())
	}
	return list
}

// source conflicts on purpose. Every handler takes [target, amount, rest], rest the
// argument of what it calls or sends.
const source = `
from cowboy_sdk import (
    actor, public, emit_event, send, call, transfer, get_balance, current_block,
    schedule_timer_ex, cancel_timer, spawn, create_deferred_tx)

@actor
class Chaos:
    @public
    def init(self, msg):
        self.storage["n"] = 0

    @public
    def bump(self, msg):
        self.storage["n"] = self.storage["n"] + 1
        emit_event("bumped", self.storage["n"])
        return self.storage["n"]

    @public
    def swap(self, msg):
        a, b = f"k{msg.payload[1] % 5}", f"k{msg.payload[1] % 3}"
        x, y = self.storage.get(a, 1), self.storage.get(b, 2)
        self.storage[a], self.storage[b] = y, x + 1
        return x

    @public
    def drop(self, msg):
        self.storage.delete(f"k{msg.payload[1] % 5}")

    @public
    def look(self, msg):
        found = self.storage.scan("k", msg.payload[1] % 7)
        emit_event("found", found)
        return len(found)

    @public
    def shift(self, msg):
        amount = msg.payload[1]
        for key, value in self.storage.scan(["k", "k1", ""][amount % 3], 3):
            if key[0] == "k":
                self.storage.delete(key)
                self.storage[f"k{(value + amount) % 23}"] = value + 1
        self.storage["seen"] = len(self.storage.scan("k"))

    @public
    def pay(self, msg):
        transfer(msg.payload[0], msg.payload[1] % 7)

    @public
    def sweep(self, msg):
        transfer(msg.payload[0], get_balance(self.address) // 2)
        return get_balance(msg.payload[0])

    @public
    def tell(self, msg):
        target, amount, rest = msg.payload
        for i in range(amount % 3 + 1):
            send(target, rest, ["bump", "shift", "relay", "fail"][(amount + i) % 4], 0, 60000)

    @public
    def ask(self, msg):
        target, amount, rest = msg.payload
        try:
            got = call(target, ["bump", "look", "fail", "sweep", "shift"][amount % 5], rest)
        except Exception:
            got = -1
        self.storage["got"] = got
        return got

    @public
    def relay(self, msg):
        self.storage["n"] = self.storage["n"] + 2
        send(msg.payload[0], msg.payload, "bump", 0, 50000)

    @public
    def later(self, msg):
        target, amount, rest = msg.payload
        create_deferred_tx(target, ["bump", "relay", "fail"][amount % 3], msg.payload, value=amount % 2, cycles_limit=60000)

    @public
    def bear(self, msg):
        target, amount, rest = msg.payload
        child = spawn(bytes([amount % 9]))
        send(child, rest, "init", cycles=60000)
        return child

    @public
    def timer(self, msg):
        amount = msg.payload[1]
        self.storage["timer"] = schedule_timer_ex(
            current_block() + 1 + amount % 3, ["bump", "swap", "fail"][amount % 3], msg.payload,
            every=amount % 2, cycles_limit=30000 + 1000 * amount, cells_limit=300)

    @public
    def never(self, msg):
        return cancel_timer(self.storage["timer"])

    @public
    def fail(self, msg):
        self.storage["n"] = 1000
        transfer(msg.payload[0], 1)
        raise ValueError("no")

    @public
    def spin(self, msg):
        n = 0
        for i in range(msg.payload[1] * 10):
            n += i
        return n
`

var handlers = []string{"bump", "bump", "swap", "drop", "look", "look", "shift", "shift", "pay", "sweep", "tell", "ask", "ask", "relay", "later", "later", "bear", "fail", "spin", "missing", "timer", "timer", "never"}

// deployment is of one of three codes that do the same: which of them a block has used
// is what its messages disagree about.
func deployment(salt byte, ids ...string) *actor.Deployment {
	return &actor.Deployment{
		Source: []byte(source + strings.Repeat("#", int(salt%3))), Salt: []byte{salt}, Manifest: manifest.Manifest(ids...),
		Init: &actor.Init{Handler: "init", Payload: cbor.AppendNull(nil)},
	}
}

// argument is [target, amount, rest], so many levels deep.
func argument(target chain.Address, amount uint64, depth int) []byte {
	b := cbor.AppendArray(nil, 3)
	b = cbor.AppendUint(cbor.AppendBytes(b, target[:]), amount)
	if depth == 0 {
		return cbor.AppendNull(b)
	}
	return append(b, argument(target, amount+1, depth-1)...)
}

func verified(tx *chain.Tx, from chain.Address) *chain.VerifiedTx {
	tx.ChainID, tx.MaxFeePerCycle, tx.MaxFeePerCell, tx.TipPerCycle = 1, 10, 10, 2
	tx.Signature = &chain.TxSignature{R: [32]byte{1}, S: [32]byte{1}}
	body := tx.Encode()
	v := &chain.VerifiedTx{Tx: tx, Body: body, Hash: chain.TxHash(body), Sender: from, Lane: chain.LaneUser}
	if ins, err := tx.Classify(); err == nil {
		v.Lane = ins.Lane
	}
	return v
}

// text writes out all of a result, or the error.
func text(r exec.Result, err error) string {
	var s strings.Builder
	if err != nil {
		return "error: " + err.Error()
	}
	for i := range r.Receipts {
		fmt.Fprintf(&s, "%x\n", r.Receipts[i].Encode())
	}
	fmt.Fprintln(&s, r.Used, r.Burned, r.Issued, r.Tips)
	for _, c := range r.Delta.Accounts() {
		fmt.Fprintln(&s, c.Address, c.Cleared, c.Account)
		for _, w := range c.Storage {
			fmt.Fprintf(&s, "  %q %v %x\n", w.Key, w.Value == nil, w.Value)
		}
	}
	for _, c := range r.Delta.Codes() {
		fmt.Fprintln(&s, c.Hash, len(c.Code))
	}
	return s.String()
}
