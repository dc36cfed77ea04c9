package exec_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/entitle"
)

// limited is a grant with numbers as parameters.
func limited(id string, params ...any) entitle.Grant {
	g := entitle.Grant{ID: id}
	for i := 0; i < len(params); i += 2 {
		p := entitle.Param{Name: params[i].(string)}
		switch v := params[i+1].(type) {
		case int:
			p.Uint = uint64(v)
		case string:
			p.Kind, p.List = entitle.ParamList, []string{v}
		}
		g.Params = append(g.Params, p)
	}
	return g
}

func manifestOf(grants ...entitle.Grant) []byte {
	b := cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements")
	return entitle.Grants(grants).Append(b)
}

// deploy makes an actor of source and returns its address and the receipt.
func (c *testChain) deploy(from chain.Address, source string, manifest []byte) (chain.Address, chain.Receipt) {
	c.t.Helper()
	d := actor.Deployment{Source: []byte(source), Salt: []byte{byte(c.height)}, Manifest: manifest}
	r := c.block(c.program(from, nil, actor.AppendPayload(nil, &d)))
	return actor.AddressOf(from, d.Salt, d.Source), r.Receipts[0]
}

// call sends a message without argument, with value.
func (c *testChain) call(to chain.Address, handler string, value chain.Wei) chain.Receipt {
	c.t.Helper()
	tx := c.program(alice, &to, actor.AppendMessage(nil, handler, cbor.AppendNull(nil))).Tx
	tx.Value = value
	return c.block(verified(tx, alice)).Receipts[0]
}

const gated = `
from cowboy_sdk import actor, public, send, call, transfer, submit_job, entitlement, upgrade_self, set_timer, blob_commit, spawn

BOB = "0xb000000000000000000000000000000000000000"

@actor
class Gated:
    @public
    def get(self, msg):
        self.storage.get("a")

    @public
    def set(self, msg):
        self.storage["a"] = "x" * 64

    @public
    def delete(self, msg):
        self.storage.delete("a")

    @public
    def caught(self, msg):
        try:
            self.storage["a"] = 1
        except BaseException:
            pass
        finally:
            return 1

    @public
    def pay(self, msg):
        for n in msg.payload:
            transfer(BOB, n)

    @public
    def send_value(self, msg):
        send(BOB, None, value=10)

    @public
    def call_value(self, msg):
        call(BOB, "x", value=10)

    @public
    def jobs(self, msg):
        for spec in msg.payload:
            try:
                submit_job(spec)
            except Exception:
                pass

    @public
    def timers(self, msg):
        for n in range(msg.payload):
            try:
                set_timer(1000 + n, "keep")
            except Exception as e:
                return str(e)

    @public
    def blobs(self, msg):
        for n in msg.payload:
            blob_commit(b"x" * n)

    @public
    def child(self, msg):
        try:
            spawn(b"1", "x = 1")
        except Exception:
            pass

    @public
    def grants(self, msg):
        return [entitlement("econ.transfer"), entitlement("storage.kv"), entitlement("sys.upgrade")]

    @public
    def upgrade(self, msg):
        upgrade_self(msg.payload)

    @public
    def keep(self, msg):
        pass

    @public
    def pass_on(self, msg):
        transfer(BOB, msg.value)
`

// ask sends a message with an argument.
func (c *testChain) ask(to chain.Address, handler string, arg []byte) chain.Receipt {
	c.t.Helper()
	return c.block(c.program(alice, &to, actor.AppendMessage(nil, handler, arg))).Receipts[0]
}

func uints(values ...uint64) []byte {
	b := cbor.AppendArray(nil, len(values))
	for _, v := range values {
		b = cbor.AppendUint(b, v)
	}
	return b
}

// jobs is a list of job specifications, each a map of texts and numbers.
func jobs(specs ...[]any) []byte {
	b := cbor.AppendArray(nil, len(specs))
	for _, s := range specs {
		b = cbor.AppendMap(b, len(s)/2)
		for _, v := range s {
			switch v := v.(type) {
			case string:
				b = cbor.AppendText(b, v)
			case int:
				b = cbor.AppendUint(b, uint64(v))
			}
		}
	}
	return b
}

var hold, kv = limited(entitle.HoldBalance), limited(entitle.KV)

