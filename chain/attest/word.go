package attest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// Errors of the decoders. The sender of such bytes is at fault.
var (
	ErrKind      = errors.New("unknown kind")
	ErrTruncated = errors.New("message is cut short")
	ErrTrailing  = errors.New("bytes after the message")
	ErrParent    = errors.New("parent view is not below the view")
)

// SubjectBytesMax is the size of the largest subject, in bytes.
const SubjectBytesMax = RoundBytesMax + binary.MaxVarintLen64 + len(chain.Hash{})

// Kind is what a vote or a certificate says about its view.
type Kind uint8

// The three kinds. The values are on the wire, in the journal and on the chain.
const (
	Notarize Kind = 1 // this block may be the block of the view
	Nullify  Kind = 2 // the view may end without a block
	Finalize Kind = 3 // this block is notarized and I did not nullify its view
)

// String returns the kind as a word.
func (k Kind) String() string {
	switch k {
	case Notarize:
		return "notarize"
	case Nullify:
		return "nullify"
	case Finalize:
		return "finalize"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Proposal names a block and its place: the round it was proposed in, the view
// of the block it extends, and its digest. Its encoding is what notarize and
// finalize votes sign.
type Proposal struct {
	Round   Round
	Parent  chain.View // below Round.View; 0 is genesis
	Payload chain.Hash // digest of the block
}

// Individual is an Ed25519 signature of one validator's own peer key.
type Individual [ed25519.SignatureSize]byte

// Namespaces separate the meanings of consensus signatures. Each is N and a
// suffix; the signer of one kind has said nothing of another.
type Namespaces struct {
	Notarize []byte // of proposals
	Nullify  []byte // of rounds
	Finalize []byte // of proposals
	Seed     []byte // of rounds, in votes of every kind
}

// NewNamespaces returns the namespaces of the chain with the given genesis
// hash (resolution 11.42).
func NewNamespaces(genesis chain.Hash) Namespaces {
	with := func(suffix string) []byte { return append(chain.Namespace(genesis), suffix...) }
	return Namespaces{
		Notarize: with("_NOTARIZE"),
		Nullify:  with("_NULLIFY"),
		Finalize: with("_FINALIZE"),
		Seed:     with("_SEED"),
	}
}

// Of returns the namespace of votes of kind k, which must be one of the three.
func (n *Namespaces) Of(k Kind) []byte {
	switch k {
	case Notarize:
		return n.Notarize
	case Nullify:
		return n.Nullify
	case Finalize:
		return n.Finalize
	}
	panic("attest: no namespace for " + k.String())
}

// SignedBytes is what the individual signature of a vote of kind k about p
// signs.
func (n *Namespaces) SignedBytes(k Kind, p Proposal) []byte {
	return bls.SignedBytes(n.Of(k), AppendSubject(nil, k, p))
}

// Append writes the signed form of the proposal to dst:
// round ‖ varint(parent view) ‖ digest.
func (p Proposal) Append(dst []byte) []byte {
	dst = p.Round.Append(dst)
	dst = binary.AppendUvarint(dst, uint64(p.Parent))
	return append(dst, p.Payload[:]...)
}

// AppendSubject writes to dst what a vote of kind k about p signs: the
// proposal, or for Nullify the round alone.
func AppendSubject(dst []byte, k Kind, p Proposal) []byte {
	if k == Nullify {
		return p.Round.Append(dst)
	}
	return p.Append(dst)
}

// ReadKindSubject reads one byte of kind and the subject, and returns the bytes
// after them.
func ReadKindSubject(b []byte, k *Kind, p *Proposal) ([]byte, error) {
	if len(b) == 0 {
		return nil, ErrTruncated
	}
	*k = Kind(b[0])
	if *k < Notarize || *k > Finalize {
		return nil, ErrKind
	}
	var err error
	if p.Round, b, err = ReadRound(b[1:]); err != nil {
		return nil, err
	}
	if *k == Nullify {
		return b, nil
	}
	parent, b, err := ReadUvarint(b)
	if err != nil {
		return nil, fmt.Errorf("parent view: %w", err)
	}
	p.Parent = chain.View(parent)
	if p.Parent >= p.Round.View {
		return nil, ErrParent
	}
	if len(b) < len(p.Payload) {
		return nil, ErrTruncated
	}
	return b[copy(p.Payload[:], b):], nil
}
