package sdk

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// typedData is one document of the public test vectors.
type typedData struct {
	Name    string
	Domain  map[string]json.RawMessage
	Encoded string
	Digest  string
}

// separator hashes a domain as EIP-712 defines it.
func (d *typedData) separator(t *testing.T) [32]byte {
	t.Helper()
	var fields []string
	var words []byte
	for _, f := range [][2]string{{"name", "string"}, {"version", "string"}, {"chainId", "uint256"}, {"verifyingContract", "address"}, {"salt", "bytes32"}} {
		raw, ok := d.Domain[f[0]]
		if !ok || string(raw) == "null" {
			continue
		}
		fields = append(fields, f[1]+" "+f[0])
		text := strings.Trim(string(raw), `"`)
		word := make([]byte, 32)
		switch f[1] {
		case "string":
			var s string
			if err := json.Unmarshal(raw, &s); err != nil {
				t.Fatal(err)
			}
			h := keccak.Sum256([]byte(s))
			word = h[:]
		case "uint256":
			n, ok := new(big.Int).SetString(text, 0)
			if !ok {
				t.Fatalf("%s: chain %s", d.Name, text)
			}
			n.FillBytes(word)
		default:
			b := unhex(t, text)
			copy(word[32-len(b):], b)
		}
		words = append(words, word...)
	}
	kind := keccak.Sum256([]byte("EIP712Domain(" + strings.Join(fields, ",") + ")"))
	return keccak.Sum256(kind[:], words)
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTypedDataVectors holds eip712_digest and verify_eip712 to the public
// vectors: the digest of each document, and signatures over it.
func TestTypedDataVectors(t *testing.T) { // whitepaper §16.1
	var docs []typedData
	vectors.Decode(t, "eip712/typed_data_ethers.json", &docs)
	if len(docs) < 50 {
		t.Fatalf("%d documents", len(docs))
	}
	key, err := secp256k1.ParsePrivateKey(append(make([]byte, 31), 9))
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	src := fmt.Sprintf(`
from cowboy_sdk import *
@public
def h(msg):
    domain, encoded, digest, sig = [bytes.fromhex(x) for x in msg.payload]
    data = keccak256(encoded)
    return [eip712_digest(domain, data) == digest, verify_eip712("%s", domain, data, sig),
            verify_eip712("0x" + "11" * 20, domain, data, sig), verify_eip712("%s", data, domain, sig)]
`, chain.Address(key.PublicKey().Address()), chain.Address(key.PublicKey().Address()))
	for _, d := range docs {
		domain, digest := d.separator(t), [32]byte(unhex(t, d.Digest))
		sig := key.Sign(digest)
		arg := fmt.Sprintf("['%x', '%x', '%x', '%x%x%02x']", domain, unhex(t, d.Encoded), digest, sig.R, sig.S, sig.YParity)
		if got, want := b.call(src, "h", arg), "[True, True, False, False]"; got != want {
			t.Errorf("%s: %s, want %s", d.Name, got, want)
		}
	}
}