func http(params ...any) entitle.Grant {
	return limited(entitle.HTTP, append(params, entitle.Domains, "*.a.com")...) // in canonical order
}

func page(url string) []any { return []any{"url", url, "job_type", "http"} }

func model(tokens int) []any { return []any{"job_type", "llm", "max_tokens", tokens} }

// TestGates runs one handler under one manifest.
func TestGates(t *testing.T) { // E17, E18, E20, E22, E24; entitlements §6.3, §9, §11
	engine := testEngine(t)
	missing, quota := chain.CodeNotEntitled, chain.CodeEntitlementQuota
	transfer := func(params ...any) entitle.Grant { return limited(entitle.Transfer, params...) }
	null := cbor.AppendNull(nil)
	for _, tt := range []struct {
		name    string
		grants  []entitle.Grant // besides econ.hold_balance
		handler string
		arg     []byte
		want    uint16
	}{
		{"E17 get", nil, "get", null, missing},
		{"E17 set", nil, "set", null, missing},
		{"E17 delete", nil, "delete", null, missing},
		{"E17 uncatchable", nil, "caught", null, missing},
		{"E17 granted", []entitle.Grant{kv}, "set", null, chain.CodeOK},
		{"E17 transfer", nil, "pay", uints(1), missing},
		{"E17 nothing to transfer", nil, "pay", uints(0), chain.CodeOK},
		{"E17 value with a message", nil, "send_value", null, missing},
		{"E17 value with a call", nil, "call_value", null, missing},
		{"E17 value granted", []entitle.Grant{transfer()}, "send_value", null, chain.CodeOK},
		{"E17 http", nil, "jobs", jobs(page("https://x.a.com/")), missing},
		{"E17 model", nil, "jobs", jobs(model(1)), missing},
		{"E17 other domain", []entitle.Grant{http()}, "jobs", jobs(page("https://a.com/")), missing},
		{"E17 domain in the path", []entitle.Grant{http()}, "jobs", jobs(page("https://b.com/x.a.com")), missing},
		{"E17 domain as a user", []entitle.Grant{http()}, "jobs", jobs(page("https://x.a.com@b.com/")), missing},
		{"E17 backslash", []entitle.Grant{http()}, "jobs", jobs(page("https://b.com\\x.a.com")), missing},
		{"E17 other scheme", []entitle.Grant{http()}, "jobs", jobs(page("file://x.a.com/")), missing},
		{"E17 domain in upper case, with a port", []entitle.Grant{http()}, "jobs", jobs(page("https://X.A.com:8443/p?q#f")), chain.CodeOK},
		{"E18 requests", []entitle.Grant{http(entitle.MaxRequests, 2)}, "jobs", jobs(page("https://x.a.com"), page("https://y.a.com")), chain.CodeOK},
		{"E18 one request more", []entitle.Grant{http(entitle.MaxRequests, 1)}, "jobs", jobs(page("https://x.a.com"), page("https://y.a.com")), quota},
		{"E18 models and pages apart", []entitle.Grant{http(entitle.MaxRequests, 1), limited(entitle.LLM, entitle.MaxRequests, 1)}, "jobs", jobs(page("https://x.a.com"), model(1)), chain.CodeOK},
		{"E18 tokens", []entitle.Grant{limited(entitle.LLM, entitle.MaxTokens, 9)}, "jobs", jobs(model(9), model(9)), chain.CodeOK},
		{"E18 one token more", []entitle.Grant{limited(entitle.LLM, entitle.MaxTokens, 9)}, "jobs", jobs(model(10)), quota},
		{"E20 bytes", []entitle.Grant{limited(entitle.KV, entitle.MaxBytes, 68)}, "set", null, chain.CodeOK},
		{"E20 one byte more", []entitle.Grant{limited(entitle.KV, entitle.MaxBytes, 67)}, "set", null, quota},
		{"E20 amount", []entitle.Grant{transfer(entitle.MaxAmount, 10)}, "pay", uints(10, 10), chain.CodeOK},
		{"E20 amount 0", []entitle.Grant{transfer(entitle.MaxAmount, 0)}, "pay", uints(1), quota},
		{"E24 amount", []entitle.Grant{transfer(entitle.MaxAmount, 10)}, "pay", uints(11), quota},
		{"E24 block", []entitle.Grant{transfer(entitle.MaxPerBlock, 20)}, "pay", uints(10, 10), chain.CodeOK},
		{"E24 beyond the block", []entitle.Grant{transfer(entitle.MaxPerBlock, 20)}, "pay", uints(10, 10, 1), quota},
		{"E17 accelerator", []entitle.Grant{limited(entitle.LLM)}, "jobs", jobs(append(model(1), entitle.MinVRAM, 1)), missing},
		{"E18 accelerator", []entitle.Grant{limited(entitle.GPU, entitle.MinVRAM, 24), limited(entitle.LLM)}, "jobs", jobs(append(model(1), entitle.MinVRAM, 24)), chain.CodeOK},
		{"E18 more of the accelerator", []entitle.Grant{limited(entitle.GPU, entitle.MinVRAM, 24), limited(entitle.LLM)}, "jobs", jobs(append(model(1), entitle.MinVRAM, 25)), quota},
		{"E17 plain http", []entitle.Grant{http()}, "jobs", jobs(page("http://x.a.com/")), chain.CodeOK},
		{"E17 no host", []entitle.Grant{http()}, "jobs", jobs(page("https:///x.a.com")), missing},
		{"E17 no number for a port", []entitle.Grant{http()}, "jobs", jobs(page("https://x.a.com:8x/")), missing},
		{"E17 timer", nil, "timers", cbor.AppendUint(nil, 1), missing},
		{"E17 blob", nil, "blobs", uints(1), missing},
		{"E17 child", nil, "child", null, missing},
		{"E20 timers", []entitle.Grant{limited(entitle.Schedule, entitle.MaxTimers, 2)}, "timers", cbor.AppendUint(nil, 2), chain.CodeOK},
		{"E20 one timer more", []entitle.Grant{limited(entitle.Schedule, entitle.MaxTimers, 2)}, "timers", cbor.AppendUint(nil, 3), quota},
		{"E20 blob", []entitle.Grant{limited(entitle.Blob, entitle.MaxBytes, 20)}, "blobs", uints(10, 10), chain.CodeOK},
		{"E20 blob, one byte more", []entitle.Grant{limited(entitle.Blob, entitle.MaxBytes, 20)}, "blobs", uints(10, 11), quota},
		{"E22 upgrade", nil, "upgrade", cbor.AppendText(nil, "x = 1"), missing},
		{"granted without limits", []entitle.Grant{transfer(), kv}, "grants", null, chain.CodeOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := oneValidator(t)
			c.engine = engine
			grants := append([]entitle.Grant{hold}, tt.grants...)
			slices.SortFunc(grants, func(a, b entitle.Grant) int { return strings.Compare(a.ID, b.ID) })
			addr, r := c.deploy(alice, gated, manifestOf(grants...))
			if r.Code != chain.CodeOK {
				t.Fatalf("deploy: %s", chain.CodeName(r.Code))
			}
			c.fund(addr, 100*chain.WeiPerCBY)
			first, err := c.try(c.program(alice, &addr, actor.AppendMessage(nil, tt.handler, tt.arg)))
			if err != nil {
				t.Fatal(err)
			}
			got := c.ask(addr, tt.handler, tt.arg)
			if got.Code != tt.want {
				t.Errorf("%s, want %s", chain.CodeName(got.Code), chain.CodeName(tt.want))
			}
			if !bytes.Equal(first.Receipts[0].Encode(), got.Encode()) { // E27
				t.Error("the same block gave two receipts")
			}
		})
	}
}

