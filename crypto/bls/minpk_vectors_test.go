package bls

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	blst "github.com/supranational/blst/bindings/go"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// The chain signs in G1. The tests of this file hold the library below, as it is
// linked here, to the public vectors of the other form, keys in G1 and signatures
// in G2: pairing, subgroups, hash to curve and aggregation are the same code.

const (
	minPkPop   = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"
	minPkBasic = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_"
)

// minPkKey returns a key in G1, or nil for what is none or the identity.
func minPkKey(b []byte) *blst.P1Affine {
	p := new(blst.P1Affine).Uncompress(b)
	if p == nil || !p.KeyValidate() {
		return nil
	}
	return p
}

// minPkKeys returns a point in G1 for each key, and false where one is none.
func minPkKeys(keys [][]byte) ([]*blst.P1Affine, bool) {
	var points []*blst.P1Affine
	for _, k := range keys {
		p := minPkKey(k)
		if p == nil {
			return nil, false
		}
		points = append(points, p)
	}
	return points, true
}

// minPkSignature returns a signature in G2, or nil for what is none.
func minPkSignature(b []byte) *blst.P2Affine {
	p := new(blst.P2Affine).Uncompress(b)
	if p == nil || !p.SigValidate(false) {
		return nil
	}
	return p
}

func minPkVerify(keys, msgs [][]byte, sig []byte, dst string) bool {
	s := minPkSignature(sig)
	if s == nil || len(keys) == 0 || len(keys) != len(msgs) {
		return false
	}
	points, ok := minPkKeys(keys)
	return ok && s.AggregateVerify(true, points, true, msgs, []byte(dst))
}

func minPkFast(keys [][]byte, msg, sig []byte) bool {
	s := minPkSignature(sig)
	if s == nil || len(keys) == 0 {
		return false
	}
	points, ok := minPkKeys(keys)
	return ok && s.FastAggregateVerify(true, points, msg, []byte(minPkPop))
}

// minPkCase is a row of the Ethereum suite.
type minPkCase struct {
	Name  string
	Input struct {
		Pubkey, Message, Signature string
		Pubkeys, Messages          []string
		Signatures                 []string
		Msg                        string
	}
}

func unhexAll(t *testing.T, list []string) (out [][]byte) {
	for _, s := range list {
		out = append(out, unhex(t, s))
	}
	return out
}

func TestMinPkSignatures(t *testing.T) {
	f := func(file string, verify func(minPkCase) bool) {
		var rows []struct {
			minPkCase
			Output bool
		}
		vectors.Decode(t, "bls12381/eth_bls_tests_minpk/"+file, &rows)
		for _, r := range rows {
			if got := verify(r.minPkCase); got != r.Output {
				t.Errorf("%s: %v, want %v", r.Name, got, r.Output)
			}
		}
		if len(rows) == 0 {
			t.Errorf("%s is empty", file)
		}
	}
	f("verify.json", func(c minPkCase) bool {
		in := &c.Input
		return minPkVerify([][]byte{unhex(t, in.Pubkey)}, [][]byte{unhex(t, in.Message)}, unhex(t, in.Signature), minPkPop)
	})
	f("aggregate_verify.json", func(c minPkCase) bool {
		return minPkVerify(unhexAll(t, c.Input.Pubkeys), unhexAll(t, c.Input.Messages), unhex(t, c.Input.Signature), minPkPop)
	})
	f("fast_aggregate_verify.json", func(c minPkCase) bool {
		return minPkFast(unhexAll(t, c.Input.Pubkeys), unhex(t, c.Input.Message), unhex(t, c.Input.Signature))
	})
	f("batch_verify.json", func(c minPkCase) bool {
		keys, msgs := unhexAll(t, c.Input.Pubkeys), unhexAll(t, c.Input.Messages)
		for i, s := range unhexAll(t, c.Input.Signatures) {
			if !minPkVerify(keys[i:i+1], msgs[i:i+1], s, minPkPop) {
				return false
			}
		}
		return len(keys) > 0
	})
}

func TestMinPkAggregates(t *testing.T) {
	var rows []struct {
		Name   string
		Input  []string
		Output *string
	}
	vectors.Decode(t, "bls12381/eth_bls_tests_minpk/aggregate.json", &rows)
	for _, r := range rows {
		var sum blst.P2Aggregate
		ok := len(r.Input) > 0 && sum.AggregateCompressed(unhexAll(t, r.Input), true)
		switch {
		case ok != (r.Output != nil):
			t.Errorf("%s: aggregated %v, want %v", r.Name, ok, r.Output != nil)
		case ok:
			if got := hex.EncodeToString(sum.ToAffine().Compress()); got != strings.TrimPrefix(*r.Output, "0x") {
				t.Errorf("%s: %s", r.Name, got)
			}
		}
	}
}

