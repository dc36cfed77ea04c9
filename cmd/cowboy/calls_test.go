package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

const relay = "testdata/relay.py"

// addressOf computes where a source of the first account's is: the last 20 bytes of
// keccak256(creator ‖ salt ‖ code hash) (whitepaper §1.2, resolution 8.1).
func addressOf(t *testing.T, file string, salt byte) (address, codeHash string) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	creator, code := setup.DevAccounts()[0].Address, keccak.Sum256(source)
	hash := keccak.Sum256(creator[:], []byte{salt}, code[:])
	return "0x" + hex.EncodeToString(hash[12:]), "0x" + hex.EncodeToString(code[:])
}

// TestDeploymentsOnDevnet holds deployments and plain payments to their rules.
func TestDeploymentsOnDevnet(t *testing.T) { // whitepaper §1.2; resolutions 8.1, 11.25, 11.44
	l := newLive(t)
	all := grants("econ.hold_balance", "econ.transfer", "storage.kv")
	first, second := l.deploy(relay, append(all, "--salt", "0x01", "--amount", "2")...), l.deploy(relay, append(all, "--salt", "0x02")...)
	want, code := addressOf(t, relay, 1)
	a, b := l.actor(first), l.actor(second)
	if first != want || first == second || a.CodeHash != code || b.CodeHash != code || a.Creator != dev(0) {
		t.Errorf("%s and %s of code %s and %s, want %s of %s", first, second, a.CodeHash, b.CodeHash, want, code)
	}
	if string(a.Storage["heard"]) != "[]" || a.Balance != 2*chain.WeiPerCBY || b.Balance != 0 {
		t.Errorf("init and money of the deployments: %+v, %+v", a, b)
	}

	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"init that fails", append(all, "--init-args", `"fail"`), "reverted"},
		{"no such entitlement", grants("storage.sql"), "manifest_refused"},
		{"the same twice", grants("storage.kv", "storage.kv"), "manifest_refused"},
		{"unknown parameter", grants(`{"id":"storage.kv","params":{"max_rows":1}}`), "entitlement_param_invalid"},
		{"a text for a number", grants(`{"id":"storage.kv","params":{"max_bytes":"all"}}`), "entitlement_param_invalid"},
		{"a system entitlement", grants("sys.upgrade"), "system_entitlement_unauthorized"},
	} {
		var r deployReply
		l.fails(&r, append([]string{"actor", "deploy", "--code", relay, "--salt", "0x03", "--wait", "--cycles-limit", "1000000", "--cells-limit", "100000", "--amount", "1"}, test.args...)...)
		if r.Receipt == nil || r.Receipt.RevertReason != test.want || r.Receipt.Fee == 0 || l.balance(r.Address) != 0 {
			t.Errorf("%s: %+v, the address holds %d", test.name, r.Receipt, l.balance(r.Address))
		}
	}

	if r := l.failed(first, "secret", "null"); r.RevertReason != "not_callable" {
		t.Errorf("a handler that is for nobody: %+v", r)
	}
	if r := l.failed(first, "forget", "null", as(1)...); r.RevertReason != "not_callable" || len(r.Events) != 0 {
		t.Errorf("the owner's handler: %+v", r)
	}
	if r := l.execute(first, "forget", "null"); r.Status != "success" {
		t.Errorf("the owner: %+v", r)
	}
	if r := l.failed(first, "nothing", "null"); r.RevertReason != "no_handler" {
		t.Errorf("no handler: %+v", r)
	}
	l.paid(first)
}

