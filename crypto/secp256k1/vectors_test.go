package secp256k1

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha3"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

func un0x(t *testing.T, s string) []byte {
	t.Helper()
	return unhex(t, strings.TrimPrefix(s, "0x"))
}

func TestAccountVectors(t *testing.T) {
	var cases []struct{ Name, PrivateKey, Address string }
	vectors.Decode(t, "secp256k1/accounts_ethers.json", &cases)
	for _, c := range cases {
		k, err := ParsePrivateKey(un0x(t, c.PrivateKey))
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if got := fmt.Sprintf("0x%x", k.PublicKey().Address()); got != strings.ToLower(c.Address) {
			t.Errorf("%s: address %s, want %s", c.Name, got, c.Address)
		}
	}
	t.Logf("%d accounts", len(cases))
}

// TestPrecompileVectors: input is hash, v, r, s in 32 bytes each, output the
// padded address or nothing.
func TestPrecompileVectors(t *testing.T) {
	var cases []struct{ Name, Input, Expected string }
	vectors.Decode(t, "secp256k1/eth_precompile_ecrecover.json", &cases)
	for _, c := range cases {
		in := make([]byte, 128)
		copy(in, unhex(t, c.Input))
		sig := Signature{R: [32]byte(in[64:]), S: [32]byte(in[96:]), YParity: in[63] - 27}
		pub, err := recoverEveryWay(t, [32]byte(in), sig)
		if !bytes.Equal(in[32:63], make([]byte, 31)) {
			err = ErrRecoveryID // v is a 256-bit number there
		}
		got := ""
		if err == nil {
			got = fmt.Sprintf("%024d%x", 0, pub.Address())
		}
		if got != c.Expected {
			t.Errorf("%s: got %q (%v), want %q", c.Name, got, err, c.Expected)
		}
	}
}

// TestRFC6979Vectors: signatures are r‖s, with s already low.
func TestRFC6979Vectors(t *testing.T) {
	var cases []struct{ Description, D, M, Signature string }
	vectors.Decode(t, "secp256k1/rfc6979_sign_noble.json", &cases)
	for i, c := range cases {
		k, err := ParsePrivateKey(unhex(t, c.D))
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		hash := word(t, c.M)
		sig := k.Sign(hash)
		if got := hex.EncodeToString(append(sig.R[:], sig.S[:]...)); got != c.Signature {
			t.Errorf("case %d (%s): got %s, want %s", i, c.Description, got, c.Signature)
		}
		if pub, err := recoverEveryWay(t, hash, sig); err != nil || pub != k.PublicKey() {
			t.Errorf("case %d: recovered %x, %v", i, pub, err)
		}
	}
	t.Logf("%d signatures", len(cases))
}

type wycheproof struct {
	TestGroups []struct {
		PublicKey struct{ Uncompressed string }
		Tests     []struct {
			TcID                      int
			Comment, Msg, Sig, Result string
		}
	}
}

// TestWycheproofVectors holds Verify to every line. Three of the files are for
// plain ECDSA: what they call valid with a high s must be refused here as such,
// and its low twin accepted.
func TestWycheproofVectors(t *testing.T) {
	sha256Of := func(m []byte) [32]byte { return sha256.Sum256(m) }
	files := []struct {
		name  string
		hash  func([]byte) [32]byte
		parse func([]byte) (Signature, bool)
		lowS  bool // the file itself demands low s
	}{
		{"ecdsa_secp256k1_sha256_bitcoin_test", sha256Of, parseDER, true},
		{"ecdsa_secp256k1_sha256_test", sha256Of, parseDER, false},
		{"ecdsa_secp256k1_sha256_p1363_test", sha256Of, parseP1363, false},
		{"ecdsa_secp256k1_sha3_256_test", func(m []byte) [32]byte { return sha3.Sum256(m) }, parseDER, false},
	}
	for _, file := range files {
		t.Run(file.name, func(t *testing.T) {
			var suite wycheproof
			vectors.Decode(t, "secp256k1/wycheproof/"+file.name+".json", &suite)
			valid := 0
			for _, group := range suite.TestGroups {
				pub, err := ParsePublicKey(unhex(t, group.PublicKey.Uncompressed))
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range group.Tests {
					err := ErrMismatch
					if sig, ok := file.parse(unhex(t, c.Sig)); ok {
						hash := file.hash(unhex(t, c.Msg))
						err = pub.Verify(hash, sig)
						if !file.lowS && errors.Is(err, ErrHighS) {
							err = pub.Verify(hash, negated(sig))
						}
						if err == nil {
							checkRecovers(t, c.TcID, pub, hash, sig)
						}
					}
					if got := err == nil; got != (c.Result == "valid") {
						t.Errorf("%d (%s): got %v, want %s", c.TcID, c.Comment, err, c.Result)
					}
					if err == nil {
						valid++
					}
				}
			}
			if valid == 0 {
				t.Error("no valid case: the file was not understood")
			}
		})
	}
}