// TestMinPkWycheproof: what is called valid verifies, and nothing else.
func TestMinPkWycheproof(t *testing.T) {
	for _, file := range []string{"basic_verify", "pop_verify", "aggregate_verify"} {
		var suite struct {
			TestGroups []struct {
				Ciphersuite string
				PublicKey   struct{ PK string }
				Tests       []struct {
					Comment, Msg, Sig, Result string
					Pubkeys, Messages         []string
				}
			}
		}
		vectors.Decode(t, "bls12381/wycheproof/bls_sig_g2_"+file+"_test.json", &suite)
		ran := 0
		for _, g := range suite.TestGroups {
			for _, c := range g.Tests {
				keys, msgs := unhexAll(t, c.Pubkeys), unhexAll(t, c.Messages)
				if len(keys) == 0 && g.PublicKey.PK != "" {
					keys, msgs = [][]byte{unhex(t, g.PublicKey.PK)}, [][]byte{unhex(t, c.Msg)}
				}
				if got := minPkVerify(keys, msgs, unhex(t, c.Sig), g.Ciphersuite); got != (c.Result == "valid") {
					t.Errorf("%s: %s: %v, want %s", file, c.Comment, got, c.Result)
				}
				ran++
			}
		}
		if ran < 10 {
			t.Errorf("%s: %d cases", file, ran)
		}
	}
}

func TestMinPkKeepersOfRandomness(t *testing.T) {
	var beacons []struct {
		Round                   uint64
		PublicKey               string `json:"public_key"`
		Previous                string `json:"previous_signature"`
		Signature, DST, Comment string
	}
	vectors.Decode(t, "bls12381/drand/default_minpk_g2.json", &beacons)
	for _, b := range beacons {
		msg := sha256.Sum256(binary.BigEndian.AppendUint64(unhex(t, b.Previous), b.Round))
		if !minPkVerify([][]byte{unhex(t, b.PublicKey)}, [][]byte{msg[:]}, unhex(t, b.Signature), b.DST) {
			t.Errorf("round %d is refused", b.Round)
		}
		if minPkVerify([][]byte{unhex(t, b.PublicKey)}, [][]byte{msg[1:]}, unhex(t, b.Signature), b.DST) {
			t.Errorf("round %d passes for another message", b.Round)
		}
	}
	lines := strings.Fields(string(vectors.Read(t, "bls12381/noble/bls12-381-g2-test-vectors.txt")))
	for i, line := range lines {
		parts := strings.Split(line, ":")
		var k blst.SecretKey
		if len(parts) != 3 || k.FromBEndian(unhex(t, parts[0])) == nil {
			t.Fatalf("line %d: %q", i+1, line)
		}
		sig := new(blst.P2Affine).Sign(&k, unhex(t, parts[1]), []byte(minPkBasic))
		if got := hex.EncodeToString(sig.Compress()); got != parts[2] {
			t.Errorf("line %d: got %s, want %s", i+1, got, parts[2])
		}
	}
	if len(beacons) == 0 || len(lines) < 50 {
		t.Errorf("%d beacons, %d lines", len(beacons), len(lines))
	}
}

// TestHashToTheOtherGroup: hash to G2, and the form of hash to G1 that is no random
// oracle, as RFC 9380 and others have them.
func TestHashToTheOtherGroup(t *testing.T) {
	for _, file := range []string{"BLS12381G1_XMD-SHA-256_SSWU_NU", "BLS12381G2_XMD-SHA-256_SSWU_RO"} {
		var suite struct {
			DST     string
			Vectors []struct {
				Msg string
				P   struct{ X, Y string }
			}
		}
		vectors.Decode(t, "bls12381/rfc9380/"+file+".json", &suite)
		if len(suite.Vectors) < 3 {
			t.Fatalf("%s: %d vectors", file, len(suite.Vectors))
		}
		for _, v := range suite.Vectors {
			var got []byte
			if strings.Contains(file, "G1") {
				got = blst.EncodeToG1([]byte(v.Msg), []byte(suite.DST)).ToAffine().Serialize()
			} else {
				got = blst.HashToG2([]byte(v.Msg), []byte(suite.DST)).ToAffine().Serialize()
			}
			if want := wideHex(v.P.X) + wideHex(v.P.Y); hex.EncodeToString(got) != want {
				t.Errorf("%s %q: %x, want %s", file, v.Msg, got, want)
			}
		}
	}
	var eth []struct {
		Input  struct{ Msg string }
		Output struct{ X, Y string }
	}
	vectors.Decode(t, "bls12381/eth_bls_tests_minpk/hash_to_G2.json", &eth)
	const dst = "QUUX-V01-CS02-with-BLS12381G2_XMD:SHA-256_SSWU_RO_"
	for _, v := range eth {
		got := blst.HashToG2([]byte(v.Input.Msg), []byte(dst)).ToAffine().Serialize()
		if want := wideHex(v.Output.X) + wideHex(v.Output.Y); hex.EncodeToString(got) != want {
			t.Errorf("%q: %x, want %s", v.Input.Msg, got, want)
		}
	}
	var wycheproof struct {
		TestGroups []struct {
			DST   string
			Tests []struct{ Msg, Expected, Result string }
		}
	}
	vectors.Decode(t, "bls12381/wycheproof/bls_hash_to_g2_test.json", &wycheproof)
	for _, g := range wycheproof.TestGroups {
		for _, c := range g.Tests {
			got := hex.EncodeToString(blst.HashToG2(unhex(t, c.Msg), []byte(g.DST)).ToAffine().Compress())
			if (got == c.Expected) != (c.Result == "valid") {
				t.Errorf("%s: %s, want %s %s", c.Msg, got, c.Result, c.Expected)
			}
		}
	}
}

// wideHex is a coordinate as blst writes it: of two parts, the imaginary one first.
func wideHex(text string) string {
	parts := strings.Split(text, ",")
	out := ""
	for i := range parts {
		out += fmt.Sprintf("%096s", strings.TrimPrefix(parts[len(parts)-1-i], "0x"))
	}
	return out
}
