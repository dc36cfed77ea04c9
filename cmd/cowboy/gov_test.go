package main

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/state"
)

// governor returns the flags with which the one member of a devnet's multisig sends.
func governor() []string {
	secret := setup.DevGovernor().Key.Bytes()
	return []string{"--private-key", hex.EncodeToString(secret[:])}
}

const governorAddress = "0x9d03804ea40e1865b54795d367f006ce843aba3e"

// propose has the governor propose an action.
func (l *live) propose(args ...string) rpc.ProposalReply {
	l.t.Helper()
	var r rpc.ReceiptReply
	if l.balance(governorAddress) < chain.WeiPerCBY {
		l.do(&r, "transfer", "--to", governorAddress, "--amount", "2", "--wait")
	}
	l.do(&r, append(append([]string{"gov", "propose"}, args...), append(governor(), "--wait")...)...)
	var g rpc.GovernanceReply
	l.do(&g, "gov", "status")
	return g.Proposals[0]
}

// proposal is how a proposal stands.
func (l *live) proposal(id chain.Hash) rpc.ProposalReply {
	l.t.Helper()
	var g rpc.GovernanceReply
	l.do(&g, "gov", "status")
	for _, p := range g.Proposals {
		if p.ID == id {
			return p
		}
	}
	l.t.Fatalf("no proposal %s in %+v", id, g.Proposals)
	return rpc.ProposalReply{}
}

// decide takes an action of the devnet's one governor through all its steps.
func (l *live) decide(args ...string) {
	l.t.Helper()
	p := l.propose(args...)
	l.advance(1) // the timelock of a devnet
	var r rpc.ReceiptReply
	l.do(&r, append([]string{"gov", "execute", p.ID.String(), "--wait"}, governor()...)...)
}

// TestGovernanceLive changes what a transfer costs on a running devnet, then
// restarts it (resolution 11.11).
func TestGovernanceLive(t *testing.T) {
	l, restart := newLiveRestarted(t, func(*params.Params) {})
	transfer := func() uint64 {
		t.Helper()
		var r rpc.ReceiptReply
		l.do(&r, "transfer", "--to", governorAddress, "--amount", "1", "--wait")
		if r.Status != "success" {
			t.Fatalf("transfer: %+v", r)
		}
		return uint64(r.CyclesUsed)
	}
	status := func() (g rpc.GovernanceReply) {
		t.Helper()
		l.do(&g, "gov", "status")
		return g
	}
	if used := transfer(); used != 21_000 {
		t.Fatalf("a transfer costs %d", used)
	}
	var r rpc.ReceiptReply
	l.do(&r, append([]string{"gov", "propose", "set", "intrinsic_costs.transfer_cycles=23456", "min_base_fee=\"2\"", "--wait"}, governor()...)...)
	g := status()
	if r.Status != "success" || len(g.Proposals) != 1 || g.Proposals[0].Ready == 0 || len(g.Settings) != 0 {
		t.Fatalf("after the proposal: %+v, %+v", r, g.Proposals)
	}
	if code, _, _ := l.run(append([]string{"gov", "propose", "set", "base_fee_alpha=0"}, governor()...)...); code != exitFailed {
		t.Errorf("a value out of range: exit %d", code)
	}
	if code, _, _ := l.run("gov", "propose", "set", "machine={}"); code != exitUsage {
		t.Errorf("a fixed parameter: exit %d", code)
	}
	for g.Height+1 < g.Proposals[0].Ready { // the timelock of a devnet is a block
		g = status()
	}
	l.do(&r, append([]string{"gov", "execute", g.Proposals[0].ID.String(), "--wait"}, governor()...)...)
	if g = status(); r.Status != "success" || g.Proposals[0].Done == 0 || len(g.Settings) != 2 {
		t.Fatalf("after execution: %+v, %+v", r, g)
	}
	check := func() {
		t.Helper()
		var cycles uint64
		l.do(&cycles, "gov", "status", "--param", "intrinsic_costs.transfer_cycles")
		if used := transfer(); cycles != 23_456 || used != cycles {
			t.Errorf("in force: %d, a transfer costs %d", cycles, used)
		}
		var fee rpc.BaseFeeReply
		l.do(&fee, "query", "basefee")
		if fee.Cycle < 2 {
			t.Errorf("base fee %d below the new floor", fee.Cycle)
		}
	}
	check()
	before := status().Height
	restart()
	check()
	if g := status(); g.Height < before || g.Proposals[0].Done == 0 {
		t.Errorf("after the restart: height %d, was %d: %s", g.Height, before, strconv.Quote(g.Proposals[0].Action))
	}
}

