package exec_test

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// governed is a chain whose parameters follow governance, as a node's do.
type governed struct {
	*testChain
	force governance.Force
}

// members of the multisig, two of whom are enough.
var members = []chain.Address{alice, bob, carol}

func newGoverned(t testing.TB) *governed {
	g := testGenesis(t, []chain.Wei{50}, rich(alice), rich(bob), rich(carol))
	gov := &g.Params.Governance
	gov.Members, gov.Threshold, gov.Seats = members, 2, 3
	gov.TimelockBlocks, gov.EmergencyTimelockBlocks = 5, 2
	c := newTestChain(t, g)
	c.engine = testEngine(t)
	return &governed{c, governance.Genesis(&g.Params)}
}

// instruct runs one instruction in a block of its own and moves the parameters
// on.
func (c *governed) instruct(from chain.Address, opcode uint64, args []byte) chain.Receipt {
	c.t.Helper()
	n := 1
	if opcode == chain.OpGovernancePropose {
		n = 2
	}
	tx := c.program(from, &chain.AddrGovernance, append(cbor.AppendUint(cbor.AppendArray(nil, 1+n), opcode), args...)).Tx
	tx.CyclesLimit, tx.CellsLimit = 100_000, 20_000 // within the system lane
	r := c.block(verified(tx, from))
	c.follow()
	return r.Receipts[0]
}

func (c *governed) follow() {
	c.t.Helper()
	var err error
	if c.force, err = c.force.At(c.state); err != nil {
		c.t.Fatal(err)
	}
	c.g.Params = *c.force.Params
}

func (c *governed) idle(blocks int) {
	for range blocks {
		c.block()
		c.follow()
	}
}

func (c *governed) propose(from chain.Address, a governance.Action, emergency bool) (chain.Hash, uint16) {
	c.t.Helper()
	r := c.instruct(from, chain.OpGovernancePropose, cbor.AppendBool(a.Append(nil), emergency))
	var id chain.Hash
	if r.Code == chain.CodeOK {
		copy(id[:], r.Output[2:])
	}
	return id, r.Code
}

func (c *governed) approve(from chain.Address, id chain.Hash) uint16 {
	c.t.Helper()
	return c.instruct(from, chain.OpGovernanceApprove, cbor.AppendBytes(nil, id[:])).Code
}

func (c *governed) execute(from chain.Address, id chain.Hash) uint16 {
	c.t.Helper()
	return c.instruct(from, chain.OpGovernanceExecute, cbor.AppendBytes(nil, id[:])).Code
}

// decide takes an action through all its steps.
func (c *governed) decide(a governance.Action) uint16 {
	c.t.Helper()
	id, code := c.propose(alice, a, true)
	if code != chain.CodeOK {
		return code
	}
	if code := c.approve(bob, id); code != chain.CodeOK {
		return code
	}
	c.idle(1)
	return c.execute(carol, id)
}

func set(pairs ...string) governance.Action {
	a := governance.Action{Name: governance.ActionSet}
	for i := 0; i < len(pairs); i += 2 {
		a.Settings = append(a.Settings, params.Setting{Path: pairs[i], Value: []byte(pairs[i+1])})
	}
	return a
}

func TestGovernanceTimelock(t *testing.T) { // whitepaper §11; resolutions 9.1, 11.11
	for _, emergency := range []bool{false, true} {
		c := newGoverned(t)
		lock := map[bool]int{false: 5, true: 2}[emergency]
		id, code := c.propose(alice, set("intrinsic_costs.transfer_cycles", "22000"), emergency)
		if code != chain.CodeOK {
			t.Fatal(chain.CodeName(code))
		}
		for _, step := range []struct {
			what      string
			got, want uint16
		}{
			{"one approval is not enough", c.execute(alice, id), chain.CodeWrongState},
			{"twice by one", c.approve(alice, id), chain.CodeWrongState},
			{"another proposal", c.approve(bob, chain.Hash{1}), chain.CodeNotFound},
			{"second approval", c.approve(bob, id), chain.CodeOK},
		} {
			if step.got != step.want {
				t.Errorf("%s: %s, want %s", step.what, chain.CodeName(step.got), chain.CodeName(step.want))
			}
		}
		for range lock - 1 {
			if code := c.execute(carol, id); code != chain.CodeWrongState {
				t.Errorf("before the timelock: %s", chain.CodeName(code))
			}
		}
		if c.g.Params.Intrinsic.TransferCycles != 21_000 {
			t.Error("changed early")
		}
		done := c.instruct(carol, chain.OpGovernanceExecute, cbor.AppendBytes(nil, id[:]))
		if done.Code != chain.CodeOK || len(done.Events) != 1 || done.Events[0].Name != governance.EventExecuted {
			t.Errorf("at the end of the timelock: %+v", done)
		}
		if c.g.Params.Intrinsic.TransferCycles != 22_000 {
			t.Errorf("in the next block a transfer costs %d", c.g.Params.Intrinsic.TransferCycles)
		}
		if code := c.execute(carol, id); code != chain.CodeWrongState {
			t.Errorf("a second time: %s", chain.CodeName(code))
		}
		if _, err := c.try(c.transfer(alice, bob, 1)); err == nil {
			t.Error("a transfer at the old price stands in a block")
		}
	}
}

