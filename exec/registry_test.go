package exec_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// registryPayload is an instruction to the entitlement registry.
func registryPayload(opcode uint64, args ...[]byte) []byte {
	b := cbor.AppendUint(cbor.AppendArray(nil, 1+len(args)), opcode)
	for _, a := range args {
		b = append(b, a...)
	}
	return b
}

func item(b []byte) []byte { return cbor.AppendBytes(nil, b) }

// grantPayload gives a permission without constraints of use.
func grantPayload(to chain.Address, s entitlements.Scope, a entitlements.Action, c entitlements.Constraints) []byte {
	return registryPayload(chain.OpEntitlementGrant, item(to[:]), item(s.Append(nil)), item(a.Append(nil)), item(c.Append(nil)))
}

// registry runs one instruction in a block of its own.
func (c *testChain) registry(from chain.Address, payload []byte) chain.Receipt {
	c.t.Helper()
	return c.block(c.program(from, &chain.AddrEntitlements, payload)).Receipts[0]
}

func (c *testChain) permitted(a chain.Address, s entitlements.Scope, act entitlements.Action) bool {
	c.t.Helper()
	id := entitlements.GrantID(a, s, act, nil)
	g, err := entitlements.ReadGrant(c.state, id)
	if err != nil {
		c.t.Fatal(err)
	}
	return g != nil
}

var (
	euPool = entitlements.Scope{Kind: entitlements.ScopePool, Name: "eu"}
	euJoin = entitlements.Action{Kind: entitlements.ActionRunnerJoinPool, Name: "eu"}
)

// TestRegistryInstructions walks through the instructions 30 to 35 by receipts
// (CIP-2 §7.2-§7.4).
func TestRegistryInstructions(t *testing.T) {
	c := messages(t)
	addr := c.deployed(worker, 1)
	c.give(carol, 1_000_000_000)
	work := entitlements.Scope{Kind: entitlements.ScopeActor, Name: string(addr[:])}
	handler := entitlements.Action{Kind: entitlements.ActionActorExecuteHandler, Name: "work"}
	shared := entitlements.Constraints{Delegatable: true, Depth: 1}
	root := entitlements.GrantID(bob, work, handler, nil)
	child := entitlements.GrantID(carol, work, handler, &root)
	role := entitlements.RoleID(alice, "worker")
	scopes, actions := entitlements.AppendScopes(nil, []entitlements.Scope{work}), entitlements.AppendActions(nil, []entitlements.Action{handler})
	none := item((&entitlements.Constraints{}).Append(nil))
	for _, step := range []struct {
		rule    string
		from    chain.Address
		payload []byte
		code    uint16
		event   string
		made    *chain.Hash
	}{
		{"grant by who did not make the actor", bob, grantPayload(bob, work, handler, shared), chain.CodeForbidden, "", nil},
		{"grant", alice, grantPayload(bob, work, handler, shared), chain.CodeOK, entitlements.EventGranted, &root},
		{"delegate by another", carol, registryPayload(chain.OpEntitlementDelegate, item(root[:]), item(carol[:]), none), chain.CodeForbidden, "", nil},
		{"delegate", bob, registryPayload(chain.OpEntitlementDelegate, item(root[:]), item(carol[:]), none), chain.CodeOK, entitlements.EventDelegated, &child},
		{"delegate further", carol, registryPayload(chain.OpEntitlementDelegate, item(child[:]), item(alice[:]), none), chain.CodeForbidden, "", nil},
		{"revoke of none", alice, registryPayload(chain.OpEntitlementRevoke, item(make([]byte, 32))), chain.CodeNotFound, "", nil},
		{"revoke", alice, registryPayload(chain.OpEntitlementRevoke, item(root[:])), chain.CodeOK, entitlements.EventRevoked, nil},
		{"delegate what is gone", bob, registryPayload(chain.OpEntitlementDelegate, item(root[:]), item(carol[:]), none), chain.CodeNotFound, "", nil},
		{"role", alice, registryPayload(chain.OpRoleCreate, item([]byte("worker")), item(scopes), item(actions), none), chain.CodeOK, entitlements.EventRoleCreated, &role},
		{"role twice", alice, registryPayload(chain.OpRoleCreate, item([]byte("worker")), item(scopes), item(actions), none), chain.CodeExists, "", nil},
		{"assign by another", bob, registryPayload(chain.OpRoleAssign, item(role[:]), item(carol[:])), chain.CodeForbidden, "", nil},
		{"assign", alice, registryPayload(chain.OpRoleAssign, item(role[:]), item(carol[:])), chain.CodeOK, entitlements.EventRoleAssigned, nil},
		{"assign twice", alice, registryPayload(chain.OpRoleAssign, item(role[:]), item(carol[:])), chain.CodeExists, "", nil},
		{"revoke the role of another", alice, registryPayload(chain.OpRoleRevoke, item(role[:]), item(bob[:])), chain.CodeNotFound, "", nil},
		{"revoke the role", carol, registryPayload(chain.OpRoleRevoke, item(role[:]), item(carol[:])), chain.CodeOK, entitlements.EventRoleRevoked, nil},
	} {
		before := c.state
		r := c.registry(step.from, step.payload)
		name := ""
		if len(r.Events) == 1 {
			name = r.Events[0].Name
		}
		if r.Code != step.code || name != step.event || len(r.Events) > 1 {
			t.Errorf("%s: %s, event %q", step.rule, chain.CodeName(r.Code), name)
		}
		if step.made != nil && string(r.Output) != string(item(step.made[:])) {
			t.Errorf("%s: made %x, want %x", step.rule, r.Output, step.made)
		}
		opcode := uint64(step.payload[2])
		price, again := entitlements.Price(&c.g.Params.Entitlements, opcode), rewrites(before, c.state).overwritten
		cycles := c.g.Params.Intrinsic.InstructionCycles + price.Cycles + chain.Cycles(again)*c.g.Params.API.StorageWriteByteCycles
		if r.CyclesUsed != cycles || r.CellsUsed < price.Cells+chain.Cells(len(step.payload)+again) {
			t.Errorf("%s: %d cycles, want %d; %d cells, %d bytes written again", step.rule, r.CyclesUsed, cycles, r.CellsUsed, again)
		}
	}
}

