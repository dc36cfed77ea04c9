package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// submit completes and signs a transaction of a development account, whose limits
// and prices are given where they matter, and returns its receipt.
func (l *live) submit(account int, tx *chain.Tx) rpc.ReceiptReply {
	l.t.Helper()
	tx.Nonce, tx.ChainID = l.nonce(account), chain.ChainIDDevnet
	if tx.CyclesLimit == 0 {
		tx.CyclesLimit, tx.CellsLimit = 500_000, 20_000
	}
	if tx.MaxFeePerCycle == 0 {
		tx.MaxFeePerCycle, tx.MaxFeePerCell = 10_000, 10_000
	}
	signed := client.SignTx(node.DevAccounts()[account].Key, tx)
	reply, err := l.api().SubmitWait(l.t.Context(), signed.Wire, 10*time.Second)
	if err != nil || len(reply.Results) != 1 || reply.Results[0].Receipt == nil {
		l.t.Fatalf("%+v, %v", reply, err)
	}
	return *reply.Results[0].Receipt
}

// spender is the hook of a token that uses as many cycles as its transfers move
// units.
const spender = `from cowboy_sdk import actor, public, charge_gas


@actor
class Spender:
    @public
    def can_transfer(self, msg):
        charge_gas(msg.payload["amount"])
        return True

    @public
    def on_transfer(self, msg):
        pass
`

// TestTokenRulesOnDevnet sends the instructions that have no command, and what must
// be refused.
func TestTokenRulesOnDevnet(t *testing.T) { // CIP-20; resolutions 9.8, 11.46
	l := newLive(t)
	var made tokenCreated
	l.do(&made, "token", "create", "--name", "Gold", "--symbol", "GLD", "--supply", "1000", "--max-supply", "1100")
	id := cbor.AppendBytes(nil, mustUnhex(t, made.TokenID))
	account := func(n int) []byte { a := node.DevAccounts()[n].Address; return cbor.AppendBytes(nil, a[:]) }
	amount := func(n uint64) []byte { return cbor.AppendUint(nil, n) }
	batch := func(amounts ...uint64) []byte { // to accounts 1, 2, …
		b := cbor.AppendArray(nil, len(amounts))
		for i, n := range amounts {
			b = cbor.AppendUint(append(cbor.AppendArray(b, 2), account(1+i)...), n)
		}
		return b
	}
	null := cbor.AppendNull(nil)
	holds := func(n int) string {
		t.Helper()
		var b rpc.TokenBalanceReply
		l.do(&b, "token", "balance", "--token", made.TokenID, "--address", dev(n))
		if b.Frozen {
			return b.Balance.String() + " frozen"
		}
		return b.Balance.String()
	}
	l.do(&rpc.ReceiptReply{}, "token", "approve", "--token", made.TokenID, "--spender", dev(1), "--amount", "50", "--wait")
	for _, s := range []struct {
		rule   string
		by     int
		opcode uint64
		args   [][]byte
		want   string // end, and what accounts 0, 1 and 2 hold
	}{
		{"spending what is approved", 1, chain.OpTokenTransferFrom, [][]byte{account(0), account(2), amount(50)}, "ok 950 0 50"},
		{"one more", 1, chain.OpTokenTransferFrom, [][]byte{account(0), account(2), amount(1)}, "token_allowance 950 0 50"},
		{"freezing by another", 1, chain.OpTokenFreeze, [][]byte{account(2)}, "forbidden 950 0 50"},
		{"freezing", 0, chain.OpTokenFreeze, [][]byte{account(2)}, "ok 950 0 50 frozen"},
		{"to a frozen account", 0, chain.OpTokenTransfer, [][]byte{account(2), amount(1)}, "token_frozen 950 0 50 frozen"},
		{"out of it", 2, chain.OpTokenTransfer, [][]byte{account(1), amount(1)}, "token_frozen 950 0 50 frozen"},
		{"a batch with a frozen account", 0, chain.OpTokenBatch, [][]byte{batch(5, 7)}, "token_frozen 950 0 50 frozen"},
		{"unfreezing", 0, chain.OpTokenUnfreeze, [][]byte{account(2)}, "ok 950 0 50"},
		{"a batch", 0, chain.OpTokenBatch, [][]byte{batch(5, 7)}, "ok 938 5 57"},
		{"a batch beyond the balance", 0, chain.OpTokenBatch, [][]byte{batch(5, 934)}, "token_balance 938 5 57"},
		{"a batch of nothing", 0, chain.OpTokenBatch, [][]byte{batch()}, "bad_argument 938 5 57"},
		{"minting by another", 1, chain.OpTokenMint, [][]byte{account(1), amount(1)}, "forbidden 938 5 57"},
		{"minting the rest", 0, chain.OpTokenMint, [][]byte{account(1), amount(100)}, "ok 938 105 57"},
		{"one more", 0, chain.OpTokenMint, [][]byte{account(1), amount(1)}, "limit_reached 938 105 57"},
		{"a new owner", 0, chain.OpTokenOwner, [][]byte{account(1)}, "ok 938 105 57"},
		{"freezing by the old one", 0, chain.OpTokenFreeze, [][]byte{account(2)}, "forbidden 938 105 57"},
		{"giving it up", 1, chain.OpTokenOwner, [][]byte{null}, "ok 938 105 57"},
		{"freezing by nobody", 1, chain.OpTokenFreeze, [][]byte{account(2)}, "forbidden 938 105 57"},
		{"another token", 0, chain.OpTokenTransfer, [][]byte{account(1), amount(1)}, "ok 937 106 57"},
	} {
		r := l.submit(s.by, tokenTx(s.opcode, append([][]byte{id}, s.args...)...))
		got := []string{chain.CodeName(r.Code), holds(0), holds(1), holds(2)}
		if end := strings.Join(got, " "); end != s.want {
			t.Errorf("%s: %s, want %s", s.rule, end, s.want)
		}
	}
	if r := l.submit(0, tokenTx(chain.OpTokenTransfer, cbor.AppendBytes(nil, make([]byte, 32)), account(1), amount(1))); r.RevertReason != "not_found" {
		t.Errorf("no such token: %s", r.RevertReason)
	}
	t.Run("hook", func(t *testing.T) { l.on(t).hookCycles() })
}

