package oracletest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/field/hash"

	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// compareG1 decodes a signature with both.
func compareG1(t *testing.T, name string, b []byte) {
	t.Helper()
	err := bls.Signature(b).Check()
	var p bls12381.G1Affine
	_, oracle := p.SetBytes(b)
	compareVerdicts(t, name, err, oracle, p.IsInfinity())
}

// compareG2 decodes a key with both.
func compareG2(t *testing.T, name string, b []byte) {
	t.Helper()
	_, err := bls.ParsePublicKey(b)
	var p bls12381.G2Affine
	_, oracle := p.SetBytes(b)
	compareVerdicts(t, name, err, oracle, p.IsInfinity())
}

func compareVerdicts(t *testing.T, name string, err, oracle error, infinity bool) {
	t.Helper()
	if oracle == nil && infinity {
		if !errors.Is(err, bls.ErrInfinity) {
			t.Errorf("%s: %v for the identity", name, err)
		}
		return
	}
	if (err == nil) != (oracle == nil) {
		t.Errorf("%s: %v, oracle %v", name, err, oracle)
	}
}

// TestEveryVector walks all files. A string of 48 bytes is read as a point of
// G1, one of 96 bytes as one of G2, and every string is hashed to the curve.
// The files of the other scheme, with keys in G1, serve as inputs all the same.
func TestEveryVector(t *testing.T) {
	var key [bls.SecretKeySize]byte
	key[len(key)-1] = 1 // signs with the hash itself
	one, err := bls.ParseSecretKey(key[:])
	check(t, err)
	var g1, g2, hashes int
	seen := map[string]bool{}
	visit := func(file, text string) {
		if seen[text] {
			return
		}
		seen[text] = true
		raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
		if err != nil {
			raw = []byte(text)
		}
		switch len(raw) {
		case bls.SignatureSize:
			compareG1(t, file+": "+text, raw)
			g1++
		case bls.PublicKeySize:
			compareG2(t, file+": "+text, raw)
			g2++
		}
		want := oracleHash(t, namespace, raw, tag)
		if got := one.Sign(namespace, raw); got != want.Bytes() {
			t.Errorf("%s: hash of %q: %x, oracle %x", file, text, got, want.Bytes())
		}
		hashes++
	}
	err = filepath.WalkDir(vectors.Path(t, "bls12381"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if filepath.Ext(name) != ".json" {
			for word := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return r == ':' || r == '\n' }) {
				visit(name, word)
			}
			return nil
		}
		var tree any
		if err := json.Unmarshal(text, &tree); err != nil {
			return err
		}
		eachString(tree, func(s string) { visit(name, s) })
		return nil
	})
	check(t, err)
	if g1 < 100 || g2 < 100 || hashes < 500 {
		t.Errorf("only %d points of G1, %d of G2, %d hashes", g1, g2, hashes)
	}
	t.Logf("%d points of G1, %d of G2, %d hashes", g1, g2, hashes)
}

func eachString(tree any, visit func(string)) {
	switch v := tree.(type) {
	case string:
		visit(v)
	case []any:
		for _, e := range v {
			eachString(e, visit)
		}
	case map[string]any:
		for _, e := range v {
			eachString(e, visit)
		}
	}
}

// TestOracleReadsTheBeacons shows that the oracle is one: it accepts the beacons
// of live networks, which crypto/bls accepts in its own tests.
func TestOracleReadsTheBeacons(t *testing.T) {
	for _, name := range []string{"quicknet_minsig_g1.json", "fastnet_and_test_chains_minsig_g1.json"} {
		text, err := os.ReadFile(vectors.Path(t, "bls12381/drand/"+name))
		check(t, err)
		var beacons []struct {
			Round     uint64
			PublicKey string `json:"public_key"`
			Signature string
			DST       string
		}
		check(t, json.Unmarshal(text, &beacons))
		for _, b := range beacons {
			msg := sha256.Sum256(binary.BigEndian.AppendUint64(nil, b.Round))
			hash, err := bls12381.HashToG1(msg[:], []byte(b.DST))
			check(t, err)
			key, err := hex.DecodeString(b.PublicKey)
			check(t, err)
			sig, err := hex.DecodeString(b.Signature)
			check(t, err)
			if !oracleVerifies(key, sig, hash) {
				t.Errorf("%s round %d is refused", name, b.Round)
			}
			sig[47] ^= 1
			if oracleVerifies(key, sig, hash) {
				t.Errorf("%s round %d passes with another signature", name, b.Round)
			}
		}
	}
}

// TestExpandMessage holds the oracle's expansion of messages, the first step of hash
// to curve, to RFC 9380: blst has no door to its own, and both hash alike.
func TestExpandMessage(t *testing.T) { // RFC 9380 §5.3.1
	for _, file := range []string{"38", "256"} {
		var suite struct {
			DST   string
			Tests []struct {
				Len     string `json:"len_in_bytes"`
				Msg     string
				Uniform string `json:"uniform_bytes"`
			}
		}
		vectors.Decode(t, "bls12381/rfc9380/expand_message_xmd_SHA256_"+file+".json", &suite)
		for _, c := range suite.Tests {
			n, err := strconv.ParseInt(c.Len, 0, 32)
			check(t, err)
			dst := []byte(suite.DST)
			if len(dst) > 255 { // RFC 9380 §5.3.3
				long := sha256.Sum256(append([]byte("H2C-OVERSIZE-DST-"), dst...))
				dst = long[:]
			}
			got, err := hash.ExpandMsgXmd([]byte(c.Msg), dst, int(n))
			check(t, err)
			if hex.EncodeToString(got) != c.Uniform {
				t.Errorf("%s %q: %x, want %s", file, c.Msg, got, c.Uniform)
			}
		}
		if len(suite.Tests) < 5 {
			t.Errorf("%s: %d cases", file, len(suite.Tests))
		}
	}
}
