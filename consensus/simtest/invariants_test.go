package simtest

import (
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Each invariant that is checked after a run can fail: it finds what it is for,
// put into an otherwise good run.
func TestInvariantsSeeBreaches(t *testing.T) {
	breaches := map[string]func(a *auditor){
		"agreement": func(a *auditor) {
			a.net.validators[2].app.chain[3].own.Proposal.Payload[0] ^= 1
		},
		"finalization_ancestry": func(a *auditor) {
			for key := range a.all {
				if key.kind == simplex.Nullify {
					delete(a.certs, key)
				}
			}
		},
		"no_nullification_in_finalized_view": func(a *auditor) {
			a.certs[certKey{firstFinal(a), simplex.Nullify}] = simplex.Proposal{Round: beacon.Round{View: firstFinal(a)}}
		},
		"no_conflicting_notarization_in_finalized_view": func(a *auditor) {
			p := a.certs[certKey{firstFinal(a), simplex.Finalize}]
			p.Payload[0] ^= 1
			a.certs[certKey{firstFinal(a), simplex.Notarize}] = p
		},
		"no_conflicting_quorum_notarizations": func(a *auditor) {
			key := certKey{firstFinal(a), simplex.Notarize}
			other := a.all[key][0]
			other.Proposal.Payload[0] ^= 1
			a.all[key] = append(a.all[key], other)
		},
		"finalization_requires_notarization": func(a *auditor) { delete(a.certs, certKey{firstFinal(a), simplex.Notarize}) },
		"certificates_are_valid": func(a *auditor) {
			a.all[certKey{firstFinal(a), simplex.Finalize}][0].Signature[0] ^= 1
		},
	}
	for _, i := range invariants {
		n, err := newNetwork(Config{Seed: 1, Validators: 4, Latency: 10 * time.Millisecond, Player: playerNamed(t, "silent leader")})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t, n}
		w.startAll()
		w.all(12, time.Minute)
		if w.ledger.inspect(); w.err != nil {
			t.Fatalf("a good run: %v", w.err)
		}
		breaches[i.name](w.ledger)
		w.ledger.inspect()
		if w.err == nil || !strings.Contains(w.err.Error(), i.name) {
			t.Errorf("%s: %v", i.name, w.err)
		}
	}
}

func firstFinal(a *auditor) chain.View {
	for _, key := range a.certsInOrder() {
		if key.kind == simplex.Finalize {
			return key.view
		}
	}
	return 0
}

// All certificates of a round have one seed, whatever their kind and whichever
// quorum signed: here with real keys, where views end both ways.
func TestOneSeedPerRound(t *testing.T) {
	w := enact(t, Config{Validators: 4, RealKeys: true, Latency: 10 * time.Millisecond})
	w.split(map[chain.View]map[int]bool{3: {0: true}})
	w.until("a view both notarized and nullified", time.Minute, func() bool { return w.report.BothEnds > 0 })
	w.passes = nil
	w.all(3, time.Minute)
	kinds := 0
	for k := simplex.Notarize; k <= simplex.Finalize; k++ {
		for _, c := range w.ledger.all[certKey{3, k}] {
			kinds++
			if c.Seed != w.ledger.seeds[3] || !w.validators[0].set.VerifySeed(c.Proposal.Round, c.Seed) {
				t.Errorf("%s of view 3 has another seed", c.Kind)
			}
		}
	}
	if kinds < 2 {
		t.Errorf("view 3 has %d certificates", kinds)
	}
}

// A crash of one validator of four at every journal operation, and at every
// step of it: before the sync or in it, before each message that leaves, and
// after the last. Nobody contradicts itself and the chain goes on.
func TestCrashAtEveryJournalOperation(t *testing.T) {
	played := 0
	for op := 1; ; op++ {
		steps := 1
		for step := 0; step < steps; step++ {
			w := enact(t, Config{Validators: 4, Latency: 10 * time.Millisecond, Sharded: op%2 == 0, Seed: 3})
			count, died := 0, false
			w.fate = func(v *validator, messages int) int {
				if v.id != 1 || died {
					return -1
				}
				if count++; count < op {
					return -1
				}
				died, steps = true, messages+2
				return step
			}
			w.until("some blocks", time.Minute, func() bool { return len(w.ledger.chain) >= 4 })
			if !died {
				if played < 30 {
					t.Errorf("only %d crashes", played)
				}
				t.Logf("%d crashes in %d operations", played, op-1)
				return
			}
			w.fate = nil
			w.all(2, time.Minute)
			w.clean()
			played++
		}
	}
}