// rewritten is what a block has done to the rows of the registry, in bytes with their keys.
type rewritten struct {
	old         int // of rows that were there: what the node keeps to go back
	made        int // of rows that are there: what an archive keeps
	overwritten int // of rows that were there, as far as they are there again
}

// rewrites compares two states of the registry.
func rewrites(before, after *statetest.Maps) (w rewritten) {
	was, is := before.Storages[chain.AddrEntitlements], after.Storages[chain.AddrEntitlements]
	for key, value := range was {
		if next, ok := is[key]; !ok || !bytes.Equal(next, value) {
			w.old += len(key) + len(value)
			w.overwritten += len(key) + min(len(value), len(next))
		}
	}
	for key, value := range is {
		if last, ok := was[key]; !ok || !bytes.Equal(last, value) {
			w.made += len(key) + len(value)
		}
	}
	return w
}

// aliceScopes are as many as a role may have, for her who grants in them first.
func aliceScopes() (scopes []entitlements.Scope) {
	for i := range entitlements.MaxScopes {
		scopes = append(scopes, entitlements.Scope{Kind: entitlements.ScopeNamespace, Name: fmt.Sprint("alice-", i)})
	}
	return scopes
}

// roleOfAlice is what makes a role of hers with all of these scopes, gives it to bob and
// takes it from him.
func roleOfAlice(i int) (create, assign, revoke []byte) {
	name := fmt.Sprint("role-", i)
	id := entitlements.RoleID(alice, name)
	none, actions := (&entitlements.Constraints{}).Append(nil), entitlements.AppendActions(nil, []entitlements.Action{{}})
	return registryPayload(chain.OpRoleCreate, item([]byte(name)), item(entitlements.AppendScopes(nil, aliceScopes())), item(actions), item(none)),
		registryPayload(chain.OpRoleAssign, item(id[:]), item(bob[:])), registryPayload(chain.OpRoleRevoke, item(id[:]), item(bob[:]))
}

// fillRoles gives bob as many roles as he may have.
func (c *testChain) fillRoles() {
	c.t.Helper()
	for i := range entitlements.MaxRoles {
		create, assign, _ := roleOfAlice(i)
		for _, payload := range [][]byte{create, assign} {
			if r := c.registry(alice, payload); r.Code != chain.CodeOK {
				c.t.Fatalf("role %d: %s", i, chain.CodeName(r.Code))
			}
		}
	}
}

