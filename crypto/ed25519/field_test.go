package ed25519

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// prime is 2^255 - 19.
func prime() *big.Int {
	p := new(big.Int).Lsh(big.NewInt(1), 255)
	return p.Sub(p, big.NewInt(19))
}

func littleEndian(n *big.Int) [32]byte {
	var b [32]byte
	n.FillBytes(b[:])
	slices.Reverse(b[:])
	return b
}

func fromLittleEndian(b []byte) *big.Int {
	b = slices.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

// edgeElements returns values at the borders of the field, of its encodings and
// of the limbs, and random ones.
func edgeElements(seed uint64) []*big.Int {
	var out []*big.Int
	for _, bit := range []uint{0, 51, 52, 102, 153, 204, 254, 255} {
		for delta := int64(-20); delta <= 20; delta++ {
			v := new(big.Int).Lsh(big.NewInt(1), bit)
			v.Add(v, big.NewInt(delta))
			if v.Sign() >= 0 && v.BitLen() <= 255 {
				out = append(out, v)
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 50 {
		var b [32]byte
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		b[31] &= 0x7f
		out = append(out, fromLittleEndian(b[:]))
	}
	return out
}

func TestFieldAgreesWithBigIntegers(t *testing.T) {
	const seed = 1
	p := prime()
	values := edgeElements(seed)
	check := func(what string, x, y *big.Int, got element, want *big.Int) {
		t.Helper()
		want.Mod(want, p)
		if got.bytes() != littleEndian(want) {
			t.Fatalf("%s of %x and %x = %x, want %x", what, x, y, got.bytes(), littleEndian(want))
		}
		for _, limb := range got {
			if limb >= 1<<52 {
				t.Fatalf("%s of %x and %x leaves the limb %x", what, x, y, limb)
			}
		}
	}
	for _, x := range values {
		var a element
		ax := littleEndian(x)
		a.decode(ax[:])
		check("decoding", x, x, a, new(big.Int).Set(x))
		for _, y := range values {
			var b, sum, difference, product element
			by := littleEndian(y)
			b.decode(by[:])
			sum.add(&a, &b)
			difference.sub(&a, &b)
			product.mul(&a, &b)
			check("sum", x, y, sum, new(big.Int).Add(x, y))
			check("difference", x, y, difference, new(big.Int).Sub(x, y))
			check("product", x, y, product, new(big.Int).Mul(x, y))
		}
	}
}

// TestFieldLimbsAtTheirBound feeds the largest limbs that the invariant allows.
func TestFieldLimbsAtTheirBound(t *testing.T) {
	p := prime()
	var full element
	value := new(big.Int)
	for i := range full {
		full[i] = 1<<52 - 1
		value.Add(value, new(big.Int).Lsh(big.NewInt(1<<52-1), uint(51*i)))
	}
	var sum, difference, product element
	sum.add(&full, &full)
	difference.sub(&full, &full)
	product.mul(&full, &full)
	for _, c := range []struct {
		name string
		got  element
		want *big.Int
	}{
		{"value", full, value},
		{"sum", sum, new(big.Int).Lsh(value, 1)},
		{"difference", difference, new(big.Int)},
		{"product", product, new(big.Int).Mul(value, value)},
	} {
		if c.got.bytes() != littleEndian(new(big.Int).Mod(c.want, p)) {
			t.Errorf("%s = %x", c.name, c.got.bytes())
		}
	}
}

func TestConstants(t *testing.T) {
	p := prime()
	d := new(big.Int).ModInverse(big.NewInt(121666), p)
	d.Mul(d, big.NewInt(-121665)).Mod(d, p)
	if curveD.bytes() != littleEndian(d) {
		t.Errorf("d = %x", curveD.bytes())
	}
	var square, minusOne element
	square.square(&sqrtMinusOne)
	minusOne.sub(&element{}, &one)
	if !square.equal(&minusOne) {
		t.Errorf("√-1 squares to %x", square.bytes())
	}
	l, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
	l.Add(l, new(big.Int).Lsh(big.NewInt(1), 252))
	if order != littleEndian(l) {
		t.Errorf("order = %x", order)
	}
}

func TestReduceWide(t *testing.T) {
	l := fromLittleEndian(order[:])
	rng := rand.New(rand.NewPCG(2, 0))
	for range 100 {
		var wide [64]byte
		for i := range wide {
			wide[i] = byte(rng.Uint32())
		}
		want := new(big.Int).Mod(fromLittleEndian(wide[:]), l)
		if got := reduceWide(wide); got != littleEndian(want) {
			t.Fatalf("%x mod l = %x", wide, got)
		}
	}
}

func TestBelowOrder(t *testing.T) {
	l := fromLittleEndian(order[:])
	for delta := int64(-3); delta <= 3; delta++ {
		s := littleEndian(new(big.Int).Add(l, big.NewInt(delta)))
		if got := belowOrder(s[:]); got != (delta < 0) {
			t.Errorf("order%+d: %v", delta, got)
		}
	}
}
