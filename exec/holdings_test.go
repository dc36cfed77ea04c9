package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/state"
)

func TestHoldBalance(t *testing.T) { // E23; resolution 11.25
	c := oneValidator(t)
	c.engine = testEngine(t)
	holder, _ := c.deploy(alice, gated, manifestOf(hold, limited(manifest.Transfer)))
	passer, _ := c.deploy(alice, gated, manifestOf(limited(manifest.Transfer)))
	for _, tt := range []struct {
		to      chain.Address
		handler string
		value   chain.Wei
		want    uint16
	}{
		{holder, "keep", 5, chain.CodeOK},
		{passer, "keep", 0, chain.CodeOK},
		{passer, "keep", 1, chain.CodeBalanceHeld},
		{passer, "pass_on", 5, chain.CodeOK},
	} {
		before := c.state.Balance(tt.to)
		r := c.call(tt.to, tt.handler, tt.value)
		if r.Code != tt.want {
			t.Errorf("%s with %d: %s, want %s", tt.handler, tt.value, chain.CodeName(r.Code), chain.CodeName(tt.want))
		}
		if got := c.state.Balance(tt.to); tt.want != chain.CodeOK && got != before {
			t.Errorf("%s: balance %d, was %d", tt.handler, got, before)
		}
	}
	// Deposit and escrow of a timer come back to it.
	returner, _ := c.deploy(alice, clockwork, manifestOf(limited(manifest.Schedule)))
	c.fund(returner, 20*chain.WeiPerCBY)
	id := textOf(t, c.ask(returner, "at", uintArg(uint64(c.height)+50)).Output)
	before := c.state.Balance(returner)
	if r := c.ask(returner, "cancel", id); r.Code != chain.CodeOK || c.state.Balance(returner) < before+c.g.Params.Timer.BaseDeposit {
		t.Errorf("a deposit that comes back: %s, balance %d after %d", chain.CodeName(r.Code), c.state.Balance(returner), before)
	}
	id = textOf(t, c.ask(returner, "at", uintArg(uint64(c.height)+50)).Output)
	tx := c.program(alice, &returner, actor.AppendMessage(nil, "cancel", id)).Tx
	tx.Value = 1
	if r := c.block(verified(tx, alice)).Receipts[0]; r.Code != chain.CodeBalanceHeld {
		t.Errorf("a deposit that comes back and a unit besides: %s", chain.CodeName(r.Code))
	}
	// A plain transfer reaches it by no way: the program catches the refusal.
	giver := "from cowboy_sdk import actor, public, transfer, EntitlementMissing\n@actor\nclass G:\n    @public\n    def give(self, msg):\n" +
		"        try:\n            transfer(msg.payload, 1)\n        except EntitlementMissing:\n            return 1\n"
	g, _ := c.deploy(alice, giver, manifestOf(hold, limited(manifest.Transfer)))
	c.fund(g, 10)
	for _, tt := range []struct {
		to   chain.Address
		want string
	}{{passer, "\x01"}, {holder, "\xf6"}, {carol, "\xf6"}} {
		if r := c.ask(g, "give", cbor.AppendText(nil, tt.to.String())); r.Code != chain.CodeOK || string(r.Output) != tt.want {
			t.Errorf("transfer to %s: %s %x", tt.to, chain.CodeName(r.Code), r.Output)
		}
	}
	c.g.Params.Actor.EnforceHoldBalance = false
	if r := c.call(passer, "keep", 1); r.Code != chain.CodeOK {
		t.Errorf("rule switched off: %s", chain.CodeName(r.Code))
	}
}

// pockets tries to keep what it is given by ways that only seem to be none.
const pockets = `
from cowboy_sdk import actor, public, storage, set_timer, cancel_timer, transfer, spawn

CHILD = "from cowboy_sdk import actor\n@actor\nclass Child:\n    pass\n"

@actor
class Pockets:
    @public
    def bond(self, msg):
        for _ in range(200):
            storage.bond(1049576)
            storage.bond(1048576)

    @public
    def clock(self, msg):
        timer = set_timer(100000, "clock")
        if msg.payload:
            cancel_timer(timer)

    @public
    def feed(self, msg):
        transfer(msg.payload[0], 7)
        return spawn(b"s", CHILD, entitlements=msg.payload[1])
`

// TestHoldBalanceToAndFro is money that goes out and comes back within one
// transaction, which refunds nothing, and money that waits where an actor will be.
func TestHoldBalanceToAndFro(t *testing.T) { // E23; resolution 11.25
	c := oneValidator(t)
	c.engine = testEngine(t)
	a, _ := c.deploy(alice, pockets, manifestOf(kv, limited(manifest.Schedule)))
	timer := &c.g.Params.Timer
	timer.MinBaseFee = timer.InitialBaseFee // it stays
	_, load, err := actor.LoadOf(state.NewOverlay(c.state), a)
	if err != nil {
		t.Fatal(err)
	}
	locked := timer.BaseDeposit + chain.Wei(timer.EscrowMultiple)*chain.Wei(timer.DefaultCycles+load+chain.Cycles(timer.DefaultCells))
	ask := func(to chain.Address, handler string, arg []byte, value chain.Wei) chain.Receipt {
		tx := c.program(alice, &to, actor.AppendMessage(nil, handler, arg)).Tx
		tx.Value = value
		return c.block(verified(tx, alice)).Receipts[0]
	}
	for _, tt := range []struct {
		rule, handler string
		arg           []byte
		value         chain.Wei
		want          uint16
	}{
		{"a bond that is dissolved again", "bond", cbor.AppendNull(nil), 150 * chain.WeiPerCBY, chain.CodeBalanceHeld},
		{"a timer that is cancelled again", "clock", cbor.AppendBool(nil, true), locked + timer.InitialBaseFee, chain.CodeBalanceHeld},
		{"a timer that stays", "clock", cbor.AppendBool(nil, false), locked + timer.InitialBaseFee, chain.CodeOK},
	} {
		if r := ask(a, tt.handler, tt.arg, tt.value); r.Code != tt.want || c.state.Balance(a) != 0 {
			t.Errorf("%s: %s, balance %d", tt.rule, chain.CodeName(r.Code), c.state.Balance(a))
		}
	}

	p, _ := c.deploy(alice, pockets, manifestOf(hold, limited(manifest.Transfer), limited(manifest.Spawn)))
	child := actor.AddressOf(p, []byte("s"), []byte("from cowboy_sdk import actor\n@actor\nclass Child:\n    pass\n"))
	feed := func(list []byte) []byte { return append(cbor.AppendBytes(cbor.AppendArray(nil, 2), child[:]), list...) }
	if r := ask(p, "feed", feed(manifest.Grants{}.Append(nil)), 10); r.Code != chain.CodeBalanceHeld || c.state.Balance(child) != 0 {
		t.Errorf("fed before it was born: %s, balance %d", chain.CodeName(r.Code), c.state.Balance(child))
	}
	if r := ask(p, "feed", feed(manifest.Grants{hold}.Append(nil)), 10); r.Code != chain.CodeOK || c.state.Balance(child) != 7 {
		t.Errorf("fed one that may hold it: %s, balance %d", chain.CodeName(r.Code), c.state.Balance(child))
	}
}
