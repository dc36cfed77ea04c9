package oracletest

import (
	"bytes"
	"errors"
	"flag"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	libsecp "github.com/ethereum/go-ethereum/crypto/secp256k1"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

var rounds = flag.Int("rounds", 100_000, "cases for the batches; the other tests take an eighth")

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// oracleRecovers is libsecp256k1's verdict on a signature as it stands.
func oracleRecovers(hash [32]byte, sig secp256k1.Signature) (pub secp256k1.PublicKey, ok bool) {
	flat := append(append(append(make([]byte, 0, 65), sig.R[:]...), sig.S[:]...), sig.YParity)
	out, err := libsecp.RecoverPubkey(hash[:], flat)
	if err != nil {
		return pub, false
	}
	return secp256k1.PublicKey(out[1:]), true
}

// verdict is one of the outcomes that a case can have.
type verdict string

const (
	recovered  verdict = "a key"
	highS      verdict = "high s, refused by us alone"
	aboveOrder verdict = "x above n, refused by us alone"
	refused    verdict = "refused by both"
)

// compare holds what we made of a signature against the oracle. We accept fewer
// forms (resolution 11.12): where we alone refuse, the oracle must find nothing
// wrong but the form.
func compare(t *testing.T, hash [32]byte, sig secp256k1.Signature, pub [20]byte, err error) verdict {
	t.Helper()
	key, ok := oracleRecovers(hash, sig)
	switch {
	case err == nil && ok && pub == key.Address():
		return recovered
	case err != nil && !ok:
		return refused
	case errors.Is(err, secp256k1.ErrHighS) && ok:
		twin := sig
		s := new(big.Int).SetBytes(sig.S[:])
		twin.S, twin.YParity = word(s.Sub(order, s)), sig.YParity^1
		if sig.YParity < 2 {
			if got, err := secp256k1.Recover(hash, twin); err != nil || got != key {
				t.Fatalf("%x %+v: the low twin gives %x, %v; the oracle %x", hash, sig, got, err, key)
			}
		}
		return highS
	case errors.Is(err, secp256k1.ErrRecoveryID) && ok && (sig.YParity == 2 || sig.YParity == 3):
		return aboveOrder
	}
	t.Fatalf("%x %+v: %x, %v; the oracle %x, %v", hash, sig, pub, err, key, ok)
	return ""
}

// counted fails unless each verdict was reached often.
func counted(t *testing.T, seen map[verdict]int, cases int) {
	t.Helper()
	for _, v := range []verdict{recovered, highS, aboveOrder, refused} {
		if seen[v] < max(1, cases/1000) {
			t.Errorf("only %d of %d cases end with %s", seen[v], cases, v)
		}
	}
	t.Logf("%d cases: %v", cases, seen)
}

// eachPath runs a test on every path of this machine.
func eachPath(t *testing.T, cases int, test func(t *testing.T, r *secp256k1.Recoverer, cases int)) {
	paths := []*secp256k1.Recoverer{secp256k1.NewRecoverer(cpu.Detect())}
	if paths[0].Name() == "decred" {
		t.Log("only the portable path runs on this machine or in this build")
	} else {
		paths = append(paths, secp256k1.NewRecoverer(cpu.Features{}))
	}
	for i, r := range paths {
		if i > 0 {
			cases /= 16 // it is slow, and the test of lone recoveries tries the same code
		}
		t.Run("path="+r.Name(), func(t *testing.T) { test(t, r, cases) })
	}
}

// TestBatches recovers mixed cases in batches of every size from 0 to 65. Rerun
// a part of a long run with its seed.
func TestBatches(t *testing.T) {
	const seed = 1
	eachPath(t, *rounds, func(t *testing.T, r *secp256k1.Recoverer, cases int) {
		rng := random(seed)
		points := nonces(t, rng)
		seen := map[verdict]int{}
		done, last := 0, time.Now()
		for n := 0; done < cases; n = (n + 1) % 66 {
			hashes, sigs, out := make([][32]byte, n), make([]secp256k1.Signature, n), make([]secp256k1.Recovered, n)
			for i := range n {
				hashes[i], sigs[i] = draw(rng, points)
			}
			r.RecoverMany(hashes, sigs, out)
			for i := range n {
				seen[compare(t, hashes[i], sigs[i], out[i].Address, out[i].Err)]++
			}
			done += n
			if time.Since(last) > time.Minute {
				last = time.Now()
				t.Logf("seed %d: %d cases agree so far", seed, done)
			}
		}
		counted(t, seen, done)
	})
}

// TestBadLanes puts each kind of bad signature into each lane of full batches
// of good ones.
func TestBadLanes(t *testing.T) {
	const size = 65
	rng := random(2)
	points := nonces(t, rng)
	var hashes [size][32]byte
	var sigs [size]secp256k1.Signature
	for i := range size {
		secret := word(points[i].k)
		key, err := secp256k1.ParsePrivateKey(secret[:])
		if err != nil {
			t.Fatal(err)
		}
		hashes[i] = random32(rng)
		sigs[i] = key.Sign(hashes[i])
	}
	p := &points[50]
	infinite := new(big.Int).Mul(big.NewInt(9), p.k) // z = s·k: u1·G + u2·R = 0
	s9 := [32]byte{31: 9}
	kinds := []struct {
		name string
		hash [32]byte
		sig  secp256k1.Signature
		want error
	}{
		{"r is n", hashes[0], secp256k1.Signature{R: word(order), S: s9}, secp256k1.ErrRRange},
		{"r is 0", hashes[0], secp256k1.Signature{S: s9}, secp256k1.ErrRRange},
		{"s is 0", hashes[0], secp256k1.Signature{R: p.r}, secp256k1.ErrSRange},
		{"s is n", hashes[0], secp256k1.Signature{R: p.r, S: word(order)}, secp256k1.ErrSRange},
		{"s is high", hashes[0], secp256k1.Signature{R: p.r, S: word(new(big.Int).Add(halfOrder, big.NewInt(1)))}, secp256k1.ErrHighS},
		{"id 2", hashes[0], secp256k1.Signature{R: [32]byte{31: 4}, S: s9, YParity: 2}, secp256k1.ErrRecoveryID},
		{"id 3", hashes[0], secp256k1.Signature{R: [32]byte{31: 4}, S: s9, YParity: 3}, secp256k1.ErrRecoveryID},
		{"R off the curve", hashes[0], secp256k1.Signature{R: [32]byte{31: 5}, S: s9}, secp256k1.ErrNotOnCurve},
		{"Q at infinity", word(infinite.Mod(infinite, order)), secp256k1.Signature{R: p.r, S: s9, YParity: p.parity}, secp256k1.ErrInfinity},
	}
	eachPath(t, size, func(t *testing.T, r *secp256k1.Recoverer, _ int) {
		for _, kind := range kinds {
			for lane := range size {
				if r.Name() == "decred" && lane%16 != 0 {
					continue
				}
				h, s := hashes, sigs
				h[lane], s[lane] = kind.hash, kind.sig
				var out [size]secp256k1.Recovered
				r.RecoverMany(h[:], s[:], out[:])
				if !errors.Is(out[lane].Err, kind.want) {
					t.Fatalf("%s in lane %d: %+v, want %v", kind.name, lane, out[lane], kind.want)
				}
				for i := range size {
					compare(t, h[i], s[i], out[i].Address, out[i].Err)
				}
			}
		}
	})
}

// TestLoneRecoveries is TestBatches for Recover, and compares whole keys.
func TestLoneRecoveries(t *testing.T) {
	rng := random(3)
	points := nonces(t, rng)
	seen := map[verdict]int{}
	cases := *rounds / 8
	for range cases {
		hash, sig := draw(rng, points)
		pub, err := secp256k1.Recover(hash, sig)
		var address [20]byte
		if err == nil {
			if key, _ := oracleRecovers(hash, sig); pub != key {
				t.Fatalf("%x %+v: %x, the oracle %x", hash, sig, pub, key)
			}
			address = pub.Address()
		}
		seen[compare(t, hash, sig, address, err)]++
	}
	counted(t, seen, cases)
}

// TestSignatures compares signatures bit for bit: both take the nonce of RFC
// 6979 §3.2 and make s low. Hashes at and above n are among the cases.
func TestSignatures(t *testing.T) {
	rng := random(4)
	for i := range *rounds / 8 {
		d := scalar(rng)
		if d.Sign() == 0 {
			d.SetInt64(1)
		}
		secret, hash := word(d), random32(rng)
		switch i % 16 {
		case 0:
			hash = word(new(big.Int).Add(order, big.NewInt(int64(i%7-3))))
		case 1:
			hash = word(scalar(rng))
		}
		key, err := secp256k1.ParsePrivateKey(secret[:])
		if err != nil {
			t.Fatal(err)
		}
		want, err := libsecp.Sign(hash[:], secret[:])
		if err != nil {
			t.Fatal(err)
		}
		got := key.Sign(hash)
		if n := new(big.Int).SetBytes(hash[:]); n.Cmp(order) >= 0 {
			// The library derives the nonce from the hash as it is, RFC 6979 from
			// the hash mod n: two signatures of one message, both valid.
			pub := key.PublicKey()
			if err := pub.Verify(hash, got); err != nil || !oracleVerifies(pub, hash, got) {
				t.Fatalf("key %x hash %x: %+v does not verify: %v", secret, hash, got, err)
			}
			continue
		}
		if !bytes.Equal(got.R[:], want[:32]) || !bytes.Equal(got.S[:], want[32:64]) || got.YParity != want[64] {
			t.Fatalf("key %x hash %x: %+v, the oracle %x", secret, hash, got, want)
		}
	}
}

// oracleVerifies is libsecp256k1's verdict. It refuses a high s, as we do.
func oracleVerifies(pub secp256k1.PublicKey, hash [32]byte, sig secp256k1.Signature) bool {
	return libsecp.VerifySignature(append([]byte{4}, pub[:]...), hash[:], append(sig.R[:], sig.S[:]...))
}

// TestVerdicts verifies signatures that are right, of another hash, bent, or
// random, under keys on the curve and off it.
func TestVerdicts(t *testing.T) {
	rng := random(5)
	points := nonces(t, rng)
	seen := map[bool]int{}
	cases := *rounds / 8
	for i := range cases {
		hash, sig := draw(rng, points)
		pub, ok := oracleRecovers(hash, sig)
		if !ok { // any key will do
			secret := word(points[i%len(points)].k)
			key, err := secp256k1.ParsePrivateKey(secret[:])
			if err != nil {
				t.Fatal(err)
			}
			pub = key.PublicKey()
		}
		switch rng.IntN(8) {
		case 0:
			pub[rng.IntN(64)] ^= 1 << rng.IntN(8)
		case 1:
			hash[rng.IntN(32)] ^= 1 << rng.IntN(8)
		case 2:
			sig.R[rng.IntN(32)] ^= 1 << rng.IntN(8)
		}
		want := oracleVerifies(pub, hash, sig)
		if err := pub.Verify(hash, sig); (err == nil) != want {
			t.Fatalf("key %x hash %x %+v: %v, the oracle says %v", pub, hash, sig, err, want)
		}
		seen[want]++
	}
	if seen[true] < cases/10 || seen[false] < cases/10 {
		t.Errorf("verdicts %v of %d cases", seen, cases)
	}
}

// TestPublicKeys parses encodings of both forms, good and bent.
func TestPublicKeys(t *testing.T) {
	rng := random(6)
	points := nonces(t, rng)
	for i := range 4000 {
		p := &points[i%len(points)]
		b := append([]byte{2 + p.parity}, p.r[:]...)
		switch rng.IntN(4) {
		case 0:
			b[rng.IntN(33)] ^= 1 << rng.IntN(8)
		case 1:
			x := word(new(big.Int).Add(prime, big.NewInt(int64(rng.IntN(7)-3))))
			copy(b[1:], x[:])
		}
		x, y := libsecp.DecompressPubkey(b)
		pub, err := secp256k1.ParsePublicKey(b)
		if (err == nil) != (x != nil) {
			t.Fatalf("%x: %v, the oracle %v", b, err, x)
		}
		if err != nil {
			continue
		}
		wantX, wantY := word(x), word(y)
		if !bytes.Equal(pub[:32], wantX[:]) || !bytes.Equal(pub[32:], wantY[:]) || pub.Compressed() != [33]byte(b) {
			t.Fatalf("%x: %x, the oracle %x %x", b, pub, wantX, wantY)
		}
	}
}
