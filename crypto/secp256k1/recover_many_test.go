package secp256k1

import (
	"errors"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/asm/secp"
)

var manyCases = flag.Int("cases", 100_000, "signatures of known keys to recover; a long run asks for more")

// recoverers returns one for each path that the machine has, and one that runs
// the lanes' algorithm on the portable kernel.
func recoverers() []*Recoverer {
	all := []*Recoverer{NewRecoverer(cpu.Features{}), portableLanes()}
	if fast := NewRecoverer(cpu.Detect()); fast.Name() != all[0].Name() {
		all = append(all, fast)
	}
	return all
}

func portableLanes() *Recoverer {
	return &Recoverer{kernel: secp.Kernels(cpu.Features{})[0]}
}

func eachRecoverer(t *testing.T, test func(t *testing.T, r *Recoverer)) {
	all := recoverers()
	if len(all) == 2 {
		t.Log("no kernel but the portable ones runs on this machine or in this build")
	}
	for _, r := range all {
		t.Run("kernel="+r.Name(), func(t *testing.T) { test(t, r) })
	}
}

// recoverEveryWay is Recover, and demands that a batch of one agrees.
func recoverEveryWay(t *testing.T, hash [32]byte, sig Signature) (PublicKey, error) {
	t.Helper()
	pub, err := Recover(hash, sig)
	want := recoverOne(hash, sig)
	var out [1]Recovered
	RecoverMany([][32]byte{hash}, []Signature{sig}, out[:])
	if out[0] != want {
		t.Errorf("RecoverMany gives %+v for %x %+v, Recover %+v", out[0], hash, sig, want)
	}
	return pub, err
}

func TestNameSaysWhichPathRuns(t *testing.T) {
	if got := NewRecoverer(cpu.Detect().Limit(cpu.Generic)).Name(); got != "decred" {
		t.Errorf("without features: %q, want decred", got)
	}
	t.Logf("this machine: %s", NewRecoverer(cpu.Detect()).Name())
}

// draw is a source of scalars biased to the edges of their range and of their
// digits.
type draw struct{ *rand.Rand }

func newDraw(seed uint64) draw { return draw{rand.New(rand.NewPCG(seed, 0))} }

func (d draw) bytes() (b [32]byte) {
	for i := 0; i < len(b); i += 8 {
		v := d.Uint64()
		for j := range 8 {
			b[i+j] = byte(v >> (8 * j))
		}
	}
	return b
}

// scalar returns a value below n, zero among others.
func (d draw) scalar() (s secp256k1.ModNScalar) {
	b := d.bytes()
	switch d.IntN(6) {
	case 0:
		clear(b[:31]) // small
	case 1:
		clear(b[:31])
		s.SetBytes(&b)
		s.Negate()
		return s
	case 2: // a power of two, or next to it
		clear(b[:])
		b[d.IntN(32)] = 1 << d.IntN(8)
		s.SetBytes(&b)
		one := new(secp256k1.ModNScalar).SetInt(uint32(d.IntN(2)))
		if d.IntN(2) == 0 {
			one.Negate()
		}
		s.Add(one)
		return s
	case 3: // long runs of equal bits
		for i := d.IntN(32); i < 32; i++ {
			b[i] = byte(-(i & 1))
		}
	case 4: // lambda times something small: the second half alone
		clear(b[:31])
		s.SetBytes(&b)
		s.Mul(&lambdaScalar)
		return s
	}
	s.SetBytes(&b)
	return s
}

var lambdaScalar = scalarOf(words{0xdf02967c1b23bd72, 0x122e22ea20816678, 0xa5261c028812645a, 0x5363ad4cc05c30e0})

func scalarOf(w words) (s secp256k1.ModNScalar) {
	b := w.bytes()
	s.SetBytes(&b)
	return s
}

