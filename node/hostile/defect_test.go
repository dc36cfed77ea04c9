package hostile

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestDefectOfTheMachine puts a program that meets a defect of ours into a block: it
// fails by its code and pays, the defect is noted for people, and the transactions
// beside it run, on the same machine.
func TestDefectOfTheMachine(t *testing.T) {
	w := newWorld(t)
	cfg, err := pvm.RuntimeConfig([2]uint64{5, 6})
	if err != nil {
		t.Fatal(err)
	}
	var none *pvm.Program
	sink := 0
	cfg.Globals = append(cfg.Globals, vm.Def{Name: "break_nil", Max: 1, Fn: func(*vm.Machine, vm.Args) (vm.Value, error) {
		sink += len(none.Hash[:none.Bytes])
		return vm.None, nil
	}})
	rt, err := vm.NewRuntime(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.engines[len(w.engines)-1] = pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits())
	d := actor.Deployment{Salt: []byte{3}, Manifest: manifest.Manifest("storage.kv"), Source: []byte(`
from cowboy_sdk import actor, public

@actor
class Unlucky:
    @public
    def go(self, msg):
        self.storage["n"] = 1
        break_nil()
`)}
	at := actor.AddressOf(bob, d.Salt, d.Source)
	w.must(w.tx(bob, nil, 0, actor.AppendPayload(nil, &d)))
	broken := w.tx(bob, &at, 0, actor.AppendMessage(nil, "go", null))
	alone := w.mustApply(broken)
	if got := alone.Receipts[0].Code; got != chain.CodeVMInternal || len(alone.Defects) != 1 {
		t.Fatalf("%s with %d defects noted", chain.CodeName(got), len(alone.Defects))
	}
	if err := w.paidOnly(broken, &alone); err != nil {
		t.Error(err)
	}
	both, err := exec.Apply(w.state, w.inputs(), []*chain.VerifiedTx{broken, w.message(alice, "go")})
	if err != nil || both.Receipts[0].Code != chain.CodeVMInternal || both.Receipts[1].Code != chain.CodeOK {
		t.Errorf("beside another: %v, %+v", err, both.Receipts)
	}
}
