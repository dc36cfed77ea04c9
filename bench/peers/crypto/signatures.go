package main

import (
	"fmt"

	gethcrypto "github.com/ethereum/go-ethereum/crypto"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// signaturesPerBatch is the batch of the bar: eight groups of eight lanes.
const signaturesPerBatch = 64

// recoverBars race the way from signature to sender address. The peer is
// go-ethereum built with cgo, which embeds libsecp256k1.
func recoverBars() []bars.Bar {
	return []bars.Bar{{
		Name: "recover-64", Peer: "go-ethereum crypto (cgo libsecp256k1)",
		Must: 4, Aim: 5.5, Cores: 1, Ops: signaturesPerBatch,
		Setup: raceRecover,
	}}
}

func raceRecover() (bars.Contest, error) {
	var (
		hashes [signaturesPerBatch][32]byte
		sigs   [signaturesPerBatch]secp256k1.Signature
		flat   [signaturesPerBatch][65]byte // r ‖ s ‖ v, as the peer reads it
		want   [signaturesPerBatch][20]byte
		ours   [signaturesPerBatch]secp256k1.Recovered
		peer   [signaturesPerBatch][20]byte
	)
	for i := range hashes {
		secret := keccak.Sum256([]byte("recover bar"), []byte{byte(i)})
		key, err := secp256k1.ParsePrivateKey(secret[:])
		if err != nil {
			return bars.Contest{}, fmt.Errorf("key %d: %w", i, err)
		}
		hashes[i] = keccak.Sum256(secret[:])
		sigs[i] = key.Sign(hashes[i])
		want[i] = key.PublicKey().Address()
		copy(flat[i][:32], sigs[i].R[:])
		copy(flat[i][32:64], sigs[i].S[:])
		flat[i][64] = sigs[i].YParity
	}
	hash := gethHash()
	c := bars.Contest{
		Ours: bars.Side{Run: func(n int) error {
			for range n {
				secp256k1.RecoverMany(hashes[:], sigs[:], ours[:])
			}
			return nil
		}},
		Peer: bars.Side{Run: func(n int) error {
			for range n {
				for i := range hashes {
					pub, err := gethcrypto.Ecrecover(hashes[i][:], flat[i][:])
					if err != nil {
						return err
					}
					var digest [32]byte
					hash(pub[1:], &digest)
					copy(peer[i][:], digest[12:])
				}
			}
			return nil
		}},
	}
	if err := runBoth(c); err != nil {
		return c, err
	}
	for i := range want {
		if ours[i].Err != nil || ours[i].Address != want[i] || peer[i] != want[i] {
			return c, fmt.Errorf("signature %d: ours %x (%v), peer %x, signer %x", i, ours[i].Address, ours[i].Err, peer[i], want[i])
		}
	}
	return c, nil
}