func TestGovernanceIsForMembers(t *testing.T) { // resolution 11.13
	c := newGoverned(t)
	a := set("timer.base_fee_alpha", "9")
	payload := cbor.AppendBool(a.Append(cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpGovernancePropose)), false)
	if _, err := c.try(c.program(rewardOf(0), &chain.AddrGovernance, payload)); err == nil {
		t.Error("a stranger proposes")
	}
	id, _ := c.propose(alice, set("governance.members", `["`+alice.String()+`"]`, "governance.threshold", "1", "governance.seats", "1"), true)
	other, _ := c.propose(bob, set("timer.base_fee_alpha", "9"), true)
	c.approve(bob, id)
	c.approve(carol, other)
	c.idle(1)
	if code := c.execute(carol, id); code != chain.CodeOK || len(c.g.Params.Governance.Members) != 1 {
		t.Fatalf("change of members: %s", chain.CodeName(code))
	}
	if code := c.execute(alice, other); code != chain.CodeWrongState {
		t.Errorf("approvals of former members count: %s", chain.CodeName(code))
	}
	if code := c.approve(alice, other); code != chain.CodeOK {
		t.Errorf("approval: %s", chain.CodeName(code))
	}
	if code := c.execute(alice, other); code != chain.CodeOK || c.g.Params.Timer.BaseFeeAlpha != 9 {
		t.Errorf("after a member's approval: %s", chain.CodeName(code))
	}
}

