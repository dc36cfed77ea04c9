package bls

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

func deal(t testing.TB, n, threshold int) (*Polynomial, []Share) {
	t.Helper()
	public, shares, err := DealTrusted(fmt.Appendf(nil, "%032d", n), n, threshold)
	if err != nil {
		t.Fatal(err)
	}
	return public, shares
}

func partials(shares []Share) []Partial {
	out := make([]Partial, len(shares))
	for i, s := range shares {
		out[i] = Partial{s.Index, s.Key.Sign(testNamespace, testMessage)}
	}
	return out
}

// TestAnyThresholdOfSharesRecovers goes through every subset of small
// committees: t members make the group's one signature, fewer do not.
func TestAnyThresholdOfSharesRecovers(t *testing.T) {
	for _, c := range []struct{ n, t int }{{1, 1}, {2, 1}, {3, 2}, {4, 3}, {5, 5}, {7, 5}} {
		t.Run(fmt.Sprintf("n=%d/t=%d", c.n, c.t), func(t *testing.T) {
			public, shares := deal(t, c.n, c.t)
			if public.Threshold() != c.t {
				t.Errorf("Threshold() = %d", public.Threshold())
			}
			all := partials(shares)
			var want Signature
			for set := range 1 << c.n {
				var chosen []Partial
				for i := range c.n {
					if set>>i&1 == 1 {
						chosen = append(chosen, all[i])
					}
				}
				if len(chosen) < c.t {
					if _, err := Recover(c.t, chosen); !errors.Is(err, ErrTooFewPartials) {
						t.Fatalf("set %b: %v", set, err)
					}
					if len(chosen) == 0 {
						continue
					}
					sig, err := Recover(len(chosen), chosen)
					if err != nil || public.Group().Verify(testNamespace, testMessage, sig) {
						t.Fatalf("set %b below the threshold: valid signature or %v", set, err)
					}
					continue
				}
				sig, err := Recover(c.t, chosen)
				if err != nil {
					t.Fatalf("set %b: %v", set, err)
				}
				if want == (Signature{}) {
					want = sig
					if !public.Group().Verify(testNamespace, testMessage, sig) {
						t.Fatal("recovered signature does not verify under the group key")
					}
				}
				if sig != want {
					t.Fatalf("set %b: %x, want %x", set, sig, want)
				}
			}
		})
	}
}

func TestRecoverIgnoresOrderAndSurplus(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	_, shares := deal(t, 13, 9)
	all := partials(shares)
	want, err := Recover(9, all)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got, err := Recover(9, all[:9+rng.IntN(5)]); err != nil || got != want {
			t.Fatalf("seed %d: %x, %v; want %x", seed, got, err, want)
		}
	}
}

func TestPublicSharesBelongToShares(t *testing.T) {
	public, shares := deal(t, 10, 7)
	for _, s := range shares {
		if !public.PublicShare(s.Index).Equal(s.Key.PublicKey()) {
			t.Errorf("share %d does not match the commitment", s.Index)
		}
	}
	for i := range shares {
		for j := range i {
			if shares[i].Key.Bytes() == shares[j].Key.Bytes() {
				t.Errorf("shares %d and %d are equal", i, j)
			}
		}
	}
	// The largest index has the abscissa 2^32, which needs 33 bits.
	const last = 1<<32 - 1
	far := evaluateFar(t, last)
	if !far.public.PublicShare(last).Equal(far.key) {
		t.Error("the share of the largest index does not match the commitment")
	}
}

type farShare struct {
	public *Polynomial
	key    *PublicKey
}

// evaluateFar builds the line a + bx and its value at the abscissa of index
// with secret arithmetic alone.
func evaluateFar(t *testing.T, index uint32) farShare {
	t.Helper()
	a, b := testKey(t, 1), testKey(t, 2)
	value, _ := b.scalar.Mul(scalar(abscissa(index)))
	value.AddAssign(&a.scalar)
	return farShare{
		public: &Polynomial{[]PublicKey{*a.PublicKey(), *b.PublicKey()}},
		key:    (&SecretKey{*value}).PublicKey(),
	}
}

func TestDealIsDeterministicAndBound(t *testing.T) {
	seed := bytes.Repeat([]byte{7}, 32)
	group := func(seed []byte, n, t2 int) string {
		p, _, err := DealTrusted(seed, n, t2)
		if err != nil {
			t.Fatal(err)
		}
		return string(p.Bytes())
	}
	if first, second := group(seed, 4, 3), group(seed, 4, 3); first != second {
		t.Error("the same seed deals two secrets")
	}
	seen := map[string]bool{}
	for _, g := range []string{group(seed, 4, 3), group(seed, 5, 3), group(seed, 4, 2), group(bytes.Repeat([]byte{8}, 32), 4, 3)} {
		if seen[g[:PublicKeySize]] {
			t.Error("two deals share their secret")
		}
		seen[g[:PublicKeySize]] = true
	}
}