// TestRowsOfRolesAreBytesOfCells gives and takes as many roles of as many scopes as an
// address may have, and grants that share one row: a cell stands for at most two bytes of
// old rows, which nodes keep to go back, and of new ones, which archives keep (issue 14).
func TestRowsOfRolesAreBytesOfCells(t *testing.T) {
	c := messages(t)
	scope, none := aliceScopes()[0], (&entitlements.Constraints{}).Append(nil)
	worst := 0.0
	pays := func(what string, from chain.Address, payload []byte) {
		t.Helper()
		before := c.state
		r := c.registry(from, payload)
		if r.Code != chain.CodeOK {
			t.Fatalf("%s: %s", what, chain.CodeName(r.Code))
		}
		w := rewrites(before, c.state)
		if most := max(w.old, w.made); most > keptPerCell*int(r.CellsUsed) {
			t.Errorf("%s: %d bytes of old rows, %d of new ones, for %d cells", what, w.old, w.made, r.CellsUsed)
		}
		worst = max(worst, float64(max(w.old, w.made))/float64(r.CellsUsed))
	}
	for i := range entitlements.MaxRoles {
		create, assign, _ := roleOfAlice(i)
		pays(fmt.Sprint("create ", i), alice, create)
		pays(fmt.Sprint("assign ", i), alice, assign)
	}
	for i := range entitlements.MaxRoles {
		_, _, revoke := roleOfAlice(i)
		pays(fmt.Sprint("revoke ", i), alice, revoke)
	}
	shared := entitlements.Constraints{Delegatable: true, Depth: 1}
	var grants []chain.Hash
	for i := range 100 {
		to := chain.Address{0: 0x77, 19: byte(i + 1)}
		c.give(to, 1_000_000_000)
		root := entitlements.GrantID(to, scope, entitlements.Action{}, nil)
		pays("grant", alice, grantPayload(to, scope, entitlements.Action{}, shared))
		pays(fmt.Sprint("delegate ", i), to, registryPayload(chain.OpEntitlementDelegate, item(root[:]), item(carol[:]), item(none)))
		grants = append(grants, entitlements.GrantID(carol, scope, entitlements.Action{}, &root))
	}
	for i, id := range grants {
		pays(fmt.Sprint("take back ", i), alice, registryPayload(chain.OpEntitlementRevoke, item(id[:])))
	}
	t.Logf("at most %.2f bytes a cell", worst)
}

