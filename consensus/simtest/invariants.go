package simtest

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// invariant is a rule over all certificates and final blocks of a run, checked
// when it ends. The names are those of the acceptance list (consensus.md §6).
type invariant struct {
	name  string
	check func(a *auditor) error
}

var invariants = [...]invariant{
	{"agreement", agreement},
	{"finalization_ancestry", finalizationAncestry},
	{"no_nullification_in_finalized_view", noNullificationInFinalizedView},
	{"no_conflicting_notarization_in_finalized_view", noConflictingNotarizationInFinalizedView},
	{"no_conflicting_quorum_notarizations", noConflictingQuorumNotarizations},
	{"finalization_requires_notarization", finalizationRequiresNotarization},
	{"certificates_are_valid", certificatesAreValid},
}

// inspect checks every invariant; the first breach is the run's error.
func (a *auditor) inspect() {
	for _, i := range invariants {
		if err := i.check(a); err != nil {
			a.net.recordBreach("%s: %w", i.name, err)
		}
	}
}

// agreement: what honest validators have made final is one chain.
func agreement(a *auditor) error {
	for _, v := range a.net.validators {
		if v.player != nil {
			continue
		}
		for i, b := range v.app.chain {
			if i >= len(a.chain) || a.chain[i] != b.own.Proposal {
				return fmt.Errorf("validator %d has another block at height %d", v.id, i+1)
			}
		}
	}
	return nil
}

// finalizationAncestry: each final block names the one before it, and every
// view in between is nullified.
func finalizationAncestry(a *auditor) error {
	before := chain.View(0)
	for i, p := range a.chain {
		if p.Parent != before {
			return fmt.Errorf("block %d of view %d extends view %d, not %d", i+1, p.Round.View, p.Parent, before)
		}
		for w := before + 1; w < p.Round.View; w++ {
			if _, ok := a.certs[certKey{w, simplex.Nullify}]; !ok {
				return fmt.Errorf("block of view %d passes over view %d, which nobody nullified", p.Round.View, w)
			}
		}
		before = p.Round.View
	}
	return nil
}

// noNullificationInFinalizedView: a view with a finalization of its own has no
// nullification. One whose block is final by way of a descendant can have one.
func noNullificationInFinalizedView(a *auditor) error {
	return a.eachFinalization(func(view chain.View, _ simplex.Proposal) error {
		if _, ok := a.certs[certKey{view, simplex.Nullify}]; ok {
			return fmt.Errorf("view %d is finalized and nullified", view)
		}
		return nil
	})
}

func noConflictingNotarizationInFinalizedView(a *auditor) error {
	return a.eachFinalization(func(view chain.View, p simplex.Proposal) error {
		if n, ok := a.certs[certKey{view, simplex.Notarize}]; ok && n != p {
			return fmt.Errorf("view %d: %v finalized, %v notarized", view, p.Payload, n.Payload)
		}
		return nil
	})
}

// noConflictingQuorumNotarizations: no view has notarizations of two blocks.
func noConflictingQuorumNotarizations(a *auditor) error {
	for _, key := range a.certsInOrder() {
		if two := a.all[key]; len(two) > 1 {
			return fmt.Errorf("view %d: %d different %s certificates", key.view, len(two), key.kind)
		}
	}
	return nil
}

func finalizationRequiresNotarization(a *auditor) error {
	return a.eachFinalization(func(view chain.View, p simplex.Proposal) error {
		if _, ok := a.certs[certKey{view, simplex.Notarize}]; !ok {
			return fmt.Errorf("view %d: %v finalized without a notarization", view, p.Payload)
		}
		return nil
	})
}

// certificatesAreValid: everything that anybody honest took verifies, and all
// certificates of a round have one seed.
func certificatesAreValid(a *auditor) error {
	var list []simplex.Certificate
	for _, key := range a.certsInOrder() {
		for _, c := range a.all[key] {
			if c.Seed != a.seeds[key.view] {
				return fmt.Errorf("%s of view %d has another seed", c.Kind, key.view)
			}
			list = append(list, c)
		}
	}
	for _, i := range a.net.validators[0].scheme.BadCertificates(list) {
		return fmt.Errorf("bad %s of view %d", list[i].Kind, list[i].Proposal.Round.View)
	}
	return nil
}

func (a *auditor) eachFinalization(f func(chain.View, simplex.Proposal) error) error {
	for _, key := range a.certsInOrder() {
		if key.kind == simplex.Finalize {
			if err := f(key.view, a.certs[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *auditor) certsInOrder() []certKey {
	keys := make([]certKey, 0, len(a.certs))
	for key := range a.certs {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(x, y certKey) int {
		if x.view != y.view {
			return int(int64(x.view) - int64(y.view))
		}
		return int(x.kind) - int(y.kind)
	})
	return keys
}
