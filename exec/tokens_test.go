package exec_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/entitle"
	"github.com/cowboy-foundation/cowboy/exec/token"
)

// tokenChain is a chain on which alice has deployed actors and made tokens.
type tokenChain struct {
	*testChain
	salt byte
}

func newTokenChain(t testing.TB) *tokenChain {
	c := oneValidator(t)
	c.engine = testEngine(t)
	return &tokenChain{testChain: c}
}

// deploy makes an actor of alice's.
func (c *tokenChain) deploy(source string) chain.Address {
	c.t.Helper()
	c.salt++
	d := actor.Deployment{Source: []byte(source), Salt: []byte{c.salt}, Manifest: entitle.Manifest("storage.kv")}
	if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))).Receipts[0]; r.Code != chain.CodeOK {
		c.t.Fatalf("deploy: %s", chain.CodeName(r.Code))
	}
	return actor.AddressOf(alice, d.Salt, d.Source)
}

// instruction is a transaction to the tokens with these arguments.
func (c *tokenChain) instruction(from chain.Address, opcode uint64, args ...[]byte) *chain.VerifiedTx {
	to := chain.AddrTokens
	return c.program(from, &to, tokenPayload(opcode, args...))
}

func tokenPayload(opcode uint64, args ...[]byte) []byte {
	b := cbor.AppendUint(cbor.AppendArray(nil, 1+len(args)), opcode)
	return append(b, bytes.Join(args, nil)...)
}

func (c *tokenChain) do(from chain.Address, opcode uint64, args ...[]byte) chain.Receipt {
	c.t.Helper()
	return c.block(c.instruction(from, opcode, args...)).Receipts[0]
}

// make creates a token of 1,000 units of alice's.
func (c *tokenChain) make(hooks *chain.Address) token.ID {
	c.t.Helper()
	r := c.do(alice, chain.OpTokenCreate, text("Gold"), text("GLD"), amount(2), amount(1000), null, token.AppendAddress(nil, hooks))
	reader := cbor.NewReader(r.Output)
	var id token.ID
	if err := reader.BytesInto(id[:]); err != nil || r.Code != chain.CodeOK {
		c.t.Fatalf("create: %s, %v", chain.CodeName(r.Code), err)
	}
	return id
}

func (c *tokenChain) holds(id token.ID, a chain.Address) string {
	c.t.Helper()
	n, err := token.Balance(c.state, id, a)
	if err != nil {
		c.t.Fatal(err)
	}
	return n.String()
}

var null = []byte{0xf6}

func text(s string) []byte           { return cbor.AppendText(nil, s) }
func amount(n uint64) []byte         { return cbor.AppendUint(nil, n) }
func address(a chain.Address) []byte { return cbor.AppendBytes(nil, a[:]) }
func tokenID(id token.ID) []byte     { return cbor.AppendBytes(nil, id[:]) }
func pair(a chain.Address, n uint64) []byte {
	return append(append([]byte{0x82}, address(a)...), amount(n)...)
}

func payments(pairs ...[]byte) []byte {
	return append(cbor.AppendArray(nil, len(pairs)), bytes.Join(pairs, nil)...)
}

