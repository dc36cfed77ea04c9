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
	"github.com/cowboy-foundation/cowboy/exec/manifest"
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
	d := actor.Deployment{Source: []byte(source), Salt: []byte{c.salt}, Manifest: manifest.Manifest("storage.kv")}
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

func text(s string) []byte { return cbor.AppendText(nil, s) }

func amount(n uint64) []byte { return cbor.AppendUint(nil, n) }

func address(a chain.Address) []byte { return cbor.AppendBytes(nil, a[:]) }

func tokenID(id token.ID) []byte { return cbor.AppendBytes(nil, id[:]) }

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
	// A row that was not there costs an entry and its bytes; what costs more than the
	// whitepaper says without one costs what its event does.
	costs, row := c.g.Params.Token, c.g.Params.API.NewEntryCells
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
		{"transfer", alice, chain.OpTokenTransfer, [][]byte{address(bob), amount(300)}, chain.CodeOK, costs.TransferCycles, 71 + row + 57, "token_transfer"},
		{"more than there is", alice, chain.OpTokenTransfer, [][]byte{address(bob), amount(701)}, chain.CodeTokenBalance, costs.TransferCycles, 64, ""},
		{"approve", bob, chain.OpTokenApprove, [][]byte{address(alice), amount(100)}, chain.CodeOK, costs.ApproveCycles, 70 + row + 76, "token_approve"},
		{"beyond the allowance", alice, chain.OpTokenTransferFrom, [][]byte{address(bob), address(alice), amount(101)}, chain.CodeTokenAllowance, costs.TransferFromCycles, 96, ""},
		{"transfer from", alice, chain.OpTokenTransferFrom, [][]byte{address(bob), address(alice), amount(100)}, chain.CodeOK, costs.TransferFromCycles, 96, "token_transfer"},
		{"mint another's", bob, chain.OpTokenMint, [][]byte{address(bob), amount(1)}, chain.CodeForbidden, costs.MintCycles, 64, ""},
		{"mint", alice, chain.OpTokenMint, [][]byte{address(bob), amount(50)}, chain.CodeOK, costs.MintCycles, 64, "token_mint"},
		{"burn", bob, chain.OpTokenBurn, [][]byte{amount(50)}, chain.CodeOK, costs.BurnCycles, 64, "token_burn"},
		{"freeze", alice, chain.OpTokenFreeze, [][]byte{address(bob)}, chain.CodeOK, costs.AdminCycles, 58 + row + 55, "token_freeze"},
		{"frozen", bob, chain.OpTokenTransfer, [][]byte{address(alice), amount(1)}, chain.CodeTokenFrozen, costs.TransferCycles, 64, ""},
		{"unfreeze", alice, chain.OpTokenUnfreeze, [][]byte{address(bob)}, chain.CodeOK, costs.AdminCycles, 59, "token_unfreeze"},
		{"batch, one too many", alice, chain.OpTokenBatch, [][]byte{payments(pair(bob, 1), pair(bob, 800))}, chain.CodeTokenBalance, 1500, 128, ""},
		{"batch of none", alice, chain.OpTokenBatch, [][]byte{payments()}, chain.CodeBadArgument, 500, 0, ""},
		{"batch", alice, chain.OpTokenBatch, [][]byte{payments(pair(bob, 1), pair(bob, 2))}, chain.CodeOK, 1500, 140, "token_transfer"},
		{"hooks of nobody", alice, chain.OpTokenHooks, [][]byte{null}, chain.CodeOK, costs.AdminCycles, 48, "token_hooks"},
		{"owner none", alice, chain.OpTokenOwner, [][]byte{null}, chain.CodeOK, costs.AdminCycles, 50, "token_ownership"},
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
	cells := chain.Cells(len(tokenPayload(chain.OpTokenTransfer, tokenID(id), address(bob), amount(1)))) + 70
	for _, limit := range []chain.Cells{cells - 70, cells - 1, cells} {
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
	d := actor.Deployment{Source: []byte(treasury), Salt: []byte{1}, Manifest: manifest.Manifest("storage.kv"), Init: &actor.Init{Handler: "init", Payload: null}}
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
