package exec_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// step runs one instruction with limits of its own, and returns the block's result.
func (c *governed) step(from chain.Address, cycles chain.Cycles, cells chain.Cells, opcode uint64, args []byte) (exec.Result, int) {
	c.t.Helper()
	n := 1
	if opcode == chain.OpGovernancePropose {
		n = 2
	}
	tx := c.program(from, &chain.AddrGovernance, append(cbor.AppendUint(cbor.AppendArray(nil, 1+n), opcode), args...)).Tx
	tx.CyclesLimit, tx.CellsLimit = cycles, cells
	signed := verified(tx, from)
	r := c.block(signed)
	c.follow()
	return r, len(tx.Payload)
}

// keptBytes are those that every node keeps or sends for an instruction: its payload,
// its events, the rows that it wrote, and code that was not there before.
func keptBytes(r *exec.Result, before *statetest.Maps, payload int) uint64 {
	sum := uint64(payload)
	for _, e := range r.Receipts[0].Events {
		sum += uint64(len(e.Emitter) + len(e.Name) + len(e.Data) + 4)
	}
	for _, at := range []chain.Address{chain.AddrGovernance, chain.AddrActors, chain.AddrEntitlements} {
		change, _ := r.Delta.Change(at)
		for _, s := range change.Storage {
			sum += uint64(len(s.Key) + len(s.Value))
		}
	}
	for _, code := range r.Delta.Codes() {
		if before.Codes[code.Hash] == nil {
			sum += uint64(len(code.Code))
		}
	}
	return sum
}

// TestGovernancePaysForWhatItKeeps: no instruction keeps more than two bytes for a cell,
// the first time and over what was there.
func TestGovernancePaysForWhatItKeeps(t *testing.T) { // ADR 88
	c := newGoverned(t)
	c.decide(set("entitlements.system_deployers", `["`+alice.String()+`"]`))
	addr, _ := c.deploy(alice, gated, manifestOf(limited(manifest.Upgrade)))
	names := make([]string, 2_000)
	for i := range names {
		names[i] = fmt.Sprintf(`"r%03x"`, i)
	}
	long := "[" + strings.Join(names, ",") + "]"
	source := "x = 1\n" + strings.Repeat("# "+strings.Repeat("a", 97)+"\n", 60)
	entry := governance.Action{Name: governance.ActionEntry, Table: governance.TableTEEKeys, Key: strings.Repeat("k", 256)}
	value := func(n int) governance.Action {
		a := entry
		a.Value = bytes.Repeat([]byte{1}, n)
		return a
	}
	for _, tt := range []struct {
		name string
		a    governance.Action
	}{
		{"a setting", set("timer.base_fee_alpha", "9")},
		{"again", set("timer.base_fee_alpha", "7")},
		{"a long list", set("regions", long)},
		{"a setting beside it", set("timer.base_fee_alpha", "8")},
		{"an empty list", set("regions", "[]")},
		{"an entry", value(9_000)},
		{"over it", value(9_001)},
		{"a shorter one", value(1)},
		{"without it", entry},
		{"a deprecation", governance.Action{Name: governance.ActionDeprecate, ID: manifest.Blob}},
		{"an upgrade", governance.Action{Name: governance.ActionUpgrade, Actor: addr, Source: []byte(source)}},
		{"the same upgrade", governance.Action{Name: governance.ActionUpgrade, Actor: addr, Source: []byte(source)}},
	} {
		var id chain.Hash
		for i, by := range members {
			opcode, args := uint64(chain.OpGovernancePropose), cbor.AppendBool(tt.a.Append(nil), true)
			if i > 0 {
				opcode, args = chain.OpGovernanceApprove, cbor.AppendBytes(nil, id[:])
			}
			if i == 2 {
				opcode = chain.OpGovernanceExecute
				c.idle(1)
			}
			before := c.state
			r, payload := c.step(by, 450_000, 25_000, opcode, args)
			rec := &r.Receipts[0]
			if rec.Code != chain.CodeOK {
				t.Fatalf("%s: instruction %d: %s", tt.name, opcode, chain.CodeName(rec.Code))
			}
			if i == 0 {
				copy(id[:], rec.Output[2:])
			}
			kept := keptBytes(&r, before, payload)
			t.Logf("%-20s %d: %6d bytes, %6d cells, %7d cycles", tt.name, opcode, kept, rec.CellsUsed, rec.CyclesUsed)
			if uint64(rec.CellsUsed)*2 < kept {
				t.Errorf("%s: instruction %d keeps %d bytes for %d cells", tt.name, opcode, kept, rec.CellsUsed)
			}
			if least := chain.Cycles(21_000 + 10*len(source)); i == 2 && tt.a.Name == governance.ActionUpgrade && rec.CyclesUsed < least {
				t.Errorf("%s costs %d cycles, compiling alone %d", tt.name, rec.CyclesUsed, least)
			}
		}
	}
}