// paid sends money to an account and an actor: what moves is the value and the fee
// of the receipt, and each transaction takes a nonce.
func (l *live) paid(actor string) {
	l.t.Helper()
	const nobody = "0xab00000000000000000000000000000000000000"
	before, nonce, actorBefore := l.balance(dev(0)), l.nonce(0), l.balance(actor)
	var r rpc.ReceiptReply
	l.do(&r, "transfer", "--to", nobody, "--amount", "7wei", "--wait")
	if got := l.balance(nobody); got != 7 || l.balance(dev(0)) != before-7-r.Fee || l.nonce(0) != nonce+1 {
		l.t.Errorf("transfer of 7 for %d: %d there, %d of %d left", r.Fee, got, l.balance(dev(0)), before)
	}
	before = l.balance(dev(0))
	r = l.execute(actor, "hear", `"money"`, "--amount", "5wei")
	if l.balance(actor) != actorBefore+5 || l.balance(dev(0)) != before-5-r.Fee || string(r.Events[0].Value) != `["money",5]` {
		l.t.Errorf("5 with a message: %+v", r)
	}
	before = l.balance(dev(0))
	r = l.failed(actor, "fail", "null", "--amount", "5wei")
	if l.balance(actor) != actorBefore+5 || l.balance(dev(0)) != before-r.Fee || l.nonce(0) != nonce+3 || l.read(actor, "heard", "null") != `["money"]` {
		l.t.Errorf("5 with a message that fails: %+v", r)
	}
}

func (l *live) nonce(account int) uint64 {
	l.t.Helper()
	a, err := l.api().Account(l.t.Context(), setup.DevAccounts()[account].Address)
	if err != nil {
		l.t.Fatal(err)
	}
	return a.Nonce
}

// tell is the argument of the handler of that name.
func tell(to, handler string, times, cycles, value int) string {
	return fmt.Sprintf(`{"to":%q,"handler":%q,"times":%d,"cycles":%d,"value":%d}`, to, handler, times, cycles, value)
}

// outcomes are the ends of a receipt's messages.
func outcomes(r rpc.ReceiptReply) string {
	ends := make([]string, len(r.Messages))
	for i, m := range r.Messages {
		ends[i] = fmt.Sprintf("%d>%d %s", m.Parent, m.Depth, m.Status)
	}
	return strings.Join(ends, ", ")
}

// TestMessagesOnDevnet sends, calls, defers and spawns.
func TestMessagesOnDevnet(t *testing.T) { // whitepaper §3.3; resolutions 6.14, 7.7, 11.21; W1, W6
	l := newLive(t)
	all := grants("econ.hold_balance", "econ.transfer", `{"id":"exec.spawn","params":{"max_children":2}}`, "storage.kv")
	a := l.deploy(relay, append(all, "--salt", "0x01", "--amount", "1")...)
	b := l.deploy(relay, append(all, "--salt", "0x02")...)
	t.Run("calls", func(t *testing.T) {
		for _, test := range []struct{ handler, argument, want string }{
			{"enter", `"` + b + `"`, `"refused E1601"`}, // the guard's E1302 ends the called handler
			{"enter", "null", `"once"`},                 // it is open again
			{"ask", `{"to":"` + b + `","handler":"sum","with":[1,2,3],"cycles":100000}`, "6"},
			{"ask", `{"to":"` + b + `","handler":"nothing","with":null,"cycles":100000}`, `"E1402"`},
			{"ask", `{"to":"` + b + `","handler":"fail","with":null,"cycles":100000}`, `"E1601"`},
			{"ask", `{"to":"` + b + `","handler":"secret","with":null,"cycles":100000}`, `"E1201"`},
			{"ask", `{"to":"` + dev(3) + `","handler":"sum","with":[],"cycles":100000}`, `"E1401"`},
		} {
			if r := l.execute(a, test.handler, test.argument); string(r.Value) != test.want || len(r.Events) != 0 {
				t.Errorf("%s(%s): %s, want %s", test.handler, test.argument, r.Value, test.want)
			}
		}
		if got := l.read(b, "heard", "null"); got != "[]" {
			t.Errorf("a call that failed left %s", got)
		}
	})
	t.Run("sends", func(t *testing.T) { l.on(t).sends(a, b) })
	t.Run("limits", func(t *testing.T) { l.on(t).messageLimits(a, b) })
	t.Run("deferred", func(t *testing.T) { l.on(t).deferred(b) })
	t.Run("children", func(t *testing.T) { l.on(t).children(a) })
}

