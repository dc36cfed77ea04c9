package bls

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	blst "github.com/supranational/blst/bindings/go"
)

// bigOrder is r as printed in draft-irtf-cfrg-pairing-friendly-curves §4.2.1.
func bigOrder(t testing.TB) *big.Int {
	t.Helper()
	r, ok := new(big.Int).SetString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)
	if !ok {
		t.Fatal("order")
	}
	return r
}

func (e *element) big() *big.Int { return littleEndian(e.appendLittleEndian(nil)) }

// elementOfBig reduces v and brings it into Montgomery form.
func elementOfBig(v, r *big.Int) element {
	v = new(big.Int).Mod(v, r)
	var e element
	for i := range e {
		e[i] = new(big.Int).Rsh(v, uint(64*i)).Uint64()
	}
	return e.mul(&montgomerySquare)
}

func TestScalarConstants(t *testing.T) {
	r := bigOrder(t)
	word := func(v *big.Int) (e element) {
		for i := range e {
			e[i] = new(big.Int).Rsh(v, uint(64*i)).Uint64()
		}
		return e
	}
	power := func(n uint) *big.Int { return new(big.Int).Mod(new(big.Int).Lsh(big.NewInt(1), n), r) }
	if order != word(r) || montgomeryOne != word(power(256)) || montgomerySquare != word(power(512)) {
		t.Error("a constant differs from its definition")
	}
	if inverse := uint64(orderInverse); order[0]*inverse+1 != 0 {
		t.Error("orderInverse")
	}
}

// checkScalars compares the arithmetic with big integers and with blst's.
func checkScalars(t *testing.T, a, b *big.Int) {
	t.Helper()
	r := bigOrder(t)
	x, y := elementOfBig(a, r), elementOfBig(b, r)
	a, b = new(big.Int).Mod(a, r), new(big.Int).Mod(b, r)
	product, opposite, inverse := x.mul(&y), x.neg(), x.inverse()
	want := new(big.Int).Mul(a, b)
	if want.Mod(want, r); product.big().Cmp(want) != 0 {
		t.Errorf("%x · %x = %x, want %x", a, b, product.big(), want)
	}
	if want.Neg(a).Mod(want, r); opposite.big().Cmp(want) != 0 {
		t.Errorf("-%x = %x", a, opposite.big())
	}
	if a.Sign() == 0 {
		if inverse != (element{}) {
			t.Error("inverse of zero")
		}
		return
	}
	if want.ModInverse(a, r); inverse.big().Cmp(want) != 0 {
		t.Errorf("1/%x = %x", a, inverse.big())
	}
	var s, u blst.Scalar
	s.FromBEndian(a.FillBytes(make([]byte, 32)))
	u.FromBEndian(b.FillBytes(make([]byte, 32)))
	s.MulAssign(&u)
	if !slices.Equal(s.ToLEndian(), product.appendLittleEndian(nil)) {
		t.Errorf("%x · %x differs from blst", a, b)
	}
}

func TestScalarArithmetic(t *testing.T) {
	r := bigOrder(t)
	edge := []*big.Int{new(big.Int), big.NewInt(1), big.NewInt(2), new(big.Int).Sub(r, big.NewInt(1))}
	for _, shift := range []uint{32, 64, 128, 192, 254} {
		p := new(big.Int).Lsh(big.NewInt(1), shift)
		edge = append(edge, p, new(big.Int).Sub(p, big.NewInt(1)), new(big.Int).Sub(r, p))
	}
	for _, a := range edge {
		for _, b := range edge {
			checkScalars(t, a, b)
		}
	}
}

func FuzzScalarArithmetic(f *testing.F) {
	f.Add([]byte{1}, []byte{0xff, 0xff})
	f.Add(make([]byte, 32), []byte{7})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a) > 64 || len(b) > 64 {
			return
		}
		checkScalars(t, new(big.Int).SetBytes(a), new(big.Int).SetBytes(b))
	})
}

