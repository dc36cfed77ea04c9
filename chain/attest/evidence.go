package attest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// Reasons why evidence convicts nobody.
var (
	ErrNoOffence      = errors.New("the two statements do not contradict each other")
	ErrEvidenceOrder  = errors.New("statements are not in ascending order")
	ErrEvidenceKeys   = errors.New("statements are of two validators")
	ErrEvidenceEpoch  = errors.New("the round is of another epoch")
	ErrEvidenceSigner = errors.New("accused is not a validator of the epoch")
	ErrEvidenceForged = errors.New("accused did not sign the statement")
)

const tagEvidence = 'e'

// EvidenceBytesMax is the size of the largest encoded [Evidence], and
// WordBytesMax that of one argument of the instruction that submits it.
const (
	EvidenceBytesMax = 1 + len(chain.PeerKey{}) + 2*statementBytesMax
	WordBytesMax     = len(chain.PeerKey{}) + statementBytesMax
)

const statementBytesMax = 1 + SubjectBytesMax + len(Individual{})

// Statement is what one validator said of one round, under its own signature.
// A leader's proposal is its notarize vote.
type Statement struct {
	Kind       Kind
	Proposal   Proposal // of a nullify the round only
	Individual Individual
}

// Evidence proves to anyone that a validator contradicted itself in one round
// (resolution 11.2): two different digests among its proposals, notarizes and
// finalizes, or both nullify and finalize. The same height in two views is no
// offence. The signed bytes are bound to the chain by its genesis hash.
type Evidence struct {
	Accused       chain.PeerKey
	First, Second Statement // First is below Second as encoded, so that two words make one proof
}

// Offence names what evidence proves. Different evidence of one offence, which
// a validator with many signatures for one word can produce, has one name, and
// is punished once.
type Offence struct {
	Accused chain.PeerKey
	Round   Round
}

// Offence returns the offence that e is about.
func (e Evidence) Offence() Offence {
	return Offence{Accused: e.Accused, Round: e.First.Proposal.Round}
}

// NewEvidence makes evidence of two statements of one validator, in whichever
// order. It proves nothing until it is verified.
func NewEvidence(accused chain.PeerKey, a, b Statement) Evidence {
	e := Evidence{Accused: accused, First: a, Second: b}
	if bytes.Compare(appendStatement(nil, e.First), appendStatement(nil, e.Second)) > 0 {
		e.First, e.Second = e.Second, e.First
	}
	return e
}

// Verify returns nil if e convicts its accused. member says whether a key is a
// validator's in the epoch; names are the namespaces of the chain.
func (e Evidence) Verify(epoch chain.Epoch, member func(chain.PeerKey) bool, names *Namespaces) error {
	if err := e.check(); err != nil {
		return err
	}
	switch {
	case e.First.Proposal.Round.Epoch != epoch:
		return ErrEvidenceEpoch
	case !member(e.Accused):
		return ErrEvidenceSigner
	}
	for _, s := range []Statement{e.First, e.Second} {
		if !ed25519.Verify(e.Accused, names.SignedBytes(s.Kind, s.Proposal), s.Individual[:]) {
			return fmt.Errorf("%s of view %d: %w", s.Kind, s.Proposal.Round.View, ErrEvidenceForged)
		}
	}
	return nil
}

// check applies the rules that need no key.
func (e Evidence) check() error {
	if !Contradicts(e.First.Kind, e.First.Proposal, e.Second.Kind, e.Second.Proposal) {
		return ErrNoOffence
	}
	if bytes.Compare(appendStatement(nil, e.First), appendStatement(nil, e.Second)) >= 0 {
		return ErrEvidenceOrder
	}
	return nil
}

// Contradicts reports whether one validator must not say both of a round
// (resolution 11.2).
func Contradicts(k Kind, p Proposal, l Kind, q Proposal) bool {
	switch {
	case p.Round != q.Round:
		return false
	case k == Nullify || l == Nullify:
		return k == Finalize || l == Finalize
	}
	return p.Payload != q.Payload
}

func appendStatement(dst []byte, s Statement) []byte {
	dst = AppendSubject(append(dst, byte(s.Kind)), s.Kind, s.Proposal)
	return append(dst, s.Individual[:]...)
}

// AppendEvidence writes e to dst: tag, accused and the two statements.
func AppendEvidence(dst []byte, e Evidence) []byte {
	dst = append(append(dst, tagEvidence), e.Accused[:]...)
	return appendStatement(appendStatement(dst, e.First), e.Second)
}

// DecodeEvidence reads the whole of b as evidence. It accepts only what
// [AppendEvidence] writes, and only statements that contradict each other; the
// signatures are left to [Evidence.Verify].
func DecodeEvidence(b []byte) (Evidence, error) {
	var e Evidence
	switch {
	case len(b) > EvidenceBytesMax:
		return Evidence{}, ErrTrailing
	case len(b) < 1+len(e.Accused):
		return Evidence{}, ErrTruncated
	case b[0] != tagEvidence:
		return Evidence{}, ErrKind
	}
	b = b[1:]
	b = b[copy(e.Accused[:], b):]
	var err error
	for _, s := range []*Statement{&e.First, &e.Second} {
		if b, err = readStatement(b, s); err != nil {
			return Evidence{}, fmt.Errorf("evidence: %w", err)
		}
	}
	if len(b) != 0 {
		return Evidence{}, ErrTrailing
	}
	return e, e.check()
}

func readStatement(b []byte, s *Statement) ([]byte, error) {
	b, err := ReadKindSubject(b, &s.Kind, &s.Proposal)
	if err != nil {
		return nil, err
	}
	if len(b) < len(s.Individual) {
		return nil, ErrTruncated
	}
	return b[copy(s.Individual[:], b):], nil
}

// Words returns the two arguments of the instruction that submits e, each a
// signed vote by itself: peer key ‖ kind ‖ subject ‖ signature.
func (e Evidence) Words() (first, second []byte) {
	word := func(s Statement) []byte { return appendStatement(append([]byte(nil), e.Accused[:]...), s) }
	return word(e.First), word(e.Second)
}

// FromWords reads what [Evidence.Words] wrote. Like [DecodeEvidence] it accepts
// the canonical form only and leaves the signatures to [Evidence.Verify].
func FromWords(first, second []byte) (Evidence, error) {
	a, s, err := readWord(first)
	if err != nil {
		return Evidence{}, fmt.Errorf("first statement: %w", err)
	}
	b, t, err := readWord(second)
	switch {
	case err != nil:
		return Evidence{}, fmt.Errorf("second statement: %w", err)
	case a != b:
		return Evidence{}, ErrEvidenceKeys
	}
	e := Evidence{Accused: a, First: s, Second: t}
	if err := e.check(); err != nil {
		return Evidence{}, err
	}
	return e, nil
}

func readWord(b []byte) (key chain.PeerKey, s Statement, err error) {
	switch {
	case len(b) > WordBytesMax:
		return key, s, ErrTrailing
	case len(b) < len(key):
		return key, s, ErrTruncated
	}
	b, err = readStatement(b[copy(key[:], b):], &s)
	if err == nil && len(b) != 0 {
		err = ErrTrailing
	}
	return key, s, err
}
