package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
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
	d := actor.Deployment{Source: []byte(counter), Salt: []byte{1}, Manifest: manifest.Manifest("storage.kv"), Init: &actor.Init{Handler: "init", Payload: cbor.AppendUint(nil, 7)}}
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

const herald = `
from cowboy_sdk import actor, public, emit_event

@actor
class Herald:
    @public
    def say(self, msg):
        times, topic, size = msg.payload
        for _ in range(times):
            emit_event("t" * topic, b"d" * size)

    @public
    def answer(self, msg):
        return b"d" * msg.payload
`

// TestEventsAreBounded: so many, so long, and a cell for as many bytes as the parameter
// says, each rounded up.
func TestEventsAreBounded(t *testing.T) { // resolution 2.11, ADR 90
	c := oneValidator(t)
	c.engine = testEngine(t)
	c.g.Params.API.EmitEventCycles, c.g.Params.API.EmitEventByteCycles = 10, 0
	c.g.Params.API.EventBytesPerCell = 2
	addr, _ := c.deploy(alice, herald, manifestOf())
	const name, data, short = chain.MaxEventName, chain.MaxEventBytes, 256
	c.g.Params.API.EventShortBytes = short
	for _, tt := range []struct {
		rule               string
		times, topic, size uint64
		code               uint16
		cells              chain.Cells // of the events
	}{
		{"an even number of bytes", 1, 3, 4, chain.CodeOK, 4}, // the data is a canonical value, 5 bytes
		{"an odd number", 1, 3, 5, chain.CodeOK, 5},
		{"each for itself", 3, 4, 4, chain.CodeOK, 3 * 5},
		{"as many as may be", chain.MaxEvents, 1, 0, chain.CodeOK, chain.MaxEvents},
		{"one more", chain.MaxEvents + 1, 1, 0, chain.CodeReverted, 0},
		{"the longest name", 1, name, 0, chain.CodeOK, (name+2)/2 + 1}, // a byte more than a short one has
		{"a longer one", 1, name + 1, 0, chain.CodeReverted, 0},
		{"the most data", 1, 1, data - 3, chain.CodeOK, (1+data+1)/2 + (1+data-short+1)/2},
		{"more data", 1, 1, data - 2, chain.CodeReverted, 0},
	} {
		payload := actor.AppendMessage(nil, "say", uints(tt.times, tt.topic, tt.size))
		r, err := c.try(c.program(alice, &addr, payload))
		if err != nil {
			t.Fatal(err)
		}
		got := r.Receipts[0]
		if cells := got.CellsUsed - chain.Cells(len(payload)); got.Code != tt.code || tt.code == chain.CodeOK && (cells != tt.cells+chain.Cells(tt.times)*c.g.Params.API.EventCells+1 || uint64(len(got.Events)) != tt.times) {
			t.Errorf("%s: %s, %d events, %d cells, want %d besides the answer", tt.rule, chain.CodeName(got.Code), len(got.Events), cells, tt.cells)
		}
	}
}

// TestAnswerBeyondTheCells: an answer that the cells do not cover fails its handler
// and is not in the receipt, of a deployment neither.
func TestAnswerBeyondTheCells(t *testing.T) { // resolution 11.34
	c := oneValidator(t)
	c.engine = testEngine(t)
	addr, _ := c.deploy(alice, herald, manifestOf())
	message := actor.AppendMessage(nil, "answer", cbor.AppendUint(nil, 100))
	d := actor.Deployment{Source: []byte(herald), Salt: []byte{9}, Manifest: manifestOf(), Init: &actor.Init{Handler: "answer", Payload: cbor.AppendUint(nil, 100)}}
	for rule, tx := range map[string]*chain.VerifiedTx{
		"message": c.program(alice, &addr, message), "deployment": c.program(alice, nil, actor.AppendPayload(nil, &d)),
	} {
		whole, err := c.try(tx)
		if err != nil || whole.Receipts[0].Code != chain.CodeOK || len(whole.Receipts[0].Output) != 102 {
			t.Fatalf("%s: %+v, %v", rule, whole.Receipts, err)
		}
		used := whole.Receipts[0].CellsUsed
		for _, limit := range []chain.Cells{used - 1, used} {
			tx.Tx.CellsLimit = limit
			r, err := c.try(verified(tx.Tx, alice))
			if err != nil {
				t.Fatal(err)
			}
			got := r.Receipts[0]
			if ok := limit == used; ok != (got.Code == chain.CodeOK) || ok != (len(got.Output) == 102) || !ok && (got.Code != chain.CodeCellsExhausted || len(got.Output) != 0) {
				t.Errorf("%s with %d of %d cells: %s, output of %d bytes", rule, limit, used, chain.CodeName(got.Code), len(got.Output))
			}
		}
	}
}
