package oracletest

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// number reads a hexadecimal constant.
func number(hexadecimal string) *big.Int {
	n, ok := new(big.Int).SetString(hexadecimal, 16)
	if !ok {
		panic(hexadecimal)
	}
	return n
}

// The curve's constants, SEC 2 §2.4.1, and a cube root of one mod n.
var (
	order     = number("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
	prime     = number("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f")
	halfOrder = new(big.Int).Rsh(order, 1)
	lambda    = number("5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72")
)

func word(n *big.Int) (b [32]byte) {
	n.FillBytes(b[:])
	return b
}

// nonce is a point k·G.
type nonce struct {
	k      *big.Int
	r      [32]byte // its x coordinate
	parity uint8    // of its y
}

// nonces returns small multiples of G, whose sums with entries of the tables
// meet equal points, and random ones.
func nonces(t testing.TB, rng *rand.Rand) []nonce {
	t.Helper()
	var out []nonce
	for i := range 80 {
		k := big.NewInt(int64(i + 1))
		if i >= 40 {
			b := random32(rng)
			k = new(big.Int).SetBytes(b[:])
		}
		secret := word(k)
		key, err := secp256k1.ParsePrivateKey(secret[:])
		if err != nil {
			t.Fatal(err)
		}
		pub := key.PublicKey()
		out = append(out, nonce{k, [32]byte(pub[:32]), pub[63] & 1})
	}
	return out
}

func random32(rng *rand.Rand) (b [32]byte) {
	for i := 0; i < len(b); i += 8 {
		v := rng.Uint64()
		for j := range 8 {
			b[i+j] = byte(v >> (8 * j))
		}
	}
	return b
}

// scalar returns a number below n, biased to the edges of the range and to long
// runs of equal bits.
func scalar(rng *rand.Rand) *big.Int {
	b := random32(rng)
	n := new(big.Int)
	switch rng.IntN(7) {
	case 0: // small
		return n.SetUint64(rng.Uint64N(64))
	case 1: // small and negative
		return n.Sub(order, n.SetUint64(1+rng.Uint64N(64)))
	case 2: // next to a power of two
		n.Lsh(big.NewInt(1), uint(rng.IntN(256)))
		n.Add(n, big.NewInt(int64(rng.IntN(3)-1)))
	case 3: // runs
		for i := rng.IntN(32); i < 32; i++ {
			b[i] = byte(-(i & 1))
		}
		n.SetBytes(b[:])
	case 4: // the second half of the split alone
		n.Mul(lambda, n.SetUint64(rng.Uint64N(64)))
	default:
		n.SetBytes(b[:])
	}
	return n.Mod(n, order)
}

// draw returns a hash and a signature, well-formed or not, from one of many
// recipes. At its root it is u1·G + u2·R for scalars of choice, which reaches
// infinity, equal summands and every digit of the tables at will.
func draw(rng *rand.Rand, points []nonce) (hash [32]byte, sig secp256k1.Signature) {
	p := &points[rng.IntN(len(points))]
	u1, u2 := scalar(rng), scalar(rng)
	switch rng.IntN(8) {
	case 0: // u1·G = -u2·R: the key would be infinity
		u1.Mul(u2, p.k).Neg(u1).Mod(u1, order)
	case 1: // u1·G = u2·R: the last addition meets equal points
		u1.Mul(u2, p.k).Mod(u1, order)
	}
	r := new(big.Int).SetBytes(p.r[:])
	z := new(big.Int).Mul(u1, r)
	z.Neg(z).Mod(z, order)
	s := u2.Mul(u2, r)
	s.Mod(s, order)
	sig.R, sig.YParity = p.r, p.parity
	if s.Cmp(halfOrder) > 0 && rng.IntN(8) > 0 {
		s.Sub(order, s)
		sig.YParity ^= 1
	}
	hash, sig.S = word(z), word(s)
	bend(rng, &hash, &sig)
	return hash, sig
}

// bend makes something about a case unusual.
func bend(rng *rand.Rand, hash *[32]byte, sig *secp256k1.Signature) {
	near := func(n *big.Int) [32]byte {
		return word(new(big.Int).Add(n, big.NewInt(int64(rng.IntN(7)-3))))
	}
	switch rng.IntN(16) {
	case 0:
		sig.YParity ^= 1
	case 1:
		sig.YParity = 2 + uint8(rng.IntN(2)) // R's x coordinate would be r + n
	case 2:
		sig.YParity = uint8(rng.IntN(256))
	case 3:
		sig.R = random32(rng) // off the curve half of the time
	case 4:
		sig.S = random32(rng)
	case 5:
		sig.R = near(order)
	case 6:
		sig.S = near(halfOrder)
	case 7:
		sig.S = near(order)
	case 8:
		*hash = near(order)
	case 9:
		sig.R = [32]byte{31: byte(rng.IntN(40))} // r + n is a coordinate too
		sig.YParity = uint8(rng.IntN(4))
	case 10:
		sig.R = near(prime)
	case 11:
		sig.S = [32]byte{}
	case 12:
		sig.R = [32]byte{}
	}
}
