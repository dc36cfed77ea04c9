package sdk

import (
	"os"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/values"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// bench is a machine with the SDK and a recording host.
type bench struct {
	t       testing.TB
	m       *vm.Machine
	host    *host.Recorder
	session *Session
}

func newRuntime(t testing.TB) *vm.Runtime {
	t.Helper()
	mods, err := Modules()
	if err != nil {
		t.Fatal(err)
	}
	cfg := vm.DefaultConfig()
	cfg.Modules, cfg.Globals = mods, Builtins()
	rt, err := vm.NewRuntime(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

func newBench(t testing.TB) *bench {
	return &bench{t: t, m: newRuntime(t).NewMachine(), host: host.NewRecorder()}
}

// call loads the program anew, as each call of the chain does, and delivers
// a payload given as a Python expression. It answers what the handler returned,
// or the last line of the traceback, in brackets where the call was aborted.
func (b *bench) call(src, handler, payload string) string {
	b.t.Helper()
	b.m.Reset()
	b.session = NewSession(b.host, host.DefaultCosts(), DefaultLimits())
	b.m.Host = b.session
	b.host.Here.CallID[0]++
	program, err := compile.Source([]byte(src), "actor.py", compile.DefaultLimits())
	if err != nil {
		b.t.Fatal(err)
	}
	expr, err := compile.Source([]byte("v = "+payload), "payload", compile.DefaultLimits())
	if err != nil {
		b.t.Fatal(err)
	}
	res, err := b.m.Do(10_000_000, func(m *vm.Machine) (vm.Value, error) {
		if _, err := m.LoadModule("payload", expr); err != nil {
			return vm.None, err
		}
		v, _ := m.Global("payload", "v")
		data, err := values.Append(m, nil, v, values.DefaultProfile())
		if err != nil {
			return vm.None, err
		}
		if _, err := m.LoadModule("__main__", program); err != nil || handler == "" {
			return vm.None, err
		}
		out, err := Entry{Handler: handler, Payload: data}.Deliver(m)
		if err != nil {
			return vm.None, err
		}
		if v, err = values.Decode(m, out, values.DefaultProfile()); err != nil {
			return vm.None, err
		}
		s, err := m.Repr(v)
		if err != nil {
			return vm.None, err
		}
		return s.Value(), nil
	})
	switch {
	case err != nil:
		return "[" + err.Error() + "]"
	case res.Raised != nil:
		return lastLine(res.Traceback)
	}
	s, _ := res.Value.Text()
	return strings.TrimSuffix(s+"\n"+string(res.Output), "\n")
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// show writes canonical bytes as Python shows the value.
func show(t testing.TB, data []byte) string {
	t.Helper()
	if len(data) == 0 {
		return "-"
	}
	m := newRuntime(t).NewMachine()
	res, err := m.Do(1_000_000, func(m *vm.Machine) (vm.Value, error) {
		v, err := values.Decode(m, data, values.Profile{Bytes: 1 << 16, Depth: 64, Exact: true})
		if err != nil {
			return vm.None, err
		}
		s, err := m.Repr(v)
		if err != nil {
			return vm.None, err
		}
		return s.Value(), nil
	})
	if err != nil || res.Raised != nil {
		t.Fatalf("%x: %v %s", data, err, res.Traceback)
	}
	s, _ := res.Value.Text()
	return s
}

// log writes the calls that the host saw, and forgets them.
func (b *bench) log() []string {
	var out []string
	for _, c := range b.host.Calls {
		out = append(out, c.String()+" "+show(b.t, c.Data))
	}
	b.host.Calls = nil
	return out
}

func (b *bench) want(what string, got []string, want ...string) {
	b.t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		b.t.Errorf("%s:\n%s\nwant\n%s", what, g, w)
	}
}

func source(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWhitepaperMessagePassing(t *testing.T) { // whitepaper, The Message-Passing Continuation Model
	b := newBench(t)
	src := source(t, "trading_bot.py") + "\nTradingBot.execute_buy = lambda self, price: self.storage.set('bought', price)\n"
	b.host.Storage["price"] = []byte{0x18, 100}
	if got := b.call(src, "handle_trade", "None"); got != "None" {
		t.Fatal(got)
	}
	b.want("request", b.log(),
		"StorageGet price 0 -",
		"Send 0x0000000000000000000000000000000000000002 0 {'prompt': 'Analyze buying opportunity at $100', 'context': "+
			"{'request_block': 1, 'original_price': 100}, 'job_type': 'llm', 'reply_to': '0x00000000000000000000000000000000000000aa', 'reply_handler': 'handle_analysis_result'}")
	b.call(src, "handle_analysis_result", "{'result': 'Very BULLISH', 'context': {'original_price': 100, 'request_block': 1}}")
	b.want("result", b.log(), "StorageGet price 0 -", "StorageSet bought 0 100")
	b.call(src, "handle_analysis_result", "{'result': 'bullish', 'context': {'original_price': 99, 'request_block': 1}}")
	b.want("price changed", b.log(), "StorageGet price 0 -", "StorageSet last_abort_reason 0 'price_changed'")
	b.host.Storage["price"] = []byte{0x18, 200}
	b.call(src, "handle_trade", "None")
	b.want("too dear", b.log(), "StorageGet price 0 -")
}

func TestWhitepaperTimeout(t *testing.T) { // whitepaper, Timeout and Failure Handling
	b := newBench(t)
	src := source(t, "timeout.py") + "\nTradingBot.handle_job_failure = lambda self, id, why: emit(id, why)\nfrom cowboy_sdk import emit_event as emit\n"
	if got := b.call(src, "handle_trade", "None"); got != "None" {
		t.Fatal(got)
	}
	log := b.log()
	if len(log) != 4 {
		t.Fatalf("calls: %q", log)
	}
	id := strings.Fields(log[0])[1][len("pending:"):]
	timer := strings.Fields(log[3])[3]
	b.want("request", log,
		"StorageSet pending:"+id+" 0 {'type': 'trade_analysis', 'context': {}, 'submitted_block': 1}",
		"Send 0x0000000000000000000000000000000000000002 0 {'job_type': 'llm', 'correlation_id': '"+id+"'}",
		"SetTimer handle_timeout 101 {'correlation_id': '"+id+"'}",
		"StorageSet timer:"+id+" 0 "+timer)
	b.call(src, "handle_timeout", "{'correlation_id': '"+id+"'}")
	b.want("timeout", b.log(), "StorageGet pending:"+id+" 0 -", "StorageDelete pending:"+id+" 0 -", "StorageDelete timer:"+id+" 0 -", "EmitEvent "+id+" 0 'timeout'")
	b.call(src, "handle_analysis_result", "{'correlation_id': '"+id+"'}")
	b.want("late result", b.log(), "StorageGet timer:"+id+" 0 -", "StorageGet pending:"+id+" 0 -")
	b.call(src, "handle_trade", "None")
	id = strings.Fields(b.log()[0])[1][len("pending:"):]
	b.call(src, "handle_analysis_result", "{'correlation_id': '"+id+"'}")
	if log := b.log(); len(log) != 5 || !strings.HasPrefix(log[1], "CancelTimer ") || len(b.host.Storage) != 0 {
		t.Errorf("result: %q, left %v", log, b.host.Storage)
	}
}

func TestWhitepaperServices(t *testing.T) { // whitepaper, Secrets, Rent Payment Options, Storage Restoration
	b := newBench(t)
	const actor = "0x00000000000000000000000000000000000000dd"
	if got := b.call(strings.ReplaceAll(source(t, "services.py"), "0x...", actor), "", "None"); got != "" {
		t.Fatal(got)
	}
	b.want("services", b.log(),
		"StoreSecret broker_api_key 6 {'runners': ['tee_required'], 'job_types': ['http'], 'entitlements': ['region_us']}",
		"PrepayRent "+b.host.Here.Self.String()+" 1000 -", "RentStatus "+b.host.Here.Self.String()+" 0 -", "PrepayRent "+actor+" 100 -",
		"RestoreStorage "+actor+" 0x00000000000000000000000000000000000000cc 1 -")
}

func TestPermissions(t *testing.T) { // resolution 11.44
	b := newBench(t)
	open := "from cowboy_sdk import *\n@actor\nclass A:\n def h(self, msg): return 1\n def _p(self, msg): return 2\n"
	marked := `
from cowboy_sdk import *
@actor
class A:
    def plain(self, msg): return 1
    @public
    def anyone(self, msg): return 2
    @callable_by(SELF)
    def me(self, msg): return 3
    @callable_by(OWNER, "0x00000000000000000000000000000000000000CC")
    def owner(self, msg): return 4
`
	global := "from cowboy_sdk import public\n@public\ndef f(msg): return msg.x + msg['y']\ndef g(msg): return 0\n"
	self, other := b.host.Here.Self, chain.Address{19: 0xcc}
	denied := func(h string) string {
		return "cowboy_sdk.PermissionDenied: handler '" + h + "' is not callable by this sender"
	}
	for _, row := range []struct {
		rule, src, handler string
		sender             chain.Address
		want               string
	}{
		{"open without decorators", open, "h", other, "1"},
		{"never with an underscore", open, "_p", other, "cowboy_sdk.UnknownHandler: no handler '_p'"},
		{"unknown", open, "x", other, "cowboy_sdk.UnknownHandler: no handler 'x'"},
		{"storage is no handler", open, "storage", other, "cowboy_sdk.UnknownHandler: no handler 'storage'"},
		{"undecorated beside decorated", marked, "plain", other, denied("plain")},
		{"public", marked, "anyone", other, "2"},
		{"self", marked, "me", self, "3"},
		{"not self", marked, "me", other, denied("me")},
		{"address", marked, "owner", other, "4"},
		{"neither owner nor address", marked, "owner", self, denied("owner")},
		{"global function", global, "f", other, "3"},
		{"undecorated global function", global, "g", other, denied("g")},
	} {
		b.host.Here.Sender = row.sender
		if got := b.call(row.src, row.handler, "{'x': 1, 'y': 2}"); got != row.want {
			t.Errorf("%s: %s, want %s", row.rule, got, row.want)
		}
	}
	b.host.Here.Sender = self
	b.host.Storage["__OWNER__"] = append([]byte{0x78, 42}, self.String()...)
	if got := b.call(marked, "owner", "None"); got != "4" {
		t.Errorf("owner: %s", got)
	}
}

func TestReentrancyGuardIsADecorator(t *testing.T) { // whitepaper §12.3
	b := newBench(t)
	for _, row := range []struct{ src, want string }{
		{"@public\n@reentrancy_guard\ndef h(msg):\n return storage.get('__reentrancy__:h')\n", "True"},
		{
			"@public\ndef h(msg):\n with reentrancy_guard('h'):\n  return 1\n",
			"TypeError: reentrancy_guard is a decorator: write @reentrancy_guard above a handler",
		},
	} {
		if got := b.call("from cowboy_sdk import *\n"+row.src, "h", "None"); got != row.want {
			t.Errorf("%s: %s, want %s", row.src, got, row.want)
		}
	}
}
