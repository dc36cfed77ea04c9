package main

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	ours25519 "github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// knownKeys is the number of peers whose messages are checked together.
const knownKeys = 64

// identityBars race the signatures of known peers.
func identityBars() []bars.Bar {
	return []bars.Bar{{
		Name: "ed25519-64-known-keys", Peer: "crypto/ed25519 one by one", Must: 1.9, Aim: 2.7,
		Cores: 1, Ops: knownKeys, Setup: raceKnownKeys,
	}}
}

var errRefused = errors.New("a good signature was refused")

func raceKnownKeys() (bars.Contest, error) {
	var (
		keys [knownKeys][ours25519.PublicKeySize]byte
		msgs [knownKeys][]byte
		sigs [knownKeys][]byte
	)
	for i := range keys {
		seed := keccak.Sum256([]byte("identity bar"), binary.BigEndian.AppendUint32(nil, uint32(i)))
		key, err := ours25519.NewPrivateKey(seed[:])
		if err != nil {
			return bars.Contest{}, fmt.Errorf("key %d: %w", i, err)
		}
		keys[i], msgs[i] = key.PublicKey(), append([]byte("vote of "), seed[:]...)
		sig := key.Sign(msgs[i])
		sigs[i] = sig[:]
	}
	batch := make([]ours25519.Signed, knownKeys)
	for i := range batch {
		known, err := ours25519.NewKnownKey(keys[i])
		if err != nil {
			return bars.Contest{}, fmt.Errorf("key %d: %w", i, err)
		}
		batch[i] = ours25519.Signed{Key: known, Message: msgs[i], Signature: sigs[i]}
	}
	c := bars.Contest{
		Ours: bars.Side{Run: func(n int) error {
			for range n {
				if bad := ours25519.VerifyMany(batch); len(bad) != 0 {
					return errRefused
				}
			}
			return nil
		}},
		Peer: bars.Side{Run: func(n int) error {
			for range n {
				for i := range keys {
					if !ed25519.Verify(keys[i][:], msgs[i], sigs[i]) {
						return errRefused
					}
				}
			}
			return nil
		}},
	}
	return c, runBoth(c)
}
