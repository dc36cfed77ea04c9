package simplex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// Errors of the decoders, with those of package attest. The sender of such bytes is at fault.
var (
	ErrSigner  = errors.New("signer number is too large")
	ErrVerdict = errors.New("verdict is neither 0 nor 1")
)

// Tags of journal records. Votes and certificates share them with the wire.
const (
	TagVote          = 'v'
	TagCertificate   = 'c'
	tagCertification = 'a'
)

// Sizes of the largest encodings, in bytes, tags included. Callers that read
// from outside refuse more before they allocate.
const (
	VoteBytesMax        = 2 + attest.SubjectBytesMax + binary.MaxVarintLen32 + 2*len(bls.Signature{}) + len(Individual{})
	CertificateBytesMax = 2 + attest.SubjectBytesMax + 2*len(bls.Signature{})
)

// AppendVote writes v to dst.
func AppendVote(dst []byte, v Vote) []byte {
	dst = append(dst, TagVote, byte(v.Kind))
	dst = attest.AppendSubject(dst, v.Kind, v.Proposal)
	dst = binary.AppendUvarint(dst, uint64(v.Signer))
	dst = append(dst, v.Signature[:]...)
	dst = append(dst, v.Seed[:]...)
	return append(dst, v.Individual[:]...)
}

// AppendCertificate writes c to dst.
func AppendCertificate(dst []byte, c Certificate) []byte {
	dst = append(dst, TagCertificate, byte(c.Kind))
	dst = attest.AppendSubject(dst, c.Kind, c.Proposal)
	dst = append(dst, c.Signature[:]...)
	return append(dst, c.Seed[:]...)
}

// AppendRecord writes a journal record to dst.
func AppendRecord(dst []byte, r Record) []byte {
	switch r := r.(type) {
	case Vote:
		return AppendVote(dst, r)
	case Certificate:
		return AppendCertificate(dst, r)
	case Certification:
		dst = r.Round.Append(append(dst, tagCertification))
		dst = append(dst, r.Payload[:]...)
		if r.OK {
			return append(dst, 1)
		}
		return append(dst, 0)
	}
	panic("simplex: unknown record")
}

// DecodeVote reads the whole of b as one vote.
func DecodeVote(b []byte) (Vote, error) {
	v, rest, err := ReadVote(b)
	if err != nil {
		return Vote{}, err
	}
	if len(rest) != 0 {
		return Vote{}, attest.ErrTrailing
	}
	return v, nil
}

// ReadVote reads one vote from the front of b and returns the bytes after it.
func ReadVote(b []byte) (Vote, []byte, error) {
	var v Vote
	b, err := readSubject(b, TagVote, &v.Kind, &v.Proposal)
	if err != nil {
		return Vote{}, nil, fmt.Errorf("vote: %w", err)
	}
	signer, b, err := attest.ReadUvarint(b)
	if err != nil {
		return Vote{}, nil, fmt.Errorf("vote signer: %w", err)
	}
	if signer > math.MaxUint32 {
		return Vote{}, nil, ErrSigner
	}
	v.Signer = beacon.Participant(signer)
	b, err = readPair(b, &v.Signature, &v.Seed)
	if err != nil {
		return Vote{}, nil, fmt.Errorf("vote signatures: %w", err)
	}
	if len(b) < len(v.Individual) {
		return Vote{}, nil, fmt.Errorf("individual signature: %w", attest.ErrTruncated)
	}
	return v, b[copy(v.Individual[:], b):], nil
}

// DecodeCertificate reads the whole of b as one certificate.
func DecodeCertificate(b []byte) (Certificate, error) {
	c, rest, err := ReadCertificate(b)
	if err != nil {
		return Certificate{}, err
	}
	if len(rest) != 0 {
		return Certificate{}, attest.ErrTrailing
	}
	return c, nil
}

// ReadCertificate reads one certificate from the front of b and returns the
// bytes after it.
func ReadCertificate(b []byte) (Certificate, []byte, error) {
	var c Certificate
	b, err := readSubject(b, TagCertificate, &c.Kind, &c.Proposal)
	if err != nil {
		return Certificate{}, nil, fmt.Errorf("certificate: %w", err)
	}
	b, err = readPair(b, &c.Signature, &c.Seed)
	if err != nil {
		return Certificate{}, nil, fmt.Errorf("certificate signatures: %w", err)
	}
	return c, b, nil
}

// DecodeRecord reads the whole of b as one journal record.
func DecodeRecord(b []byte) (Record, error) {
	if len(b) == 0 {
		return nil, attest.ErrTruncated
	}
	switch b[0] {
	case TagVote:
		return decoded(DecodeVote(b))
	case TagCertificate:
		return decoded(DecodeCertificate(b))
	case tagCertification:
		return decoded(decodeCertification(b[1:]))
	}
	return nil, attest.ErrKind
}

// decoded turns a typed result into a Record without a typed zero value beside
// an error.
func decoded[R Record](r R, err error) (Record, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

func decodeCertification(b []byte) (Certification, error) {
	var c Certification
	var err error
	if c.Round, b, err = attest.ReadRound(b); err != nil {
		return Certification{}, fmt.Errorf("certification: %w", err)
	}
	switch {
	case len(b) < len(c.Payload)+1:
		return Certification{}, attest.ErrTruncated
	case len(b) > len(c.Payload)+1:
		return Certification{}, attest.ErrTrailing
	case b[len(c.Payload)] > 1:
		return Certification{}, ErrVerdict
	}
	copy(c.Payload[:], b)
	c.OK = b[len(c.Payload)] == 1
	return c, nil
}

// readSubject reads tag, kind and subject.
func readSubject(b []byte, tag byte, k *Kind, p *Proposal) ([]byte, error) {
	if len(b) < 2 {
		return nil, attest.ErrTruncated
	}
	if b[0] != tag {
		return nil, attest.ErrKind
	}
	return attest.ReadKindSubject(b[1:], k, p)
}

// readPair reads the two signatures. It does not check that they are points of
// the curve; verification does.
func readPair(b []byte, sig, seed *bls.Signature) ([]byte, error) {
	if len(b) < len(sig)+len(seed) {
		return nil, attest.ErrTruncated
	}
	b = b[copy(sig[:], b):]
	return b[copy(seed[:], b):], nil
}