func TestSetParamEveryParameter(t *testing.T) { // resolution 11.11: every flag and parameter
	p := params.Default()
	p.Governance.Members = members
	paths := leaves(t, &p, "")
	if len(paths) < 150 {
		t.Fatalf("only %d parameters", len(paths))
	}
	for _, path := range paths {
		if err := params.CheckSettable(path); err != nil {
			continue
		}
		value, err := p.At(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := voted(&p, params.Setting{Path: path, Value: value}); err != nil && !strings.Contains(err.Error(), "governance") {
			t.Errorf("%s = %s: %v", path, value, err)
		}
		if err := voted(&p, params.Setting{Path: path, Value: []byte("null")}); err == nil {
			t.Errorf("%s takes null", path)
		}
		if err := voted(&p, params.Setting{Path: path + "x", Value: value}); err == nil {
			t.Errorf("%sx is a parameter", path)
		}
		if err := voted(&p, params.Setting{Path: strings.ToUpper(path), Value: value}); err == nil {
			t.Errorf("%s in upper case is a parameter", path)
		}
	}
}

// voted judges a setting as a proposal of it alone is judged.
func voted(p *params.Params, s params.Setting) error {
	kept, err := params.Keep(s)
	if err != nil {
		return err
	}
	next, err := p.With(kept...)
	if err != nil {
		return err
	}
	return next.Check()
}

func TestGovernanceActions(t *testing.T) { // resolution 11.11
	bad := chain.CodeBadArgument
	for _, tt := range []struct {
		name string
		a    governance.Action
		want uint16
	}{
		{"flag", set("actor_limits.enforce_hold_balance", "false"), chain.CodeOK},
		{"amount as text", set("timer.base_deposit", `"7"`), chain.CodeOK},
		{"list", set("regions", `["us","mars"]`), chain.CodeOK},
		{"two that need each other", set("lane_profile", `"whitepaper-17.9"`, "lane_share_basis_points", `{"system":500,"timer":2000,"runner":1000,"user":6500}`), chain.CodeOK},
		{"one of the two", set("lane_profile", `"whitepaper-17.9"`), bad},
		{"out of range", set("base_fee_alpha", "0"), bad},
		{"negative", set("base_fee_alpha", "-1"), bad},
		{"fraction", set("base_fee_alpha", "1.5"), bad},
		{"text for a number", set("base_fee_alpha", `"8"`), bad},
		{"number for a flag", set("base_fee_per_lane", "1"), bad},
		{"no JSON", set("base_fee_alpha", "8 8"), bad},
		{"closing the document", set("base_fee_alpha", `8},"x":{"y":1`), bad},
		{"part of a group", set("lane_share_basis_points", `{"system":500}`), bad},
		{"more than a group", set("lane_share_basis_points", `{"system":500,"timer":2000,"runner":2500,"user":5000,"x":0}`), bad},
		{"no such parameter", set("base_fee_beta", "1"), bad},
		{"into a number", set("base_fee_alpha.x", "1"), bad},
		{"empty path", set("", "{}"), bad},
		{"machine", set("machine", `{}`), bad},
		{"frames", set("max_block_bytes", "5000000"), bad},
		{"slots of the timers' ring", set("timer.ring_blocks", "3600"), bad},
		{"deprecations", set("entitlements.deprecated", "[]"), bad},
		{"all entitlements", set("entitlements", "{}"), bad},
		{"no members", set("governance.members", "[]"), bad},
		{"instructions above their lane", set("intrinsic_costs.instruction_cycles", "500001"), bad},
		{"instructions that fill their lane", set("intrinsic_costs.instruction_cycles", "490000"), chain.CodeOK},
		{"proposals above their lane", set("intrinsic_costs.payload_byte_cells", "1000"), bad},
		{"a lane below an instruction", set("cycles_target", "400000"), bad},
		{"a timelock of years", set("governance.timelock_blocks", "1000000000", "governance.emergency_timelock_blocks", "1000000000"), bad},
		{"a long timelock beside a short one", set("governance.timelock_blocks", "1000000000"), chain.CodeOK},
		{"base fees that nobody can pay", set("min_base_fee", `"1000000000"`), bad},
		{"more approvals than members", set("governance.seats", "9", "governance.threshold", "4"), bad},
		{"the first base fees", set("initial_base_fee", `{"per_cycle":"2","per_cell":"2"}`), bad},
		{"a part that is not built", set("cip11.hard_min_subset", "21"), bad},
		{"a least base fee above the first ones", set("min_base_fee", `"2"`, "timer.max_base_fee", `"2000000"`, "timer.min_base_fee", `"2000000"`), chain.CodeOK},
		{"a least base fee of timers above their ceiling", set("timer.min_base_fee", `"1000001"`), bad},
		{"a ceiling of timers below their first base fee", set("timer.max_base_fee", `"1000"`), chain.CodeOK},
		{"domain", set("entitlements.domain_sets", `[{"name":"x","domains":["API.com"]}]`), bad},
		{"domain set", set("entitlements.domain_sets", `[{"name":"x","domains":["api.com"]}]`), chain.CodeOK},
		{"deployers", set("entitlements.system_deployers", `["`+alice.String()+`"]`), chain.CodeOK},
		{"deprecate", governance.Action{Name: governance.ActionDeprecate, ID: manifest.Blob}, chain.CodeOK},
		{"deprecate unknown", governance.Action{Name: governance.ActionDeprecate, ID: "storage.sql"}, bad},
		{"ban", governance.Action{Name: governance.ActionEntry, Table: governance.TableModelBans, Key: "m", Value: []byte{1}}, chain.CodeOK},
		{"other table", governance.Action{Name: governance.ActionEntry, Table: "accounts", Key: "m", Value: []byte{1}}, bad},
		{"upgrade of nobody", governance.Action{Name: governance.ActionUpgrade, Actor: bob, Source: []byte("x = 1")}, chain.CodeNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newGoverned(t)
			if got := c.decide(tt.a); got != tt.want {
				t.Errorf("%s, want %s", chain.CodeName(got), chain.CodeName(tt.want))
			}
		})
	}
}

