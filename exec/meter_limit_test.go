package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

const squirrel = `
from cowboy_sdk import actor, public

@actor
class Squirrel:
    @public
    def fill(self, msg):
        first, n = msg.payload
        for i in range(first, first + n):
            self.storage["k%d" % i] = b"x" * 40

    @public
    def again(self, msg):
        self.storage["k0"] = b"y" * 40

    @public
    def drop(self, msg):
        for i in range(msg.payload):
            del self.storage["k%d" % i]
`

// factor is what new bytes cost in the next block.
func factor(t *testing.T, c *testChain) (total, factor uint64) {
	t.Helper()
	m, err := exec.StateMeter(c.state)
	if err != nil {
		t.Fatal(err)
	}
	total = m.Total(&c.g.Params.State)
	return total, fees.GrowthFactor(&c.g.Params.State, total)
}

// TestFullState fills a small limit: the price of new entries rises until nobody can
// pay it; what there is goes on, the protocol's blocks too, and deletions make room.
func TestFullState(t *testing.T) {
	c := oneValidator(t)
	c.engine = testEngine(t)
	c.g.Params.State.LimitBytes = 60_000
	// A small limit is filled by few cells: a transaction may use but few.
	c.g.Params.MaxTxCells = 100_000
	a, r := c.deploy(alice, squirrel, manifest.Manifest("storage.kv", "econ.hold_balance"))
	if r.Code != chain.CodeOK {
		t.Fatalf("deploy: %+v", r)
	}
	call := func(handler string, arg []byte) chain.Receipt {
		t.Helper()
		return c.ask(a, handler, arg)
	}
	pair := func(first, n uint64) []byte {
		return cbor.AppendUint(cbor.AppendUint(cbor.AppendArray(nil, 2), first), n)
	}
	var last chain.Cells
	filled := uint64(0)
	for ; filled < 1_000; filled += 4 {
		got := call("fill", pair(filled, 4))
		if got.Code == chain.CodeCellsExhausted {
			break
		}
		if got.Code != chain.CodeOK || got.CellsUsed < last {
			t.Fatalf("entry %d: %s, %d cells after %d", filled, chain.CodeName(got.Code), got.CellsUsed, last)
		}
		last = got.CellsUsed
	}
	total, at := factor(t, c)
	t.Logf("%d entries: %d of %d bytes, factor %.1f, the last four for %d cells", filled, total, c.g.Params.State.LimitBytes, float64(at)/fees.GrowthOne, last)
	if total > c.g.Params.State.LimitBytes || total < c.g.Params.State.LimitBytes/2 || at < 32*fees.GrowthOne {
		t.Errorf("the state ends at %d bytes of %d, at a factor of %d", total, c.g.Params.State.LimitBytes, at)
	}

	// What exists goes on.
	if got := call("again", cbor.AppendNull(nil)); got.Code != chain.CodeOK || got.CellsUsed > 100 {
		t.Errorf("overwriting: %s, %d cells", chain.CodeName(got.Code), got.CellsUsed)
	}
	if got := c.block(c.transfer(alice, bob, 5)).Receipts[0]; got.Code != chain.CodeOK || got.CellsUsed != 0 {
		t.Errorf("transfer between accounts that exist: %s, %d cells", chain.CodeName(got.Code), got.CellsUsed)
	}
	nobody := chain.Address{0xab, 19: 1}
	if got := c.block(c.transfer(alice, nobody, 5)).Receipts[0]; got.Code != chain.CodeCellsExhausted {
		t.Errorf("transfer to a new account without cells: %s", chain.CodeName(got.Code))
	}
	rich := c.transfer(alice, nobody, 5).Tx
	rich.CellsLimit = 100_000
	want := chain.Cells(fees.Dearer(uint64(c.g.Params.API.NewAccountCells), at))
	if got := c.block(verified(rich, alice)).Receipts[0]; got.Code != chain.CodeOK || got.CellsUsed < want*9/10 {
		t.Errorf("transfer to a new account with cells: %s, %d cells, want about %d", chain.CodeName(got.Code), got.CellsUsed, want)
	}
	d := actor.Deployment{Source: []byte(counter), Salt: []byte{9}, Manifest: manifest.Manifest("storage.kv")}
	if got := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))).Receipts[0]; got.Code != chain.CodeCellsExhausted {
		t.Errorf("a deployment on a full state: %s, %d cells", chain.CodeName(got.Code), got.CellsUsed)
	}

	// Deletions make room and lower the price.
	if got := call("drop", cbor.AppendUint(nil, filled/2)); got.Code != chain.CodeOK {
		t.Fatalf("drop: %s", chain.CodeName(got.Code))
	}
	less, now := factor(t, c)
	if less >= total || now >= at/2 {
		t.Errorf("after deletions %d bytes at a factor of %d, before %d at %d", less, now, total, at)
	}
	if got := call("fill", pair(0, 4)); got.Code != chain.CodeOK || got.CellsUsed >= last {
		t.Errorf("room was made, and an entry costs %d cells: %s", got.CellsUsed, chain.CodeName(got.Code))
	}
	if want, err := recount(c.state.Accounts, c.state.Storages); err != nil {
		t.Fatal(err)
	} else if got, err := exec.StateMeter(c.state); err != nil || got != want {
		t.Errorf("the meter says %+v, the state holds %+v, %v", got, want, err)
	}
}