// sends holds messages with money and reserved cycles to their trace, and to what
// the sender is charged.
func (l *live) sends(a, b string) {
	t := l.t
	before := l.balance(a)
	small := l.execute(a, "tell", tell(b, "hear", 3, 60_000, 5))
	if got := outcomes(small); got != "0>1 success, 0>1 success, 0>1 success" || len(small.Events) != 3 || string(small.Events[2].Value) != "[2,5]" {
		t.Errorf("trace %s, events %+v", got, small.Events)
	}
	ids := map[string]bool{}
	for _, m := range small.Messages {
		if ids[m.ID] = true; m.To != b || m.Cycles == 0 || m.Cycles > 60_000 {
			t.Errorf("message %+v", m)
		}
	}
	if len(ids) != 3 || l.balance(b) != 15 || l.balance(a) != before-15 {
		t.Errorf("%d messages moved %d", len(ids), before-l.balance(a))
	}
	large := l.execute(a, "tell", tell(b, "hear", 3, 120_000, 5))
	if more := large.CyclesUsed - small.CyclesUsed; more > 6_000 { // reserving 180,000 more
		t.Errorf("cycles that were reserved and not used cost %d", more)
	}
	lost := l.execute(a, "tell", tell(b, "fail", 1, 60_000, 5))
	if got := lost.Messages[0]; got.Status != "failed" || got.Reason != "reverted" || lost.Status != "success" || l.balance(a) != before-30 {
		t.Errorf("a message that fails: %+v, balance %d", got, l.balance(a))
	}
	if got := l.read(b, "heard", "null"); got != "[0,1,2,0,1,2]" {
		t.Errorf("heard %s", got)
	}
	m := large.Messages[0]
	line := fmt.Sprintf("Message: %s to %s depth 1, %d cycles, success\n", m.ID, b, m.Cycles)
	if code, text, _ := l.run("transaction", "status", large.TxHash); code != 0 || !strings.Contains(text, line) {
		t.Errorf("the command does not say %q:\n%s", line, text)
	}
}

// messageLimits goes to the bounds of a transaction's messages (W6).
func (l *live) messageLimits(a, b string) {
	t := l.t
	l.advance(2) // the actors' cycles of these blocks
	most := []string{"--cycles-limit", "1900000", "--cells-limit", "400000"}
	if r := l.execute(a, "tell", tell(b, "hear", 1_024, 1, 0), most...); len(r.Messages) != 1_024 || r.Messages[1_023].Reason != "cycles_exhausted" {
		t.Errorf("1,024 messages: %d in the trace", len(r.Messages))
	}
	l.advance(2)
	if r := l.failed(a, "tell", tell(b, "hear", 1_025, 1, 0), most...); r.RevertReason != "reverted" || len(r.Messages) != 0 {
		t.Errorf("1,025 messages: %s, %d in the trace", r.RevertReason, len(r.Messages))
	}
	l.advance(2)
	r := l.execute(a, "nest", "[35,1880000]", "--cycles-limit", "1950000", "--cells-limit", "400000")
	if n := len(r.Messages); n != 33 || r.Messages[31].Status != "success" || r.Messages[31].Depth != 32 || r.Messages[32].Status != "waits" {
		t.Fatalf("nested 36 deep: %d in the trace, %+v", n, r.Messages)
	}
	l.advance(3)
	if late := l.receipt(r.Messages[32].ID); late.Status != "success" || late.BlockHeight <= r.BlockHeight || len(late.Messages) != 2 || l.actor(a).MailboxCount != 0 {
		t.Errorf("the message at depth 33: %+v", late)
	}
}

// deferred is delivered in the block of its height, once.
func (l *live) deferred(b string) {
	t := l.t
	l.execute(b, "forget", "null")
	at := l.height() + 120
	r := l.execute(b, "later", fmt.Sprintf(`[%d,"then"]`, at))
	var id string
	if err := json.Unmarshal(r.Value, &id); err != nil {
		t.Fatal(err)
	}
	if l.read(b, "heard", "null") != "[]" || l.height() >= at {
		t.Fatalf("at %d, before %d: %s", l.height(), at, l.read(b, "heard", "null"))
	}
	l.advance(at + 5 - l.height())
	if got := l.receipt(id); got.BlockHeight != at || got.Status != "success" || got.Fee != 0 || l.read(b, "heard", "null") != `["then"]` {
		t.Errorf("deferred to %d: %+v", at, got)
	}
	if r := l.failed(b, "later", "[1,null]"); r.RevertReason != "reverted" {
		t.Errorf("deferred to the past: %+v", r)
	}
}