// TestWordsFollowTheScalars holds arithmetic on words to decred's.
func TestWordsFollowTheScalars(t *testing.T) {
	d := newDraw(5)
	radix := scalarOf(words{1})
	for range 256 {
		radix.Add(new(secp256k1.ModNScalar).Set(&radix))
	}
	for i := range 50_000 {
		x, y := d.scalar(), d.scalar()
		xBytes, yBytes := x.Bytes(), y.Bytes()
		a, b := wordsOf(&xBytes), wordsOf(&yBytes)
		if i%8 == 0 { // the first factor may be any value
			a[3] = 1<<64 - 1
			aBytes := a.bytes()
			x.SetBytes(&aBytes)
		}
		got := scalarOf(mulMontgomery(&a, &b))
		want := new(secp256k1.ModNScalar).Mul2(&x, &y)
		if !got.Mul(&radix).Equals(want) {
			t.Fatalf("case %d: %x·%x", i, a, b)
		}
		product := mulMontgomery(&a, &b)
		if _, below := product.minus(&orderWords); below == 0 {
			t.Fatalf("case %d: %x·%x is not below n", i, a, b)
		}
		a = wordsOf(&xBytes)
		x.SetBytes(&xBytes)
		if got := scalarOf(addModOrder(&a, &b)); !got.Equals(new(secp256k1.ModNScalar).Add2(&x, &y)) {
			t.Fatalf("case %d: %x+%x", i, a, b)
		}
		minusY := new(secp256k1.ModNScalar).NegateVal(&y)
		if got := scalarOf(subModOrder(&a, &b)); !got.Equals(minusY.Add(&x)) {
			t.Fatalf("case %d: %x-%x", i, a, b)
		}
	}
}

// nonces are points k·G with their k.
type nonce struct {
	k, inverse secp256k1.ModNScalar
	pub        PublicKey
}

func nonces(n int) []nonce {
	out := make([]nonce, n)
	for i := range out {
		b := newDraw(uint64(1000 + i)).bytes()
		key, err := ParsePrivateKey(b[:])
		if err != nil {
			panic(err)
		}
		out[i] = nonce{k: key.key.Key, pub: key.PublicKey()}
		out[i].inverse.InverseValNonConst(&out[i].k)
	}
	return out
}

// signWithNonce signs as RFC 6979 does, but with the given nonce.
func signWithNonce(key *nonce, n *nonce, z *secp256k1.ModNScalar) (Signature, bool) {
	return (&PrivateKey{secp256k1.NewPrivateKey(&key.k)}).signWith(&n.k, z)
}

// TestRecoverManyFindsSigners recovers many signatures of known keys in batches
// of every size from 0 to 65.
func TestRecoverManyFindsSigners(t *testing.T) {
	keys, points := nonces(64), nonces(512)
	addresses := make([][20]byte, len(keys))
	for i := range keys {
		addresses[i] = keys[i].pub.Address()
	}
	eachRecoverer(t, func(t *testing.T, r *Recoverer) {
		cases := *manyCases
		if r.Name() == "decred" || r.Name() == "generic" {
			cases = min(cases, 4_000)
		}
		if testing.Short() {
			cases = min(cases, 1_000)
		}
		const seed = 7
		d := newDraw(seed)
		for done, n := 0, 0; done < cases; n = (n + 1) % 66 {
			hashes, sigs, out := make([][32]byte, n), make([]Signature, n), make([]Recovered, n)
			want := make([][20]byte, n)
			for i := range n {
				key, point := d.IntN(len(keys)), &points[d.IntN(len(points))]
				var z, s secp256k1.ModNScalar
				hashes[i] = d.bytes()
				z.SetBytes(&hashes[i])
				// s = (z + r·key)/k, made low
				sigs[i].R, sigs[i].YParity = [32]byte(point.pub[:32]), point.pub[63]&1
				s.SetBytes(&sigs[i].R)
				s.Mul(&keys[key].k).Add(&z).Mul(&point.inverse)
				if s.IsOverHalfOrder() {
					s.Negate()
					sigs[i].YParity ^= 1
				}
				sigs[i].S = s.Bytes()
				want[i] = addresses[key]
			}
			r.RecoverMany(hashes, sigs, out)
			for i := range out {
				if out[i] != (Recovered{Address: want[i]}) {
					t.Fatalf("seed %d, batch of %d, lane %d: %x %+v gives %+v, want %x", seed, n, i, hashes[i], sigs[i], out[i], want[i])
				}
			}
			done += max(n, 1)
		}
	})
}