// TestUpgradeThatCannotPay: an upgrade whose compilation costs more than the limit
// changes nothing, and can be carried out with more.
func TestUpgradeThatCannotPay(t *testing.T) { // ADR 88
	c := newGoverned(t)
	c.decide(set("entitlements.system_deployers", `["`+alice.String()+`"]`))
	addr, _ := c.deploy(alice, gated, manifestOf(limited(manifest.Upgrade)))
	dense := "x = [" + strings.Repeat("1,", 3_000) + "]" // more by its tokens than by its bytes
	id, _ := c.propose(alice, governance.Action{Name: governance.ActionUpgrade, Actor: addr, Source: []byte(dense)}, true)
	c.approve(bob, id)
	c.idle(1)
	before := c.state.Accounts[addr].CodeHash
	for _, limit := range []chain.Cycles{21_000, 50_000, 100_000} {
		r, _ := c.step(carol, limit, 25_000, chain.OpGovernanceExecute, cbor.AppendBytes(nil, id[:]))
		if rec := &r.Receipts[0]; rec.Code != chain.CodeCyclesExhausted || rec.CyclesUsed != limit || c.state.Accounts[addr].CodeHash != before {
			t.Errorf("with %d cycles: %s, %d used", limit, chain.CodeName(rec.Code), rec.CyclesUsed)
		}
	}
	r, _ := c.step(carol, 450_000, 200, chain.OpGovernanceExecute, cbor.AppendBytes(nil, id[:]))
	if rec := &r.Receipts[0]; rec.Code != chain.CodeCellsExhausted || c.state.Accounts[addr].CodeHash != before {
		t.Errorf("with 200 cells: %s", chain.CodeName(rec.Code))
	}
	r, _ = c.step(carol, 450_000, 25_000, chain.OpGovernanceExecute, cbor.AppendBytes(nil, id[:]))
	if rec := &r.Receipts[0]; rec.Code != chain.CodeOK || rec.CyclesUsed < 21_000+20*6_000 || c.state.Accounts[addr].CodeHash == before {
		t.Errorf("with enough: %s, %d cycles", chain.CodeName(rec.Code), rec.CyclesUsed)
	}
}

// TestGovernanceActsOnAFullState: what it keeps costs members the same, whatever the
// state holds, so that they can raise its limit.
func TestGovernanceActsOnAFullState(t *testing.T) { // ADR 88
	var cells [2][]chain.Cells
	for i, limit := range []string{"1024", "1000000000"} {
		c := newGoverned(t)
		c.g.Params.State.LimitBytes = 1 << 10
		genesis := c.g.Params
		c.force = governance.Genesis(&genesis)
		for _, a := range []governance.Action{set("state.limit_bytes", limit), set("timer.base_fee_alpha", "9")} {
			r, _ := c.step(alice, 100_000, 20_000, chain.OpGovernancePropose, cbor.AppendBool(a.Append(nil), true))
			rec := &r.Receipts[0]
			if rec.Code != chain.CodeOK {
				t.Fatalf("limit %s: %s", limit, chain.CodeName(rec.Code))
			}
			cells[i] = append(cells[i], rec.CellsUsed-chain.Cells(len(a.Append(nil))))
			id := chain.Hash(rec.Output[2:])
			c.approve(bob, id)
			c.idle(1)
			if code := c.execute(carol, id); code != chain.CodeOK {
				t.Fatalf("limit %s: %s", limit, chain.CodeName(code))
			}
		}
	}
	if len(cells[0]) != 2 || cells[0][1] != cells[1][1] {
		t.Errorf("proposals cost %d cells on a full state, %d on a young one", cells[0], cells[1])
	}
}

// TestSettingsCanBeUndone: settings may take so much room that carrying out the next
// decision, which writes them all, has room in its lane, and no more.
func TestSettingsCanBeUndone(t *testing.T) { // resolution 11.11; ADR 88
	c := newGoverned(t)
	list := func(n int, name string) string {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf(`"%s%04x%s"`, name, i, strings.Repeat("x", 50))
		}
		return "[" + strings.Join(names, ",") + "]"
	}
	decide := func(a governance.Action) (code uint16) {
		t.Helper()
		var id chain.Hash
		for i, opcode := range []uint64{chain.OpGovernancePropose, chain.OpGovernanceApprove, chain.OpGovernanceExecute} {
			args := cbor.AppendBytes(nil, id[:])
			if i == 0 {
				args = cbor.AppendBool(a.Append(nil), true)
			}
			r, _ := c.step(members[i], 450_000, 25_000, opcode, args)
			if code = r.Receipts[0].Code; code != chain.CodeOK {
				return code
			}
			if i == 0 {
				copy(id[:], r.Receipts[0].Output[2:])
			}
			c.idle(1)
		}
		return code
	}
	if code := decide(set("regions", list(200, "a"))); code != chain.CodeOK {
		t.Fatalf("12 KB: %s", chain.CodeName(code))
	}
	if code := decide(set("tee_types", list(200, "b"))); code != chain.CodeBadArgument {
		t.Errorf("24 KB, which the lane of the next decision does not hold: %s", chain.CodeName(code))
	}
	if code := decide(set("tee_types", list(150, "b"))); code != chain.CodeOK {
		t.Errorf("21 KB: %s", chain.CodeName(code))
	}
	if code := decide(set("timer.base_fee_alpha", "9")); code != chain.CodeOK || c.g.Params.Timer.BaseFeeAlpha != 9 {
		t.Errorf("a decision beside them: %s", chain.CodeName(code))
	}
	if code := decide(set("regions", `["us"]`, "tee_types", `["sgx"]`)); code != chain.CodeOK || len(c.g.Params.Regions) != 1 {
		t.Errorf("taken back: %s", chain.CodeName(code))
	}
}