// TestLagrangeFactors compares the factors with their definition over big
// integers, for small and for the largest indices.
func TestLagrangeFactors(t *testing.T) {
	r := bigOrder(t)
	rng := rand.New(rand.NewPCG(1, 0))
	for n := 1; n <= 40; n += 3 {
		indices := make([]uint32, n)
		for i := range indices {
			indices[i] = uint32(3*i) + rng.Uint32N(3)
			if n%2 == 0 {
				indices[i] = 1<<32 - 1 - indices[i]
			}
		}
		rng.Shuffle(n, func(i, j int) { indices[i], indices[j] = indices[j], indices[i] })
		factors := lagrangeAtZero(indices)
		for i, index := range indices {
			want := big.NewInt(1)
			xi := new(big.Int).SetUint64(abscissa(index))
			for j, other := range indices {
				if j != i {
					xj := new(big.Int).SetUint64(abscissa(other))
					want.Mul(want, xj)
					want.Mul(want, new(big.Int).ModInverse(xj.Sub(xj, xi), r)).Mod(want, r)
				}
			}
			if got := littleEndian(factors[32*i:][:32]); got.Cmp(want) != 0 {
				t.Fatalf("indices %v: factor %d = %x, want %x", indices, i, got, want)
			}
		}
	}
}

// TestRecovererAgrees lets random quorums recover, from bytes and from checked
// points, so that sets come back, are forgotten and come back again.
func TestRecovererAgrees(t *testing.T) {
	const n, threshold, keep = 7, 5, 3
	_, shares := deal(t, n, threshold)
	all := partials(shares)
	want, err := Recover(threshold, all)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRecoverer(threshold, keep)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 0))
	for round := range 40 {
		rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		quorum := all[:threshold+rng.IntN(n-threshold+1)]
		checked := make([]CheckedPartial, len(quorum))
		for i, p := range quorum {
			point, err := p.Sig.Point()
			if err != nil {
				t.Fatal(err)
			}
			checked[i] = CheckedPartial{p.Index, point}
		}
		fromBytes, err1 := r.Recover(quorum)
		fromPoints, err2 := r.RecoverChecked(checked)
		if err := errors.Join(err1, err2); err != nil || fromBytes != want || fromPoints != want {
			t.Fatalf("round %d: %x, %x, %v; want %x", round, fromBytes, fromPoints, err, want)
		}
		if len(r.sets) > keep {
			t.Fatalf("round %d: %d sets kept", round, len(r.sets))
		}
	}
}

func TestRecovererFaultsHaveTheirErrors(t *testing.T) {
	_, shares := deal(t, 4, 3)
	good := partials(shares)
	point, err := good[0].Sig.Point()
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRecoverer(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	same := CheckedPartial{0, point}
	recoverErr := func(p []Partial) error { _, err := r.Recover(p); return err }
	checkedErr := func(p []CheckedPartial) error { _, err := r.RecoverChecked(p); return err }
	newErr := func(t, keep int) error { _, err := NewRecoverer(t, keep); return err }
	setErr := func(indices []uint32) error { _, err := NewLagrange(indices); return err }
	for _, tt := range []struct {
		name      string
		got, want error
	}{
		{"threshold 0", newErr(0, 1), ErrThreshold},
		{"huge threshold", newErr(MaxShares+1, 1), ErrThreshold},
		{"keeping nothing", newErr(3, 0), ErrThreshold},
		{"no share", setErr(nil), ErrThreshold},
		{"too many shares", setErr(make([]uint32, MaxShares+1)), ErrThreshold},
		{"a share twice", setErr([]uint32{4, 5, 4}), ErrDuplicateIndex},
		{"too few", recoverErr(good[:2]), ErrTooFewPartials},
		{"too few checked", checkedErr([]CheckedPartial{same, same}), ErrTooFewPartials},
		{"one share twice", recoverErr([]Partial{good[0], good[1], good[0]}), ErrDuplicateIndex},
		{"one share twice, checked", checkedErr([]CheckedPartial{same, same, same}), ErrDuplicateIndex},
		{"malformed", recoverErr([]Partial{good[0], {1, Signature{}}, good[2]}), ErrEncoding},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !errors.Is(tt.got, tt.want) {
				t.Errorf("got %v, want %v", tt.got, tt.want)
			}
		})
	}
}

