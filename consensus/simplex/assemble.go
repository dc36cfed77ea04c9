package simplex

import (
	"errors"
	"slices"
)

// ErrShares means that good votes of a quorum do not make a good certificate:
// the public shares of the genesis do not belong to its group key.
var ErrShares = errors.New("good votes make no certificate: public shares and group key do not fit")

// Beside begins f and returns what waits for its end. This package starts no goroutine;
// its driver may.
type Beside func(f func()) (wait func())

// InTurn is a [Beside] for one goroutine: f is done where it is waited for.
func InTurn(f func()) (wait func()) { return f }

// JudgeBy is the [Judge] of a node, which verifies by v.
func JudgeBy(v Verifier, beside Beside) Judge {
	return func(q Quorum) (Certificate, []int, error) { return Assemble(v, q, beside) }
}

// Assemble makes a certificate of a quorum, or names the bad votes.
//
// It hopes first: it combines the votes as they are and verifies only the
// certificate, which costs the same for any number of votes. What verifies
// proves that the votes amount to it, and no more is needed: certificates name
// no signers. Only when that fails are the votes looked at, and each liar can
// make it fail once before its vote loses its slot and its peers stop listening.
//
// The individual signatures of the votes beyond Sure are looked at beside the rest: a vote
// without a good one is not counted, whatever the certificate says (resolution 11.3).
func Assemble(v Verifier, q Quorum, beside Beside) (Certificate, []int, error) {
	unsure := q.Votes[q.Sure:]
	var bad []int
	wait := func() {}
	if len(unsure) > 0 {
		wait = beside(func() { bad = v.BadIndividuals(unsure) })
	}
	var c Certificate
	var ok bool
	if !q.Doubt {
		c, ok = v.Combine(q)
	}
	wait()
	// What makes a good certificate together can be bad one by one: liars can
	// have their errors cancel out. Once a vote is to be replaced, the others count
	// as sure, and so each of them is looked at.
	if !ok || len(bad) > 0 {
		bad = look(unsure, bad, v.BadVotes)
		if q.Seed == nil {
			bad = look(unsure, bad, v.BadSeeds)
		}
	}
	if len(bad) > 0 {
		for i := range bad {
			bad[i] += q.Sure
		}
		return Certificate{}, bad, nil
	}
	if !ok {
		if c, ok = v.Combine(q); !ok {
			return Certificate{}, nil, ErrShares
		}
	}
	return c, nil, nil
}

// look adds to bad the positions of the votes that check refuses. Those that
// are bad already are not checked again.
func look(votes []Vote, bad []int, check func([]Vote) []int) []int {
	var open []Vote
	var at []int
	for i, v := range votes {
		if !slices.Contains(bad, i) {
			open, at = append(open, v), append(at, i)
		}
	}
	for _, i := range check(open) {
		bad = append(bad, at[i])
	}
	slices.Sort(bad)
	return bad
}