// fund puts base units on an account besides the chain.
func (c *testChain) fund(addr chain.Address, amount chain.Wei) {
	c.t.Helper()
	to, from := c.state.Accounts[addr], c.state.Accounts[bob]
	to.Balance, from.Balance = to.Balance+amount, from.Balance-amount
	c.state.Accounts[addr], c.state.Accounts[bob] = to, from
}

func TestPerBlockQuotaEndsWithTheBlock(t *testing.T) { // E18, E24
	c := oneValidator(t)
	c.engine = testEngine(t)
	addr, _ := c.deploy(alice, gated, manifestOf(hold, limited(entitle.Transfer, entitle.MaxPerBlock, 20)))
	c.fund(addr, 1_000)
	pay := func(nonce uint64, amounts ...uint64) *chain.VerifiedTx {
		tx := c.program(alice, &addr, actor.AppendMessage(nil, "pay", uints(amounts...))).Tx
		tx.Nonce += nonce
		tx.CyclesLimit = 500_000
		return verified(tx, alice)
	}
	r := c.block(pay(0, 20), pay(1, 1), pay(2))
	if r.Receipts[0].Code != chain.CodeOK || r.Receipts[1].Code != chain.CodeEntitlementQuota || r.Receipts[2].Code != chain.CodeOK {
		t.Errorf("%d %d %d", r.Receipts[0].Code, r.Receipts[1].Code, r.Receipts[2].Code)
	}
	if got := c.block(pay(0, 20)).Receipts[0].Code; got != chain.CodeOK {
		t.Errorf("next block: %s", chain.CodeName(got))
	}
}