// strayOrder is the order of the points that stray returns: a prime of G1's
// cofactor small enough to divide a random factor now and then.
const strayOrder = 11

// stray returns a point of order 11, which is on the curve but outside the
// subgroup. The multiplication is by doubling and adding: blst's own assumes a
// point of the subgroup.
func stray(t *testing.T) *blst.P1 {
	t.Helper()
	// The exponent of the curve's group is r·|z-1| for the parameter z.
	factor := new(big.Int).Mul(bigOrder(t), new(big.Int).SetUint64(0xd201000000010001/strayOrder))
	for x := byte(1); x < 200; x++ {
		var q blst.P1Affine
		if q.Uncompress(append([]byte{0x80}, append(make([]byte, SignatureSize-2), x)...)) == nil {
			continue
		}
		sum := timesSlowly(&q, factor)
		if !sum.Equals(new(blst.P1)) {
			return sum
		}
	}
	t.Fatal("no point of the order found")
	return nil
}

func timesSlowly(q *blst.P1Affine, factor *big.Int) *blst.P1 {
	var sum blst.P1
	for i := factor.BitLen() - 1; i >= 0; i-- {
		sum.AddAssign(&sum)
		if factor.Bit(i) == 1 {
			sum.AddAssign(q)
		}
	}
	return &sum
}

// strayed returns sig moved out of the subgroup by by.
func strayed(t *testing.T, sig Signature, by *blst.P1) Signature {
	t.Helper()
	point, err := sig.Point()
	if err != nil {
		t.Fatal(err)
	}
	moved := *by
	moved.AddAssign(&point.affine)
	out := Signature(moved.ToAffine().Compress())
	if _, err := out.Point(); !errors.Is(err, ErrSubgroup) {
		t.Fatalf("a moved signature: %v", err)
	}
	return out
}