func TestThresholdFaultsHaveTheirErrors(t *testing.T) {
	seed := make([]byte, 32)
	dealErr := func(seed []byte, n, t int) error {
		_, _, err := DealTrusted(seed, n, t)
		return err
	}
	_, shares := deal(t, 4, 3)
	good := partials(shares)
	edit := func(f func([]Partial)) []Partial {
		out := append([]Partial(nil), good...)
		f(out)
		return out
	}
	recoverErr := func(t int, p []Partial) error {
		_, err := Recover(t, p)
		return err
	}
	tests := []struct {
		name      string
		got, want error
	}{
		{"dealing 0 of 0", dealErr(seed, 0, 0), ErrThreshold},
		{"dealing 0 of 3", dealErr(seed, 3, 0), ErrThreshold},
		{"dealing 4 of 3", dealErr(seed, 3, 4), ErrThreshold},
		{"dealing to too many", dealErr(seed, MaxShares+1, 1), ErrThreshold},
		{"dealing from a short seed", dealErr(seed[1:], 3, 2), ErrKeyMaterial},
		{"recovering with threshold 0", recoverErr(0, good), ErrThreshold},
		{"recovering with a huge threshold", recoverErr(MaxShares+1, good), ErrThreshold},
		{"too few partials", recoverErr(3, good[:2]), ErrTooFewPartials},
		{"no partials", recoverErr(1, nil), ErrTooFewPartials},
		{"one share twice", recoverErr(3, edit(func(p []Partial) { p[2] = p[0] })), ErrDuplicateIndex},
		{"malformed partial", recoverErr(3, edit(func(p []Partial) { p[1].Sig = Signature{} })), ErrEncoding},
		{"identity as partial", recoverErr(3, edit(func(p []Partial) { p[1].Sig = Signature{0xc0} })), ErrInfinity},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !errors.Is(tt.got, tt.want) {
				t.Errorf("got %v, want %v", tt.got, tt.want)
			}
		})
	}
}

func TestPolynomialSurvivesItsBytes(t *testing.T) {
	public, _ := deal(t, 7, 5)
	again, err := ParsePolynomial(public.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !again.Group().Equal(public.Group()) || !again.PublicShare(6).Equal(public.PublicShare(6)) {
		t.Error("the commitment changed")
	}
}

func TestParsePolynomialRefuses(t *testing.T) {
	public, _ := deal(t, 2, 2)
	b := public.Bytes()
	identity := append([]byte{0xc0}, make([]byte, PublicKeySize-1)...)
	f := func(what string, b []byte, want error) {
		t.Helper()
		if _, err := ParsePolynomial(b); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", what, err, want)
		}
	}
	f("nothing", nil, ErrLength)
	f("a torn coefficient", b[:len(b)-1], ErrLength)
	f("too many coefficients", make([]byte, (MaxShares+1)*PublicKeySize), ErrLength)
	f("identity as group key", append(bytes.Clone(identity), b...), ErrInfinity)
	f("zero leading coefficient", append(bytes.Clone(b), identity...), ErrInfinity)
	b[PublicKeySize] &^= 0x80
	f("uncompressed coefficient", b, ErrEncoding)
}

// TestHostileCommitmentHasNoUsableShare: f(x) = a - a·x vanishes at x = 1.
func TestHostileCommitmentHasNoUsableShare(t *testing.T) {
	a := testKey(t, 1)
	minus, _ := scalar(0).Sub(&a.scalar)
	p := &Polynomial{[]PublicKey{*a.PublicKey(), *(&SecretKey{*minus}).PublicKey()}}
	key := p.PublicShare(0)
	if !key.isIdentity() {
		t.Fatal("the polynomial does not vanish at the first share")
	}
	if key.Verify(testNamespace, testMessage, Signature{0xc0}) {
		t.Error("the identity signs for the vanished share")
	}
}

func FuzzParsePolynomial(f *testing.F) {
	public, _ := deal(f, 3, 2)
	f.Add(public.Bytes())
	f.Add([]byte{})
	f.Add(append([]byte{0xc0}, make([]byte, PublicKeySize-1)...))
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := ParsePolynomial(in)
		if err != nil {
			return
		}
		if !bytes.Equal(p.Bytes(), in) {
			t.Fatalf("%x re-encodes as %x", in, p.Bytes())
		}
		p.PublicShare(0)
	})
}

func FuzzRecover(f *testing.F) {
	public, shares := deal(f, 4, 3)
	good := partials(shares)
	f.Add(3, uint32(0), uint32(1), good[0].Sig[:])
	f.Add(1, uint32(7), uint32(7), make([]byte, SignatureSize))
	f.Add(-1, uint32(0), uint32(0), []byte{})
	f.Fuzz(func(t *testing.T, threshold int, i, j uint32, raw []byte) {
		if len(raw) != SignatureSize {
			return
		}
		in := []Partial{{i, Signature(raw)}, {j, good[1].Sig}, good[2]}
		sig, err := Recover(threshold, in)
		if err != nil {
			return
		}
		honest := threshold == 3 && i == 0 && j == 1 && Signature(raw) == good[0].Sig
		// What a partial has outside the subgroup may cancel; Recover says why.
		stray := errors.Is(Signature(raw).Check(), ErrSubgroup)
		if public.Group().Verify(testNamespace, testMessage, sig) && !honest && i != 3 && !stray {
			t.Fatalf("a group signature from shares %d, %d, 2 and partial %x", i, j, raw)
		}
	})
}

func BenchmarkRecover(b *testing.B) {
	for _, c := range []struct{ n, t int }{{4, 3}, {100, 67}} {
		b.Run(fmt.Sprintf("kernel=blst/n=%d/t=%d", c.n, c.t), func(b *testing.B) {
			_, shares := deal(b, c.n, c.t)
			all := partials(shares)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Recover(c.t, all); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
