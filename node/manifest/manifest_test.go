package manifest_test

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
	"github.com/cowboy-foundation/cowboy/node/manifest"
)

func TestInfer(t *testing.T) { // entitlements §6, §9
	f := func(source, want string) {
		t.Helper()
		grants, err := manifest.Infer([]byte(source))
		if got := manifest.JSON(grants); err != nil || got != `{"entitlements":[`+want+`]}` {
			t.Errorf("%s\nneeds %s, %v; want %s", source, got, err, want)
		}
		if b, err := manifest.Encode(grants); err != nil || len(b) == 0 {
			t.Errorf("%s: %v", source, err)
		}
	}
	const (
		kv, hold, pay = `{"id":"storage.kv"}`, `{"id":"econ.hold_balance"}`, `{"id":"econ.transfer"}`
		timer         = `{"id":"timer.schedule"}`
	)
	f("def add(msg):\n    return 1\n", "")
	f("class A:\n    def add(self, msg):\n        self.storage['n'] = 1\n", kv)
	f("from cowboy_sdk import get_state\nget_state('x')\n", kv)
	f("def go(msg):\n    set_timer(9, 'x')\n", hold+","+timer)
	f("from cowboy_sdk import transfer\ndef go(msg):\n    transfer(msg.sender, 1)\n", hold+","+pay)
	f("def transfer(a, b):\n    pass\ndef go(msg):\n    transfer(msg.sender, 1)\n", "")
	f("def go(msg):\n    send(msg.sender, 1, 'x', value=0)\n", "")
	f("def go(msg):\n    send(msg.sender, 1, 'x', value=msg.n)\n", hold+","+pay)
	f("async def go(self, msg):\n    await runner.llm('hello')\n", `{"id":"oracle.llm"}`)
	f("async def go(self, msg):\n    await runner.http('https://API.example.org/x')\n", `{"id":"http.fetch","params":{"allowlist_domains":["api.example.org"]}}`)
	f("async def go(self, msg):\n    await runner.http(msg.url)\n", `{"id":"http.fetch","params":{"allowlist_domains":["*"]}}`)
	f("def go(m):\n    submit_job({'job_type': 'llm'})\n", hold+`,{"id":"oracle.llm"}`)
	f("from cowboy_sdk import RUNNER\ndef go(m):\n    send(RUNNER, {'type': 'llm'})\n", hold+`,{"id":"oracle.llm"}`)
	f("from cowboy_sdk import RUNNER\ndef go(m):\n    send(RUNNER, {'type': 'http_extract', 'url': 'https://a.example/x'})\n", hold+`,{"id":"http.fetch","params":{"allowlist_domains":["a.example"]}}`)
	f("RUNNER = 'llm'\ndef go(m):\n    return RUNNER\n", "")
	f("def go(m):\n    return 'llm'\n", "")
	f("def go(x):\n    return x.http, 'https://a.example'\n", "")
	if _, err := manifest.Infer([]byte("def (")); !errors.As(err, new(*syntax.Error)) {
		t.Errorf("a source that does not parse: %v", err)
	}
}

func TestDefines(t *testing.T) {
	const source = "class A:\n    def init(self, msg):\n        def inner(): pass\ndef run(msg): pass\n"
	for name, want := range map[string]bool{"init": true, "run": true, "inner": false, "A": false} {
		if manifest.Defines([]byte(source), name) != want {
			t.Errorf("%s: not %v", name, want)
		}
	}
}

func TestParse(t *testing.T) { // entitlements §12.1
	got, err := manifest.Parse([]byte(`{"entitlements":[{"id":"storage.kv","params":{"max_bytes":1048576}},{"id":"econ.transfer","params":{"max_per_block":2,"max_amount":1000}},{"id":"bridge.subscribe_event","params":{"allowlist_contracts":["0x` + chain.AddrTokens.String()[2:] + `"]}}]}`))
	if err != nil || len(got) != 3 || got[0].ID != "bridge.subscribe_event" || got[2].ID != "storage.kv" {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{
		"", "[]", "{}x", `{"entitlements":[{"id":1}]}`, `{"what":[]}`, `{"entitlements":[{"id":"a","params":{"x":-1}}]}`,
		`{"entitlements":[{"id":"a","params":{"x":1.5}}]}`, `{"entitlements":[{"id":"a","params":{"x":[1]}}]}`,
		`{"entitlements":[{"id":"a","params":{"x":{}}}]}`, `{"entitlements":[{"id":"a","params":{"allowlist_contracts":["zz"]}}]}`,
	} {
		if got, err := manifest.Parse([]byte(text)); err == nil {
			t.Errorf("%s is %v", text, got)
		}
	}
}