// TestGovernanceActionsLive takes every other action of a multisig of two through
// its steps, with what is refused on the way, and holds the effects over a restart.
func TestGovernanceActionsLive(t *testing.T) { // resolutions 8.2, 9.1, 11.11, 11.13
	const timelock = 40
	l, restart := newLiveRestarted(t, func(p *params.Params) {
		second := setup.DevAccounts()[1].Address
		p.Governance.Members = append(p.Governance.Members, second)
		p.Governance.Threshold, p.Governance.Seats = 2, 2
		p.Governance.TimelockBlocks, p.Governance.EmergencyTimelockBlocks = timelock, 2
		p.Entitlements.SystemDeployers = []chain.Address{setup.DevAccounts()[0].Address}
	})
	system := l.deploy(gated, append(grants("storage.kv", "sys.upgrade"), "--salt", "0x01", "--no-init")...)
	plain := l.deploy(gated, append(grants("storage.kv"), "--salt", "0x02", "--no-init")...)
	next := filepath.Join(l.dir, "next.py")
	if err := os.WriteFile(next, []byte("from cowboy_sdk import public\n\n@public\ndef version(msg):\n    return 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if said := l.refused("gov", "propose", "entry", "model_bans", "llama"); !strings.Contains(said, "governance member") {
		t.Errorf("a stranger proposes: %s", said)
	}
	l.steps(timelock)

	upgrade := l.voted("upgrade", system, "--code", next)
	if a := l.actor(system); string(l.execute(system, "version", "null").Value) != "2" || a.CodeHash == l.actor(plain).CodeHash || upgrade != "success" {
		t.Errorf("upgrade: %s, %+v", upgrade, a)
	}
	if end := l.voted("upgrade", plain, "--code", next); end != "forbidden" || string(l.execute(plain, "version", "null").Value) != "1" {
		t.Errorf("upgrade of a regular actor: %s", end)
	}
	l.registryVotes()
	for _, action := range [][]string{{"deprecate", "storage.blob"}, {"entry", "tee_keys", "sgx/root", "--value", "key"}} {
		if end := l.voted(action...); end != "success" {
			t.Errorf("%v: %s", action, end)
		}
	}
	check := func() {
		t.Helper()
		var gone []struct{ ID string }
		if l.do(&gone, "gov", "status", "--param", "entitlements.deprecated"); len(gone) != 1 || gone[0].ID != "storage.blob" {
			t.Errorf("deprecated: %+v", gone)
		}
		if l.entry("model_bans", "llama") != "too chatty" || l.entry("tee_keys", "sgx/root") != "key" || l.entry("tee_keys", "llama") != "" {
			t.Error("the tables are not as voted")
		}
		if got := l.read(system, "version", "null"); got != "2" {
			t.Errorf("the upgraded actor answers %s", got)
		}
	}
	check()
	restart()
	check()
	l.voted("entry", "model_bans", "llama", "--remove")
	if got := l.entry("model_bans", "llama"); got != "" {
		t.Errorf("the entry is still there: %q", got)
	}
}

// registryVotes takes instructions to the entitlement registry through their steps
// (CIP-2 §7.3).
func (l *live) registryVotes() {
	t := l.t
	auditor := setup.DevAccounts()[3].Address.String()
	held := func() (list rpc.EntitlementsReply) {
		t.Helper()
		l.do(&list, "entitlement", "list", auditor)
		return list
	}
	audit := []string{"--scope", "global", "--action", "custom:audit"}
	if end := l.voted(append([]string{"entitlement", "grant", "--to", auditor, "--max-uses", "3"}, audit...)...); end != "success" {
		t.Fatalf("grant: %s", end)
	}
	list := held()
	if len(list.Entitlements) != 1 || !list.Entitlements[0].InForce || list.Entitlements[0].Constraints.Uses != 3 || list.Entitlements[0].Grantor != chain.AddrGovernance {
		t.Fatalf("granted: %+v", list.Entitlements)
	}
	_, text, _ := l.run("gov", "status")
	if want := "entitlement_registry grant custom:audit for global to " + auditor + ", uses 3"; !strings.Contains(text, want) {
		t.Errorf("gov status does not say %q:\n%s", want, text)
	}
	grant := list.Entitlements[0].ID.String()
	if end := l.voted("entitlement", "revoke", grant); end != "success" || len(held().Entitlements) != 0 {
		t.Errorf("revoke: %s", end)
	}
	if end := l.voted("entitlement", "revoke", grant); end != "not_found" {
		t.Errorf("revoke again: %s", end)
	}
	role := entitlements.RoleID(chain.AddrGovernance, "auditor").String()
	l.voted(append([]string{"entitlement", "create-role", "--name", "auditor"}, audit...)...)
	if end := l.voted("entitlement", "assign-role", role, "--account", auditor); end != "success" || len(held().Roles) != 1 {
		t.Errorf("assign: %s", end)
	}
	if end := l.voted("entitlement", "revoke-role", role, "--account", auditor); end != "success" || len(held().Roles) != 0 {
		t.Errorf("take: %s", end)
	}
	for got, want := range map[string]string{
		l.refused(append([]string{"gov", "propose", "set", "timer.max_per_actor=-1"}, governor()...)...): "timer.max_per_actor",
		l.refused(append([]string{"gov", "propose", "deprecate", "storage.no"}, governor()...)...):       `no entitlement "storage.no"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %s", got, want)
		}
	}
}

// steps bans a model, and tries each step before its time.
func (l *live) steps(timelock uint64) {
	t := l.t
	p := l.propose("entry", "model_bans", "llama", "--value", "too chatty")
	step := func(what string, args ...string) string {
		t.Helper()
		var r rpc.ReceiptReply
		args = append([]string{"gov", what, p.ID.String(), "--wait", "--cycles-limit", "100000", "--cells-limit", "10000"}, args...)
		code, stdout, stderr := l.run(append(args, "--json")...)
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatalf("%v: exit %d, %v\n%s", args, code, err, stderr)
		}
		if r.Status == "success" {
			return r.Status
		}
		return r.RevertReason
	}
	for _, s := range []struct {
		name, what string
		by         []string
		want       string
	}{
		{"one approval of two", "execute", governor(), "wrong_state"},
		{"twice by one", "approve", governor(), "wrong_state"},
		{"second approval", "approve", as(1), "success"},
		{"before the timelock", "execute", as(1), "wrong_state"},
	} {
		if got := step(s.what, s.by...); got != s.want {
			t.Errorf("%s: %s, want %s", s.name, got, s.want)
		}
	}
	if ready := l.proposal(p.ID).Ready; ready < l.height()+timelock/4 {
		t.Fatalf("at %d, ready at %d: the steps took the timelock", l.height(), ready)
	}
	if got := l.entry("model_bans", "llama"); got != "" {
		t.Errorf("an entry %q before its time", got)
	}
	if said := l.refused(append([]string{"gov", "execute", p.ID.String()}, as(2)...)...); !strings.Contains(said, "governance member") {
		t.Errorf("a stranger executes: %s", said)
	}
	l.advance(timelock)
	if got := step("execute", governor()...); got != "success" {
		t.Errorf("after the timelock: %s", got)
	}
	if got := step("execute", governor()...); got != "wrong_state" {
		t.Errorf("a second time: %s", got)
	}
}

// voted takes an action through all its steps, with the short timelock and two
// members, and returns how it ended.
func (l *live) voted(args ...string) string {
	l.t.Helper()
	p := l.propose(append(args, "--emergency")...)
	var r rpc.ReceiptReply
	l.do(&r, append([]string{"gov", "approve", p.ID.String(), "--wait"}, as(1)...)...)
	l.advance(2)
	_, stdout, stderr := l.run(append([]string{"gov", "execute", p.ID.String(), "--wait", "--json", "--cycles-limit", "400000", "--cells-limit", "20000"}, governor()...)...)
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		l.t.Fatalf("%v: %v\n%s", args, err, stderr)
	}
	if r.Status == "success" {
		return r.Status
	}
	return r.RevertReason
}

// entry is that of one of governance's tables, "" where there is none.
func (l *live) entry(table, key string) string {
	l.t.Helper()
	slot := state.NewStorageKey(state.VMNamespaceSystem, []byte("table/"+table+"/"+key))
	v, err := l.api().StorageAt(l.t.Context(), chain.AddrGovernance, slot, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	b, err := hex.DecodeString(strings.TrimPrefix(v.Value, "0x"))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(b)
}