func TestHoldBalance(t *testing.T) { // E23; resolution 11.25
	c := oneValidator(t)
	c.engine = testEngine(t)
	holder, _ := c.deploy(alice, gated, manifestOf(hold, limited(entitle.Transfer)))
	passer, _ := c.deploy(alice, gated, manifestOf(limited(entitle.Transfer)))
	for _, tt := range []struct {
		to      chain.Address
		handler string
		value   chain.Wei
		want    uint16
	}{
		{holder, "keep", 5, chain.CodeOK},
		{passer, "keep", 0, chain.CodeOK},
		{passer, "keep", 1, chain.CodeBalanceHeld},
		{passer, "pass_on", 5, chain.CodeOK},
	} {
		before := c.state.Balance(tt.to)
		r := c.call(tt.to, tt.handler, tt.value)
		if r.Code != tt.want {
			t.Errorf("%s with %d: %s, want %s", tt.handler, tt.value, chain.CodeName(r.Code), chain.CodeName(tt.want))
		}
		if got := c.state.Balance(tt.to); tt.want != chain.CodeOK && got != before {
			t.Errorf("%s: balance %d, was %d", tt.handler, got, before)
		}
	}
	// Deposit and escrow of a timer come back to it.
	returner, _ := c.deploy(alice, clockwork, manifestOf(limited(entitle.Schedule)))
	c.fund(returner, 20*chain.WeiPerCBY)
	id := textOf(t, c.ask(returner, "at", uintArg(uint64(c.height)+50)).Output)
	before := c.state.Balance(returner)
	if r := c.ask(returner, "cancel", id); r.Code != chain.CodeOK || c.state.Balance(returner) < before+c.g.Params.Timer.BaseDeposit {
		t.Errorf("a deposit that comes back: %s, balance %d after %d", chain.CodeName(r.Code), c.state.Balance(returner), before)
	}
	id = textOf(t, c.ask(returner, "at", uintArg(uint64(c.height)+50)).Output)
	tx := c.program(alice, &returner, actor.AppendMessage(nil, "cancel", id)).Tx
	tx.Value = 1
	if r := c.block(verified(tx, alice)).Receipts[0]; r.Code != chain.CodeBalanceHeld {
		t.Errorf("a deposit that comes back and a unit besides: %s", chain.CodeName(r.Code))
	}
	// A plain transfer reaches it by no way: the program catches the refusal.
	giver := "from cowboy_sdk import actor, public, transfer, EntitlementMissing\n@actor\nclass G:\n    @public\n    def give(self, msg):\n" +
		"        try:\n            transfer(msg.payload, 1)\n        except EntitlementMissing:\n            return 1\n"
	g, _ := c.deploy(alice, giver, manifestOf(hold, limited(entitle.Transfer)))
	c.fund(g, 10)
	for _, tt := range []struct {
		to   chain.Address
		want string
	}{{passer, "\x01"}, {holder, "\xf6"}, {carol, "\xf6"}} {
		if r := c.ask(g, "give", cbor.AppendText(nil, tt.to.String())); r.Code != chain.CodeOK || string(r.Output) != tt.want {
			t.Errorf("transfer to %s: %s %x", tt.to, chain.CodeName(r.Code), r.Output)
		}
	}
	c.g.Params.Actor.EnforceHoldBalance = false
	if r := c.call(passer, "keep", 1); r.Code != chain.CodeOK {
		t.Errorf("rule switched off: %s", chain.CodeName(r.Code))
	}
}

