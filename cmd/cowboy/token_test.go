package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// guardHooks lets nobody move more than 100 at once.
const guardHooks = `from cowboy_sdk import actor, public


@actor
class Hooks:
    @public
    def can_transfer(self, msg):
        return msg.payload["amount"] <= 100

    @public
    def on_transfer(self, msg):
        self.storage["last"] = msg.payload["to"]
`

// TestTokensOnDevnet walks through the life of a token with the commands alone.
func TestTokensOnDevnet(t *testing.T) { // CIP-20; neighbours §12
	l := newLive(t)
	self := client.AddressOf(setup.DevAccounts()[0].Key).String()
	other := client.AddressOf(setup.DevAccounts()[1].Key).String()
	if code, stdout, _ := l.run("token", "list"); code != 0 || stdout != "[]\n" {
		t.Errorf("no tokens: %d %s", code, stdout)
	}
	var made tokenCreated
	l.do(&made, "token", "create", "--name", "Gold", "--symbol", "GLD", "--decimals", "2", "--supply", "1000", "--max-supply", "340282366920938463463374607431768211455")
	id := made.TokenID
	send := func(args ...string) rpc.ReceiptReply {
		t.Helper()
		var r rpc.ReceiptReply
		l.do(&r, append(args, "--token", id, "--wait")...)
		return r
	}
	if r := send("token", "transfer", "--to", other, "--amount", "300"); r.Code != 0 || len(r.Events) != 1 || r.Events[0].Name != "token_transfer" {
		t.Errorf("transfer: %+v", r)
	}
	send("token", "approve", "--spender", other, "--amount", "50")
	send("token", "mint", "--to", other, "--amount", "18446744073709551616")
	send("token", "burn", "--amount", "100")
	balance := func(of string, want string) {
		t.Helper()
		var b rpc.TokenBalanceReply
		if l.do(&b, "token", "balance", "--token", id, "--address", of); b.Balance.String() != want || b.Frozen {
			t.Errorf("%s holds %s, want %s", of, b.Balance, want)
		}
	}
	balance(self, "600")
	balance(other, "18446744073709551916")
	full := []string{"token", "transfer-batch"}
	for range 256 {
		full = append(full, "--to", other+"=1")
	}
	if r := send(full...); r.Code != 0 || len(r.Events) != 256 {
		t.Errorf("the largest batch: %s, %d events", r.RevertReason, len(r.Events))
	}
	balance(self, "344")
	balance(other, "18446744073709552172")
	for _, args := range [][]string{
		{"token", "transfer", "--to", other, "--amount", "345"},
		{"token", "burn", "--amount", "345"},
	} {
		if said := l.refused(append(args, "--token", id)...); !strings.Contains(said, "token_balance") {
			t.Errorf("%v: %s", args, said)
		}
	}
	if said := l.refused("token", "transfer", "--token", id, "--to", other, "--amount", "1.5"); !strings.Contains(said, "smallest units") {
		t.Errorf("a fraction: %s", said)
	}
	if said := l.refused("token", "info", "--token", strings.Repeat("11", 32)); !strings.Contains(said, "no token") {
		t.Errorf("no such token: %s", said)
	}
	if code, stdout, _ := l.run("token", "info", "--token", id); code != 0 || !strings.Contains(stdout, "Total supply: 18446744073709552516\n") {
		t.Errorf("info: %s", stdout)
	}

	file := filepath.Join(l.dir, "hooks.py")
	if err := os.WriteFile(file, []byte(guardHooks), 0o644); err != nil {
		t.Fatal(err)
	}
	hooks := l.deploy(file, "--salt", "0x01", "--no-init")
	var second tokenCreated
	l.do(&second, "token", "create", "--name", "Guarded", "--symbol", "GRD", "--supply", "1000", "--hooks", hooks)
	id = second.TokenID
	if r := send("token", "transfer", "--to", other, "--amount", "100"); r.Code != 0 {
		t.Errorf("within the hook's bound: %+v", r)
	}
	if said := l.refused("token", "transfer", "--token", id, "--to", other, "--amount", "101"); !strings.Contains(said, "token_hook") {
		t.Errorf("beyond it: %s", said)
	}
	balance(other, "100")

	code, stdout, _ := l.run("token", "list")
	var list []map[string]any
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || code != 0 || len(list) != 2 {
		t.Fatalf("list: %s, %v", stdout, err)
	}
	for key, want := range map[string]any{
		"name": "Gold", "symbol": "GLD", "decimals": 2.0, "total_supply": "18446744073709552516", "owner": self, "token_id": made.TokenID,
		"max_supply": "340282366920938463463374607431768211455",
	} {
		if list[0][key] != want {
			t.Errorf("list: %s is %v, want %v", key, list[0][key], want)
		}
	}
	if list[1]["max_supply"] != nil || list[1]["hooks"] != hooks {
		t.Errorf("list: %v", list[1])
	}
	if code, stdout, _ := l.run("token", "list", "--offset", "1", "--limit", "1"); code != 0 || !strings.Contains(stdout, "Guarded") || strings.Contains(stdout, "Gold") {
		t.Errorf("second page: %s", stdout)
	}
}
