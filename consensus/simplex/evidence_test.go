package simplex

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
)

// Slashable are two digests among a validator's proposals, notarizes and
// finalizes of one round, and nullify beside finalize; nothing else, and never
// the same height in two views (resolution 11.2).
func TestWhatConvicts(t *testing.T) {
	schemes, set, _ := committee(t, 4)
	a, b, later := prop(5, 4, 1), prop(5, 4, 2), prop(6, 4, 2)
	otherParent := prop(5, 3, 1)
	tests := []struct {
		rule string
		k    Kind
		p    Proposal
		l    Kind
		q    Proposal
		want error
	}{
		{"two notarizes", Notarize, a, Notarize, b, nil},
		{"two finalizes", Finalize, a, Finalize, b, nil},
		{"notarize one, finalize another", Notarize, a, Finalize, b, nil},
		{"nullify and finalize", Nullify, a, Finalize, a, nil},
		{"notarize and finalize one", Notarize, a, Finalize, a, attest.ErrNoOffence},
		{"notarize and nullify", Notarize, a, Nullify, a, attest.ErrNoOffence},
		{"the same twice", Notarize, a, Notarize, a, attest.ErrNoOffence},
		{"two views", Notarize, a, Notarize, later, attest.ErrNoOffence},
		{"nullify one view, finalize the next", Nullify, a, Finalize, later, attest.ErrNoOffence},
		{"one digest, two parents", Notarize, a, Notarize, otherParent, attest.ErrNoOffence},
	}
	for _, c := range tests {
		t.Run(c.rule, func(t *testing.T) {
			v, w := schemes[2].Sign(c.k, c.p), schemes[2].Sign(c.l, c.q)
			first, err := NewEvidence(set, v, w)
			if !errors.Is(err, c.want) {
				t.Fatalf("NewEvidence = %v, want %v", err, c.want)
			}
			second, _ := NewEvidence(set, w, v)
			if err == nil && first != second {
				t.Error("the order of the votes matters")
			}
			if err := VerifyEvidence(set, first); !errors.Is(err, c.want) {
				t.Errorf("VerifyEvidence = %v, want %v", err, c.want)
			}
		})
	}
}

// Nobody is convicted by what others can make: partials, another's signature,
// another chain's, another epoch's.
func TestForgedEvidenceConvictsNobody(t *testing.T) {
	schemes, set, _ := committee(t, 4)
	v, w := schemes[2].Sign(Notarize, prop(5, 4, 1)), schemes[2].Sign(Notarize, prop(5, 4, 2))
	good, err := NewEvidence(set, v, w)
	if err != nil {
		t.Fatal(err)
	}
	f := func(rule string, want error, change func(*attest.Evidence)) {
		t.Helper()
		e := good
		change(&e)
		if err := VerifyEvidence(set, e); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
	}
	f("as it is", nil, func(*attest.Evidence) {})
	f("another accused", attest.ErrEvidenceForged, func(e *attest.Evidence) { e.Accused = set.At(1).PeerKey })
	f("a stranger", attest.ErrEvidenceSigner, func(e *attest.Evidence) { e.Accused[0] ^= 1 })
	f("statements swapped", attest.ErrEvidenceOrder, func(e *attest.Evidence) { e.First, e.Second = e.Second, e.First })
	f("another digest", attest.ErrEvidenceForged, func(e *attest.Evidence) { e.Second.Proposal.Payload[31] ^= 1 })
	f("a flipped signature", attest.ErrEvidenceForged, func(e *attest.Evidence) { e.First.Individual[0] ^= 1 })
	f("another epoch", attest.ErrEvidenceEpoch, func(e *attest.Evidence) {
		e.First.Proposal.Round.Epoch, e.Second.Proposal.Round.Epoch = 1, 1
	})
	f("another kind", attest.ErrEvidenceForged, func(e *attest.Evidence) { e.First.Kind, e.Second.Kind = Finalize, Finalize })

	foreign := *set
	*foreign.Namespaces() = attest.NewNamespaces(chain.Hash{9})
	if err := VerifyEvidence(&foreign, good); !errors.Is(err, attest.ErrEvidenceForged) {
		t.Errorf("on another chain: %v, want %v", err, attest.ErrEvidenceForged)
	}
	other := schemes[1].Sign(Notarize, prop(5, 4, 2))
	if _, err := NewEvidence(set, v, other); !errors.Is(err, attest.ErrEvidenceSigner) {
		t.Errorf("votes of two validators: %v", err)
	}
	w.Individual = other.Individual
	if _, err := NewEvidence(set, v, w); !errors.Is(err, attest.ErrEvidenceForged) {
		t.Errorf("a good partial with a bad individual signature: %v", err)
	}
}

