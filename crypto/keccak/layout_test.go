package keccak

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// TestCreate2: contract addresses of EIP-1014, whose preimage has the parts of our
// actors' addresses and a first byte more.
func TestCreate2(t *testing.T) {
	var rows []struct {
		Sender  string
		Creates []struct{ Name, Salt, InitCode, InitCodeHash, Address string }
	}
	vectors.Decode(t, "secp256k1/create2_ethers.json", &rows)
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	ran := 0
	for _, r := range rows {
		for _, c := range r.Creates {
			code := Sum256(unhex(c.InitCode))
			h := Sum256([]byte{0xff}, unhex(r.Sender), unhex(c.Salt), code[:])
			if c.InitCodeHash != "" && hex.EncodeToString(code[:]) != strings.ToLower(strings.TrimPrefix(c.InitCodeHash, "0x")) {
				t.Errorf("%s: hash of the code %x", c.Name, code)
			}
			if got := hex.EncodeToString(h[12:]); got != strings.ToLower(strings.TrimPrefix(c.Address, "0x")) {
				t.Errorf("%s: %s, want %s", c.Name, got, c.Address)
			}
			ran++
		}
	}
	if ran < 8 {
		t.Errorf("%d addresses", ran)
	}
}