// anyCase returns a hash and a signature, good or bad, from one of many recipes.
func (d draw) anyCase(points []nonce) (hash [32]byte, sig Signature) {
	n := &points[d.IntN(len(points))]
	sig.R, sig.YParity = [32]byte(n.pub[:32]), n.pub[63]&1
	var r secp256k1.ModNScalar
	r.SetBytes(&sig.R)
	// u1 and u2 of choice: s = u2·r, z = -u1·r
	u1, u2 := d.scalar(), d.scalar()
	switch d.IntN(8) {
	case 0: // u1·G = -u2·R: infinity
		u1.Mul2(&u2, &n.k).Negate()
	case 1: // u1·G = u2·R
		u1.Mul2(&u2, &n.k)
	}
	var s, z secp256k1.ModNScalar
	s.Mul2(&u2, &r)
	z.Mul2(&u1, &r).Negate()
	if s.IsOverHalfOrder() && d.IntN(8) > 0 {
		s.Negate()
		sig.YParity ^= 1 // the same as u2·R with both negated
	}
	hash, sig.S = z.Bytes(), s.Bytes()
	switch d.IntN(12) {
	case 0:
		sig.YParity ^= 1
	case 1:
		sig.YParity = uint8(d.IntN(256))
	case 2:
		sig.R = d.bytes() // half of them are off the curve
	case 3:
		sig.S = d.bytes()
	case 4:
		sig.R = wordFrom(orderHex, d.IntN(7)-3)
	case 5:
		sig.S = wordFrom(halfOrderHex, d.IntN(7)-3)
	case 6:
		hash = wordFrom(orderHex, d.IntN(7)-3)
	case 7:
		sig.R = [32]byte{31: byte(d.IntN(40))}
	}
	return hash, sig
}

// wordFrom returns the hexadecimal number plus d.
func wordFrom(hexadecimal string, d int) (b [32]byte) {
	n, _ := new(big.Int).SetString(hexadecimal, 16)
	n.Add(n, big.NewInt(int64(d))).FillBytes(b[:])
	return b
}

// TestRecoverManyFollowsRecover mixes good and bad signatures and crafted
// scalars in batches of every size from 0 to 65, and holds each outcome to that
// of Recover, the error included.
func TestRecoverManyFollowsRecover(t *testing.T) {
	points := append(nonces(32), smallNonces()...)
	const seed = 11
	d := newDraw(seed)
	seen := map[error]int{}
	rounds := 8
	if testing.Short() {
		rounds = 1
	}
	for round := range rounds {
		for n := range 66 {
			hashes, sigs := make([][32]byte, n), make([]Signature, n)
			want := make([]Recovered, n)
			for i := range n {
				hashes[i], sigs[i] = d.anyCase(points)
				want[i] = recoverOne(hashes[i], sigs[i])
				seen[want[i].Err]++
			}
			for _, r := range recoverers()[1:] {
				if r.Name() == "generic" && round > 0 {
					continue
				}
				out := make([]Recovered, n)
				r.RecoverMany(hashes, sigs, out)
				for i := range out {
					if out[i] != want[i] {
						t.Fatalf("seed %d, %s, batch of %d, lane %d: %x %+v gives %+v, want %+v",
							seed, r.Name(), n, i, hashes[i], sigs[i], out[i], want[i])
					}
				}
			}
		}
	}
	for _, err := range []error{nil, ErrRRange, ErrSRange, ErrHighS, ErrRecoveryID, ErrNotOnCurve, ErrInfinity} {
		if seen[err] < 2*rounds {
			t.Errorf("only %d cases end with %v", seen[err], err)
		}
	}
}