// hookCycles holds a hook to its 50,000 cycles, and charges what it used.
func (l *live) hookCycles() {
	t := l.t
	file := filepath.Join(l.dir, "spender.py")
	if err := os.WriteFile(file, []byte(spender), 0o644); err != nil {
		t.Fatal(err)
	}
	hook := l.deploy(file, grants("storage.kv")...)
	var made tokenCreated
	l.do(&made, "token", "create", "--name", "Dear", "--symbol", "DEAR", "--supply", "1000000")
	at := mustUnhex(t, hook)
	id, to := cbor.AppendBytes(nil, mustUnhex(t, made.TokenID)), node.DevAccounts()[1].Address
	if r := l.submit(1, tokenTx(chain.OpTokenHooks, id, cbor.AppendBytes(nil, at))); r.RevertReason != "forbidden" {
		t.Errorf("a hook by another: %s", r.RevertReason)
	}
	if r := l.submit(0, tokenTx(chain.OpTokenHooks, id, cbor.AppendBytes(nil, at))); r.Status != "success" {
		t.Errorf("a hook: %s", r.RevertReason)
	}
	var used [2]uint64
	for i, n := range []uint64{1_000, 41_000} {
		r := l.submit(0, tokenTx(chain.OpTokenTransfer, id, cbor.AppendBytes(nil, to[:]), cbor.AppendUint(nil, n)))
		if used[i] = r.CyclesUsed; r.Status != "success" {
			t.Errorf("a hook of %d cycles and a few: %s", n, r.RevertReason)
		}
	}
	if used[1]-used[0] != 40_000 {
		t.Errorf("40,000 cycles more in the hook cost %d", used[1]-used[0])
	}
	r := l.submit(0, tokenTx(chain.OpTokenTransfer, id, cbor.AppendBytes(nil, to[:]), cbor.AppendUint(nil, 50_000)))
	var b rpc.TokenBalanceReply
	l.do(&b, "token", "balance", "--token", made.TokenID, "--address", dev(1))
	if r.RevertReason != "token_hook" || r.CyclesUsed > used[0]+50_000 || b.Balance.String() != "42000" {
		t.Errorf("a hook of more than 50,000 cycles: %s for %d cycles, the receiver holds %s", r.RevertReason, r.CyclesUsed, b.Balance)
	}
}
