package exec_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/state"
)

// hooked is a hooks actor with bodies of its two handlers.
func hooked(ask, tell string) string {
	return fmt.Sprintf(`
from cowboy_sdk import actor, public, call, send, token_transfer, token_mint, token_approve, token_balance_of, token_set_hook
@actor
class Hooks:
    @public
    def can_transfer(self, msg):
        t = msg.payload
%s
    @public
    def on_transfer(self, msg):
        t = msg.payload
%s
    @public
    def ping(self, msg):
        self.storage["pings"] = (self.storage.get("pings") or 0) + 1
    @public
    def get(self, msg):
        return self.storage.get(msg.payload)
`, ask, tell)
}

func TestTokenHooks(t *testing.T) { // CIP-20; resolution 9.8
	const agree, pass = "        return True", "        pass"
	spin := "        for _ in range(10**9): pass"
	for rule, s := range map[string]struct {
		ask, tell string
		code      uint16
		bob       string
		trace     int
	}{
		"agrees":                  {agree, pass, chain.CodeOK, "10", 0},
		"does not agree":          {"        return False", pass, chain.CodeTokenHook, "0", 0},
		"says nothing":            {pass, pass, chain.CodeTokenHook, "0", 0},
		"says 1":                  {"        return 1", pass, chain.CodeTokenHook, "0", 0},
		"raises":                  {"        raise ValueError('no')", pass, chain.CodeTokenHook, "0", 0},
		"raises when told":        {agree, "        raise ValueError('no')", chain.CodeTokenHook, "0", 0},
		"loops":                   {spin, pass, chain.CodeTokenHook, "0", 0},
		"loops when told":         {agree, spin, chain.CodeTokenHook, "0", 0},
		"judges":                  {"        return msg.sender == '0x' + '16'.rjust(40, '0') and t['amount'] == 10 and t['from'] != t['to']", pass, chain.CodeOK, "10", 0},
		"tells another":           {agree, "        send(self.address, None, 'ping', cycles=1000)", chain.CodeOK, "10", 1},
		"tells another and fails": {agree, "        send(self.address, None, 'ping', cycles=1000)\n        raise ValueError('no')", chain.CodeTokenHook, "0", 0},
		"asks and fails later":    {"        send(self.address, None, 'ping', cycles=1000)\n        return True", "        raise ValueError('no')", chain.CodeTokenHook, "0", 0},
		"gives its own":           {agree, "        token_approve(t['token'], t['to'], 5)", chain.CodeOK, "10", 0},
		"transfers within":        {"        token_transfer(t['token'], t['to'], 1)\n        return True", pass, chain.CodeTokenHook, "0", 0},
	} {
		t.Run(rule, func(t *testing.T) {
			c := newTokenChain(t)
			hooks := c.deploy(hooked(s.ask, s.tell))
			id := c.make(&hooks)
			r := c.do(alice, chain.OpTokenTransfer, tokenID(id), address(bob), amount(10))
			if r.Code != s.code || c.holds(id, bob) != s.bob || len(r.Trace) != s.trace {
				t.Errorf("%s, bob holds %s, %d messages", chain.CodeName(r.Code), c.holds(id, bob), len(r.Trace))
			}
			if r.Code != chain.CodeOK && len(r.Events) != 0 {
				t.Errorf("%d events of what was undone", len(r.Events))
			}
			if most := chain.Cycles(21_000 + 1_000 + 2*50_000); r.CyclesUsed > most || r.CyclesUsed <= 22_000 {
				t.Errorf("%d cycles", r.CyclesUsed)
			}
			_, load, err := actor.LoadOf(state.NewOverlay(c.state), hooks)
			if looped := 72_000 + load; err != nil || rule == "loops" && r.CyclesUsed != looped || rule == "loops when told" && r.CyclesUsed <= looped {
				t.Errorf("a loop was charged %d cycles", r.CyclesUsed)
			}
			if a, b := c.holds(id, alice), c.holds(id, bob); (a == "990") != (b == "10") || a != "990" && a != "1000" {
				t.Errorf("alice holds %s", a)
			}
		})
	}
	c := newTokenChain(t)
	id := c.make(&bob)
	if r := c.do(alice, chain.OpTokenTransfer, tokenID(id), address(carol), amount(10)); r.Code != chain.CodeTokenHook {
		t.Errorf("hooks without code: %s", chain.CodeName(r.Code))
	}
	if r := c.do(alice, chain.OpTokenMint, tokenID(id), address(carol), amount(10)); r.Code != chain.CodeOK {
		t.Errorf("a mint asks nobody: %s", chain.CodeName(r.Code))
	}
}

// TestTokenHooksEveryLimit bisects nothing: each limit of cycles ends in the same
// way however often it is tried, and leaves all or nothing.
func TestTokenHooksEveryLimit(t *testing.T) {
	c := newTokenChain(t)
	hooks := c.deploy(hooked("        return True", "        self.storage['n'] = t['amount']"))
	id := c.make(&hooks)
	full := c.do(alice, chain.OpTokenTransfer, tokenID(id), address(bob), amount(1)).CyclesUsed
	step := max((full-21_000)/60, 1)
	for limit := chain.Cycles(21_000); limit <= full+step; limit += step {
		tx := c.instruction(alice, chain.OpTokenTransfer, tokenID(id), address(bob), amount(1)).Tx
		tx.CyclesLimit = limit
		first, err := c.try(verified(tx, alice))
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.try(verified(tx, alice))
		if err != nil {
			t.Fatal(err)
		}
		r := first.Receipts[0]
		if !bytes.Equal(r.Encode(), again.Receipts[0].Encode()) {
			t.Errorf("limit %d: two tries differ", limit)
		}
		if (r.Code == chain.CodeOK) != (limit >= full) || r.CyclesUsed > limit {
			t.Errorf("limit %d of %d: %s, %d used", limit, full, chain.CodeName(r.Code), r.CyclesUsed)
		}
	}
}

