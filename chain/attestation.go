//spec:implements entitlements 3.4, 4, 5.1, 12.2

package chain

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// ErrValidity means an attestation that ends before it begins.
var ErrValidity = errors.New("valid_until is before valid_from")

// RunnerAttestation is what a runner says that it provides, under its signature
// (entitlements §5.1). Unlike the other objects of the market it is a map with text
// keys, and an absent hash is left out (entitlements, Appendix A).
type RunnerAttestation struct {
	Runner       Address
	Capabilities []byte // canonical list of grants; exec/manifest reads and judges it
	ValidFrom    Height
	ValidUntil   Height // still valid
	EvidenceHash *Hash  // of evidence that is not on chain, or nil
	Signature    [65]byte
}

// Names of the record in canonical order: the shorter key first (resolution 8.9).
const (
	keyRunnerID     = "runner_id"
	keySignature    = "signature"
	keyValidFrom    = "valid_from"
	keyValidUntil   = "valid_until"
	keyCapabilities = "capabilities"
	keyEvidenceHash = "evidence_hash"
)

// attestationKeys is how many names a record has at most.
const attestationKeys = 6

// Encode returns the canonical encoding.
func (a *RunnerAttestation) Encode() []byte { return a.appendTo(nil) }

// DecodeRunnerAttestation reads what Encode writes and nothing else. It verifies
// neither the signature nor the grants.
func DecodeRunnerAttestation(b []byte) (*RunnerAttestation, error) {
	return decodeObject[RunnerAttestation](b, MaxOfferBytes, "RunnerAttestation")
}

// Digest returns what the runner signs: keccak256 of the record without its signature
// (entitlements §4, Appendix B).
func (a *RunnerAttestation) Digest() Hash { return keccak.Sum256(a.appendFields(nil, false)) }

// ValidAt reports whether the attestation counts in the block at height h
// (entitlements §5.1).
func (a *RunnerAttestation) ValidAt(h Height) bool { return a.ValidFrom <= h && h <= a.ValidUntil }

func (a *RunnerAttestation) appendTo(dst []byte) []byte { return a.appendFields(dst, true) }

func (a *RunnerAttestation) appendFields(dst []byte, signed bool) []byte {
	n := attestationKeys
	if a.EvidenceHash == nil {
		n--
	}
	if !signed {
		n--
	}
	dst = cbor.AppendMap(dst, n)
	dst = cbor.AppendBytes(cbor.AppendText(dst, keyRunnerID), a.Runner[:])
	if signed {
		dst = cbor.AppendBytes(cbor.AppendText(dst, keySignature), a.Signature[:])
	}
	dst = cbor.AppendUint(cbor.AppendText(dst, keyValidFrom), uint64(a.ValidFrom))
	dst = cbor.AppendUint(cbor.AppendText(dst, keyValidUntil), uint64(a.ValidUntil))
	dst = append(cbor.AppendText(dst, keyCapabilities), a.Capabilities...)
	if a.EvidenceHash != nil {
		dst = cbor.AppendBytes(cbor.AppendText(dst, keyEvidenceHash), a.EvidenceHash[:])
	}
	return dst
}

func (a *RunnerAttestation) readFrom(r *cbor.Reader) error {
	const object = "RunnerAttestation"
	left, err := r.Map(MaxOfferBytes)
	if err != nil {
		return &FieldError{Object: object, Err: err}
	}
	fields := []struct {
		name string
		read func() error
	}{
		{keyRunnerID, func() error { return r.BytesInto(a.Runner[:]) }},
		{keySignature, func() error { return r.BytesInto(a.Signature[:]) }},
		{keyValidFrom, func() error { return readHeight(r, &a.ValidFrom) }},
		{keyValidUntil, func() error { return readHeight(r, &a.ValidUntil) }},
		{keyCapabilities, func() (err error) { a.Capabilities, err = readGrants(r); return err }},
		{keyEvidenceHash, func() error { a.EvidenceHash = new(Hash); return r.BytesInto(a.EvidenceHash[:]) }},
	}
	for i, f := range fields {
		if left == 0 && i == attestationKeys-1 {
			break
		}
		err := readName(r, f.name, &left)
		if err == nil {
			err = f.read()
		}
		if err != nil {
			return &FieldError{object, f.name, err}
		}
	}
	if left > 0 {
		return &FieldError{Object: object, Err: &cbor.SyntaxError{Offset: r.Offset(), Err: cbor.ErrUnknownKey}}
	}
	if a.ValidUntil < a.ValidFrom {
		return &FieldError{object, keyValidUntil, ErrValidity}
	}
	return nil
}

// readName reads the key of the pair that follows, one of left.
func readName(r *cbor.Reader, name string, left *int) error {
	at := r.Offset()
	if *left > 0 {
		got, err := r.Text(len(name))
		if errors.Is(err, cbor.ErrTooLong) || err == nil && got != name {
			return &cbor.SyntaxError{Offset: at, Err: cbor.ErrMissingKey}
		}
		*left--
		return err
	}
	return &cbor.SyntaxError{Offset: at, Err: cbor.ErrMissingKey}
}

func readHeight(r *cbor.Reader, into *Height) error {
	v, err := r.Uint()
	*into = Height(v)
	return err
}

// readGrants reads a list of whatever the manifest of an actor may hold.
func readGrants(r *cbor.Reader) ([]byte, error) {
	probe := *r
	if _, err := probe.Array(MaxOfferBytes); err != nil {
		return nil, err
	}
	return r.Raw(cbor.Limits{Bytes: MaxOfferBytes, Depth: cbor.DefaultLimits().Depth, Items: MaxOfferBytes})
}
