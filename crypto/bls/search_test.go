package bls

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	blst "github.com/supranational/blst/bindings/go"
)

// exponents is a batch whose pairing products are known powers of one
// generator: zero for a good signature. It makes searches cheap to try.
type exponents struct {
	generator blst.Fp12
	of        []uint64
}

func newExponents(n int) *exponents {
	k := new(blst.P1Affine)
	*k = *blst.P1Generator().ToAffine()
	return &exponents{pairingProduct(k, new(blst.P1Affine), new(blst.P2Affine)), make([]uint64, n)}
}

func (b *exponents) size() int { return len(b.of) }

func (b *exponents) lone(i int) blst.Fp12 {
	return b.raise(new(big.Int).SetUint64(b.of[i]))
}

func (b *exponents) product(lo, hi int, factors []byte, width int) blst.Fp12 {
	sum := new(big.Int)
	for i := lo; i < hi; i++ {
		f := slices.Clone(factors[width*(i-lo):][:width])
		slices.Reverse(f)
		e := new(big.Int).SetUint64(b.of[i])
		sum.Add(sum, e.Mul(e, new(big.Int).SetBytes(f)))
	}
	return b.raise(sum)
}

func (b *exponents) raise(e *big.Int) blst.Fp12 {
	bytes := e.Bytes()
	slices.Reverse(bytes)
	return power(&b.generator, bytes)
}

func (b *exponents) cost(n int) int {
	return (&voteBatch{keys: []*PublicKey{{multiples: []*blst.P2Affine{}}}}).cost(n)
}

func TestX(t *testing.T) {
	for _, n := range []int{11, 16, 24, 32, 40, 50, 67, 100, 130} {
		line := fmt.Sprintf("n=%d:", n)
		for _, bad := range []int{0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100} {
			if bad > n {
				continue
			}
			worst, total := 0, 0
			const rounds = 10
			for seed := range uint64(rounds) {
				rng := rand.New(rand.NewPCG(seed, 0))
				b := newExponents(n)
				for _, i := range rng.Perm(n)[:bad] {
					b.of[i] = rng.Uint64()
				}
				s := searchFor(b, Options{Weights: seeded(seed)})
				for i := range s.bad {
					if s.bad[i] != (b.of[i] != 0) {
						t.Fatal("wrong")
					}
				}
				worst = max(worst, s.spent)
				total += s.spent
			}
			line += fmt.Sprintf(" %d:%.2f/%.2f", bad, float64(total)/rounds/float64(n*pairingCost), float64(worst)/float64(n*pairingCost))
		}
		t.Log(line)
	}
}