// One offence has one name, whatever it was proven by.
func TestOffenceIsCountedOnce(t *testing.T) {
	schemes, set, _ := committee(t, 4)
	seen := map[attest.Offence]bool{}
	for d := byte(2); d < 6; d++ {
		e, err := NewEvidence(set, schemes[2].Sign(Notarize, prop(5, 4, 1)), schemes[2].Sign(Finalize, prop(5, 4, d)))
		if err != nil {
			t.Fatal(err)
		}
		seen[e.Offence()] = true
	}
	if len(seen) != 1 {
		t.Errorf("%d offences, want 1", len(seen))
	}
}

// FuzzEvidence: what decodes is canonical, bounded and about an offence.
func FuzzEvidence(f *testing.F) {
	schemes, set, _ := committee(f, 4)
	for _, k := range []Kind{Notarize, Nullify} {
		e, err := NewEvidence(set, schemes[2].Sign(k, prop(300, 4, 1)), schemes[2].Sign(Finalize, prop(300, 4, 2)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(attest.AppendEvidence(nil, e))
	}
	f.Add([]byte{'e'})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := attest.DecodeEvidence(b)
		if err != nil {
			return
		}
		if back := attest.AppendEvidence(nil, e); !bytes.Equal(back, b) || len(b) > attest.EvidenceBytesMax {
			t.Errorf("%x decodes to what encodes to %x", b, back)
		}
		if err := VerifyEvidence(set, e); err == nil && e.Accused != set.At(2).PeerKey {
			t.Errorf("convicts a validator that signed nothing: %x", b)
		}
	})
}

func TestEvidenceRoundTrips(t *testing.T) {
	schemes, set, _ := committee(t, 4)
	e, err := NewEvidence(set, schemes[0].Sign(Nullify, prop(5, 4, 1)), schemes[0].Sign(Finalize, prop(5, 4, 1)))
	if err != nil {
		t.Fatal(err)
	}
	b := attest.AppendEvidence(nil, e)
	if back, err := attest.DecodeEvidence(b); err != nil || back != e {
		t.Errorf("back as %+v, %v", back, err)
	}
	for cut := range b {
		if _, err := attest.DecodeEvidence(b[:cut]); err == nil {
			t.Errorf("accepted %d of %d bytes", cut, len(b))
		}
	}
	if _, err := attest.DecodeEvidence(append(b, 0)); !errors.Is(err, attest.ErrTrailing) {
		t.Errorf("a byte more: %v", err)
	}
}

// The tally sees every contradiction of resolution 11.2, across kinds too.
func TestTallySeesContradictionsAcrossKinds(t *testing.T) {
	a, b := prop(1, 0, 1), prop(1, 0, 2)
	for _, c := range []struct {
		first, second Vote
		want          bool
	}{
		{ballotOf(1, Notarize, a), ballotOf(1, Finalize, b), true},
		{ballotOf(1, Finalize, b), ballotOf(1, Notarize, a), true},
		{ballotOf(1, Nullify, a), ballotOf(1, Finalize, a), true},
		{ballotOf(1, Notarize, a), ballotOf(1, Nullify, a), false},
		{ballotOf(1, Notarize, a), ballotOf(1, Finalize, a), false},
	} {
		t.Run(fmt.Sprint(c.first.Kind, c.second.Kind), func(t *testing.T) {
			tally := NewTally(3, allViews)
			tally.Add(c.first)
			if _, added := tally.Add(c.second); (added == Contradicted) != c.want {
				t.Errorf("added %v, want a conflict: %v", added, c.want)
			}
		})
	}
}