func TestTokenInstructions(t *testing.T) { // resolution 11.46; whitepaper §17.3
	c := newTokenChain(t)
	id := c.make(nil)
	if want := token.NewID(alice, "GLD", 0); id != want {
		t.Fatalf("id %s, want %s", id, want)
	}
	costs := c.g.Params.Token
	for _, s := range []struct {
		rule   string
		from   chain.Address
		opcode uint64
		args   [][]byte
		code   uint16
		cycles chain.Cycles
		cells  chain.Cells
		event  string
	}{
		{"transfer", alice, chain.OpTokenTransfer, [][]byte{address(bob), amount(300)}, chain.CodeOK, costs.TransferCycles, 64, "token_transfer"},
		{"more than there is", alice, chain.OpTokenTransfer, [][]byte{address(bob), amount(701)}, chain.CodeTokenBalance, costs.TransferCycles, 64, ""},
		{"approve", bob, chain.OpTokenApprove, [][]byte{address(alice), amount(100)}, chain.CodeOK, costs.ApproveCycles, 32, "token_approve"},
		{"beyond the allowance", alice, chain.OpTokenTransferFrom, [][]byte{address(bob), address(alice), amount(101)}, chain.CodeTokenAllowance, costs.TransferFromCycles, 96, ""},
		{"transfer from", alice, chain.OpTokenTransferFrom, [][]byte{address(bob), address(alice), amount(100)}, chain.CodeOK, costs.TransferFromCycles, 96, "token_transfer"},
		{"mint another's", bob, chain.OpTokenMint, [][]byte{address(bob), amount(1)}, chain.CodeForbidden, costs.MintCycles, 64, ""},
		{"mint", alice, chain.OpTokenMint, [][]byte{address(bob), amount(50)}, chain.CodeOK, costs.MintCycles, 64, "token_mint"},
		{"burn", bob, chain.OpTokenBurn, [][]byte{amount(50)}, chain.CodeOK, costs.BurnCycles, 64, "token_burn"},
		{"freeze", alice, chain.OpTokenFreeze, [][]byte{address(bob)}, chain.CodeOK, costs.AdminCycles, 32, "token_freeze"},
		{"frozen", bob, chain.OpTokenTransfer, [][]byte{address(alice), amount(1)}, chain.CodeTokenFrozen, costs.TransferCycles, 64, ""},
		{"unfreeze", alice, chain.OpTokenUnfreeze, [][]byte{address(bob)}, chain.CodeOK, costs.AdminCycles, 32, "token_unfreeze"},
		{"batch, one too many", alice, chain.OpTokenBatch, [][]byte{payments(pair(bob, 1), pair(bob, 800))}, chain.CodeTokenBalance, 1500, 128, ""},
		{"batch of none", alice, chain.OpTokenBatch, [][]byte{payments()}, chain.CodeBadArgument, 500, 0, ""},
		{"batch", alice, chain.OpTokenBatch, [][]byte{payments(pair(bob, 1), pair(bob, 2))}, chain.CodeOK, 1500, 128, "token_transfer"},
		{"hooks of nobody", alice, chain.OpTokenHooks, [][]byte{null}, chain.CodeOK, costs.AdminCycles, 32, "token_hooks"},
		{"owner none", alice, chain.OpTokenOwner, [][]byte{null}, chain.CodeOK, costs.AdminCycles, 32, "token_ownership"},
		{"nobody mints", alice, chain.OpTokenMint, [][]byte{address(bob), amount(1)}, chain.CodeForbidden, costs.MintCycles, 64, ""},
	} {
		args := append([][]byte{tokenID(id)}, s.args...)
		r := c.do(s.from, s.opcode, args...)
		payload := chain.Cells(len(tokenPayload(s.opcode, args...)))
		if r.Code != s.code || r.CyclesUsed != 21_000+s.cycles || r.CellsUsed != payload+s.cells {
			t.Errorf("%s: %s, %d cycles, %d cells", s.rule, chain.CodeName(r.Code), r.CyclesUsed-21_000, r.CellsUsed-payload)
		}
		if name := eventNames(r); s.event != "" && !strings.HasPrefix(name, s.event) || s.event == "" && name != "" {
			t.Errorf("%s: events %q", s.rule, name)
		}
	}
	if a, b := c.holds(id, alice), c.holds(id, bob); a != "797" || b != "203" {
		t.Errorf("alice holds %s, bob %s", a, b)
	}
	r := c.do(alice, chain.OpTokenTransfer, tokenID(token.ID{9}), address(bob), amount(0))
	if r.Code != chain.CodeNotFound {
		t.Errorf("no such token: %s", chain.CodeName(r.Code))
	}
}

