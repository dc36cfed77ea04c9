package bls

import (
	"bytes"
	"io"
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
	g := blst.P1Generator().ToAffine()
	return &exponents{pairingProduct(g, new(blst.P1Affine), new(blst.P2Affine)), make([]uint64, n)}
}

func (b *exponents) size() int { return len(b.of) }

func (b *exponents) lone(i int) blst.Fp12 {
	return b.raise(new(big.Int).SetUint64(b.of[i]))
}

func (b *exponents) product(lo, hi int, factors []byte, width int) blst.Fp12 {
	sum := new(big.Int)
	for i := lo; i < hi; i++ {
		e := new(big.Int).SetUint64(b.of[i])
		sum.Add(sum, e.Mul(e, littleEndian(factors[width*(i-lo):][:width])))
	}
	return b.raise(sum)
}

func (b *exponents) raise(e *big.Int) blst.Fp12 {
	bytes := e.Bytes()
	slices.Reverse(bytes)
	return power(&b.generator, bytes)
}

func (b *exponents) cost(n int) int {
	votes := voteBatch{keys: []*PublicKey{{multiples: []*blst.P2Affine{}}}}
	return votes.cost(n)
}

// plant makes the signatures of a set bad, each in its own way.
func (b *exponents) plant(rng *rand.Rand, at []int) {
	clear(b.of)
	for _, i := range at {
		b.of[i] = 1 + rng.Uint64N(255)
	}
}

// check searches b and holds the verdicts to the truth and the work to its
// limit.
func (b *exponents) check(t *testing.T, opt Options) *search {
	t.Helper()
	s := searchFor(b, opt)
	for i, e := range b.of {
		if s.bad[i] != (e != 0) {
			t.Fatalf("exponents %v: verdicts %v", b.of, s.bad)
		}
	}
	// The last step taken was affordable, but for the multiplications of a few
	// scans, which are not asked for beforehand.
	if limit := max(s.limit, len(b.of)*pairingCost); s.spent > limit+limit/50 {
		t.Errorf("exponents %v: cost %d, limit %d", b.of, s.spent, limit)
	}
	return s
}

// TestSearchFindsEverySet goes through all sets of bad signatures of batches up
// to ten.
func TestSearchFindsEverySet(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	for n := range cases(11, 7) {
		b := newExponents(n)
		for set := range 1 << n {
			var at []int
			for i := range n {
				if set>>i&1 == 1 {
					at = append(at, i)
				}
			}
			b.plant(rng, at)
			b.check(t, Options{Weights: seeded(uint64(set)), Policy: Hopeful})
		}
	}
}

// TestSearchKeepsItsBound tries random sets, and sets in one lump, of every
// density under the bound on work.
func TestSearchKeepsItsBound(t *testing.T) {
	for n := 11; n <= 130; n += cases(17, 51) {
		b := newExponents(n)
		for _, bad := range []int{0, 1, 2, 3, 5, n / 10, n / 5, n / 2, n - 1, n} {
			for seed := range uint64(3) {
				rng := rand.New(rand.NewPCG(seed, uint64(bad)))
				at := rng.Perm(n)[:bad]
				if seed == 2 {
					first := rng.IntN(n - bad + 1)
					for i := range at {
						at[i] = first + i
					}
				}
				b.plant(rng, at)
				b.check(t, Options{Weights: seeded(seed)})
			}
		}
	}
}

// TestSearchIsCheapWhenFewAreBad pins what the search is for, in parts of the
// cost of checking one by one.
func TestSearchIsCheapWhenFewAreBad(t *testing.T) {
	for _, tt := range []struct{ n, bad, percent int }{
		{100, 0, 6}, {100, 1, 13}, {100, 2, 27}, {100, 5, 45}, {67, 1, 16}, {67, 3, 70}, {130, 10, 60},
	} {
		b := newExponents(tt.n)
		for seed := range uint64(cases(4, 1)) {
			rng := rand.New(rand.NewPCG(seed, 0))
			b.plant(rng, rng.Perm(tt.n)[:tt.bad])
			s := b.check(t, Options{Weights: seeded(seed)})
			if got := 100 * s.spent / (tt.n * pairingCost); got > tt.percent {
				t.Errorf("seed %d: %d bad of %d: %d %% of the cost of one by one, want at most %d", seed, tt.bad, tt.n, got, tt.percent)
			}
		}
	}
}

// TestEveryBadTakesNoDetour: a batch of bad ones only is given up after one
// failed sum and two samples, which count.
func TestEveryBadTakesNoDetour(t *testing.T) {
	const n = 100
	b := newExponents(n)
	for i := range b.of {
		b.of[i] = uint64(i + 1)
	}
	s := b.check(t, Options{Weights: seeded(1)})
	if want := n*pairingCost + b.cost(n); s.spent != want {
		t.Errorf("cost %d, want %d", s.spent, want)
	}
}

// TestPowers compares power and mulPower with repeated multiplication.
func TestPowers(t *testing.T) {
	g := newExponents(0).generator
	acc := blst.Fp12One()
	for e := range 600 {
		if got := power(&g, []byte{byte(e), byte(e >> 8), 0}); !got.Equals(&acc) {
			t.Fatalf("power %d", e)
		}
		got := g
		mulPower(&got, g, e)
		acc.MulAssign(&g)
		if !got.Equals(&acc) {
			t.Fatalf("mulPower %d", e)
		}
	}
}

// TestPositionedWeights compares the products with big integers.
func TestPositionedWeights(t *testing.T) {
	const n = maxBatch
	s := &search{batch: &exponents{of: make([]uint64, n)}}
	ones := bytes.Repeat([]byte{0xff}, weightSize*n)
	for _, from := range []io.Reader{seeded(1), bytes.NewReader(ones)} {
		if !s.draw(from) {
			t.Fatal("no weights")
		}
		for i := range n {
			w := littleEndian(s.weights[weightSize*i:][:weightSize])
			got := littleEndian(s.positioned[positionedSize*i:][:positionedSize])
			if w.Mul(w, big.NewInt(int64(i))).Cmp(got) != 0 {
				t.Fatalf("position %d: %x, want %x", i, got, w)
			}
			if got.BitLen() > positionedBits {
				t.Fatalf("position %d: %d bits", i, got.BitLen())
			}
		}
	}
}

func littleEndian(b []byte) *big.Int {
	b = slices.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}