// pockets tries to keep what it is given by ways that only seem to be none.
const pockets = `
from cowboy_sdk import actor, public, storage, set_timer, cancel_timer, transfer, spawn

CHILD = "from cowboy_sdk import actor\n@actor\nclass Child:\n    pass\n"

@actor
class Pockets:
    @public
    def bond(self, msg):
        for _ in range(200):
            storage.bond(1049576)
            storage.bond(1048576)

    @public
    def clock(self, msg):
        timer = set_timer(100000, "clock")
        if msg.payload:
            cancel_timer(timer)

    @public
    def feed(self, msg):
        transfer(msg.payload[0], 7)
        return spawn(b"s", CHILD, entitlements=msg.payload[1])
`

// TestHoldBalanceToAndFro is money that goes out and comes back within one
// transaction, which refunds nothing, and money that waits where an actor will be.
func TestHoldBalanceToAndFro(t *testing.T) { // E23; resolution 11.25
	c := oneValidator(t)
	c.engine = testEngine(t)
	a, _ := c.deploy(alice, pockets, manifestOf(kv, limited(entitle.Schedule)))
	timer := &c.g.Params.Timer
	timer.MinBaseFee = timer.InitialBaseFee // it stays
	locked := timer.BaseDeposit + chain.Wei(timer.EscrowMultiple)*(chain.Wei(timer.DefaultCycles)+chain.Wei(timer.DefaultCells))
	ask := func(to chain.Address, handler string, arg []byte, value chain.Wei) chain.Receipt {
		tx := c.program(alice, &to, actor.AppendMessage(nil, handler, arg)).Tx
		tx.Value = value
		return c.block(verified(tx, alice)).Receipts[0]
	}
	for _, tt := range []struct {
		rule, handler string
		arg           []byte
		value         chain.Wei
		want          uint16
	}{
		{"a bond that is dissolved again", "bond", cbor.AppendNull(nil), 150 * chain.WeiPerCBY, chain.CodeBalanceHeld},
		{"a timer that is cancelled again", "clock", cbor.AppendBool(nil, true), locked + timer.InitialBaseFee, chain.CodeBalanceHeld},
		{"a timer that stays", "clock", cbor.AppendBool(nil, false), locked + timer.InitialBaseFee, chain.CodeOK},
	} {
		if r := ask(a, tt.handler, tt.arg, tt.value); r.Code != tt.want || c.state.Balance(a) != 0 {
			t.Errorf("%s: %s, balance %d", tt.rule, chain.CodeName(r.Code), c.state.Balance(a))
		}
	}

	p, _ := c.deploy(alice, pockets, manifestOf(hold, limited(entitle.Transfer), limited(entitle.Spawn)))
	child := actor.AddressOf(p, []byte("s"), []byte("from cowboy_sdk import actor\n@actor\nclass Child:\n    pass\n"))
	feed := func(list []byte) []byte { return append(cbor.AppendBytes(cbor.AppendArray(nil, 2), child[:]), list...) }
	if r := ask(p, "feed", feed(entitle.Grants{}.Append(nil)), 10); r.Code != chain.CodeBalanceHeld || c.state.Balance(child) != 0 {
		t.Errorf("fed before it was born: %s, balance %d", chain.CodeName(r.Code), c.state.Balance(child))
	}
	if r := ask(p, "feed", feed(entitle.Grants{hold}.Append(nil)), 10); r.Code != chain.CodeOK || c.state.Balance(child) != 7 {
		t.Errorf("fed one that may hold it: %s, balance %d", chain.CodeName(r.Code), c.state.Balance(child))
	}
}

// event returns the data of the first event of a name.
func event(r *chain.Receipt, name string) ([]byte, bool) {
	for _, e := range r.Events {
		if e.Name == name {
			return e.Data, true
		}
	}
	return nil, false
}

