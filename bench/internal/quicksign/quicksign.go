// Package quicksign signs for load generators: twenty times as fast as the product's
// signer, and with no secrecy at all.
//
// A hash, a key and a number go in, a signature that every verifier takes comes out.
// The nonces come from a table of known multiples of the generator and are used again
// and again, so whoever sees two signatures of a key knows the key. What is left of a
// signature are two multiplications. Only packages below bench can import it, and its
// keys are made here from a seed: no key of a person or of a validator fits in.
package quicksign

import (
	"encoding/binary"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	signatures "github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// nonce is a scalar k that everybody may know, as signatures need it.
type nonce struct {
	inverse secp256k1.ModNScalar // 1/k
	r       secp256k1.ModNScalar // x of k·G
	bytes   [32]byte             // r, big-endian
	odd     uint8                // parity of y of k·G
}

// Nonces is a table of nonces. It is read only, so goroutines may share it.
type Nonces struct{ list []nonce }

// NewNonces makes a table of n nonces, always the same.
func NewNonces(n int) *Nonces {
	t := &Nonces{list: make([]nonce, n)}
	for i := range t.list {
		k := scalar("cowboy bench nonce", 0, uint64(i))
		var point secp256k1.JacobianPoint
		secp256k1.ScalarBaseMultNonConst(&k, &point)
		point.ToAffine()
		e := &t.list[i]
		e.bytes = *point.X.Bytes()
		e.r.SetBytes(&e.bytes) // below the order but for a chance of 2^-127
		e.inverse.InverseValNonConst(&k)
		e.odd = uint8(point.Y.IsOddBit())
	}
	return t
}

// Key is an account of a load.
type Key struct {
	secret  secp256k1.ModNScalar
	Address [20]byte
}

// NewKey makes the key with a number; the same seed gives the same keys.
func NewKey(seed uint64, number int) (Key, error) {
	k := Key{secret: scalar("cowboy bench account", seed, uint64(number))}
	secret := k.secret.Bytes()
	key, err := signatures.ParsePrivateKey(secret[:])
	if err != nil {
		return Key{}, err
	}
	k.Address = key.PublicKey().Address()
	return k, nil
}

// Sign signs a hash with the key and a nonce of the table: turn may be any number.
func (t *Nonces) Sign(k *Key, hash [32]byte, turn uint64) signatures.Signature {
	e := &t.list[turn%uint64(len(t.list))]
	var s, z secp256k1.ModNScalar
	z.SetBytes(&hash)
	s.Mul2(&e.r, &k.secret).Add(&z).Mul(&e.inverse)
	odd := e.odd
	if s.IsOverHalfOrder() {
		s.Negate()
		odd ^= 1 // -s belongs to -R
	}
	return signatures.Signature{R: e.bytes, S: s.Bytes(), YParity: odd}
}

// scalar draws one that is not 0, from a name and two numbers.
func scalar(name string, seed, number uint64) (k secp256k1.ModNScalar) {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], seed)
	binary.BigEndian.PutUint64(b[8:], number)
	hash := keccak.Sum256([]byte(name), b[:])
	k.SetBytes((*[32]byte)(&hash))
	return k
}
