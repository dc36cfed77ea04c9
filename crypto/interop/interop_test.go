// Package interop_test holds our keys, hashes and signatures to transactions
// that an independent implementation signed (resolution 11.12). What the bodies
// mean is tested in chain, which may not be imported from here.
package interop_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// signed is one entry of testdata/signed_transactions.json, as far as it
// concerns cryptography. Bytes are hex.
type signed struct {
	Name        string
	PrivateKey  string `json:"private_key"`
	Address     string
	BodyHex     string `json:"body_hex"`
	TxHash      string `json:"tx_hash"`
	SigningHash string `json:"signing_hash"`
	Signature   struct {
		YParity uint8 `json:"y_parity"`
		R, S    string
	}
}

func readSigned(t *testing.T) []signed {
	t.Helper()
	text, err := os.ReadFile("testdata/signed_transactions.json")
	if err != nil {
		t.Fatal(err)
	}
	var entries []signed
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	return entries
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWeSignTheSame: RFC 6979 and low s leave exactly one signature, so ours
// must equal the foreign one byte for byte.
func TestWeSignTheSame(t *testing.T) {
	for _, e := range readSigned(t) {
		t.Run(e.Name, func(t *testing.T) {
			key, err := secp256k1.ParsePrivateKey(unhex(t, e.PrivateKey))
			if err != nil {
				t.Fatal(err)
			}
			if got := key.PublicKey().Address(); got != [20]byte(unhex(t, e.Address)) {
				t.Errorf("address %x, want %s", got, e.Address)
			}
			hash := [32]byte(unhex(t, e.SigningHash))
			want := secp256k1.Signature{
				R:       [32]byte(unhex(t, e.Signature.R)),
				S:       [32]byte(unhex(t, e.Signature.S)),
				YParity: e.Signature.YParity,
			}
			if got := key.Sign(hash); got != want {
				t.Errorf("signature %+v, want %+v", got, want)
			}
			if pub, err := secp256k1.Recover(hash, want); err != nil || pub != key.PublicKey() {
				t.Errorf("recovered %x, %v", pub, err)
			}
			if err := key.PublicKey().Verify(hash, want); err != nil {
				t.Errorf("verify: %v", err)
			}
		})
	}
}

func TestWeHashTheSame(t *testing.T) {
	for _, e := range readSigned(t) {
		if got := keccak.Sum256(unhex(t, e.BodyHex)); hex.EncodeToString(got[:]) != e.TxHash {
			t.Errorf("%s: hash %x, want %s", e.Name, got, e.TxHash)
		}
	}
}
