package acceptance_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Opcodes of the Entitlement Registry (CIP-2 §7.2), and the numbers of scopes and actions in
// their order in §7.1.
const (
	opGrant, opRevoke, opDelegate, opCreateRole, opAssignRole, opRevokeRole = 30, 31, 32, 33, 34, 35

	scopeActor, scopePool, scopeNamespace = 1, 4, 5
	actionJoinPool, actionCustom          = 13, 17
)

// limits are the constraints of a grant, by the names of CIP-2 §7.1; what is left out is not
// bounded.
type limits map[string]any

// encode writes an argument of the registry.
func encode(v any) []byte {
	b, err := canonical.Marshal(v)
	if err != nil {
		panic(err) // values of this package alone
	}
	return b
}

func poolScope(name string) []byte      { return encode([]any{scopePool, []byte(name)}) }
func joinAction(name string) []byte     { return encode([]any{actionJoinPool, []byte(name)}) }
func namespaceScope(name string) []byte { return encode([]any{scopeNamespace, []byte(name)}) }
func customAction(name string) []byte   { return encode([]any{actionCustom, []byte(name)}) }

func registryCall(opcode int, args ...any) chain.Tx {
	to := chain.AddrEntitlements
	return chain.Tx{To: &to, Payload: encode(append([]any{opcode}, args...))}
}

func grant(to chain.Address, scope, action []byte, l limits) chain.Tx {
	if l == nil {
		l = limits{}
	}
	return registryCall(opGrant, to[:], scope, action, encode(l))
}

func delegate(id chain.Hash, to chain.Address, l limits) chain.Tx {
	return registryCall(opDelegate, id[:], to[:], encode(l))
}

func revoke(id chain.Hash) chain.Tx { return registryCall(opRevoke, id[:]) }

// grantID is keccak256(grantee ‖ scope ‖ action ‖ parent?) (CIP-2 §7.1).
func grantID(to chain.Address, scope, action []byte, parent ...chain.Hash) chain.Hash {
	parts := [][]byte{to[:], scope, action}
	for i := range parent {
		parts = append(parts, parent[i][:])
	}
	return keccak.Sum256(parts...)
}

// standing is what the registry says of a grant; nil: there is none.
func (p *probe) standing(id chain.Hash) *rpc.GrantReply {
	g, err := p.net.nodes[0].Entitlement(p.ctx, id)
	if client.IsNotFound(err) {
		return nil
	}
	p.check(err)
	return g
}

// r14: who does not answer for a scope cannot grant in it; the id of a grant follows from what
// it is.
func r14(p *probe) {
	owner, stranger, member := newAccount("r14 owner"), newAccount("r14 stranger"), newAccount("r14 member")
	p.fund(100*cby, owner, stranger, member)
	pool, join := poolScope("r14"), joinAction("r14")
	p.must(owner, grant(member.addr, pool, join, nil)) // the first answers for the pool
	id := grantID(member.addr, pool, join)
	if g := p.standing(id); g == nil || g.Grantee != member.addr || g.Grantor != owner.addr || !g.InForce {
		p.errorf("the grant %s is %+v", id, g)
	}
	p.refused("a grant by who has none to give", stranger, grant(stranger.addr, pool, join, nil))
	p.refused("a grant by a member", member, grant(stranger.addr, pool, join, nil))
	global := encode([]any{0})
	p.refused("a grant for the whole chain", owner, grant(owner.addr, global, encode([]any{0}), nil))
	actor := p.deploy(owner, "r14", nothingDone, nil)
	own := encode([]any{scopeActor, actor[:]})
	p.refused("a grant for another's actor", stranger, grant(stranger.addr, own, customAction("x"), nil))
	p.must(owner, grant(stranger.addr, own, customAction("x"), nil))
	for _, missing := range []chain.Hash{grantID(stranger.addr, pool, join), grantID(owner.addr, global, encode([]any{0}))} {
		if g := p.standing(missing); g != nil {
			p.errorf("a grant that was refused stands: %+v", g)
		}
	}
}

// nothingDone is the smallest actor.
const nothingDone = `from cowboy_sdk import actor

@actor
class A:
    def ping(self):
        return 1
`