// smallNonces are points near G, which meet the tables' entries.
func smallNonces() []nonce {
	var out []nonce
	for k := uint32(1); k <= 40; k++ {
		var n nonce
		n.k.SetInt(k)
		n.inverse.InverseValNonConst(&n.k)
		n.pub = (&PrivateKey{secp256k1.NewPrivateKey(&n.k)}).PublicKey()
		out = append(out, n)
	}
	return out
}

// TestExceptionalLanesAreRedone shows that additions of equal points do occur
// in crafted batches, in every lane, and come out as Recover says.
func TestExceptionalLanesAreRedone(t *testing.T) {
	points, step := smallNonces(), 1
	if testing.Short() {
		step = 5
	}
	for _, r := range recoverers()[1:] {
		b := newBatch()
		b.kernel, b.sums = &r.kernel, r.sums
		for lane := 0; lane < quadLanes; lane += step {
			hashes, sigs, out := make([][32]byte, quadLanes), make([]Signature, quadLanes), make([]Recovered, quadLanes)
			for i := range sigs {
				key, point := &points[i%5], &points[7+i%30]
				z := scalarOf(words{uint64(i), 1 << 60, uint64(lane), 5})
				hashes[i] = z.Bytes()
				sigs[i], _ = signWithNonce(key, point, &z)
			}
			// Q = u1·G + u2·R is infinity: the last addition, at least, is of
			// opposite points.
			n := &points[lane]
			var z secp256k1.ModNScalar
			sigs[lane] = Signature{R: [32]byte(n.pub[:32]), S: [32]byte{31: 9}, YParity: n.pub[63] & 1}
			z.SetBytes(&sigs[lane].S)
			z.Mul(&n.k)
			hashes[lane] = z.Bytes()
			b.recover(hashes, sigs, out)
			for i := range out {
				if want := recoverOne(hashes[i], sigs[i]); out[i] != want {
					t.Fatalf("%s, bad lane %d, lane %d: %+v, want %+v", r.Name(), lane, i, out[i], want)
				}
			}
			if b.quads[0].exception[lane/8]>>(lane%8)&1 != 1 {
				t.Errorf("%s, lane %d is not marked as exceptional", r.Name(), lane)
			}
			if !errors.Is(out[lane].Err, ErrInfinity) {
				t.Errorf("%s, lane %d: %v", r.Name(), lane, out[lane].Err)
			}
		}
	}
}

// TestRecoverManyRunsInParallel runs batches on several goroutines.
func TestRecoverManyRunsInParallel(t *testing.T) {
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			n := 40 + worker
			hashes, sigs, out := make([][32]byte, n), make([]Signature, n), make([]Recovered, n)
			for i := range n {
				hashes[i] = [32]byte{byte(i), byte(worker)}
				sigs[i] = testKey(t, uint64(i)).Sign(hashes[i])
			}
			for range 5 {
				RecoverMany(hashes, sigs, out)
				for i := range out {
					if want := testKey(t, uint64(i)).PublicKey().Address(); out[i] != (Recovered{Address: want}) {
						t.Errorf("worker %d, lane %d: %+v, want %x", worker, i, out[i], want)
					}
				}
			}
		})
	}
	wait.Wait()
}

