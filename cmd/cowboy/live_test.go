package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// live is a story against a devnet of this process.
type live struct {
	*story
	t *testing.T
}

// newLive starts a devnet with fast blocks and the key of its first account.
func newLive(t *testing.T) *live {
	t.Helper()
	return newLiveOf(t, node.DevnetOptions{BlockTime: 25 * time.Millisecond})
}

// newLiveOf starts a devnet of another genesis.
func newLiveOf(t *testing.T, options node.DevnetOptions) *live {
	t.Helper()
	dir := t.TempDir()
	genesis, err := node.PrepareDevnet(filepath.Join(dir, "chain"), options)
	if err != nil {
		t.Fatal(err)
	}
	cfg := node.DefaultConfig()
	cfg.DataDir, cfg.Devnet, cfg.RPCPerSec = filepath.Join(dir, "chain"), true, 0
	cfg.RPCAddr, cfg.AdminAddr = "127.0.0.1:0", "127.0.0.1:0"
	n, err := node.Open(cfg, genesis, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Listen(); err != nil {
		t.Fatal(errors.Join(err, n.Close()))
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, n.Close()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	env := map[string]string{
		"COWBOY_RPC_URL": "http://" + n.RPCAddr(), "COWBOY_PRIVATE_KEY": client.KeyHex(node.DevAccounts()[0].Key),
	}
	return &live{&story{t: t, dir: dir, env: env}, t}
}

// do runs a command that must succeed, with --json, and decodes what it prints.
func (l *live) do(reply any, args ...string) {
	l.t.Helper()
	code, stdout, stderr := l.run(append(args, "--json")...)
	if code != 0 {
		l.t.Fatalf("%v: exit %d\n%s%s", args, code, stdout, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), reply); err != nil {
		l.t.Fatalf("%v: %v\n%s", args, err, stdout)
	}
}

// deploy puts an actor on the chain and returns its address.
func (l *live) deploy(file string, args ...string) string {
	l.t.Helper()
	var reply deployReply
	l.do(&reply, append([]string{"actor", "deploy", "--code", file, "--wait"}, args...)...)
	return reply.Address
}

// execute sends a message and returns its receipt.
func (l *live) execute(actor, handler, argument string, args ...string) rpc.ReceiptReply {
	l.t.Helper()
	var reply rpc.ReceiptReply
	l.do(&reply, append([]string{"actor", "execute", "--actor", actor, "--handler", handler, "--args", argument, "--wait"}, args...)...)
	return reply
}

// read asks a handler.
func (l *live) read(actor, handler, argument string) string {
	l.t.Helper()
	var reply rpc.ReadReply
	l.do(&reply, "actor", "read", "--actor", actor, "--handler", handler, "--args", argument)
	return string(reply.Value)
}

// refused runs a command that must fail and returns what it says.
func (l *live) refused(args ...string) string {
	l.t.Helper()
	code, stdout, stderr := l.run(args...)
	if code == 0 {
		l.t.Fatalf("%v: no error\n%s", args, stdout)
	}
	return stderr
}

// TestActorOnDevnet walks through the life of an actor with the commands alone.
func TestActorOnDevnet(t *testing.T) {
	l := newLive(t)
	l.run("actor", "new", "counter")
	file := filepath.Join(l.dir, "counter.py")
	actor := l.deploy(file, "--salt", "0x01", "--cycles-limit", "10000000", "--cells-limit", "10000000")
	var at map[string]string
	if l.do(&at, "actor", "address", "--code", file, "--salt", "0x01"); at["address"] != actor {
		t.Errorf("address %s, deployed to %s", at["address"], actor)
	}
	if r := l.execute(actor, "add", "5"); string(r.Value) != "5" || len(r.Events) != 1 || string(r.Events[0].Value) != "5" || r.CyclesUsed == 0 {
		t.Errorf("add: %+v", r)
	}
	if r := l.execute(actor, "add", "2", "--cycles-limit", "10000000", "--cells-limit", "10000000"); string(r.Value) != "7" {
		t.Errorf("add above the actor's cycles: %+v", r)
	}
	if got := l.read(actor, "get", "null"); got != "7" {
		t.Errorf("get: %s", got)
	}
	if said := l.refused("actor", "read", "--actor", actor, "--handler", "add", "--args", "1"); !strings.Contains(said, "ReadOnlyCall") {
		t.Errorf("a read that writes: %s", said)
	}
	if said := l.refused("actor", "execute", "--actor", actor, "--handler", "nothing"); !strings.Contains(said, "no_handler") {
		t.Errorf("a handler that is not there: %s", said)
	}
	var a rpc.ActorReply
	if l.do(&a, "actor", "get", actor); string(a.Storage["n"]) != "7" || a.Balance != 0 || a.Entitlements[0].ID != "storage.kv" || a.StorageBytes == 0 {
		t.Errorf("actor: %+v", a)
	}
	var logs rpc.LogsReply
	if l.do(&logs, "actor", "logs", actor); len(logs.Logs) != 2 || string(logs.Logs[0].Value) != "7" || logs.Logs[1].Name != "added" {
		t.Errorf("logs: %+v", logs)
	}
	if said := l.refused("actor", "fund-actor", "--actor", actor, "--amount", "1"); !strings.Contains(said, "balance_held") {
		t.Errorf("money for an actor that may hold none: %s", said)
	}
	keeper := l.deploy(file, "--salt", "0x02", "--manifest-json", `{"entitlements":[{"id":"storage.kv"},{"id":"econ.hold_balance"}]}`, "--no-init")
	var receipt rpc.ReceiptReply
	l.do(&receipt, "actor", "fund-actor", "--actor", keeper, "--amount", "1.5", "--wait")
	a = rpc.ActorReply{}
	if l.do(&a, "actor", "get", keeper); a.Balance != 1_500_000_000 || len(a.Storage) != 0 {
		t.Errorf("funded: %+v", a)
	}
	if said := l.refused("actor", "deploy", "--code", file, "--salt", "0x01"); !strings.Contains(said, "address_taken") {
		t.Errorf("deployed twice: %s", said)
	}
	bad := filepath.Join(l.dir, "bad.py")
	if err := os.WriteFile(bad, []byte("import os\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if said := l.refused("actor", "deploy", "--code", bad); !strings.Contains(said, "code_invalid") {
		t.Errorf("forbidden code: %s", said)
	}
}

// TestReadChangesNothing asks a handler that tries every call which changes
// something: a call that only reads refuses each (docs/sdk.md, E1203).
func TestReadChangesNothing(t *testing.T) {
	l := newLive(t)
	at := l.deploy("testdata/readonly.py", "--manifest-json", `{"entitlements":[{"id":"econ.hold_balance"},{"id":"econ.transfer"},`+
		`{"id":"exec.spawn"},{"id":"http.fetch","params":{"allowlist_domains":["*"]}},{"id":"oracle.llm"},{"id":"storage.blob"},`+
		`{"id":"storage.kv"},{"id":"timer.schedule"}]}`)
	var ends map[string]string
	if err := json.Unmarshal([]byte(l.read(at, "go", "null")), &ends); err != nil || len(ends) < 29 {
		t.Fatalf("%v, %v", ends, err)
	}
	for call, end := range ends {
		later := end == "E1401" && (call == "secret" || call == "forget") // of the chain's runners
		if end != "E1203" && !later {
			t.Errorf("%s ended with %s", call, end)
		}
	}
}