func eventNames(r chain.Receipt) string {
	var names []string
	for _, e := range r.Events {
		names = append(names, e.Name)
	}
	return strings.Join(names, " ")
}

func TestTokenInstructionForms(t *testing.T) { // bad input
	c := newTokenChain(t)
	id := c.make(nil)
	tx := c.instruction(alice, chain.OpTokenTransfer, tokenID(id), address(bob), amount(1)).Tx
	tx.Value = 5
	before := c.state.Balance(chain.AddrTokens)
	if r := c.block(verified(tx, alice)).Receipts[0]; r.Code != chain.CodeBadArgument || c.state.Balance(chain.AddrTokens) != before {
		t.Errorf("value: %s", chain.CodeName(r.Code))
	}
	wide := append([]byte{0x50}, bytes.Repeat([]byte{0xff}, 16)...)
	if r := c.do(alice, chain.OpTokenTransfer, tokenID(id), address(bob), wide); r.Code != chain.CodeTokenBalance {
		t.Errorf("2^128-1: %s", chain.CodeName(r.Code))
	}
	long := text(strings.Repeat("n", 65))
	if r := c.do(alice, chain.OpTokenCreate, long, text("S"), amount(0), amount(0), null, null); r.Code != chain.CodeBadArgument {
		t.Errorf("long name: %s", chain.CodeName(r.Code))
	}
	if r := c.do(alice, chain.OpTokenCreate, text("n"), text("S"), amount(1<<40), amount(0), null, null); r.Code != chain.CodeBadArgument {
		t.Errorf("decimals: %s", chain.CodeName(r.Code))
	}
	for name, args := range map[string][][]byte{
		"amount as short bytes": {tokenID(id), address(bob), {0x41, 5}},
		"amount as text":        {tokenID(id), address(bob), text("5")},
		"17 bytes":              {tokenID(id), address(bob), append([]byte{0x51, 1}, make([]byte, 16)...)},
		"address of 19":         {tokenID(id), append([]byte{0x53}, make([]byte, 19)...), amount(1)},
		"one too few":           {tokenID(id), address(bob)},
	} {
		if _, err := c.try(c.instruction(alice, chain.OpTokenTransfer, args...)); err == nil {
			t.Errorf("%s stands in a block", name)
		}
	}
	// The limit at every step: enough, or everything undone and charged.
	need := chain.Cycles(21_000 + 1_000)
	for _, limit := range []chain.Cycles{21_000, need - 1, need} {
		tx := c.instruction(alice, chain.OpTokenTransfer, tokenID(id), address(bob), amount(1)).Tx
		tx.CyclesLimit = limit
		r := c.block(verified(tx, alice)).Receipts[0]
		if want := limit == need; (r.Code == chain.CodeOK) != want || r.CyclesUsed != limit {
			t.Errorf("limit %d: %s, %d used", limit, chain.CodeName(r.Code), r.CyclesUsed)
		}
	}
	cells := chain.Cells(len(tokenPayload(chain.OpTokenTransfer, tokenID(id), address(bob), amount(1)))) + 64
	for _, limit := range []chain.Cells{cells - 64, cells - 1, cells} {
		tx := c.instruction(alice, chain.OpTokenTransfer, tokenID(id), address(bob), amount(1)).Tx
		tx.CellsLimit = limit
		r := c.block(verified(tx, alice)).Receipts[0]
		want := chain.CodeCellsExhausted
		if limit == cells {
			want = chain.CodeOK
		}
		if r.Code != want || r.CellsUsed != limit {
			t.Errorf("limit of %d cells: %s, %d used", limit, chain.CodeName(r.Code), r.CellsUsed)
		}
	}
	if got := c.holds(id, bob); got != "2" {
		t.Errorf("bob holds %s", got)
	}
}

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
			if rule == "loops" && r.CyclesUsed != 72_000 || rule == "loops when told" && r.CyclesUsed <= 72_000 {
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

const treasury = `
from cowboy_sdk import *

@actor
class Treasury:
    @public
    def init(self, msg):
        self.storage["id"] = token_create("Treasury", "TRS", 0, 1000, 2000)
        return self.storage["id"]

    @public
    def run(self, msg):
        id = self.storage["id"]
        out = []
        def tried(fn, *args):
            try:
                fn(*args)
                out.append("ok")
            except CowboyError as e:
                out.append(e.code)
        who, other = msg.payload
        tried(token_transfer, id, who, 100)
        tried(token_transfer, id, who, 901)
        tried(token_transfer_batch, id, [(who, 1), (other, 2)])
        tried(token_transfer_batch, id, [(who, 1), (other, 2000)])
        tried(token_transfer_from, id, who, other, 1)
        tried(token_approve, id, self.address, 50)
        tried(token_transfer_from, id, self.address, other, 50)
        tried(token_mint, id, other, 1001)
        tried(token_mint, id, other, 1000)
        tried(token_burn, id, 2**127)
        tried(token_burn, id, 7)
        tried(token_freeze, id, who)
        tried(token_transfer, id, who, 1)
        tried(token_unfreeze, id, who)
        tried(token_set_hook, id, other)
        tried(token_transfer, id, who, 1)
        tried(token_set_hook, id, None)
        tried(token_transfer_ownership, id, None)
        tried(token_mint, id, other, 1)
        tried(token_info, "0x" + "11" * 32)
        info = token_info(id)
        return [",".join(out), token_balance_of(id), token_balance_of(id, who), token_balance_of(id, other),
                token_allowance(id, self.address, self.address), token_is_frozen(id, who), info["total_supply"], info["max_supply"], info["owner"]]
`

func TestTokenHostCalls(t *testing.T) { // CIP-20 by an actor
	c := newTokenChain(t)
	d := actor.Deployment{Source: []byte(treasury), Salt: []byte{1}, Manifest: entitle.Manifest("storage.kv"), Init: &actor.Init{Handler: "init", Payload: null}}
	made := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))).Receipts[0]
	self := actor.AddressOf(alice, d.Salt, d.Source)
	id := token.NewID(self, "TRS", 0)
	if made.Code != chain.CodeOK || !bytes.Contains(made.Output, []byte(hex.EncodeToString(id[:]))) || eventNames(made) != "token_create" {
		t.Fatalf("init: %s, %q, %s", chain.CodeName(made.Code), made.Output, eventNames(made))
	}
	arg := append([]byte{0x82}, append(text(bob.String()), text(carol.String())...)...)
	r := c.block(c.program(alice, &self, actor.AppendMessage(nil, "run", arg))).Receipts[0]
	reader := cbor.NewReader(r.Output)
	if err := reader.ArrayOf(9); err != nil {
		t.Fatalf("run: %s, %x", chain.CodeName(r.Code), r.Output)
	}
	got, _ := reader.Text(1000)
	want := "ok,E1101,ok,E1101,E1102,ok,ok,E1301,ok,E1101,ok,ok,E1204,ok,ok,E1601,ok,ok,E1201,E1401"
	if got != want {
		t.Errorf("operations end with\n%s, want\n%s", got, want)
	}
	var numbers []uint64
	for range 4 {
		n, _ := reader.Uint()
		numbers = append(numbers, n)
	}
	if fmt.Sprint(numbers) != "[840 101 1052 0]" {
		t.Errorf("balances and allowance %v", numbers)
	}
	if rest := r.Output[reader.Offset():]; !bytes.Equal(rest, []byte{0xf4, 0x19, 0x07, 0xc9, 0x19, 0x07, 0xd0, 0xf6}) {
		t.Errorf("frozen, supply, maximum, owner: %x", rest)
	}
	if n := strings.Count(eventNames(r), "token_transfer"); n != 4 {
		t.Errorf("%d transfers in %s", n, eventNames(r))
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
