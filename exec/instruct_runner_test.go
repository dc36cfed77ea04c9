package exec_test

import (
	"errors"
	"math"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/rehearsal"
	"github.com/cowboy-foundation/cowboy/state"
)

// rehearsal returns the sender's next runner_rehearsal, with these cycles beyond
// what is intrinsic.
func (c *testChain) rehearsal(from chain.Address, work uint64, result []byte, beyond chain.Cycles) *chain.VerifiedTx {
	tx := c.program(from, &chain.AddrRunnerRegistry, rehearsalPayload(work, result)).Tx
	tx.CyclesLimit = 21_000 + beyond
	return verified(tx, from)
}

func rehearsalPayload(work uint64, result []byte) []byte {
	b := cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpRunnerRehearsal)
	return cbor.AppendBytes(cbor.AppendUint(b, work), result)
}

// rehearsalFixed is what a result of ten bytes costs besides its work: the hash
// of it, a read of 48 bytes, a write of these and of its key (whitepaper §17.3).
const rehearsalFixed = 100 + 10 + 500 + 48 + 5_000 + 10*(48+rehearsalKeyBytes)

const rehearsalKeyBytes = 1 + 10 + 20 // namespace, "rehearsal/", sender

// TestRehearsal is the instruction runner_rehearsal: docs/transactions.md, ADR 47.
func TestRehearsal(t *testing.T) {
	result := []byte("ten bytes.")
	f := func(rule string, work uint64, beyond chain.Cycles, change func(*chain.Tx), code uint16, used chain.Cycles) {
		t.Helper()
		c := oneValidator(t)
		tx := c.rehearsal(alice, work, result, beyond).Tx
		change(tx)
		r := c.block(verified(tx, alice)).Receipts[0]
		if r.Code != code || r.CyclesUsed != 21_000+used || r.Lane != chain.LaneRunner {
			t.Errorf("%s: %s with %d cycles in the %s lane, want %s with %d", rule, chain.CodeName(r.Code), r.CyclesUsed, r.Lane, chain.CodeName(code), 21_000+used)
		}
		kept, _ := c.state.Storage(chain.AddrRunnerRegistry, rehearsalSlot(alice))
		if (code == chain.CodeOK) != (len(kept) == 48) {
			t.Errorf("%s: a record of %d bytes", rule, len(kept))
		}
	}
	as := func(*chain.Tx) {}
	f("no work", 0, rehearsalFixed, as, chain.CodeOK, rehearsalFixed)
	f("work is charged to the cycle", 100_001, rehearsalFixed+200_000, as, chain.CodeOK, rehearsalFixed+100_001)
	f("all of the limit", 100_001, rehearsalFixed+100_001, as, chain.CodeOK, rehearsalFixed+100_001)
	f("one cycle short", 100_001, rehearsalFixed+100_000, as, chain.CodeCyclesExhausted, rehearsalFixed+100_000)
	f("no cycle for the record", 0, 0, as, chain.CodeCyclesExhausted, 0)
	f("more work than there are cycles", math.MaxUint64, 1_000, as, chain.CodeCyclesExhausted, 1_000)
	f("one cell short", 7, rehearsalFixed+7, func(tx *chain.Tx) {
		tx.CellsLimit = chain.Cells(len(tx.Payload)) + 5 + 48 + rehearsalKeyBytes - 1
	}, chain.CodeCellsExhausted, rehearsalFixed+7)
	f("value", 7, rehearsalFixed+7, func(tx *chain.Tx) { tx.Value = 1 }, chain.CodeBadArgument, 0)
}

func rehearsalSlot(of chain.Address) state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, append([]byte("rehearsal/"), of[:]...))
}

// TestRehearsalsFollowEachOther: the record counts, and its digest depends on
// result, work and what was before.
func TestRehearsalsFollowEachOther(t *testing.T) {
	after := func(works ...uint64) string {
		c := oneValidator(t)
		for _, work := range works {
			c.block(c.rehearsal(bob, work, []byte{1}, 1_000_000))
		}
		kept, _ := c.state.Storage(chain.AddrRunnerRegistry, rehearsalSlot(bob))
		return string(kept)
	}
	seen := map[string]bool{}
	for _, works := range [][]uint64{{0}, {131}, {132}, {264}, {264, 0}, {0, 264}, {0, 0}} {
		kept := after(works...)
		if works[len(works)-1] != 131 && seen[kept] {
			t.Errorf("work %v leaves a record that other work left", works)
		}
		seen[kept] = true
		if kept[7] != byte(len(works)) || kept[15] != byte(len(works)) {
			t.Errorf("work %v: record %x, want the number and the height of the latest first", works, kept)
		}
	}
	if after(0) != after(131) {
		t.Error("131 cycles are less than a hash costs")
	}
}

// TestRehearsalNeedsAGenesisThatHasThem: on other chains a block with one is invalid.
func TestRehearsalNeedsAGenesisThatHasThem(t *testing.T) {
	c := oneValidator(t)
	tx := c.rehearsal(alice, 0, nil, 100_000)
	c.g.Params.Runner.RehearsalEnabled = false
	if _, err := c.try(tx); !errors.As(err, new(*exec.InvalidTx)) || !errors.Is(err, fees.ErrRehearsal) {
		t.Errorf("got %v", err)
	}
	if genesis.MainnetParamsTemplate().Params.Runner.RehearsalEnabled {
		t.Error("the parameters of the main chain allow rehearsals")
	}
}

// A record that no rehearsal wrote is a fault of the node.
func TestRehearsalRecordIsJudged(t *testing.T) {
	c := oneValidator(t)
	d := state.NewDelta()
	d.SetStorage(chain.AddrRunnerRegistry, rehearsalSlot(alice), []byte("short"))
	c.state.Write(d)
	if _, err := c.try(c.rehearsal(alice, 0, nil, 100_000)); !errors.As(err, new(*exec.Fault)) || !errors.Is(err, rehearsal.ErrRecord) {
		t.Errorf("got %v", err)
	}
}