// TestRegistryTakesNoBadInput holds each instruction to refusals without effect.
func TestRegistryTakesNoBadInput(t *testing.T) {
	c := messages(t)
	c.block() // a grant until height 1 has ended only behind it
	scope, action, none := item(euPool.Append(nil)), item(euJoin.Append(nil)), item((&entitlements.Constraints{}).Append(nil))
	for _, tt := range []struct {
		rule    string
		payload []byte
	}{
		{"scope that is no item", registryPayload(chain.OpEntitlementGrant, item(bob[:]), item([]byte{0xff}), action, none)},
		{"scope of no kind", registryPayload(chain.OpEntitlementGrant, item(bob[:]), item([]byte{0x81, 0x06}), action, none)},
		{"scope with more behind", registryPayload(chain.OpEntitlementGrant, item(bob[:]), item(append(euPool.Append(nil), 0)), action, none)},
		{"name above its bound", registryPayload(chain.OpEntitlementGrant, item(bob[:]), item(entitlements.Scope{Kind: entitlements.ScopePool, Name: string(make([]byte, 65))}.Append(nil)), action, none)},
		{"action of no kind", registryPayload(chain.OpEntitlementGrant, item(bob[:]), scope, item([]byte{0x81, 0x12}), none)},
		{"unknown constraint", registryPayload(chain.OpEntitlementGrant, item(bob[:]), scope, action, item([]byte{0xa1, 0x61, 'x', 0x01}))},
		{"constraints out of order", registryPayload(chain.OpEntitlementGrant, item(bob[:]), scope, action, item(cbor.AppendUint(cbor.AppendText(cbor.AppendUint(cbor.AppendText(cbor.AppendMap(nil, 2), "valid_from"), 1), "max_uses"), 1)))},
		{"no amount for a use", registryPayload(chain.OpEntitlementGrant, item(bob[:]), scope, action, item(cbor.AppendUint(cbor.AppendText(cbor.AppendMap(nil, 1), "max_amount_per_use"), 0)))},
		{"no amount in all", registryPayload(chain.OpEntitlementGrant, item(bob[:]), scope, action, item(cbor.AppendUint(cbor.AppendText(cbor.AppendMap(nil, 1), "max_total_amount"), 0)))},
		{"ended before the first", registryPayload(chain.OpEntitlementGrant, item(bob[:]), scope, action, item(cbor.AppendUint(cbor.AppendText(cbor.AppendMap(nil, 1), "valid_until"), 0)))},
		{"depth above five", grantPayload(bob, euPool, euJoin, entitlements.Constraints{Delegatable: true, Depth: 6})},
		{"ends before it begins", grantPayload(bob, euPool, euJoin, entitlements.Constraints{From: 1 << 40, Until: 1<<40 - 1})},
		{"has ended", grantPayload(bob, euPool, euJoin, entitlements.Constraints{Until: 1})},
		{"to a system actor", grantPayload(chain.AddrTreasury, euPool, euJoin, entitlements.Constraints{})},
		{"role without scopes", registryPayload(chain.OpRoleCreate, item([]byte("r")), item([]byte{0x80}), item(entitlements.AppendActions(nil, []entitlements.Action{euJoin})), none)},
		{"role of too many scopes", registryPayload(chain.OpRoleCreate, item([]byte("r")), item(entitlements.AppendScopes(nil, make([]entitlements.Scope, 17))), item(entitlements.AppendActions(nil, []entitlements.Action{euJoin})), none)},
		{"role without a name", registryPayload(chain.OpRoleCreate, item(nil), item(entitlements.AppendScopes(nil, []entitlements.Scope{euPool})), item(entitlements.AppendActions(nil, []entitlements.Action{euJoin})), none)},
		{"name of a role too long", registryPayload(chain.OpRoleCreate, item(make([]byte, 65)), item(entitlements.AppendScopes(nil, []entitlements.Scope{euPool})), item(entitlements.AppendActions(nil, []entitlements.Action{euJoin})), none)},
		{"delegation, bad condition", registryPayload(chain.OpEntitlementDelegate, item(make([]byte, 32)), item(bob[:]), item([]byte{0x80}))},
	} {
		r := c.registry(alice, tt.payload)
		if r.Code != chain.CodeBadArgument || len(r.Events) != 0 || len(r.Output) != 0 {
			t.Errorf("%s: %s", tt.rule, chain.CodeName(r.Code))
		}
	}
	good := grantPayload(bob, euPool, euJoin, entitlements.Constraints{})
	for rule, payload := range map[string][]byte{
		"an argument less": registryPayload(chain.OpEntitlementGrant, item(bob[:]), scope, action),
		"one more":         append(registryPayload(chain.OpEntitlementGrant, item(bob[:]), scope, action, none), 0),
		"short grantee":    registryPayload(chain.OpEntitlementGrant, item(bob[:19]), scope, action, none),
		"no such opcode":   registryPayload(36, item(bob[:])),
	} {
		if _, err := c.try(c.program(alice, &chain.AddrEntitlements, payload)); err == nil {
			t.Errorf("%s: a block takes it", rule)
		}
	}
	usPool, usJoin := entitlements.Scope{Kind: entitlements.ScopePool, Name: "us"}, entitlements.Action{Kind: entitlements.ActionRunnerJoinPool, Name: "us"}
	price, base := entitlements.Price(&c.g.Params.Entitlements, chain.OpEntitlementGrant), c.g.Params.Intrinsic.InstructionCycles
	whole := c.registry(alice, good)
	for _, tt := range []struct {
		rule  string
		limit chain.Usage
		want  uint16
	}{
		{"a cycle too few", chain.Usage{Cycles: base + price.Cycles - 1, Cells: 10_000}, chain.CodeCyclesExhausted},
		{"a cell too few", chain.Usage{Cycles: base + price.Cycles, Cells: whole.CellsUsed - 1}, chain.CodeCellsExhausted},
	} {
		tx := c.program(bob, &chain.AddrEntitlements, grantPayload(carol, usPool, usJoin, entitlements.Constraints{})).Tx
		tx.CyclesLimit, tx.CellsLimit = tt.limit.Cycles, tt.limit.Cells
		r := c.block(verified(tx, bob)).Receipts[0]
		if r.Code != tt.want || len(r.Events) != 0 || c.permitted(carol, usPool, usJoin) {
			t.Errorf("%s: %s", tt.rule, chain.CodeName(r.Code))
		}
	}
	tx := c.program(alice, &chain.AddrEntitlements, good).Tx
	tx.Value = 1
	if r := c.block(verified(tx, alice)).Receipts[0]; r.Code != chain.CodeBadArgument {
		t.Errorf("with a value: %s", chain.CodeName(r.Code))
	}
}

