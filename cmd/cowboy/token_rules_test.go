package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// submit completes and signs a transaction of a development account, whose limits
// and prices are given where they matter, and returns its receipt.
func (l *live) submit(account int, tx *chain.Tx) rpc.ReceiptReply {
	l.t.Helper()
	tx.Nonce, tx.ChainID = l.nonce(account), genesis.ChainIDDevnet
	if tx.CyclesLimit == 0 {
		tx.CyclesLimit, tx.CellsLimit = 500_000, 20_000
	}
	if tx.MaxFeePerCycle == 0 {
		tx.MaxFeePerCycle, tx.MaxFeePerCell = 10_000, 10_000
	}
	signed := client.SignTx(setup.DevAccounts()[account].Key, tx)
	return l.settled(signed.Wire)[0]
}

// settled submits transactions and returns the receipts of all, for which it waits
// longer than one request may.
func (l *live) settled(wire []byte) (receipts []rpc.ReceiptReply) {
	l.t.Helper()
	api := l.api()
	reply, err := api.SubmitWait(l.t.Context(), wire, 10*time.Second)
	if err != nil || len(reply.Results) == 0 {
		l.t.Fatalf("%+v, %v", reply, err)
	}
	for _, r := range reply.Results {
		for end := time.Now().Add(time.Minute); r.Accepted && r.Receipt == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if r.Receipt, err = api.Receipt(l.t.Context(), chain.Hash(mustUnhex(l.t, r.Hash))); err != nil && !client.IsCode(err, rpc.CodeReceiptPending) {
				l.t.Fatal(err)
			}
		}
		if r.Receipt == nil {
			l.t.Fatalf("%+v", r)
		}
		receipts = append(receipts, *r.Receipt)
	}
	return receipts
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

// token runs a command of a development account that sends, with limits, so that
// no trial stops it, and returns the receipt.
func (l *live) token(account int, args ...string) (r rpc.ReceiptReply) {
	l.t.Helper()
	by := *l.story
	by.env = maps.Clone(l.env)
	by.env["COWBOY_PRIVATE_KEY"] = client.KeyHex(setup.DevAccounts()[account].Key)
	args = append([]string{"token"}, append(args, "--wait", "--json", "--cycles-limit", "500000", "--cells-limit", "20000")...)
	code, stdout, stderr := by.run(args...)
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || (code == 0) != (r.Status == "success") {
		l.t.Fatalf("%v: exit %d, %v\n%s%s", args, code, err, stdout, stderr)
	}
	return r
}

// TestTokenRulesOnDevnet sends what the chain carries out and what it refuses.
func TestTokenRulesOnDevnet(t *testing.T) { // CIP-20; resolutions 9.8, 11.46
	l := newLive(t)
	var made tokenCreated
	l.do(&made, "token", "create", "--name", "Gold", "--symbol", "GLD", "--supply", "1000", "--max-supply", "1100")
	holds := func(n int) string {
		t.Helper()
		var b rpc.TokenBalanceReply
		l.do(&b, "token", "balance", "--token", made.TokenID, "--address", dev(n))
		if b.Frozen {
			return b.Balance.String() + " frozen"
		}
		return b.Balance.String()
	}
	accounts := strings.NewReplacer("$0", dev(0), "$1", dev(1), "$2", dev(2))
	l.do(&rpc.ReceiptReply{}, "token", "approve", "--token", made.TokenID, "--spender", dev(1), "--amount", "50", "--wait")
	for _, s := range []struct {
		rule    string
		by      int
		command string
		want    string // end, and what accounts 0, 1 and 2 hold
	}{
		{"spending what is approved", 1, "transfer-from --from $0 --to $2 --amount 50", "ok 950 0 50"},
		{"one more", 1, "transfer-from --from $0 --to $2 --amount 1", "token_allowance 950 0 50"},
		{"freezing by another", 1, "freeze --account $2", "forbidden 950 0 50"},
		{"freezing", 0, "freeze --account $2", "ok 950 0 50 frozen"},
		{"to a frozen account", 0, "transfer --to $2 --amount 1", "token_frozen 950 0 50 frozen"},
		{"out of it", 2, "transfer --to $1 --amount 1", "token_frozen 950 0 50 frozen"},
		{"a batch with a frozen account", 0, "transfer-batch --to $1=5 --to $2=7", "token_frozen 950 0 50 frozen"},
		{"unfreezing", 0, "unfreeze --account $2", "ok 950 0 50"},
		{"a batch", 0, "transfer-batch --to $1=5 --to $2=7", "ok 938 5 57"},
		{"a batch beyond the balance", 0, "transfer-batch --to $1=5 --to $2=934", "token_balance 938 5 57"},
		{"minting by another", 1, "mint --to $1 --amount 1", "forbidden 938 5 57"},
		{"minting the rest", 0, "mint --to $1 --amount 100", "ok 938 105 57"},
		{"one more", 0, "mint --to $1 --amount 1", "limit_reached 938 105 57"},
		{"a new owner", 0, "set-owner --owner $1", "ok 938 105 57"},
		{"freezing by the old one", 0, "freeze --account $2", "forbidden 938 105 57"},
		{"giving it up", 1, "set-owner --owner none", "ok 938 105 57"},
		{"freezing by nobody", 1, "freeze --account $2", "forbidden 938 105 57"},
		{"a transfer without an owner", 0, "transfer --to $1 --amount 1", "ok 937 106 57"},
	} {
		r := l.token(s.by, append(strings.Fields(accounts.Replace(s.command)), "--token", made.TokenID)...)
		got := []string{chain.CodeName(r.Code), holds(0), holds(1), holds(2)}
		if end := strings.Join(got, " "); end != s.want {
			t.Errorf("%s: %s, want %s", s.rule, end, s.want)
		}
	}
	empty := tokenTx(chain.OpTokenBatch, cbor.AppendBytes(nil, mustUnhex(t, made.TokenID)), cbor.AppendArray(nil, 0)) // no command makes it
	if r := l.submit(0, empty); r.RevertReason != "bad_argument" {
		t.Errorf("a batch of nothing: %s", r.RevertReason)
	}
	if r := l.token(0, "transfer", strings.Repeat("00", 32), "--to", dev(1), "--amount", "1"); r.RevertReason != "not_found" {
		t.Errorf("no such token: %s", r.RevertReason)
	}
	t.Run("hook", func(t *testing.T) { l.on(t).hookCycles() })
}