func TestDeprecatedEntitlement(t *testing.T) { // E25; entitlements §9.11
	c := oneValidator(t)
	c.engine = testEngine(t)
	all := manifestOf(hold, kv, limited(entitle.Schedule))
	before, r := c.deploy(alice, gated, all)
	if _, ok := event(&r, actor.EventDeprecated); ok || r.Code != chain.CodeOK {
		t.Fatalf("before the announcement: %+v", r)
	}
	c.ask(before, "set", cbor.AppendNull(nil))
	c.fund(before, 77)
	h := c.height + 1
	c.g.Params.Entitlements.Deprecated = []chain.Deprecation{{ID: entitle.Schedule, From: h, Last: h + 3}}
	during, r := c.deploy(bob, gated, all) // at h
	if data, ok := event(&r, actor.EventDeprecated); !ok || !bytes.Contains(data, []byte(entitle.Schedule)) || r.Code != chain.CodeOK {
		t.Errorf("no warning: %+v", r)
	}
	c.block()
	c.block()
	if r := c.ask(during, "set", cbor.AppendNull(nil)); r.Code != chain.CodeOK { // at h + 3
		t.Errorf("last block of the window: %s", chain.CodeName(r.Code))
	}
	for i := range 2 {
		block := c.block(c.program(alice, &before, actor.AppendMessage(nil, "set", cbor.AppendNull(nil))))
		r := block.Receipts[0]
		last := &block.Receipts[len(block.Receipts)-1]
		if data, ok := event(last, actor.EventNonExecutable); (i == 0) != (ok && last.TxHash == exec.BlockEventsID(h+4, 0) && bytes.Contains(data, []byte(entitle.Schedule))) {
			t.Errorf("block %d announces %+v", c.height, last)
		}
		if data, ok := event(&r, actor.EventNonExecutable); r.Code != chain.CodeNonExecutable || !ok || !bytes.Contains(data, before[:]) {
			t.Errorf("after the window: %+v", r)
		}
	}
	if _, r := c.deploy(alice, gated, all); r.Code != chain.CodeManifest {
		t.Errorf("a new one after the window: %s", chain.CodeName(r.Code))
	}
	if got := c.state.Balance(before); got != 77 {
		t.Errorf("balance %d", got)
	}
	c.redeploy(before)
}

// redeploy gives the actor that gated's deployment in block 1 made another
// manifest.
func (c *testChain) redeploy(addr chain.Address) {
	t := c.t
	t.Helper()
	d := actor.Deployment{Source: []byte(gated), Salt: []byte{0}, Manifest: manifestOf(hold, kv)}
	if r := c.block(c.program(bob, nil, actor.AppendPayload(nil, &d))).Receipts[0]; r.Code != chain.CodeOK || r.Code == chain.CodeOK && actor.AddressOf(bob, d.Salt, d.Source) == addr {
		t.Errorf("another creator has another address: %+v", r)
	}
	before := c.state.Balance(addr)
	if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))).Receipts[0]; r.Code != chain.CodeOK {
		t.Fatalf("redeployment: %s", chain.CodeName(r.Code))
	}
	if got := c.state.Balance(addr); got != before {
		t.Errorf("balance %d, was %d", got, before)
	}
	reader := "get"
	if r := c.ask(addr, reader, cbor.AppendNull(nil)); r.Code != chain.CodeOK {
		t.Errorf("after redeployment: %s", chain.CodeName(r.Code))
	}
	if len(c.state.Storages[addr]) == 0 {
		t.Error("storage is gone")
	}
	if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))).Receipts[0]; r.Code != chain.CodeAddressTaken {
		t.Errorf("E21 redeployment of one that runs: %s", chain.CodeName(r.Code))
	}
}

func TestActorsDoNotChange(t *testing.T) { // E21; entitlements §7.1
	c := oneValidator(t)
	c.engine = testEngine(t)
	addr, _ := c.deploy(alice, gated, manifestOf(hold, kv))
	rec := func() string {
		r, err := actor.ReadRecord(c.state, addr)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x %+v", c.state.Accounts[addr].CodeHash, *r)
	}
	want := rec()
	for _, handler := range []string{"get", "set", "delete", "caught", "grants", "upgrade", "keep"} {
		c.ask(addr, handler, cbor.AppendText(nil, "x = 1"))
	}
	for _, salt := range []byte{0, 1} {
		for _, m := range [][]byte{manifestOf(hold, kv), manifestOf(), manifestOf(kv, limited(entitle.Schedule))} {
			d := actor.Deployment{Source: []byte(gated), Salt: []byte{salt}, Manifest: m}
			c.block(c.program(alice, nil, actor.AppendPayload(nil, &d)))
		}
	}
	// Every instruction of the table that can stand in a block, aimed at it.
	for _, ins := range chain.InstructionTable() {
		if ins.Kind != chain.KindSystem {
			continue
		}
		payload := cbor.AppendUint(cbor.AppendArray(nil, 1+len(ins.Args)), ins.Opcode)
		for _, a := range ins.Args {
			payload = argument(payload, a, addr)
		}
		tx := c.program(alice, &ins.To, payload)
		if _, err := c.try(tx); err == nil {
			c.block(tx)
		}
		if got := rec(); got != want {
			t.Fatalf("%s: %s, was %s", ins.Name, got, want)
		}
	}
	if got := rec(); got != want {
		t.Errorf("%s, was %s", got, want)
	}
}

