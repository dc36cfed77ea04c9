package quicksign_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/bench/internal/quicksign"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// TestSignaturesAreTaken: what the node recovers from a signature is its signer, for
// every nonce of the table and for hashes above the order.
func TestSignaturesAreTaken(t *testing.T) {
	nonces := quicksign.NewNonces(16)
	hashes := [][32]byte{{}, {31: 1}, {}}
	for i := range hashes[2] {
		hashes[2][i] = 0xff
	}
	for i := range 8 {
		hashes = append(hashes, keccak.Sum256([]byte{byte(i)}))
	}
	for number := range 3 {
		key, err := quicksign.NewKey(1, number)
		if err != nil {
			t.Fatal(err)
		}
		for turn := range uint64(20) {
			for _, hash := range hashes {
				pub, err := secp256k1.Recover(hash, nonces.Sign(&key, hash, turn))
				if err != nil || pub.Address() != key.Address {
					t.Fatalf("key %d, nonce %d, hash %x: recovered %x (%v), want %x", number, turn, hash, pub.Address(), err, key.Address)
				}
			}
		}
	}
}

func BenchmarkSign(b *testing.B) {
	nonces := quicksign.NewNonces(1024)
	key, err := quicksign.NewKey(1, 0)
	if err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		nonces.Sign(&key, [32]byte{byte(i)}, uint64(i))
	}
}
