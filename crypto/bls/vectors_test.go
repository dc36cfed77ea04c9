package bls

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	blst "github.com/supranational/blst/bindings/go"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDrandBeacons verifies threshold signatures of live networks. Their tags
// differ from ours and they sign without a namespace.
func TestDrandBeacons(t *testing.T) {
	for _, name := range []string{"drand/quicknet_minsig_g1.json", "drand/fastnet_and_test_chains_minsig_g1.json"} {
		var beacons []struct {
			Chain     string
			Round     uint64
			PublicKey string `json:"public_key"`
			Signature string
			DST       string
		}
		vectors.Decode(t, "bls12381/"+name, &beacons)
		for _, b := range beacons {
			pub, err := ParsePublicKey(unhex(t, b.PublicKey))
			if err != nil {
				t.Fatalf("%s: %v", b.Chain, err)
			}
			msg := sha256.Sum256(binary.BigEndian.AppendUint64(nil, b.Round))
			sig := Signature(unhex(t, b.Signature))
			if !pub.verify(msg[:], b.DST, sig) {
				t.Errorf("%s round %d is refused", b.Chain, b.Round)
			}
			if pub.verify(msg[1:], b.DST, sig) || pub.verify(msg[:], messageDST, sig) {
				t.Errorf("%s round %d passes for another message or tag", b.Chain, b.Round)
			}
		}
		t.Logf("%s: %d beacons", name, len(beacons))
	}
}

// TestNobleSignatures signs private:message:signature lines anew.
func TestNobleSignatures(t *testing.T) {
	const dst = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
	lines := strings.Fields(string(vectors.Read(t, "bls12381/noble/bls12-381-g1-test-vectors.txt")))
	if len(lines) < 50 {
		t.Fatalf("only %d lines", len(lines))
	}
	for i, line := range lines {
		parts := strings.Split(line, ":")
		if len(parts) != 3 {
			t.Fatalf("line %d: %q", i+1, line)
		}
		var k SecretKey
		if k.scalar.FromBEndian(unhex(t, parts[0])) == nil { // reduces modulo r
			t.Fatalf("line %d: zero key", i+1)
		}
		if got := k.sign(unhex(t, parts[1]), dst); hex.EncodeToString(got[:]) != parts[2] {
			t.Errorf("line %d: got %x, want %s", i+1, got, parts[2])
		}
	}
	t.Logf("%d signatures", len(lines))
}

func TestHashToCurveRFC9380(t *testing.T) {
	var suite struct {
		DST     string
		Vectors []struct {
			Msg string
			P   struct{ X, Y string }
		}
	}
	vectors.Decode(t, "bls12381/rfc9380/BLS12381G1_XMD-SHA-256_SSWU_RO.json", &suite)
	for _, v := range suite.Vectors {
		want := fmt.Sprintf("%096s%096s", strings.TrimPrefix(v.P.X, "0x"), strings.TrimPrefix(v.P.Y, "0x"))
		if got := hex.EncodeToString(hashToCurve([]byte(v.Msg), suite.DST).Serialize()); got != want {
			t.Errorf("%q: got %s, want %s", v.Msg, got, want)
		}
	}
}

// TestDeserializationVectors holds both decoders to the public suite. It calls
// the identity a valid point; we refuse it with an error of its own.
func TestDeserializationVectors(t *testing.T) {
	var g1, g2 []struct {
		Name   string
		Input  struct{ Pubkey, Signature string }
		Output bool
	}
	vectors.Decode(t, "bls12381/eth_bls_tests_minpk/deserialization_G1.json", &g1)
	vectors.Decode(t, "bls12381/eth_bls_tests_minpk/deserialization_G2.json", &g2)
	for _, v := range g1 {
		b := unhex(t, v.Input.Pubkey)
		err := ErrLength
		if len(b) == SignatureSize {
			err = Signature(b).Check()
		}
		checkVerdict(t, v.Name, err, v.Output)
	}
	for _, v := range g2 {
		_, err := ParsePublicKey(unhex(t, v.Input.Signature))
		checkVerdict(t, v.Name, err, v.Output)
	}
}

func checkVerdict(t *testing.T, name string, err error, want bool) {
	t.Helper()
	if got := err == nil || errors.Is(err, ErrInfinity); got != want {
		t.Errorf("%s: got %v, want valid %v", name, err, want)
	}
}

// TestBindingsUseTheStandardGenerator pins the generator of G2, on which the
// meaning of every key rests.
func TestBindingsUseTheStandardGenerator(t *testing.T) {
	const want = "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e" +
		"024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"
	if got := hex.EncodeToString(blst.P2Generator().Compress()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
