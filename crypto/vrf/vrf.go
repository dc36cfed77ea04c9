// Package vrf turns BLS signatures into verifiable random outputs: the order of
// transactions in a block and other draws that one party makes and all check
// (whitepaper §6.3, resolution 11.41).
//
// A key, a namespace and a message go in; a proof and 32 bytes come out. The
// proof is the one signature that the key has for the message, so its holder
// cannot choose among outputs; nobody else can predict the output. The output
// is the Keccak-256 of the proof: a curve point itself is not uniform bytes.
package vrf

import (
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Prove returns the output of sk for msg under namespace ns, with its proof.
func Prove(sk *bls.SecretKey, ns, msg []byte) (proof bls.Signature, out [32]byte) {
	proof = sk.Sign(ns, msg)
	return proof, output(proof)
}

// Verify returns the output that proof shows for pk and msg under namespace ns.
// If ok is false the proof is not valid and out is zero.
func Verify(pk *bls.PublicKey, ns, msg []byte, proof bls.Signature) (out [32]byte, ok bool) {
	if !pk.Verify(ns, msg, proof) {
		return [32]byte{}, false
	}
	return output(proof), true
}

func output(proof bls.Signature) [32]byte { return keccak.Sum256(proof[:]) }