// r15: what is delegated needs leave, has an end to its depth, and is narrower.
func r15(p *probe) {
	owner, holder, third := newAccount("r15 owner"), newAccount("r15 holder"), newAccount("r15 third")
	p.fund(100*cby, owner, holder, third)
	space := namespaceScope("r15")
	give := func(name string, l limits) chain.Hash {
		p.must(owner, grant(holder.addr, space, customAction(name), l))
		return grantID(holder.addr, space, customAction(name))
	}
	wide := func() limits {
		return limits{
			"valid_from": 1, "valid_until": 1_000_000, "max_uses": 10, "max_amount_per_use": 20, "max_total_amount": 30,
			"rate_limit": []any{4, 5}, "delegatable": true, "delegation_depth_max": 3,
		}
	}
	narrow := func() limits {
		return limits{
			"valid_from": 2, "valid_until": 999_999, "max_uses": 9, "max_amount_per_use": 19, "max_total_amount": 29,
			"rate_limit": []any{3, 5}, "delegatable": true, "delegation_depth_max": 2,
		}
	}
	plain := give("plain", limits{})
	p.refused("a grant that may not be delegated", holder, delegate(plain, third.addr, limits{}))
	p.refused("a depth above 5", owner, grant(holder.addr, space, customAction("deep"), limits{"delegatable": true, "delegation_depth_max": 6}))
	p.must(owner, grant(holder.addr, space, customAction("deep"), limits{"delegatable": true, "delegation_depth_max": 5}))
	n := 0
	for field, wider := range map[string]any{
		"valid_from": 0, "valid_until": 1_000_001, "max_uses": 11, "max_amount_per_use": 21, "max_total_amount": 31,
		"rate_limit": []any{5, 5}, "delegation_depth_max": 4,
	} {
		n++
		id := give(fmt.Sprintf("wide %d", n), wide())
		l := narrow()
		if l[field] = wider; field == "valid_from" {
			delete(l, field)
		}
		p.refused("a wider "+field, holder, delegate(id, third.addr, l))
		l = narrow()
		l[field] = wide()[field]
		p.refused("the parent's own "+field, holder, delegate(id, third.addr, l))
	}
	id := give("narrower", wide())
	p.must(holder, delegate(id, third.addr, narrow()))
	if g := p.standing(grantID(third.addr, space, customAction("narrower"), id)); g == nil || !g.InForce || g.Parent == nil || *g.Parent != id {
		p.errorf("the delegated grant is %+v", g)
	}
}

// r16: what may not be revoked stays, and what was derived from a revoked grant is useless.
func r16(p *probe) {
	owner, holder, third, stranger := newAccount("r16 owner"), newAccount("r16 holder"), newAccount("r16 third"), newAccount("r16 stranger")
	p.fund(100*cby, owner, holder, third, stranger)
	space := namespaceScope("r16")
	p.must(owner, grant(holder.addr, space, customAction("kept"), limits{"revocable": false}))
	kept := grantID(holder.addr, space, customAction("kept"))
	p.refused("to revoke what is not revocable", owner, revoke(kept))
	if g := p.standing(kept); g == nil || !g.InForce {
		p.errorf("what may not be revoked is %+v", g)
	}
	p.must(owner, grant(holder.addr, space, customAction("lent"), limits{"delegatable": true, "delegation_depth_max": 2}))
	lent := grantID(holder.addr, space, customAction("lent"))
	p.must(holder, delegate(lent, third.addr, limits{"valid_until": 1_000_000}))
	derived := grantID(third.addr, space, customAction("lent"), lent)
	if g := p.standing(derived); g == nil || !g.InForce {
		p.errorf("a derived grant is %+v", g)
	}
	p.refused("to revoke as a stranger", stranger, revoke(lent))
	p.must(owner, revoke(lent))
	if g := p.standing(derived); g != nil && g.InForce {
		p.errorf("a grant derived from a revoked one is in force: %+v", g)
	}
	if g := p.standing(lent); g != nil {
		p.errorf("a revoked grant stands: %+v", g)
	}
}