// TestTokenHooksReenter has hooks that hold the token themselves and move it
// within a transfer of it, and callers that are actors.
func TestTokenHooksReenter(t *testing.T) { // whitepaper §12.3
	c := newTokenChain(t)
	hooks := c.deploy(`
from cowboy_sdk import *
@public
def can_transfer(msg):
    if msg.payload["from"] != get_actor_address():
        token_transfer(msg.payload["token"], msg.payload["to"], 5)
    return True
@public
def on_transfer(msg):
    pass
@public
def give(msg):
    token_approve(msg.payload[0], msg.payload[1], 10)
    try:
        token_transfer(msg.payload[0], msg.payload[1], 10**6)
    except CowboyError as e:
        return e.code
`)
	id := c.make(nil)
	if r := c.do(alice, chain.OpTokenTransfer, tokenID(id), address(hooks), amount(100)); r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	if r := c.do(alice, chain.OpTokenHooks, tokenID(id), address(hooks)); r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	sum := func(rule string) {
		t.Helper()
		total := uint64(0)
		for _, a := range []chain.Address{alice, bob, carol, hooks} {
			n, err := token.Balance(c.state, id, a)
			if err != nil {
				t.Fatal(err)
			}
			total += n.Lo
		}
		if total != 1000 {
			t.Errorf("%s: balances add up to %d", rule, total)
		}
	}
	// A hook within a hook's transfer runs on the cycles of the first: a cap that
	// does not reach for both undoes everything.
	c.g.Params.Token.HookMaxCycles = 7_000
	r := c.do(alice, chain.OpTokenTransfer, tokenID(id), address(bob), amount(10))
	if r.Code != chain.CodeTokenHook || c.holds(id, bob) != "0" || r.CyclesUsed > 122_000 {
		t.Errorf("reentered: %s, bob holds %s, %d cycles", chain.CodeName(r.Code), c.holds(id, bob), r.CyclesUsed)
	}
	sum("undone")
	c.g.Params.Token.HookMaxCycles = 400_000
	r = c.do(alice, chain.OpTokenTransfer, tokenID(id), address(bob), amount(10))
	if r.Code != chain.CodeOK || c.holds(id, bob) != "15" || c.holds(id, hooks) != "95" || len(r.Events) != 2 {
		t.Errorf("reentered with room: %s, bob holds %s, hooks %s", chain.CodeName(r.Code), c.holds(id, bob), c.holds(id, hooks))
	}
	sum("done")
	arg := append([]byte{0x82}, append(text("0x"+hex.EncodeToString(id[:])), text(carol.String())...)...)
	r = c.block(c.program(alice, &hooks, actor.AppendMessage(nil, "give", arg))).Receipts[0]
	if r.Code != chain.CodeOK || !bytes.Equal(r.Output, text("E1101")) {
		t.Errorf("by the hooks themselves: %s, %q", chain.CodeName(r.Code), r.Output)
	}
	sum("refused")
}

// TestTokenHooksOfCallers charges an actor for the hooks of what it moves, and
// undoes with it.
func TestTokenHooksOfCallers(t *testing.T) {
	c := newTokenChain(t)
	hooks := c.deploy(hooked("        return t['amount'] < 100", "        self.storage['n'] = t['amount']"))
	mover := c.deploy(`
from cowboy_sdk import *
@public
def move(msg):
    id, to, n = msg.payload
    token_transfer(id, to, n)
@public
def both(msg):
    id, to, n = msg.payload
    token_transfer(id, to, 1)
    try:
        token_transfer_batch(id, [(to, 2), (to, n)])
    except CallFailed as e:
        return e.code
`)
	id := c.make(&hooks)
	if r := c.do(alice, chain.OpTokenHooks, tokenID(id), null); r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	c.do(alice, chain.OpTokenTransfer, tokenID(id), address(mover), amount(500))
	ask := func(handler string, n uint64) chain.Receipt {
		arg := append([]byte{0x83}, append(text("0x"+hex.EncodeToString(id[:])), text(bob.String())...)...)
		return c.block(c.program(alice, &mover, actor.AppendMessage(nil, handler, append(arg, amount(n)...)))).Receipts[0]
	}
	plain := ask("move", 1)
	c.do(alice, chain.OpTokenHooks, tokenID(id), address(hooks))
	asked := ask("move", 1)
	if plain.Code != chain.CodeOK || asked.Code != chain.CodeOK || asked.CyclesUsed < plain.CyclesUsed+5_000 {
		t.Errorf("%d cycles without hooks, %d with", plain.CyclesUsed, asked.CyclesUsed)
	}
	if r := ask("move", 100); r.Code != chain.CodeReverted || c.holds(id, bob) != "2" {
		t.Errorf("refused: %s", chain.CodeName(r.Code))
	}
	if r := ask("both", 100); r.Code != chain.CodeOK || !bytes.Equal(r.Output, text("E1601")) || c.holds(id, bob) != "3" || len(r.Events) != 1 {
		t.Errorf("caught: %s, %q, bob holds %s", chain.CodeName(r.Code), r.Output, c.holds(id, bob))
	}
}