// hookCycles holds a hook to its 50,000 cycles, and charges what it used, until
// there is none.
func (l *live) hookCycles() {
	t := l.t
	file := filepath.Join(l.dir, "spender.py")
	if err := os.WriteFile(file, []byte(spender), 0o644); err != nil {
		t.Fatal(err)
	}
	hook := l.deploy(file, grants("storage.kv")...)
	var made tokenCreated
	l.do(&made, "token", "create", "--name", "Dear", "--symbol", "DEAR", "--supply", "1000000")
	if r := l.token(1, "set-hooks", made.TokenID, "--hooks", hook); r.RevertReason != "forbidden" {
		t.Errorf("a hook by another: %s", r.RevertReason)
	}
	if r := l.token(0, "set-hooks", made.TokenID, "--hooks", hook); r.Status != "success" {
		t.Errorf("a hook: %s", r.RevertReason)
	}
	move := func(amount string) rpc.ReceiptReply {
		t.Helper()
		return l.token(0, "transfer", made.TokenID, "--to", dev(1), "--amount", amount)
	}
	var used [2]uint64
	for i, n := range []string{"1000", "41000"} {
		r := move(n)
		if used[i] = r.CyclesUsed; r.Status != "success" {
			t.Errorf("a hook of %s cycles and a few: %s", n, r.RevertReason)
		}
	}
	if used[1]-used[0] != 40_000 {
		t.Errorf("40,000 cycles more in the hook cost %d", used[1]-used[0])
	}
	r := move("50000")
	var b rpc.TokenBalanceReply
	l.do(&b, "token", "balance", "--token", made.TokenID, "--address", dev(1))
	if r.RevertReason != "token_hook" || r.CyclesUsed > used[0]+50_000 || b.Balance.String() != "42000" {
		t.Errorf("a hook of more than 50,000 cycles: %s for %d cycles, the receiver holds %s", r.RevertReason, r.CyclesUsed, b.Balance)
	}
	if r := l.token(0, "set-hooks", made.TokenID, "--hooks", "none"); r.Status != "success" {
		t.Errorf("no hook: %s", r.RevertReason)
	}
	if r := move("50000"); r.Status != "success" {
		t.Errorf("a transfer that no hook sees: %s", r.RevertReason)
	}
}

// TestTokenArguments gives what is refused before anything is sent.
func TestTokenArguments(t *testing.T) {
	s := newStory(t)
	account := strings.NewReplacer("$1", dev(1))
	for command, want := range map[string]string{
		"transfer-from --to $1 --amount 1":                                                 "--from",
		"transfer-from --from 0x12 --to $1 --amount 1":                                     "not an address",
		"transfer-from --from $1 --to 0x12 --amount 1":                                     "not an address",
		"transfer-from --from $1 --to $1 --amount 340282366920938463463374607431768211456": "smallest units",
		"transfer-batch":                                     "--to",
		"transfer-batch --to $1":                             "ADDRESS=UNITS",
		"transfer-batch --to 0x12=1":                         "not an address",
		"transfer-batch --to $1=1 --to $1=1.5":               "smallest units",
		"transfer-batch" + strings.Repeat(" --to $1=1", 257): "at most 256",
		"freeze --account all":                               "not an address",
		"unfreeze":                                           "--account",
		"set-owner":                                          "--owner",
		"set-owner --owner nobody":                           "not an address",
		"set-hooks --hooks 0x12":                             "not an address",
	} {
		args := append(strings.Fields("token "+account.Replace(command)), "--token", strings.Repeat("11", 32))
		code, stdout, stderr := s.run(args...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%.80s: exit %d, %s%s", command, code, stdout, stderr)
		}
	}
}