// r17: a grant counts from its first block to its last, both included, and a check of a pool is
// no use of it. What uses up grants besides is no transaction's yet (resolution 14.13).
func r17(p *probe) {
	s := p.scene("r17")
	all := s.runners(2, roomy)
	pool, join := poolScope("r17"), joinAction("r17")
	q := s.longJob()
	q.Spec.RequiredRunnerPool = []byte("r17")
	s.must(s.asker, grant(all[0].addr, pool, join, limits{"max_uses": 1}))
	s.seenAtBothEnds(ask(q), byHash, all[0], all[1], func(first, last chain.Height) {
		s.must(s.asker, grant(all[1].addr, pool, join, limits{"valid_from": uint64(first), "valid_until": uint64(last)}))
	})
	if g := s.standing(grantID(all[0].addr, pool, join)); g == nil || g.Used != 0 || !g.InForce {
		s.errorf("a grant of one use behind many checks: %+v", g)
	}
}

// roomy lets runners take as many jobs as a test asks for.
func roomy(_ int, r *chain.RunnerRegister, _ *chain.Wei) { r.Capabilities.MaxConcurrentJobs = 1_000 }

// longJob is one that nobody need answer while the test runs.
func (s *scene) longJob() *chain.JobSubmit {
	q := s.job()
	q.Spec.TimeoutBlocks = 5_000
	return q
}

// byHash is the job of a transaction.
func byHash(o *outcome) submitted {
	at := chain.Height(o.receipt.BlockHeight)
	return submitted{jobIDOf(o.hash, at), at}
}

// seenAtBothEnds lets something hold for one runner from a first to a last block, asks for work
// in all blocks around them, and holds that the runner is a candidate in these alone; another
// one always is. It tries again where no job stood in a block that matters.
func (s *scene) seenAtBothEnds(tx chain.Tx, jobOf func(*outcome) submitted, always, sometimes *account, from func(first, last chain.Height)) {
	for attempt := range chain.Height(5) {
		first := s.height() + 30*(attempt+1)
		last := first + 3
		if from(first, last); s.height() >= first-3 {
			continue
		}
		seen := map[chain.Height]bool{}
		for _, o := range s.repeat(first-3, last+3, tx) {
			j, want := jobOf(o), names(always)
			if first <= j.at && j.at <= last {
				want = names(always, sometimes)
			}
			if got := namesOf(s.candidates(0, j.id)); !slices.Equal(got, want) {
				s.errorf("in block %d, of %d to %d: candidates %v, want %v", j.at, first, last, got, want)
			}
			seen[j.at] = true
		}
		if seen[first-1] && seen[first] && seen[last] && seen[last+1] {
			return
		}
	}
	s.fatalf("no job stood in the blocks at both ends, in five attempts")
}

// repeat sends the same over and over between two heights, so that it stands in every block if
// that goes well.
func (s *scene) repeat(begin, end chain.Height, tx chain.Tx) []*outcome {
	node := s.node(s.asker.addr)
	e, err := node.Estimate(s.ctx, s.asker.addr, &tx)
	s.check(err)
	tx.CyclesLimit, tx.CellsLimit = chain.Cycles(e.CyclesLimit+100_000), chain.Cells(e.CellsLimit+5_000)
	s.reachAt(node, begin)
	var sent []*outcome
	for h := begin; h <= end; s.pause() {
		o := s.submit(node, s.asker, tx)
		if o.code != rpc.CodeOK {
			s.fatalf("what is sent over and over: %v", o)
		}
		sent = append(sent, o)
		h, err = node.Height(s.ctx)
		s.check(err)
	}
	for _, o := range sent {
		if s.wait(node, o); !o.ok() {
			s.fatalf("what is sent over and over: %v", o)
		}
	}
	s.reach(chain.Height(sent[len(sent)-1].receipt.BlockHeight) + 2)
	return sent
}

