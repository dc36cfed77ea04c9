package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/entitle"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

const counter = `
from cowboy_sdk import actor, public, emit_event, send, get_value

@actor
class Counter:
    @public
    def init(self, msg):
        self.storage["n"] = msg.payload

    @public
    def add(self, msg):
        self.storage["n"] = self.storage["n"] + msg.payload
        emit_event("added", self.storage["n"])
        return self.storage["n"]

    @public
    def fail(self, msg):
        self.storage["n"] = 1000
        raise ValueError("no")

    @public
    def tell(self, msg):
        for _ in range(3):
            send(self.address, 5, "add")
`

// program is a transaction with room for a program.
func (c *testChain) program(from chain.Address, to *chain.Address, payload []byte) *chain.VerifiedTx {
	tx := c.transfer(from, bob, 0).Tx
	tx.To, tx.Payload, tx.CyclesLimit, tx.CellsLimit = to, payload, 2_000_000, 100_000
	return verified(tx, from)
}

func testEngine(t testing.TB) *pvm.Engine {
	t.Helper()
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	return pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits())
}

func TestCounter(t *testing.T) { // whitepaper §1.2, §3.3
	c := oneValidator(t)
	c.engine = testEngine(t)
	d := actor.Deployment{Source: []byte(counter), Salt: []byte{1}, Manifest: entitle.Manifest("storage.kv"), Init: &actor.Init{Handler: "init", Payload: cbor.AppendUint(nil, 7)}}
	r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d)))
	if r.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("deploy: %+v", r.Receipts[0])
	}
	addr := actor.AddressOf(alice, d.Salt, d.Source)
	call := func(handler string, arg []byte) chain.Receipt {
		t.Helper()
		return c.block(c.program(alice, &addr, actor.AppendMessage(nil, handler, arg))).Receipts[0]
	}
	got := call("add", cbor.AppendUint(nil, 3))
	if got.Code != chain.CodeOK || string(got.Output) != "\x0a" || len(got.Events) != 1 || got.Events[0].Name != "added" {
		t.Errorf("add: %+v", got)
	}
	if got := call("fail", cbor.AppendUint(nil, 3)); got.Code != chain.CodeReverted {
		t.Errorf("fail: %+v", got)
	}
	if got := call("missing", cbor.AppendUint(nil, 3)); got.Code != chain.CodeNoHandler {
		t.Errorf("missing: %+v", got)
	}
	if got := call("tell", cbor.AppendUint(nil, 3)); got.Code != chain.CodeOK || len(got.Trace) != 3 || got.Trace[2].Code != chain.CodeOK || len(got.Events) != 3 {
		t.Errorf("tell: %+v", got)
	}
	if got := call("add", cbor.AppendUint(nil, 0)); string(got.Output) != "\x18\x19" {
		t.Errorf("n is %x, want 25", got.Output)
	}
}