// children have at most what their parent has (entitlements §7, §9.1; W1).
func (l *live) children(a string) {
	t := l.t
	l.advance(2)
	bear := func(salt, init, asks string) string {
		t.Helper()
		r := l.execute(a, "bear", fmt.Sprintf(`{"salt":%q,"init":%s,"asks":%s}`, salt, init, asks))
		return strings.Trim(string(r.Value), `"`)
	}
	child := bear("1", `"go"`, `[{"id":"storage.kv"}]`)
	c := l.actor(child)
	if c.Parent == nil || *c.Parent != a || c.Creator != a || string(c.Storage["from"]) != `"`+a+`"` || len(c.Entitlements) != 1 {
		t.Errorf("child: %+v", c)
	}
	if l.read(child, "may", `"storage.kv"`) != "true" || l.read(child, "may", `"econ.transfer"`) != "false" {
		t.Error("the child may other things than it asked for")
	}
	for _, test := range []struct{ name, salt, init, asks, want string }{
		{"the same address", "1", "null", `[{"id":"storage.kv"}]`, "E1501"},
		{"init that fails", "2", `"fail"`, `[{"id":"storage.kv"}]`, "E1601"},
		{"what the parent lacks", "2", "null", `[{"id":"timer.schedule"}]`, "E1202"},
		{"what is not inherited", "2", "null", `[{"id":"econ.transfer"}]`, "E1202"},
	} {
		if got := bear(test.salt, test.init, test.asks); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	whole := l.actor(bear("2", "null", "null"))
	if got := fmt.Sprint(whole.Entitlements); len(whole.Entitlements) != 3 || strings.Contains(got, "econ.transfer") {
		t.Errorf("a child that asked for nothing inherits %s", got)
	}
	if r := l.failed(a, "bear", `{"salt":"3","init":null,"asks":null}`); r.RevertReason != "entitlement_quota_exceeded" {
		t.Errorf("child 3 of 2: %+v", r)
	}
}

// TestWaitingOnDevnet has messages wait for the cycles of their receiver: they are
// delivered in their order, in the block in which its bucket has what is reserved for
// them, and once (resolutions 11.21, 11.22).
func TestWaitingOnDevnet(t *testing.T) {
	const refill, reserved = 300, 600_000
	l := newLiveWith(t, func(p *params.Params) { p.Actor.BlockCycles = refill }) // a block is far from enough
	a := l.deploy(relay, append(grants("econ.hold_balance", "econ.transfer", "storage.kv"), "--salt", "0x01", "--amount", "1")...)
	b := l.deploy("testdata/spender.py", append(grants("econ.hold_balance", "storage.kv"), "--salt", "0x02", "--no-init")...)
	l.submit(1, spend(t, b, 1_500_000))
	drained := l.actor(b)
	if drained.CyclesLeft >= reserved {
		t.Fatalf("%d cycles are left", drained.CyclesLeft)
	}
	before := l.balance(a)
	first := l.execute(a, "tell", tell(b, "spend", 1, reserved, 5)).Messages[0]
	second := l.execute(a, "tell", tell(b, "spend", 1, 50_000, 5)).Messages[0] // which it would have
	if first.Status != "waits" || second.Status != "waits" || l.balance(a) != before-10 || l.balance(b) != 0 {
		t.Errorf("%+v and %+v, balances %d and %d", first, second, before-l.balance(a), l.balance(b))
	}
	at := drained.Height + 1 + (reserved-drained.CyclesLeft+refill-1)/refill
	if got := l.actor(b).MailboxCount; got != 2 {
		t.Errorf("%d wait", got)
	}
	if h := l.height(); h <= at {
		l.advance(at + 1 - h)
	}
	for _, m := range []string{first.ID, second.ID} {
		if got := l.receipt(m); got.BlockHeight != at || got.Status != "success" || len(got.Events) != 1 || got.Fee != 0 {
			t.Errorf("message of block %d, want %d: %+v", got.BlockHeight, at, got)
		}
	}
	if l.actor(b).MailboxCount != 0 || l.balance(b) != 10 {
		t.Errorf("%d still wait, the receiver has %d", l.actor(b).MailboxCount, l.balance(b))
	}
}