// argument appends something of an argument's type that names addr where it can.
func argument(b []byte, a chain.Arg, addr chain.Address) []byte {
	switch a.Type {
	case chain.ArgUint:
		return cbor.AppendUint(b, 1)
	case chain.ArgBool:
		return cbor.AppendBool(b, true)
	case chain.ArgText:
		return cbor.AppendText(b, "x")
	case chain.ArgBytes:
		return cbor.AppendBytes(b, []byte("x = 1"))
	case chain.ArgAddress:
		return cbor.AppendBytes(b, addr[:])
	case chain.ArgHash:
		return cbor.AppendBytes(b, make([]byte, 32))
	case chain.ArgList:
		return cbor.AppendArray(b, 0)
	case chain.ArgMap:
		return cbor.AppendMap(b, 0)
	}
	return append(b, manifestOf()...)
}

func TestSystemDeployers(t *testing.T) { // E22; entitlements §9.2; resolution 8.2
	c := oneValidator(t)
	c.engine = testEngine(t)
	up := manifestOf(limited(entitle.Upgrade))
	if _, r := c.deploy(alice, gated, up); r.Code != chain.CodeSystemEntitlement {
		t.Errorf("by anyone: %s", chain.CodeName(r.Code))
	}
	c.g.Params.Entitlements.SystemDeployers = []chain.Address{alice}
	addr, r := c.deploy(alice, gated, up)
	if r.Code != chain.CodeOK {
		t.Fatalf("by a system deployer: %s", chain.CodeName(r.Code))
	}
	before := c.state.Accounts[addr].CodeHash
	if r := c.ask(addr, "upgrade", cbor.AppendText(nil, "x = (")); r.Code != chain.CodeReverted || c.state.Accounts[addr].CodeHash != before {
		t.Errorf("source that does not compile: %s", chain.CodeName(r.Code))
	}
	c.g.Params.Entitlements.SystemDeployers = nil // it keeps what it has
	next := "from cowboy_sdk import actor, public\n@actor\nclass N:\n    @public\n    def version(self, msg):\n        return 2\n"
	if r := c.ask(addr, "upgrade", cbor.AppendText(nil, next)); r.Code != chain.CodeOK || c.state.Accounts[addr].CodeHash == before {
		t.Errorf("upgrade: %s", chain.CodeName(r.Code))
	}
	if r := c.ask(addr, "version", cbor.AppendNull(nil)); r.Code != chain.CodeOK || string(r.Output) != "\x02" {
		t.Errorf("after the upgrade: %+v", r)
	}
}

