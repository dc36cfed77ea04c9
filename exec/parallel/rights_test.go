package parallel_test

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/state"
)

// payload is an instruction whose arguments are byte strings.
func payload(opcode uint64, args ...[]byte) []byte {
	b := cbor.AppendUint(cbor.AppendArray(nil, 1+len(args)), opcode)
	for _, a := range args {
		b = cbor.AppendBytes(b, a)
	}
	return b
}

// few are the users who deal in rights, and what they deal in.
const few = 2

// right is one of few permissions, so that they meet: over a token, an actor or a pool
// that belongs to the first who asks.
func (w *world) right() (s entitlements.Scope, a entitlements.Action) {
	switch w.rng.IntN(3) {
	case 0:
		if len(w.tokens) > 0 {
			id := w.tokens[w.rng.IntN(len(w.tokens))]
			s = entitlements.Scope{Kind: entitlements.ScopeToken, Name: string(id[:])}
			return s, entitlements.Action{Kind: []entitlements.ActionKind{entitlements.ActionTokenMint, entitlements.ActionTokenBurn, entitlements.ActionTokenFreeze}[w.rng.IntN(3)]}
		}
	case 1:
		if len(w.actors) > 0 {
			of := w.actors[w.rng.IntN(len(w.actors))]
			s = entitlements.Scope{Kind: entitlements.ScopeActor, Name: string(of[:])}
			return s, entitlements.Action{Kind: entitlements.ActionActorExecuteHandler, Name: "bump"}
		}
	}
	pool := fmt.Sprint("p", w.rng.IntN(few))
	return entitlements.Scope{Kind: entitlements.ScopePool, Name: pool}, entitlements.Action{Kind: entitlements.ActionRunnerJoinPool, Name: pool}
}

// entitle gives, passes on and takes rights and roles.
func (w *world) entitle(from chain.Address) []byte {
	s, a := w.right()
	to := user(w.rng.IntN(few))
	var c entitlements.Constraints
	if w.rng.IntN(3) > 0 {
		c = entitlements.Constraints{Uses: 1 + w.rng.Uint64N(3), Depth: w.rng.Uint64N(4)}
		c.Delegatable = c.Depth > 0
	}
	name := fmt.Sprint("r", w.rng.IntN(2))
	role := entitlements.RoleID(from, name)
	id := entitlements.GrantID(to, s, a, nil)
	switch w.rng.IntN(10) {
	case 0:
		return payload(chain.OpEntitlementRevoke, id[:])
	case 1, 2:
		id = entitlements.GrantID(from, s, a, nil)
		return payload(chain.OpEntitlementDelegate, id[:], to[:], c.Append(nil))
	case 3:
		return payload(chain.OpRoleCreate, []byte(name), entitlements.AppendScopes(nil, []entitlements.Scope{s}), entitlements.AppendActions(nil, []entitlements.Action{a}), c.Append(nil))
	case 4, 5:
		return payload(chain.OpRoleAssign, role[:], to[:])
	case 6:
		return payload(chain.OpRoleRevoke, role[:], to[:])
	}
	return payload(chain.OpEntitlementGrant, to[:], s.Append(nil), a.Append(nil), c.Append(nil))
}

// decision is an instruction of the members of governance, all users, about rights, or an
// entry of a table.
func (w *world) decision() *chain.VerifiedTx {
	from, system := user(w.rng.IntN(users)), chain.AddrGovernance
	tx := &chain.Tx{To: &system, Nonce: w.nonces[from], CyclesLimit: 30_000 + chain.Cycles(w.rng.IntN(200_000)), CellsLimit: chain.Cells(600 + w.rng.IntN(6000))}
	w.nonces[from]++
	if n := len(w.proposals); n > 0 && w.rng.IntN(3) > 0 {
		id := w.proposals[w.rng.IntN(n)]
		tx.Payload = payload(chain.OpGovernanceApprove+w.rng.Uint64N(2), id[:])
		return verified(tx, from)
	}
	set := governance.Action{Name: governance.ActionEntry, Table: governance.TableModelBans, Key: fmt.Sprint(w.rng.IntN(2)), Value: []byte{1}}
	if w.rng.IntN(2) == 0 {
		s, a := w.right()
		to := user(w.rng.IntN(few))
		set = governance.Action{
			Name:        governance.ActionRegistry,
			Instruction: payload(chain.OpEntitlementGrant, to[:], s.Append(nil), a.Append(nil), (&entitlements.Constraints{}).Append(nil)),
		}
	}
	action := set.Append(nil)
	w.proposals = append(w.proposals, governance.ProposalID(uint64(len(w.proposals)), action)) // if all of them succeed
	tx.Payload = cbor.AppendBool(append(payload(chain.OpGovernancePropose), action...), w.rng.IntN(2) == 0)
	tx.Payload[0] += 2 // of the array
	return verified(tx, from)
}

// rights is an instruction about rights, or the timers of an actor.
func (w *world) rights() *chain.VerifiedTx {
	from, system := user(w.rng.IntN(few)), chain.AddrEntitlements
	tx := &chain.Tx{Nonce: w.nonces[from], CyclesLimit: 30_000 + chain.Cycles(w.rng.IntN(200_000)), CellsLimit: chain.Cells(600 + w.rng.IntN(6000))}
	w.nonces[from]++
	if w.rng.IntN(4) == 0 {
		whom := w.anyone()
		system = chain.AddrActors
		b := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 6), chain.OpTimerSchedule), whom[:])
		b = cbor.AppendNull(cbor.AppendUint(b, w.rng.Uint64N(9)))
		tx.Payload = cbor.AppendBytes(cbor.AppendText(b, "bump"), argument(whom, 1, 1))
	} else {
		tx.Payload = w.entitle(from)
	}
	tx.To = &system
	return verified(tx, from)
}

// reread finds out what has become of the proposals.
func (w *world) reread(t *testing.T, v state.View) {
	t.Helper()
	n, err := governance.Count(v)
	w.proposals = w.proposals[:0]
	for i := uint64(0); i < n && err == nil; i++ {
		var id chain.Hash
		id, err = governance.ByNumber(v, i)
		w.proposals = append(w.proposals, id)
	}
	if err != nil {
		t.Fatal(err)
	}
}
