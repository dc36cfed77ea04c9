package main

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

const gated = "testdata/gated.py"

// TestGatesOnDevnet holds the system calls of actors to their manifests: a refusal
// cannot be caught, undoes the handler and is one of the five codes. The codes of
// manifests are in TestDeploymentsOnDevnet.
func TestGatesOnDevnet(t *testing.T) { // entitlements §6.3, §9, §11; E17, E18, E20, E22-E24
	l := newLive(t)
	const missing, quota = "not_entitled", "entitlement_quota_exceeded"
	bare := l.deploy(gated, append(grants("econ.hold_balance"), "--salt", "0x01", "--amount", "1", "--no-init")...)
	able := l.deploy(gated, append(grants(
		"econ.hold_balance", `{"id":"econ.transfer","params":{"max_amount":10,"max_per_block":20}}`,
		`{"id":"http.fetch","params":{"allowlist_domains":["*.example.com"],"domain_set":"price_feeds"}}`,
		`{"id":"oracle.llm","params":{"max_tokens":9}}`, `{"id":"storage.blob","params":{"max_bytes":100}}`,
		`{"id":"storage.kv","params":{"max_bytes":50}}`, `{"id":"timer.schedule","params":{"max_timers":2}}`,
	), "--salt", "0x02", "--amount", "100", "--no-init")...)
	for _, test := range []struct{ actor, handler, argument, want string }{
		{bare, "store", "1", missing},
		{bare, "pay", "[1]", missing},
		{bare, "fetch", `"https://api.example.com/"`, missing},
		{bare, "prompt", "1", missing},
		{bare, "commit", "1", missing},
		{bare, "wait", "1", missing},
		{bare, "replace", `"x = 1"`, missing},
		{able, "store", "43", ""},
		{able, "store", "44", quota},
		{able, "pay", "[10,10]", ""},
		{able, "pay", "[11]", quota},
		{able, "pay", "[10,10,1]", quota},
		{able, "fetch", `"https://api.example.com/x?y"`, ""},
		{able, "fetch", `"https://API.Coinbase.com:443/"`, ""}, // of the set
		{able, "fetch", `"https://example.com/"`, missing},
		{able, "fetch", `"https://api.example.com@evil.com/"`, missing},
		{able, "fetch", `"http://evil.com/api.example.com"`, missing},
		{able, "prompt", "9", ""},
		{able, "prompt", "10", quota},
		{able, "commit", "100", ""},
		{able, "commit", "101", quota},
		{able, "wait", "2", ""},
		{able, "wait", "1", quota},
	} {
		l.advance(1)
		if test.want == "" {
			if r := l.execute(test.actor, test.handler, test.argument); r.Status != "success" {
				t.Errorf("%s(%s): %s", test.handler, test.argument, r.RevertReason)
			}
			continue
		}
		before := l.actor(test.actor)
		r := l.failed(test.actor, test.handler, test.argument)
		if after := l.actor(test.actor); r.RevertReason != test.want || after.Balance != before.Balance || after.StorageBytes != before.StorageBytes {
			t.Errorf("%s(%s): %s, want %s; %+v", test.handler, test.argument, r.RevertReason, test.want, after)
		}
	}
	passer := l.deploy(gated, append(grants("storage.kv"), "--salt", "0x03", "--no-init")...)
	if r := l.failed(passer, "keep", "null", "--amount", "1wei"); r.RevertReason != "balance_held" || l.balance(passer) != 0 {
		t.Errorf("money for who may hold none: %+v", r)
	}
	if reply, err := l.api().ReadActor(t.Context(), rpc.ReadRequest{Actor: bare, Handler: "load"}); err != nil || reply.RevertReason != missing {
		t.Errorf("a call that reads: %+v, %v", reply, err)
	}
}

// TestDeprecationOnDevnet takes an entitlement away by vote: it is announced, works
// for its window, then who holds it does not run, over a restart too, until the
// creator deploys it again without.
func TestDeprecationOnDevnet(t *testing.T) { // entitlements §9.11; E25
	const window = 60
	l, restart := newLiveRestarted(t, func(p *params.Params) { p.Entitlements.DeprecationWindowBlocks = window })
	both := grants("storage.blob", "storage.kv")
	old := l.deploy(gated, append(both, "--salt", "0x01", "--no-init")...)
	l.decide("deprecate", "storage.blob")
	announced := l.height()
	var made deployReply
	l.do(&made, append([]string{"actor", "deploy", "--code", gated, "--salt", "0x02", "--no-init", "--wait"}, both...)...)
	if e := made.Receipt.Events; len(e) == 0 || e[0].Name != "EntitlementDeprecated" || e[0].Emitter != chain.AddrEntitlements.String() {
		t.Errorf("no warning with a new deployment: %+v", made.Receipt)
	}
	if r := l.execute(old, "commit", "5"); r.BlockHeight > announced+window {
		t.Fatalf("block %d is not within the window", r.BlockHeight)
	}
	l.advance(window)
	gone := func() {
		t.Helper()
		for _, actor := range []string{old, made.Address} {
			if r := l.failed(actor, "version", "null"); r.RevertReason != "actor_non_executable" || len(r.Events) != 1 || r.Events[0].Name != "ActorNonExecutable" {
				t.Errorf("after the window: %+v", r)
			}
		}
	}
	gone()
	restart()
	gone()
	var logs rpc.LogsReply
	l.do(&logs, "actor", "logs", chain.AddrEntitlements.String())
	if n := len(logs.Logs); n != 6 || fmt.Sprint(string(logs.Logs[n-2].Value)) != `["storage.blob"]` {
		t.Errorf("events of the registry: %+v", logs.Logs)
	}
	var refused deployReply
	l.fails(&refused, append([]string{
		"actor", "deploy", "--code", gated, "--salt", "0x03", "--no-init", "--wait", "--cycles-limit", "200000", "--cells-limit", "10000",
	}, both...)...)
	if refused.Receipt.RevertReason != "manifest_refused" {
		t.Errorf("a new one: %+v", refused.Receipt)
	}
	if again := l.deploy(gated, append(grants("storage.kv"), "--salt", "0x01", "--no-init")...); again != old || string(l.execute(old, "version", "null").Value) != "1" {
		t.Errorf("deployed again to %s, was %s", again, old)
	}
}