// TestUpgradeByItsDeployer is the instruction actor_upgrade, and who may not send
// it (entitlements §7.1, §9.2; resolution 8.2).
func TestUpgradeByItsDeployer(t *testing.T) {
	c := oneValidator(t)
	c.engine = testEngine(t)
	c.g.Params.Entitlements.SystemDeployers = []chain.Address{alice}
	addr, _ := c.deploy(alice, gated, manifestOf(limited(entitle.Upgrade)))
	plain, _ := c.deploy(alice, gated, manifestOf(kv))
	next := []byte("from cowboy_sdk import actor, public\n@actor\nclass N:\n    @public\n    def version(self, msg):\n        return 2\n")
	order := func(from, addr chain.Address, source []byte) *chain.VerifiedTx {
		b := cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpActorUpgrade)
		b = cbor.AppendBytes(cbor.AppendBytes(b, addr[:]), source)
		return c.program(from, &chain.AddrActors, b)
	}
	valued := order(alice, addr, next)
	valued.Tx.Value = 1
	few := order(alice, addr, next)
	few.Tx.CyclesLimit = 21_000 + 10
	tight := order(alice, addr, next)
	tight.Tx.CellsLimit = chain.Cells(len(tight.Tx.Payload))
	for _, tt := range []struct {
		rule string
		tx   *chain.VerifiedTx
		want uint16
	}{
		{"by another", order(bob, addr, next), chain.CodeForbidden},
		{"of nobody", order(alice, bob, next), chain.CodeNotFound},
		{"of a regular actor", order(alice, plain, next), chain.CodeForbidden},
		{"source that does not compile", order(alice, addr, []byte("x = (")), chain.CodeCodeInvalid},
		{"no source", order(alice, addr, []byte{}), chain.CodeCodeInvalid},
		{"with a value", verified(valued.Tx, alice), chain.CodeBadArgument},
		{"cycles for less than compiling", verified(few.Tx, alice), chain.CodeCyclesExhausted},
		{"no cells for the event", verified(tight.Tx, alice), chain.CodeCellsExhausted},
	} {
		before := [2]chain.Hash{c.state.Accounts[addr].CodeHash, c.state.Accounts[plain].CodeHash}
		tt.tx.Tx.Nonce = c.nonces[tt.tx.Sender]
		r := c.block(verified(tt.tx.Tx, tt.tx.Sender)).Receipts[0]
		if after := [2]chain.Hash{c.state.Accounts[addr].CodeHash, c.state.Accounts[plain].CodeHash}; r.Code != tt.want || after != before || len(r.Events) != 0 {
			t.Errorf("%s: %s, %d events", tt.rule, chain.CodeName(r.Code), len(r.Events))
		}
	}
	record, _ := actor.ReadRecord(c.state, addr)
	r := c.block(order(alice, addr, next)).Receipts[0]
	if hash := chain.Hash(keccak.Sum256(next)); r.Code != chain.CodeOK || len(r.Events) != 1 || r.Events[0].Name != actor.EventUpgraded || c.state.Accounts[addr].CodeHash != hash {
		t.Errorf("upgrade: %+v", r)
	}
	if now, _ := actor.ReadRecord(c.state, addr); !reflect.DeepEqual(now, record) {
		t.Errorf("E22: the record is %+v, was %+v", now, record)
	}
	if r := c.ask(addr, "version", cbor.AppendNull(nil)); r.Code != chain.CodeOK || string(r.Output) != "\x02" {
		t.Errorf("after the upgrade: %+v", r)
	}
	c.g.Params.Entitlements.SystemDeployers = nil
	if r := c.block(order(alice, addr, []byte(gated))).Receipts[0]; r.Code != chain.CodeSystemEntitlement {
		t.Errorf("by one who is no system deployer any more: %s", chain.CodeName(r.Code))
	}
}

func TestOpenActorWarns(t *testing.T) { // resolution 11.44
	c := oneValidator(t)
	c.engine = testEngine(t)
	open := "from cowboy_sdk import actor\n@actor\nclass O:\n    def run(self, msg):\n        return 1\n"
	addr, r := c.deploy(alice, open, manifestOf())
	if data, ok := event(&r, actor.EventOpen); !ok || !bytes.Contains(data, addr[:]) {
		t.Errorf("no warning: %+v", r)
	}
	if _, r := c.deploy(alice, gated, manifestOf()); len(r.Events) != 0 {
		t.Errorf("a warning without reason: %+v", r.Events)
	}
	if _, r := c.deploy(alice, "x = 1", manifestOf()); r.Code != chain.CodeOK || len(r.Events) != 0 {
		t.Errorf("without an actor: %+v", r)
	}
}

func TestEntitlementErrorsAreStable(t *testing.T) { // E27; entitlements §11
	want := map[uint16]string{
		26: "not_entitled", 33: "entitlement_quota_exceeded", 34: "entitlement_param_invalid",
		35: "actor_non_executable", 36: "system_entitlement_unauthorized", 30: "manifest_refused",
	}
	for code, name := range want {
		if chain.CodeName(code) != name {
			t.Errorf("code %d is %s, want %s", code, chain.CodeName(code), name)
		}
	}
}
