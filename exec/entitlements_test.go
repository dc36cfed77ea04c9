package exec_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// limited is a grant with numbers as parameters.
func limited(id string, params ...any) manifest.Grant {
	g := manifest.Grant{ID: id}
	for i := 0; i < len(params); i += 2 {
		p := manifest.Param{Name: params[i].(string)}
		switch v := params[i+1].(type) {
		case int:
			p.Uint = uint64(v)
		case string:
			p.Kind, p.List = manifest.ParamList, []string{v}
		}
		g.Params = append(g.Params, p)
	}
	return g
}

func manifestOf(grants ...manifest.Grant) []byte {
	b := cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements")
	return manifest.Grants(grants).Append(b)
}

// deploy makes an actor of source and returns its address and the receipt.
func (c *testChain) deploy(from chain.Address, source string, manifest []byte) (chain.Address, chain.Receipt) {
	c.t.Helper()
	d := actor.Deployment{Source: []byte(source), Salt: []byte{byte(c.height)}, Manifest: manifest}
	tx := c.program(from, nil, actor.AppendPayload(nil, &d)).Tx
	tx.CellsLimit = min(tx.CellsLimit+chain.Cells(len(source)), c.g.Params.MaxTxCells) // its code besides its payload
	r := c.block(verified(tx, from))
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

// jobList is a list of job specifications, each a map of texts and numbers.
func jobList(specs ...[]any) []byte {
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

var hold, kv = limited(manifest.HoldBalance), limited(manifest.KV)

func http(params ...any) manifest.Grant {
	return limited(manifest.HTTP, append(params, manifest.Domains, "*.a.com")...) // in canonical order
}

func page(url string) []any { return []any{"url", url, "job_type", "http"} }

func model(tokens int) []any {
	return []any{"prompt", "p", "job_type", "llm", "max_tokens", tokens}
}

// TestGates runs one handler under one manifest.
func TestGates(t *testing.T) { // E17, E18, E20, E22, E24; entitlements §6.3, §9, §11
	engine := testEngine(t)
	missing, quota := chain.CodeNotEntitled, chain.CodeEntitlementQuota
	transfer := func(params ...any) manifest.Grant { return limited(manifest.Transfer, params...) }
	null := cbor.AppendNull(nil)
	for _, tt := range []struct {
		name    string
		grants  []manifest.Grant // besides econ.hold_balance
		handler string
		arg     []byte
		want    uint16
	}{
		{"E17 get", nil, "get", null, missing},
		{"E17 set", nil, "set", null, missing},
		{"E17 delete", nil, "delete", null, missing},
		{"E17 uncatchable", nil, "caught", null, missing},
		{"E17 granted", []manifest.Grant{kv}, "set", null, chain.CodeOK},
		{"E17 transfer", nil, "pay", uints(1), missing},
		{"E17 nothing to transfer", nil, "pay", uints(0), chain.CodeOK},
		{"E17 value with a message", nil, "send_value", null, missing},
		{"E17 value with a call", nil, "call_value", null, missing},
		{"E17 value granted", []manifest.Grant{transfer()}, "send_value", null, chain.CodeOK},
		{"E17 http", nil, "jobs", jobList(page("https://x.a.com/")), missing},
		{"E17 model", nil, "jobs", jobList(model(1)), missing},
		{"E17 other domain", []manifest.Grant{http()}, "jobs", jobList(page("https://a.com/")), missing},
		{"E17 domain in the path", []manifest.Grant{http()}, "jobs", jobList(page("https://b.com/x.a.com")), missing},
		{"E17 domain as a user", []manifest.Grant{http()}, "jobs", jobList(page("https://x.a.com@b.com/")), missing},
		{"E17 backslash", []manifest.Grant{http()}, "jobs", jobList(page("https://b.com\\x.a.com")), missing},
		{"E17 other scheme", []manifest.Grant{http()}, "jobs", jobList(page("file://x.a.com/")), missing},
		{"E17 domain in upper case, with a port", []manifest.Grant{http()}, "jobs", jobList(page("https://X.A.com:8443/p?q#f")), chain.CodeOK},
		{"E18 requests", []manifest.Grant{http(manifest.MaxRequests, 2)}, "jobs", jobList(page("https://x.a.com"), page("https://y.a.com")), chain.CodeOK},
		{"E18 one request more", []manifest.Grant{http(manifest.MaxRequests, 1)}, "jobs", jobList(page("https://x.a.com"), page("https://y.a.com")), quota},
		{"E18 models and pages apart", []manifest.Grant{http(manifest.MaxRequests, 1), limited(manifest.LLM, manifest.MaxRequests, 1)}, "jobs", jobList(page("https://x.a.com"), model(1)), chain.CodeOK},
		{"E18 tokens", []manifest.Grant{limited(manifest.LLM, manifest.MaxTokens, 9)}, "jobs", jobList(model(9), model(9)), chain.CodeOK},
		{"E18 one token more", []manifest.Grant{limited(manifest.LLM, manifest.MaxTokens, 9)}, "jobs", jobList(model(10)), quota},
		{"E20 bytes", []manifest.Grant{limited(manifest.KV, manifest.MaxBytes, 68)}, "set", null, chain.CodeOK},
		{"E20 one byte more", []manifest.Grant{limited(manifest.KV, manifest.MaxBytes, 67)}, "set", null, quota},
		{"E20 amount", []manifest.Grant{transfer(manifest.MaxAmount, 10)}, "pay", uints(10, 10), chain.CodeOK},
		{"E20 amount 0", []manifest.Grant{transfer(manifest.MaxAmount, 0)}, "pay", uints(1), quota},
		{"E24 amount", []manifest.Grant{transfer(manifest.MaxAmount, 10)}, "pay", uints(11), quota},
		{"E24 block", []manifest.Grant{transfer(manifest.MaxPerBlock, 20)}, "pay", uints(10, 10), chain.CodeOK},
		{"E24 beyond the block", []manifest.Grant{transfer(manifest.MaxPerBlock, 20)}, "pay", uints(10, 10, 1), quota},
		{"E17 accelerator", []manifest.Grant{limited(manifest.LLM)}, "jobs", jobList(append(model(1), manifest.MinVRAM, 1)), missing},
		{"E18 accelerator", []manifest.Grant{limited(manifest.GPU, manifest.MinVRAM, 24), limited(manifest.LLM)}, "jobs", jobList(append(model(1), manifest.MinVRAM, 24)), chain.CodeOK},
		{"E18 more of the accelerator", []manifest.Grant{limited(manifest.GPU, manifest.MinVRAM, 24), limited(manifest.LLM)}, "jobs", jobList(append(model(1), manifest.MinVRAM, 25)), quota},
		{"E17 plain http", []manifest.Grant{http()}, "jobs", jobList(page("http://x.a.com/")), chain.CodeOK},
		{"E17 no host", []manifest.Grant{http()}, "jobs", jobList(page("https:///x.a.com")), missing},
		{"E17 no number for a port", []manifest.Grant{http()}, "jobs", jobList(page("https://x.a.com:8x/")), missing},
		{"E17 timer", nil, "timers", cbor.AppendUint(nil, 1), missing},
		{"E17 blob", nil, "blobs", uints(1), missing},
		{"E17 child", nil, "child", null, missing},
		{"E20 timers", []manifest.Grant{limited(manifest.Schedule, manifest.MaxTimers, 2)}, "timers", cbor.AppendUint(nil, 2), chain.CodeOK},
		{"E20 one timer more", []manifest.Grant{limited(manifest.Schedule, manifest.MaxTimers, 2)}, "timers", cbor.AppendUint(nil, 3), quota},
		{"E20 blob", []manifest.Grant{limited(manifest.Blob, manifest.MaxBytes, 20)}, "blobs", uints(10, 10), chain.CodeOK},
		{"E20 blob, one byte more", []manifest.Grant{limited(manifest.Blob, manifest.MaxBytes, 20)}, "blobs", uints(10, 11), quota},
		{"E22 upgrade", nil, "upgrade", cbor.AppendText(nil, "x = 1"), missing},
		{"granted without limits", []manifest.Grant{transfer(), kv}, "grants", null, chain.CodeOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := oneValidator(t)
			c.engine = engine
			grants := append([]manifest.Grant{hold}, tt.grants...)
			slices.SortFunc(grants, func(a, b manifest.Grant) int { return strings.Compare(a.ID, b.ID) })
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
	addr, _ := c.deploy(alice, gated, manifestOf(hold, limited(manifest.Transfer, manifest.MaxPerBlock, 20)))
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

// event returns the data of the first event of a name.
func event(r *chain.Receipt, name string) ([]byte, bool) {
	for _, e := range r.Events {
		if e.Name == name {
			return e.Data, true
		}
	}
	return nil, false
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
