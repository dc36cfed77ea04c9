package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/governance"
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
		if price := entitlements.Price(&c.g.Params.Entitlements, opcode); r.CyclesUsed != c.g.Params.Intrinsic.InstructionCycles+price.Cycles || r.CellsUsed < price.Cells+chain.Cells(len(step.payload)) {
			t.Errorf("%s: %d cycles, %d cells", step.rule, r.CyclesUsed, r.CellsUsed)
		}
	}
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