func TestGovernanceKeepsItsTables(t *testing.T) { // resolution 11.11
	c := newGoverned(t)
	entry := governance.Action{Name: governance.ActionEntry, Table: governance.TableTEEKeys, Key: "sgx/root", Value: []byte("key")}
	c.decide(entry)
	if b, err := governance.Entry(c.state, entry.Table, entry.Key); string(b) != "key" || err != nil {
		t.Errorf("entry %q, %v", b, err)
	}
	entry.Value = nil
	c.decide(entry)
	if b, err := governance.Entry(c.state, entry.Table, entry.Key); b != nil || err != nil {
		t.Errorf("removed entry %q, %v", b, err)
	}
	for alpha := byte('3'); alpha < '9'; alpha++ {
		c.decide(set("timer.base_fee_alpha", string(alpha)))
	}
	list, err := governance.Settings(c.state)
	if err != nil || len(list) != 1 || c.g.Params.Timer.BaseFeeAlpha != 8 {
		t.Errorf("settings %s, %v", list, err)
	}
	if n, err := governance.Count(c.state); n != 8 || err != nil {
		t.Errorf("%d proposals, %v", n, err)
	}
}

func TestDeprecationByGovernance(t *testing.T) { // E25
	c := newGoverned(t)
	c.decide(set("entitlements.deprecation_window_blocks", "3"))
	addr, _ := c.deploy(alice, gated, manifestOf(hold, kv))
	if code := c.decide(governance.Action{Name: governance.ActionDeprecate, ID: manifest.KV}); code != chain.CodeOK {
		t.Fatal(chain.CodeName(code))
	}
	from := c.height + 1
	for c.height < from+3 {
		if r := c.ask(addr, "set", cbor.AppendNull(nil)); r.Code != chain.CodeOK {
			t.Errorf("block %d of the window: %s", c.height-from, chain.CodeName(r.Code))
		}
	}
	if r := c.ask(addr, "set", cbor.AppendNull(nil)); r.Code != chain.CodeNonExecutable {
		t.Errorf("after the window: %s", chain.CodeName(r.Code))
	}
	if code := c.decide(governance.Action{Name: governance.ActionDeprecate, ID: manifest.KV}); code != chain.CodeBadArgument {
		t.Errorf("announced again: %s", chain.CodeName(code))
	}
}

func TestUpgradeSystemActor(t *testing.T) { // resolutions 8.2, 11.11
	c := newGoverned(t)
	c.decide(set("entitlements.system_deployers", `["`+alice.String()+`"]`))
	addr, _ := c.deploy(alice, gated, manifestOf(limited(manifest.Upgrade)))
	plain, _ := c.deploy(alice, gated, manifestOf())
	upgrade := governance.Action{Name: governance.ActionUpgrade, Actor: addr, Source: []byte("y = 1")}
	before := c.state.Accounts[addr].CodeHash
	if code := c.decide(upgrade); code != chain.CodeOK || c.state.Accounts[addr].CodeHash == before {
		t.Errorf("%s", chain.CodeName(code))
	}
	upgrade.Source = []byte("y = (")
	if code := c.decide(upgrade); code != chain.CodeCodeInvalid {
		t.Errorf("source that does not compile: %s", chain.CodeName(code))
	}
	upgrade.Source = []byte{}
	if code := c.decide(upgrade); code != chain.CodeCodeInvalid {
		t.Errorf("no source: %s", chain.CodeName(code))
	}
	upgrade.Actor, upgrade.Source = plain, []byte("y = 1")
	if code := c.decide(upgrade); code != chain.CodeForbidden || c.state.Accounts[plain].CodeHash != before {
		t.Errorf("E21 of a regular actor: %s", chain.CodeName(code))
	}
}

// leaves lists the paths of all parameters, down to numbers, texts, flags and
// lists.
func leaves(t *testing.T, p *params.Params, path string) (out []string) {
	t.Helper()
	names, err := p.Members(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		return []string{path}
	}
	for _, n := range names {
		out = append(out, leaves(t, p, strings.TrimPrefix(path+"."+n, "."))...)
	}
	return out
}