// Clocks that are half a second and two in a hundred apart cost nothing. One that
// is further ahead than a proposal's time may be loses its own views, and nobody
// else's.
func TestClockSkew(t *testing.T) {
	w := enact(t, Config{Validators: 4, Latency: 20 * time.Millisecond, BlockTime: time.Second, Skew: 250 * time.Millisecond})
	w.until("60 blocks", 3*time.Minute, func() bool { return len(w.ledger.chain) >= 60 })
	for v := range w.viewsNow()[0] {
		if w.certified(v, simplex.Nullify) {
			t.Errorf("view %d is nullified for a skew of half a second", v)
		}
	}
	w.clean()

	w = enact(t, Config{Validators: 4, Latency: 20 * time.Millisecond, BlockTime: time.Second})
	fast := w.validators[2]
	fast.offset = 10 * time.Second
	w.until("40 blocks", 5*time.Minute, func() bool { return len(w.ledger.chain) >= 40 })
	for _, v := range w.validators {
		for _, b := range v.app.chain {
			if ahead := timeOf(b.body) - w.now; ahead > clockDrift {
				t.Errorf("the block of view %d is %v ahead", b.own.Proposal.Round.View, ahead)
			}
		}
	}
	nullified := 0
	for v := range w.viewsNow()[0] {
		if w.certified(v, simplex.Nullify) {
			nullified++
		}
	}
	if nullified == 0 {
		t.Error("the fast clock's blocks were all accepted")
	}
	w.clean()
}

// 30: the chain has no encryption to a round. What it has is what that would
// stand on: before a quorum speaks nobody can tell the seed of a round, f liars
// and all but one of the honest least of all; after it the seed is one, whoever
// spoke, and proves its round and no other, alone.
func TestScenario30SeedOpensItsRoundOnly(t *testing.T) {
	w := enact(t, Config{Validators: 4, RealKeys: true, Latency: 10 * time.Millisecond})
	w.all(2, time.Minute)
	set := w.validators[0].set
	for view, seed := range w.ledger.seeds {
		r := beacon.Round{View: view}
		if !set.VerifySeed(r, seed) {
			t.Errorf("the seed of view %d does not prove it", view)
		}
		for _, other := range []beacon.Round{{View: view + 1}, {View: view - 1}, {Epoch: 1, View: view}} {
			if set.VerifySeed(other, seed) {
				t.Errorf("the seed of view %d proves %v", view, other)
			}
		}
	}
	future := simplex.Proposal{Round: beacon.Round{View: 1000}}
	var votes []simplex.Vote
	for _, v := range w.validators[:set.Quorum()-1] {
		votes = append(votes, v.scheme.Sign(simplex.Nullify, future))
	}
	if _, ok := w.validators[0].scheme.Combine(simplex.Quorum{Votes: votes}); ok {
		t.Error("fewer than a quorum open a round")
	}
	forged := votes[0]
	forged.Signer = beacon.Participant(len(votes))
	if _, ok := w.validators[0].scheme.Combine(simplex.Quorum{Votes: append(votes, forged)}); ok {
		t.Error("a quorum with one share twice opens a round")
	}
	var seeds []simplex.Certificate
	for out := range set.Len() {
		votes = nil
		for i, v := range w.validators[:set.Len()] {
			if i != out {
				votes = append(votes, v.scheme.Sign(simplex.Nullify, future))
			}
		}
		c, ok := w.validators[out].scheme.Combine(simplex.Quorum{Votes: votes})
		if !ok || !set.VerifySeed(future.Round, c.Seed) {
			t.Fatalf("all but %d do not open the round", out)
		}
		if seeds = append(seeds, c); c != seeds[0] {
			t.Errorf("without %d another seed", out)
		}
	}
}