// checkRecovers demands that one parity of a valid signature recovers its key,
// unless the nonce point's x exceeds n, which no parity can express.
func checkRecovers(t *testing.T, id int, pub PublicKey, hash [32]byte, sig Signature) {
	t.Helper()
	if _, _, err := sig.scalars(); errors.Is(err, ErrHighS) {
		sig = negated(sig)
	}
	for parity := range uint8(2) {
		sig.YParity = parity
		got, err := recoverEveryWay(t, hash, sig)
		if got == pub {
			return
		}
		if errors.Is(err, ErrNotOnCurve) {
			return // x = r + n
		}
	}
	t.Errorf("%d: no parity recovers the key", id)
}

// parseDER reads the strict DER form SEQUENCE { INTEGER r, INTEGER s }.
func parseDER(b []byte) (sig Signature, ok bool) {
	in := cryptobyte.String(b)
	var seq cryptobyte.String
	if !in.ReadASN1(&seq, asn1.SEQUENCE) || !in.Empty() {
		return sig, false
	}
	for _, into := range []*[32]byte{&sig.R, &sig.S} {
		var n []byte
		if !seq.ReadASN1Integer(&n) || len(n) > 32 {
			return sig, false
		}
		copy(into[32-len(n):], n)
	}
	return sig, seq.Empty()
}

func parseP1363(b []byte) (sig Signature, ok bool) {
	if len(b) != 64 {
		return sig, false
	}
	return Signature{R: [32]byte(b), S: [32]byte(b[32:])}, true
}

// TestForeignTransactionsRecover recovers the senders of Ethereum transactions
// signed elsewhere: legacy, access-list (type 1) and dynamic-fee (type 2).
func TestForeignTransactionsRecover(t *testing.T) {
	var cases []struct{ Name, PrivateKey, SignedLegacy, SignedBerlin, SignedLondon string }
	vectors.Decode(t, "secp256k1/signed_transactions_ethers.json", &cases)
	checked := 0
	for _, c := range cases {
		k, err := ParsePrivateKey(un0x(t, c.PrivateKey))
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range []string{c.SignedLegacy, c.SignedBerlin, c.SignedLondon} {
			if raw == "" {
				continue
			}
			hash, sig := splitTransaction(t, un0x(t, raw))
			if got, err := recoverEveryWay(t, hash, sig); err != nil || got != k.PublicKey() {
				t.Errorf("%s: %s: recovered %x, %v", c.Name, raw[:10], got, err)
			}
			checked++
		}
	}
	t.Logf("%d transactions", checked)
}

// splitTransaction returns what an RLP transaction signs, and its signature: the
// last three items of the list.
func splitTransaction(t *testing.T, raw []byte) ([32]byte, Signature) {
	t.Helper()
	var prefix []byte
	if raw[0] < 0xc0 {
		prefix, raw = raw[:1], raw[1:]
	}
	header, size := rlpHeader(raw)
	list := raw[header : header+size]
	var starts []int
	for at := 0; at < len(list); {
		starts = append(starts, at)
		header, size := rlpHeader(list[at:])
		at += header + size
	}
	n := len(starts) - 3
	item := func(i int) (out [32]byte) {
		header, size := rlpHeader(list[starts[i]:])
		value := list[starts[i]+header:][:size]
		copy(out[32-len(value):], value)
		return out
	}
	unsigned := list[:starts[n]]
	head := []byte{0xc0 + byte(len(unsigned))}
	if len(unsigned) > 55 {
		length := bytes.TrimLeft([]byte{byte(len(unsigned) >> 16), byte(len(unsigned) >> 8), byte(len(unsigned))}, "\x00")
		head = append([]byte{0xf7 + byte(len(length))}, length...)
	}
	parity := item(n)[31]
	if prefix == nil {
		parity -= 27
	}
	return keccak.Sum256(prefix, head, unsigned), Signature{R: item(n + 1), S: item(n + 2), YParity: parity}
}

// rlpHeader returns the lengths of an item's header and of its content.
func rlpHeader(b []byte) (header, size int) {
	short, long := 0x80, 0xb7
	switch {
	case b[0] < 0x80:
		return 0, 1
	case b[0] >= 0xc0:
		short, long = 0xc0, 0xf7
	}
	if int(b[0]) <= long {
		return 1, int(b[0]) - short
	}
	n := int(b[0]) - long
	for _, digit := range b[1 : 1+n] {
		size = size<<8 | int(digit)
	}
	return 1 + n, size
}
