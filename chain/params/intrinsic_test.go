package params_test

import (
	"math"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// row returns the row of a system instruction, or the first of another kind.
func row(t *testing.T, kind chain.Kind, to chain.Address, opcode uint64) chain.InstructionSpec {
	t.Helper()
	for _, s := range chain.InstructionTable() {
		if s.Kind == kind && s.To == to && s.Opcode == opcode {
			return s
		}
	}
	t.Fatalf("no %v %d at %s", kind, opcode, to)
	return chain.InstructionSpec{}
}

func TestIntrinsic(t *testing.T) { // whitepaper §17.2
	costs := params.Default().Intrinsic
	f := func(s chain.InstructionSpec, payload int, want chain.Usage) {
		t.Helper()
		if got := costs.Of(chain.Instruction{InstructionSpec: s, PayloadBytes: payload}); got != want {
			t.Errorf("%s with %d payload bytes costs %+v, want %+v", s.Name, payload, got, want)
		}
	}
	system := func(to chain.Address, opcode uint64) chain.InstructionSpec {
		return row(t, chain.KindSystem, to, opcode)
	}
	transfer := row(t, chain.KindTransfer, chain.Address{}, 0)
	f(transfer, 0, chain.Usage{Cycles: 21_000, Cells: 0})
	f(transfer, 7, chain.Usage{Cycles: 21_000, Cells: 7})
	f(row(t, chain.KindMessage, chain.Address{}, 0), 100, chain.Usage{Cycles: 21_000, Cells: 100})
	f(row(t, chain.KindDeploy, chain.Address{}, 0), 5_000, chain.Usage{Cycles: 100_000, Cells: 5_000})
	f(system(chain.AddrJobDispatcher, 5), 300, chain.Usage{Cycles: 10_000, Cells: 300})
	f(system(chain.AddrActors, 95), 40, chain.Usage{Cycles: 5_000, Cells: 104})
	f(system(chain.AddrRunnerRegistry, 2), 2, chain.Usage{Cycles: 5_000, Cells: 2})
	f(system(chain.AddrTokens, 11), 60, chain.Usage{Cycles: 21_000, Cells: 60})

	costs.PayloadByteCells = 1 << 63
	f(transfer, 2, chain.Usage{Cycles: 21_000, Cells: math.MaxUint64}) // beyond 64 bits: saturates
}

// TestAccessListIsPaid: a transaction pays a cell for every byte by which an access
// list makes its body longer (attack B7: 40,813 bytes for 21,000 cycles and no cells).
func TestAccessListIsPaid(t *testing.T) {
	costs := params.Default().Intrinsic
	list := func(entries, keys int) (out []chain.AccessEntry) {
		for i := range entries {
			e := chain.AccessEntry{Address: chain.Address{byte(i >> 8), byte(i), 1}}
			for k := range keys {
				e.Keys = append(e.Keys, chain.Hash{byte(k >> 8), byte(k), 1})
			}
			out = append(out, e)
		}
		return out
	}
	for name, row := range map[string]struct {
		list  []chain.AccessEntry
		cells chain.Cells
	}{
		"null":               {nil, 0},
		"empty":              {[]chain.AccessEntry{}, 0},
		"one address":        {list(1, 0), 23},
		"one key":            {list(1, 1), 57},
		"heads of two bytes": {list(24, 24), 24*(23+1+24*34) + 1},
		"the largest":        {list(chain.MaxAccessEntries, chain.MaxAccessKeys/chain.MaxAccessEntries), 40_706},
	} {
		tx := chain.Tx{To: &chain.Address{9, 19: 9}, CyclesLimit: 21_000, Signature: &chain.TxSignature{}}
		bare := len(tx.Encode())
		tx.AccessList = row.list
		ins, err := tx.Classify()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := costs.Of(ins)
		if longer := len(tx.Encode()) - bare; int(got.Cells) != longer || got.Cells != row.cells || got.Cycles != 21_000 {
			t.Errorf("%s: %+v for %d bytes more, want %d cells", name, got, longer, row.cells)
		}
	}
}
