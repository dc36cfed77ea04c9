package main

import (
	stded25519 "crypto/ed25519"
	"errors"
	"fmt"

	"github.com/ava-labs/simplex"
	blst "github.com/supranational/blst/bindings/go"
)

var errSignature = errors.New("signature does not verify")

// list is a quorum certificate as it is gathered: who signed, and what.
type list struct {
	signatures []simplex.Signature
	whole      *blst.P1Affine // of BLS signatures, their sum
	verify     func(msg []byte, l *list) error
}

func (l *list) Signers() []simplex.NodeID {
	out := make([]simplex.NodeID, len(l.signatures))
	for i, s := range l.signatures {
		out[i] = s.Signer
	}
	return out
}

func (l *list) Verify(msg []byte) error { return l.verify(msg, l) }

func (l *list) Bytes() []byte {
	var out []byte
	for _, s := range l.signatures {
		out = append(append(out, s.Signer...), s.Value...)
	}
	if l.whole != nil {
		return append(out[:0], l.whole.Compress()...)
	}
	return out
}

// ed25519Voices make certificates of lists, checked one by one.
type ed25519Voices struct {
	public []stded25519.PublicKey
	secret []stded25519.PrivateKey
}

func newEd25519Voices(nodes []simplex.NodeID) (voices, error) {
	v := new(ed25519Voices)
	for i := range nodes {
		seed := make([]byte, stded25519.SeedSize)
		seed[0] = byte(i)
		secret := stded25519.NewKeyFromSeed(seed)
		v.secret, v.public = append(v.secret, secret), append(v.public, secret.Public().(stded25519.PublicKey))
	}
	return v, nil
}

type signFunc func([]byte) ([]byte, error)

func (f signFunc) Sign(msg []byte) ([]byte, error) { return f(msg) }

func (v *ed25519Voices) signer(i int) simplex.Signer {
	return signFunc(func(msg []byte) ([]byte, error) { return stded25519.Sign(v.secret[i], msg), nil })
}

func (v *ed25519Voices) Verify(msg, signature []byte, signer simplex.NodeID) error {
	if !stded25519.Verify(v.public[signer[0]-1], msg, signature) {
		return errSignature
	}
	return nil
}

func (v *ed25519Voices) Aggregate(s []simplex.Signature) (simplex.QuorumCertificate, error) {
	return &list{signatures: s, verify: func(msg []byte, l *list) error {
		for _, s := range l.signatures {
			if err := v.Verify(msg, s.Value, s.Signer); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

func (v *ed25519Voices) DeserializeQuorumCertificate([]byte) (simplex.QuorumCertificate, error) {
	return nil, errors.New("no certificate is read back here")
}

// blsVoices sign in G1 and sum the signatures of one message, as Avalanche does.
type blsVoices struct {
	public []*blst.P2Affine
	secret []*blst.SecretKey
}

func newBLSVoices(nodes []simplex.NodeID) (voices, error) {
	v := new(blsVoices)
	for i := range nodes {
		seed := make([]byte, 32)
		seed[0] = byte(i)
		secret := blst.KeyGen(seed)
		v.secret, v.public = append(v.secret, secret), append(v.public, new(blst.P2Affine).From(secret))
	}
	return v, nil
}

var blsTag = []byte("BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_")

func (v *blsVoices) signer(i int) simplex.Signer {
	return signFunc(func(msg []byte) ([]byte, error) {
		return new(blst.P1Affine).Sign(v.secret[i], msg, blsTag).Compress(), nil
	})
}

func (v *blsVoices) Verify(msg, signature []byte, signer simplex.NodeID) error {
	point := new(blst.P1Affine).Uncompress(signature)
	if point == nil || !point.Verify(true, v.public[signer[0]-1], false, msg, blsTag) {
		return errSignature
	}
	return nil
}

func (v *blsVoices) Aggregate(s []simplex.Signature) (simplex.QuorumCertificate, error) {
	var sum blst.P1Aggregate
	parts := make([][]byte, len(s))
	for i := range s {
		parts[i] = s[i].Value
	}
	if !sum.AggregateCompressed(parts, true) {
		return nil, fmt.Errorf("aggregate: %w", errSignature)
	}
	return &list{signatures: s, whole: sum.ToAffine(), verify: func(msg []byte, l *list) error {
		keys := make([]*blst.P2Affine, len(l.signatures))
		for i, s := range l.signatures {
			keys[i] = v.public[s.Signer[0]-1]
		}
		if !l.whole.FastAggregateVerify(true, keys, msg, blsTag) {
			return errSignature
		}
		return nil
	}}, nil
}

func (v *blsVoices) DeserializeQuorumCertificate([]byte) (simplex.QuorumCertificate, error) {
	return nil, errors.New("no certificate is read back here")
}