// r18: an address has room for 256 grants and 64 roles, and what has expired is removed when it
// is first looked at and gives its place back. The limits count by scope (ADR 77).
func r18(p *probe) {
	const most, mostRoles = 256, 64
	s := p.scene("r18")
	full := s.runners(1, roomy)[0]
	owner := s.asker
	pool, join := poolScope("r18"), joinAction("r18")
	name := func(i int) []byte { return customAction(fmt.Sprintf("permission %d", i)) }
	until := p.height() + 400 // none has expired before all stand
	p.must(owner, grant(full.addr, pool, join, limits{"valid_until": uint64(until)}))
	p.each(most-1, func(i int) { p.must(owner, grant(full.addr, pool, name(i), nil)) })
	p.refused("one grant too many", owner, grant(full.addr, pool, name(most), nil))
	if h := p.height(); h > until {
		p.fatalf("the grants took until %d, and one of them had expired at %d", h, until)
	}
	space := newAccount("r18 space")
	p.fund(100*cby, space)
	p.must(space, grant(space.addr, namespaceScope("r18"), customAction("x"), nil))
	var roles [mostRoles + 1][]byte
	p.each(len(roles), func(i int) { roles[i] = p.made(p.must(space, newRole(fmt.Sprintf("role %d", i), "r18"))) })
	p.each(mostRoles, func(i int) { p.must(space, registryCall(opAssignRole, roles[i], full.addr[:])) })
	p.refused("one role too many", space, registryCall(opAssignRole, roles[mostRoles], full.addr[:]))
	p.reach(until + 1)
	q := s.job() // its filter of the pool looks at the grant
	q.Spec.RequiredRunnerPool = []byte("r18")
	if end := s.ended(s.ask(q).id); end.Outcome != "no_candidates" {
		p.errorf("a job of a pool whose only member's grant has expired: %+v", end)
	}
	if g := p.standing(grantID(full.addr, pool, join)); g != nil {
		p.errorf("a grant that has expired at %d stands behind a check: %+v", until, g)
	}
	if o := p.send(owner, grant(full.addr, pool, name(most), nil)); !o.ok() {
		p.errorf("behind a check of a grant that has expired there is no room for another: %v", o)
	}
}

// r19: the table of CIP-2 §7.4, on top of what an instruction costs by itself (resolution 14.4)
// and of what bytes it brings (resolution 14.12).
func r19(p *probe) {
	owner, holder, third := newAccount("r19 owner"), newAccount("r19 holder"), newAccount("r19 third")
	p.fund(100*cby, owner, holder, third)
	space, act := namespaceScope("r19"), customAction("x")
	const intrinsic = 21_000
	perByte := uint64(p.net.params.API.StorageWriteByteCycles)
	costs := func(what string, o *outcome, payload []byte, cycles, cells uint64) {
		// Rows that are rewritten cost their bytes, which are few; rows that are new cost cells.
		const rewritten = 512
		if more := o.receipt.CyclesUsed - intrinsic - cycles; more%perByte != 0 || more > rewritten*perByte {
			p.errorf("%s takes %d cycles, want %d and %d for each byte of its rows", what, o.receipt.CyclesUsed, intrinsic+cycles, perByte)
		}
		if least := uint64(len(payload)) + cells; o.receipt.CellsUsed < least || o.receipt.CellsUsed > least+4*rewritten {
			p.errorf("%s takes %d cells, want %d of its payload, %d, and what its rows have", what, o.receipt.CellsUsed, len(payload), cells)
		}
	}
	run := func(what string, by *account, tx chain.Tx, cycles, cells uint64) {
		costs(what, p.must(by, tx), tx.Payload, cycles, cells)
	}
	l := limits{"delegatable": true, "delegation_depth_max": 1}
	p.must(owner, grant(third.addr, space, customAction("first"), l)) // the first claims the namespace, too
	run("a grant", owner, grant(holder.addr, space, act, l), 5_000, 500)
	id := grantID(holder.addr, space, act)
	run("a delegation", holder, delegate(id, third.addr, limits{}), 3_000, 300)
	run("a revocation", owner, revoke(id), 2_000, 100)
	create := newRole("r19", "r19")
	o := p.must(owner, create)
	costs("a role", o, create.Payload, 5_000, 500)
	role := p.made(o)
	run("an assignment", owner, registryCall(opAssignRole, role, third.addr[:]), 2_000, 100)
	run("the end of an assignment", owner, registryCall(opRevokeRole, role, third.addr[:]), 2_000, 100)
}

// newRole makes a role of one scope, a namespace, and one action.
func newRole(name, space string) chain.Tx {
	return registryCall(opCreateRole, []byte(name), encode([]any{[]any{scopeNamespace, []byte(space)}}), encode([]any{[]any{actionCustom, []byte("x")}}), encode(limits{}))
}

// made is the id that an instruction answers.
func (p *probe) made(o *outcome) (id []byte) {
	p.check(cbor.Unmarshal(p.bytesOf(o.receipt.Output), &id))
	return id
}

// bytesOf reads bytes as the API writes them.
func (p *probe) bytesOf(text string) []byte {
	raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	p.check(err)
	return raw
}