// TestSplitStaysBelow129Bits holds the halves to their bound and their meaning.
func TestSplitStaysBelow129Bits(t *testing.T) {
	d := newDraw(3)
	order, _ := new(big.Int).SetString(orderHex, 16)
	bigOf := func(w ...uint64) *big.Int {
		n := new(big.Int)
		for i := len(w) - 1; i >= 0; i-- {
			n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(w[i]))
		}
		return n
	}
	lambdaBytes := lambdaScalar.Bytes()
	lambda := wordsOf(&lambdaBytes)
	shift := new(big.Int).Lsh(big.NewInt(1), 128)
	for i := range 20_000 {
		scalar := d.scalar()
		bytes := scalar.Bytes()
		k := wordsOf(&bytes)
		v1, v2 := split(&k)
		if v1[2] > 1 || v2[2] > 1 {
			t.Fatalf("case %d: %x splits into %x and %x", i, k, v1, v2)
		}
		sum := new(big.Int).Sub(bigOf(v2[:]...), shift)
		sum.Mul(sum, bigOf(lambda[:]...)).Add(sum, bigOf(v1[:]...)).Sub(sum, shift)
		if sum.Sub(sum, bigOf(k[:]...)).Mod(sum, order).Sign() != 0 {
			t.Fatalf("case %d: %x splits into %x and %x, which do not add up", i, k, v1, v2)
		}
	}
}

// FuzzRecoverMany holds batches of any content to Recover. 97 bytes make a
// case; a case is repeated until the batch has the wanted size.
func FuzzRecoverMany(f *testing.F) {
	hash := [32]byte{3}
	sig := testKey(f, 3).Sign(hash)
	good := append(append(append(hash[:], sig.R[:]...), sig.S[:]...), sig.YParity)
	f.Add(good, uint8(1))
	f.Add(append(append([]byte{}, good...), make([]byte, 97)...), uint8(17))
	f.Add(make([]byte, 97), uint8(9))
	fast := NewRecoverer(cpu.Detect())
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		if len(in) < 97 || len(in) > 8*97 || size > 65 {
			return
		}
		hashes, sigs, out := make([][32]byte, size), make([]Signature, size), make([]Recovered, size)
		var want []Recovered
		for i := range out {
			at := in[i%(len(in)/97)*97:]
			hashes[i] = [32]byte(at)
			sigs[i] = Signature{R: [32]byte(at[32:]), S: [32]byte(at[64:]), YParity: at[96]}
			if i < len(in)/97 {
				want = append(want, recoverOne(hashes[i], sigs[i]))
			}
		}
		fast.RecoverMany(hashes, sigs, out)
		for i := range out {
			if out[i] != want[i%len(want)] {
				t.Fatalf("lane %d of %d: %+v, want %+v", i, size, out[i], want[i%len(want)])
			}
		}
	})
}

func BenchmarkRecoverMany(b *testing.B) {
	for _, r := range []*Recoverer{NewRecoverer(cpu.Features{}), NewRecoverer(cpu.Detect())} {
		for _, n := range []int{1, 8, 16, 32, 64, 128} {
			b.Run(fmt.Sprintf("kernel=%s/n=%d", r.Name(), n), func(b *testing.B) {
				hashes, sigs, out := make([][32]byte, n), make([]Signature, n), make([]Recovered, n)
				for i := range n {
					hashes[i] = [32]byte{byte(i)}
					sigs[i] = testKey(b, uint64(i)).Sign(hashes[i])
				}
				b.ReportAllocs()
				for b.Loop() {
					r.RecoverMany(hashes, sigs, out)
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "recovers/s")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/float64(b.N), "ns/recover")
			})
		}
	}
}

// TestBaseTables holds every entry of the shared tables to decred's multiples.
func TestBaseTables(t *testing.T) {
	for i, table := range baseTables() {
		var k, two secp256k1.ModNScalar
		if k.SetInt(1); i == 1 {
			k.SetBytes(&[32]byte{31 - baseSplit/8: 1 << (baseSplit % 8)})
		}
		two.Add2(&k, &k)
		for n := range table {
			var want secp256k1.JacobianPoint
			secp256k1.ScalarBaseMultNonConst(&k, &want)
			want.ToAffine()
			var words [8]uint64
			putWords(words[:4], want.X.Bytes())
			putWords(words[4:], want.Y.Bytes())
			if table[n] != words {
				t.Fatalf("entry %d of table %d differs", n, i)
			}
			k.Add(&two)
		}
	}
}