// TestPartialsOutsideTheSubgroup adds a point of order 11 to a partial. The
// result leaves the subgroup, and is refused with the culprit's name, unless
// the partial's factor is a multiple of 11; then it is the right one.
func TestPartialsOutsideTheSubgroup(t *testing.T) {
	const threshold, members = 5, 24
	noise := stray(t)
	if eleven := timesSlowly(noise.ToAffine(), big.NewInt(strayOrder)); !eleven.Equals(new(blst.P1)) {
		t.Fatal("the stray point has another order")
	}
	_, shares := deal(t, members, threshold)
	all := partials(shares)
	seen := map[bool]int{}
	for start := range members - threshold + 1 {
		good := all[start:][:threshold]
		want, err := Recover(threshold, good)
		if err != nil {
			t.Fatal(err)
		}
		factors := lagrangeAtZero(indicesOf(good))
		for i := range good {
			in := slices.Clone(good)
			in[i].Sig = strayed(t, good[i].Sig, noise)
			f := littleEndian(factors[32*i:][:32])
			vanishes := f.Mod(f, big.NewInt(strayOrder)).Sign() == 0
			seen[vanishes]++
			got, err := Recover(threshold, in)
			switch {
			case vanishes && (err != nil || got != want):
				t.Errorf("start %d partial %d: %x, %v", start, i, got, err)
			case !vanishes && (!errors.Is(err, ErrSubgroup) || err.Error() != fmt.Sprintf("partial of share %d: %v", in[i].Index, ErrSubgroup)):
				t.Errorf("start %d partial %d: %v", start, i, err)
			}
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("cases %v do not cover both", seen)
	}
}

// TestVotesOutsideTheSubgroupAreBad: the pairing alone would let them pass.
func TestVotesOutsideTheSubgroupAreBad(t *testing.T) {
	noise := stray(t)
	keys, sigs := signers(t, 12)
	for _, i := range []int{2, 7, 8} {
		sigs[i] = strayed(t, sigs[i], noise)
	}
	for policy := range slack {
		opt := Options{Weights: seeded(1), Policy: Policy(policy)}
		if _, bad := VerifyVotes(HashToPoint(testNamespace, testMessage), keys, sigs, opt); !slices.Equal(bad, []int{2, 7, 8}) {
			t.Errorf("policy %d: bad = %v", policy, bad)
		}
	}
}

// What RecoverVerified returns is what Recover returns, and it returns nothing
// that does not verify.
func TestRecoverVerified(t *testing.T) {
	const n, threshold = 7, 5
	polynomial, shares, err := DealTrusted(make([]byte, 32), n, threshold)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRecoverer(threshold, 2)
	if err != nil {
		t.Fatal(err)
	}
	off := stray(t)
	tests := []struct {
		rule  string
		spoil func(q []Quorum)
		good  bool
	}{
		{"good partials", func([]Quorum) {}, true},
		{"one message alone", func(q []Quorum) { q[1] = q[0] }, true},
		{"more than the threshold", func(q []Quorum) {
			q[0].Partials = append(q[0].Partials, Partial{Index: 6})
		}, true},
		{"too few", func(q []Quorum) { q[1].Partials = q[1].Partials[1:] }, false},
		{"one share twice", func(q []Quorum) { q[0].Partials[1] = q[0].Partials[0] }, false},
		{"a partial of another share", func(q []Quorum) { q[0].Partials[1].Sig = q[0].Partials[2].Sig }, false},
		{"a partial of another message", func(q []Quorum) { q[1].Partials[4].Sig = q[0].Partials[4].Sig }, false},
		{"no point", func(q []Quorum) { q[1].Partials[0].Sig = Signature{} }, false},
		{"a point outside the subgroup", func(q []Quorum) { q[0].Partials[3].Sig = strayed(t, q[0].Partials[3].Sig, off) }, false},
		{"errors that cancel between messages", func(q []Quorum) {
			q[0].Partials, q[1].Partials = q[1].Partials, q[0].Partials
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			quorums := make([]Quorum, 2)
			for i := range quorums {
				m := []byte{byte(i)}
				quorums[i].Message = HashToPoint([]byte("ns"), m)
				for _, s := range shares[:threshold] {
					quorums[i].Partials = append(quorums[i].Partials, Partial{s.Index, s.Key.Sign([]byte("ns"), m)})
				}
			}
			tt.spoil(quorums)
			got, ok := r.RecoverVerified(polynomial.Group(), quorums, Options{Weights: seeded(5)})
			if ok != tt.good {
				t.Fatalf("verified = %v, want %v", ok, tt.good)
			}
			for i := range got {
				if want, err := Recover(threshold, quorums[i].Partials); err != nil || got[i] != want {
					t.Errorf("signature %d is not the one of Recover (%v)", i, err)
				}
				if guess, ok := r.Guess(quorums[i].Partials); !ok || guess != got[i] {
					t.Errorf("signature %d is not the one that was guessed", i)
				}
			}
			for _, q := range quorums {
				if guess, ok := r.Guess(q.Partials); ok && !tt.good && polynomial.Group().VerifyMessage(q.Message, guess) {
					good, err := Recover(threshold, q.Partials)
					if err != nil || good != guess {
						t.Error("a guess verifies that is not the signature of its partials")
					}
				}
			}
		})
	}
	t.Run("no weights", func(t *testing.T) {
		q := Quorum{Message: HashToPoint([]byte("ns"), nil)}
		for _, s := range shares[:threshold] {
			q.Partials = append(q.Partials, Partial{s.Index, s.Key.Sign([]byte("ns"), nil)})
		}
		if _, ok := r.RecoverVerified(polynomial.Group(), []Quorum{q, q}, Options{}); ok {
			t.Error("two signatures were checked together without weights")
		}
		if _, ok := r.RecoverVerified(polynomial.Group(), []Quorum{q}, Options{}); !ok {
			t.Error("one signature needs no weights")
		}
	})
}
