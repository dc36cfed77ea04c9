package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/devtest"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// live is a story against a devnet of this process.
type live struct {
	*story
	t *testing.T
}

// newLive starts a devnet with fast blocks and the key of its first account.
func newLive(t *testing.T) *live {
	t.Helper()
	return newLiveOf(t, setup.DevnetOptions{BlockTime: 25 * time.Millisecond})
}

// newLiveWith starts a devnet with other parameters.
func newLiveWith(t *testing.T, change func(*params.Params)) *live {
	t.Helper()
	return newLiveOf(t, setup.DevnetOptions{BlockTime: 25 * time.Millisecond, GenesisFile: devtest.Genesis(t, change)})
}

// newLiveRestarted starts a devnet with other parameters that restart ends and
// starts again on its folder.
func newLiveRestarted(t *testing.T, change func(*params.Params)) (l *live, restart func()) {
	t.Helper()
	t.Parallel()
	dir, options := t.TempDir(), setup.DevnetOptions{BlockTime: 25 * time.Millisecond, GenesisFile: devtest.Genesis(t, change)}
	url, stop := devtest.Start(t, filepath.Join(dir, "chain"), options)
	l = liveAt(t, dir, url)
	t.Cleanup(func() { stop() })
	return l, func() {
		t.Helper()
		stop()
		l.env["COWBOY_RPC_URL"], stop = devtest.Start(t, filepath.Join(dir, "chain"), options)
	}
}

// newLiveOf starts a devnet of another genesis.
func newLiveOf(t *testing.T, options setup.DevnetOptions) *live {
	t.Helper()
	t.Parallel() // devnets wait for their blocks most of the time
	dir := t.TempDir()
	url, stop := devtest.Start(t, filepath.Join(dir, "chain"), options)
	t.Cleanup(stop)
	return liveAt(t, dir, url)
}

// liveAt is a story against the node at url with the key of the first account.
func liveAt(t *testing.T, dir, url string) *live {
	env := map[string]string{"COWBOY_RPC_URL": url, "COWBOY_PRIVATE_KEY": client.KeyHex(setup.DevAccounts()[0].Key)}
	return &live{&story{t: t, dir: dir, env: env}, t}
}

// api asks the node without the commands.
func (l *live) api() *client.Client {
	l.t.Helper()
	cfg := client.DefaultConfig()
	cfg.URL = l.env["COWBOY_RPC_URL"]
	api, err := client.New(cfg)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(api.Close)
	return api
}

// advance makes that many blocks at once and returns the height.
func (l *live) advance(blocks uint64) uint64 {
	l.t.Helper()
	r, err := l.api().Advance(l.t.Context(), blocks)
	if err != nil {
		l.t.Fatal(err)
	}
	return r.Height
}

// height is that of the newest final block.
func (l *live) height() uint64 {
	l.t.Helper()
	h, err := l.api().Height(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return uint64(h)
}

// on is the same story for a part of the test.
func (l *live) on(t *testing.T) *live {
	part := *l.story
	part.t = t
	return &live{&part, t}
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

// failed sends a message with limits, so that no trial stops it, and returns the
// receipt of its failure.
func (l *live) failed(actor, handler, argument string, args ...string) (r rpc.ReceiptReply) {
	l.t.Helper()
	l.fails(&r, append([]string{
		"actor", "execute", "--actor", actor, "--handler", handler, "--args", argument, "--wait",
		"--cycles-limit", "900000", "--cells-limit", "100000",
	}, args...)...)
	return r
}

// fails runs a command that is carried out, decodes what it prints, and holds it
// to an end in failure.
func (l *live) fails(reply any, args ...string) {
	l.t.Helper()
	code, stdout, stderr := l.run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(stdout), reply); err != nil || code != exitFailed {
		l.t.Fatalf("%v: exit %d, %v\n%s%s", args, code, err, stdout, stderr)
	}
}

// actor is what the chain has of an actor.
func (l *live) actor(address string) (a rpc.ActorReply) {
	l.t.Helper()
	l.do(&a, "actor", "get", address)
	return a
}

// receipt is that of a transaction, a message that waited, or a firing.
func (l *live) receipt(id string) *rpc.ReceiptReply {
	l.t.Helper()
	hash, err := client.ParseHash(id)
	if err != nil {
		l.t.Fatal(err)
	}
	r, err := l.api().Receipt(l.t.Context(), hash)
	if err != nil {
		l.t.Fatalf("receipt %s: %v", id, err)
	}
	return r
}

// balance is that of an account, 0 where there is none.
func (l *live) balance(address string) chain.Wei {
	l.t.Helper()
	at, err := client.ParseAddress(address)
	if err != nil {
		l.t.Fatal(err)
	}
	a, err := l.api().Account(l.t.Context(), at)
	if client.IsNotFound(err) {
		return 0
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return a.Balance
}

// grants is a manifest of entitlements, each an id or an object of JSON.
func grants(list ...string) []string {
	for i, g := range list {
		if !strings.HasPrefix(g, "{") {
			list[i] = `{"id":"` + g + `"}`
		}
	}
	return []string{"--manifest-json", `{"entitlements":[` + strings.Join(list, ",") + `]}`}
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
