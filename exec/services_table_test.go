package exec

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestServicesAreTheTable: a row that the table of instructions marks as running is
// served by one service, and no service has a row of its own.
func TestServicesAreTheTable(t *testing.T) {
	type place struct {
		to     chain.Address
		opcode uint64
	}
	served := map[place]int{}
	for _, s := range services {
		for _, ins := range s.Instructions {
			served[place{s.Address, ins.Opcode}]++
			if ins.Run == nil || instructionOf(s.Address, ins.Opcode) == nil {
				t.Errorf("%s %d: nothing carries it out", s.Address, ins.Opcode)
			}
		}
	}
	for _, s := range chain.InstructionTable() {
		if s.Kind != chain.KindSystem {
			continue
		}
		at := place{s.To, s.Opcode}
		switch n := served[at]; {
		case s.Executable && n != 1:
			t.Errorf("%s runs and is served %d times", s.Name, n)
		case !s.Executable && n > 0:
			t.Errorf("%s does not run and is served", s.Name)
		}
		delete(served, at)
	}
	for at := range served {
		t.Errorf("%s %d is served and not in the table", at.to, at.opcode)
	}
}

// TestUnservedIsNoPayment: an instruction that nothing serves moves nothing, wherever it
// is sent and whatever comes with it.
func TestUnservedIsNoPayment(t *testing.T) {
	p := params.Default()
	for _, s := range chain.InstructionTable() {
		if s.Kind != chain.KindSystem {
			continue
		}
		in := Inputs{Params: &p, Height: 1}
		b := newBlock(state.Empty{}, in)
		ins := chain.Instruction{InstructionSpec: s}
		ins.Opcode += 1000 // of nobody
		tx := &chain.VerifiedTx{Tx: &chain.Tx{To: &s.To, Value: 7, CyclesLimit: 1 << 20, CellsLimit: 1 << 20}, Sender: chain.Address{1}}
		out, err := b.run(ins, tx, chain.Usage{})
		if err != nil || out.Code != chain.CodeUnsupported || out.Used != (chain.Usage{}) {
			t.Errorf("%s: %+v, %v", s.Name, out, err)
		}
		if d := b.state.Delta().Accounts(); len(d) != 0 {
			t.Errorf("%s that nothing serves has written %+v", s.Name, d)
		}
	}
}