func TestRegistryByGovernance(t *testing.T) { // CIP-2 §7.3; resolution 11.11
	c := newGoverned(t)
	everything := grantPayload(carol, entitlements.Scope{}, entitlements.Action{}, entitlements.Constraints{})
	if r := c.registry(alice, everything); r.Code != chain.CodeForbidden {
		t.Errorf("the whole chain, by a member alone: %s", chain.CodeName(r.Code))
	}
	if code := c.decide(governance.Action{Name: governance.ActionRegistry, Instruction: everything}); code != chain.CodeOK || !c.permitted(carol, entitlements.Scope{}, entitlements.Action{}) {
		t.Errorf("by governance: %s", chain.CodeName(code))
	}
	c.registry(alice, grantPayload(bob, euPool, euJoin, entitlements.Constraints{}))
	id := entitlements.GrantID(bob, euPool, euJoin, nil)
	revoke := registryPayload(chain.OpEntitlementRevoke, item(id[:]))
	if code := c.decide(governance.Action{Name: governance.ActionRegistry, Instruction: revoke}); code != chain.CodeOK || c.permitted(bob, euPool, euJoin) {
		t.Errorf("another's grant, by governance: %s", chain.CodeName(code))
	}
	if _, code := c.propose(alice, governance.Action{Name: governance.ActionRegistry, Instruction: []byte{0x81, 0x18, 0x24}}, false); code != chain.CodeBadArgument {
		t.Errorf("no instruction: %s", chain.CodeName(code))
	}
}

// TestRevokingNeedsItsRows: who cannot pay for the rows that a role leaves takes nothing.
func TestRevokingNeedsItsRows(t *testing.T) {
	c := oneValidator(t)
	c.fillRoles()
	_, _, revoke := roleOfAlice(0)
	full := c.state
	whole := c.registry(alice, revoke)
	t.Logf("%d cycles, %d cells, %+v", whole.CyclesUsed, whole.CellsUsed, rewrites(full, c.state))
	if whole.Code != chain.CodeOK || rewrites(full, c.state).old < 32_000 {
		t.Fatalf("%s, %+v", chain.CodeName(whole.Code), rewrites(full, c.state))
	}
	for _, tt := range []struct {
		rule  string
		limit chain.Usage
		want  uint16
	}{
		{"a cycle too few", chain.Usage{Cycles: whole.CyclesUsed - 1, Cells: whole.CellsUsed}, chain.CodeCyclesExhausted},
		{"a cell too few", chain.Usage{Cycles: whole.CyclesUsed, Cells: whole.CellsUsed - 1}, chain.CodeCellsExhausted},
		{"enough", chain.Usage{Cycles: whole.CyclesUsed, Cells: whole.CellsUsed}, chain.CodeOK},
	} {
		d := *c
		d.state = full
		tx := d.program(alice, &chain.AddrEntitlements, revoke).Tx
		tx.Nonce-- // the one that was not taken back yet
		tx.CyclesLimit, tx.CellsLimit = tt.limit.Cycles, tt.limit.Cells
		r := d.block(verified(tx, alice)).Receipts[0]
		w := rewrites(full, d.state)
		if r.Code != tt.want || (w.old == 0) != (tt.want != chain.CodeOK) || len(r.Events) > 1 || r.CyclesUsed > tt.limit.Cycles || r.CellsUsed > tt.limit.Cells {
			t.Errorf("%s: %s, %+v", tt.rule, chain.CodeName(r.Code), w)
		}
	}
}

// TestGovernanceTakesAnyRole: the system lane has room for taking a role of as many scopes as
// it may have from who has as many roles as an address may (ADR 209), and what members
// rewrite is two bytes a cell at most, as with anybody.
func TestGovernanceTakesAnyRole(t *testing.T) {
	c := newGoverned(t)
	c.fillRoles()
	_, _, revoke := roleOfAlice(0)
	for _, cycles := range []chain.Cycles{300_000, fees.LaneTarget(&c.g.Params, chain.LaneSystem).Cycles} {
		id, code := c.propose(alice, governance.Action{Name: governance.ActionRegistry, Instruction: revoke}, true)
		if code != chain.CodeOK || c.approve(bob, id) != chain.CodeOK {
			t.Fatal(chain.CodeName(code))
		}
		c.idle(1)
		before := c.state
		tx := c.program(carol, &chain.AddrGovernance, registryPayload(chain.OpGovernanceExecute, item(id[:]))).Tx
		tx.CyclesLimit, tx.CellsLimit = cycles, fees.LaneTarget(&c.g.Params, chain.LaneSystem).Cells
		r := c.block(verified(tx, carol)).Receipts[0]
		w := rewrites(before, c.state)
		if cycles == 300_000 {
			if r.Code != chain.CodeCyclesExhausted || w.old != 0 {
				t.Errorf("with too few cycles: %s, %+v", chain.CodeName(r.Code), w)
			}
			continue
		}
		if r.Code != chain.CodeOK || w.old < 32_000 || w.old > keptPerCell*int(r.CellsUsed) {
			t.Errorf("%s, %+v, %d cells", chain.CodeName(r.Code), w, r.CellsUsed)
		}
		t.Logf("%d cycles and %d cells for %d bytes of old rows", r.CyclesUsed, r.CellsUsed, w.old)
	}
}
