package decimal

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// words is a Decimal whose length counts as so many words.
func words(n uint64) Decimal {
	digits := (n-1)*limbDigits + limbDigits/2
	return FromBig(new(big.Int).Lsh(big.NewInt(1), uint(digits*100_000/30_103)))
}

// TestCostDoesNotWrap holds [Context.Cost] to the same sums in numbers of any size: with
// operands of 2^20 words the product of three lengths was a multiple of 2^64, and what takes
// a second cost nothing.
func TestCostDoesNotWrap(t *testing.T) {
	c := Context{Prec: 28}
	of := func(w Work, lengths ...uint64) *big.Int {
		sum, product := new(big.Int), big.NewInt(1)
		for _, n := range lengths {
			sum.Add(sum, new(big.Int).SetUint64(n))
			product.Mul(product, new(big.Int).SetUint64(n))
		}
		all := new(big.Int).Add(sum, big.NewInt(28/limbDigits+2))
		n := func(k int64, factors ...*big.Int) *big.Int {
			p := big.NewInt(k)
			for _, f := range factors {
				p.Mul(p, f)
			}
			return p
		}
		total := new(big.Int)
		switch w {
		case Linear:
			total.Add(n(linearFactor, all), n(1, all, all).Div(n(1, all, all), big.NewInt(roundingShare)))
			total.Add(total, big.NewInt(ownWork))
		case Product:
			total.Add(product, n(linearFactor, all))
			total.Add(total, n(2, sum, sum).Div(n(2, sum, sum), big.NewInt(roundingShare)))
			total.Add(total, big.NewInt(ownWork))
		case Quotient:
			total.Add(big.NewInt(2*ownWork), n(quotientFactor, all, all))
		case Transcendental:
			total = n(8*seriesFactor, all, all, all)
		}
		return total
	}
	lengths := []uint64{1, 2, 1 << 10, 1<<19 - 2, 1<<20 - 4, 1<<20 - 3, 1<<20 - 2, 1 << 20, 1<<21 + 1}
	operands := map[uint64]Decimal{}
	for _, n := range lengths {
		operands[n] = words(n)
	}
	for _, a := range lengths {
		for _, b := range lengths {
			for _, set := range [][]uint64{{a}, {a, b}, {a, b, a}} {
				var ds []Decimal
				for _, n := range set {
					ds = append(ds, operands[n])
				}
				var exact []uint64
				for _, d := range ds {
					exact = append(exact, uint64(d.Digits())/limbDigits+1)
				}
				for w := Linear; w <= Transcendental; w++ {
					want := of(w, exact...)
					if most := new(big.Int).SetUint64(MostCost); want.Cmp(most) > 0 {
						want = most
					}
					if got := c.Cost(w, ds...); new(big.Int).SetUint64(got).Cmp(want) != 0 {
						t.Errorf("cost of kind %d of %v words is %d, want %v", w, exact, got, want)
					}
				}
			}
		}
	}
}

// TestHashPowers holds powers modulo 2^61-1 to those of math/big.
func TestHashPowers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 2_000 {
		base, exp := rng.Uint64N(hashModulus), rng.Uint64()>>(i%64)
		want := new(big.Int).Exp(new(big.Int).SetUint64(base), new(big.Int).SetUint64(exp), bigHashModulus)
		if got := hashPower(base, exp); got != want.Uint64() {
			t.Fatalf("%d to the power %d is %d, want %v", base, exp, got, want)
		}
	}
	if hashTimes(10, hashTenth) != 1 || hashTimes(hashModulus-1, hashModulus-1) != 1 {
		t.Error("a tenth times ten, or minus one squared, is not one")
	}
}
