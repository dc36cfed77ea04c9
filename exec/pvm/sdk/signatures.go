//spec:implements whitepaper 16.1

package sdk

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func signatureDefs() []vm.Def {
	return []vm.Def{
		native("recover_address", 2, "digest signature", recoverAddress),
		native("verify_secp256k1", 3, "public_key digest signature", verifySecp256k1),
		native("verify_ed25519", 3, "public_key message signature", verifyEd25519),
		native("verify_bls", 3, "public_key message signature namespace", verifyBLS),
		native("verify_vrf", 3, "public_key message proof namespace", verifyVRF),
	}
}

// walletV is what wallets add to the parity (EIP-191, EIP-712): they write v as 27
// or 28, libraries as 0 or 1. A parity of 2 or 3, an x coordinate above the group
// order, nobody's key has.
const walletV = 27

// parity is that of a v, and whether it is one.
func parity(v byte) (byte, bool) {
	if v >= walletV {
		v -= walletV
		return v, v <= 1
	}
	return v, v <= 1
}

// recoverable reads a digest and a signature of r, s and v; v may be absent where
// least is 64.
func (c call) recoverable(i, least int) (d [32]byte, sig secp256k1.Signature, err error) {
	db, err := c.buffer(i, 32, "digest")
	if err != nil {
		return d, sig, err
	}
	b, err := c.buffer(i+1, 65, "signature")
	if err != nil {
		return d, sig, err
	}
	switch {
	case len(db) != 32:
		return d, sig, c.m.ValueError("a digest has 32 bytes, not %d", c.arg(i).BytesLen())
	case least == 65 && len(b) != 65:
		return d, sig, c.m.ValueError("a signature has 65 bytes (r, s and v), not %d", c.arg(i+1).BytesLen())
	case len(b) != 64 && len(b) != 65:
		return d, sig, c.m.ValueError("a signature has 64 bytes (r and s) or 65 (r, s and v), not %d", c.arg(i+1).BytesLen())
	}
	sig = secp256k1.Signature{R: [32]byte(b[:32]), S: [32]byte(b[32:64])}
	if len(b) == 65 {
		v, ok := parity(b[64])
		if !ok {
			return d, sig, c.m.ValueError("v of a signature is 0, 1, 27 or 28, not %d", b[64])
		}
		sig.YParity = v
	}
	return [32]byte(db), sig, nil
}

// recoverAddress answers who signed a digest, None when nobody can have. A high s is
// refused: its low twin is the same signature, so that a program which keeps
// signatures it has seen would take it for another.
func recoverAddress(c call) (vm.Value, error) {
	d, sig, err := c.recoverable(0, 65)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.Verify)
	key, err := secp256k1.Recover(d, sig)
	switch {
	case errors.Is(err, secp256k1.ErrHighS):
		return vm.None, c.m.ValueError("s of a signature is above half the group order")
	case err != nil:
		return vm.None, nil
	}
	a := chain.Address(key.Address())
	return c.hexText(a[:]), nil
}

// verifySecp256k1 takes a public key of 33 or 65 bytes.
func verifySecp256k1(c call) (vm.Value, error) {
	b, err := c.buffer(0, 65, "public_key")
	if err != nil {
		return vm.None, err
	}
	d, sig, err := c.recoverable(1, 64)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.Verify)
	key, err := secp256k1.ParsePublicKey(b)
	return vm.Bool(err == nil && key.Verify(d, sig) == nil), nil
}

func verifyEd25519(c call) (vm.Value, error) {
	key, err := c.buffer(0, ed25519.PublicKeySize, "public_key")
	if err != nil {
		return vm.None, err
	}
	sig, err := c.buffer(2, ed25519.SignatureSize, "signature")
	if err != nil {
		return vm.None, err
	}
	if len(key) != ed25519.PublicKeySize {
		return vm.None, c.m.ValueError("a public key has %d bytes", ed25519.PublicKeySize)
	}
	c.m.Charge(c.s.costs.Verify)
	msg, err := c.bytes(1, "message", c.s.costs.HashByte)
	if err != nil {
		return vm.None, err
	}
	return vm.Bool(ed25519.Verify([ed25519.PublicKeySize]byte(key), msg, sig)), nil
}

// pairing reads key, message, signature and namespace and charges for them.
func (c call) pairing(what string, price code.Cycles) (key [96]byte, ns, msg []byte, sig [48]byte, err error) {
	k, err := c.buffer(0, len(key), "public_key")
	if err != nil {
		return key, ns, msg, sig, err
	}
	s, err := c.buffer(2, len(sig), what)
	if err != nil {
		return key, ns, msg, sig, err
	}
	if !c.arg(3).IsNone() {
		if ns, err = c.buffer(3, c.s.limits.NameBytes, "namespace"); err != nil {
			return key, ns, msg, sig, err
		}
	}
	if len(k) != len(key) || len(s) != len(sig) || len(ns) > c.s.limits.NameBytes {
		return key, ns, msg, sig, c.m.ValueError("a public key has 96 bytes, a %s 48 and a namespace at most %d", what, c.s.limits.NameBytes)
	}
	c.m.Charge(price)
	c.m.ChargeEach(len(ns), c.s.costs.HashByte)
	msg, err = c.bytes(1, "message", c.s.costs.HashByte)
	return [96]byte(k), ns, msg, [48]byte(s), err
}

func verifyBLS(c call) (vm.Value, error) {
	key, ns, msg, sig, err := c.pairing("signature", c.s.costs.VerifyBLS)
	if err != nil {
		return vm.None, err
	}
	return c.truth(c.s.host.VerifyBLS(key, ns, msg, sig))
}

// verifyVRF answers the output, None where the proof does not hold.
func verifyVRF(c call) (vm.Value, error) {
	key, ns, msg, proof, err := c.pairing("proof", c.s.costs.VerifyVRF)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.Hash)
	out, ok, err := c.s.host.VerifyVRF(key, ns, msg, proof)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	if !ok {
		return vm.None, nil
	}
	return c.m.NewBytes(string(out[:])), nil
}
