package main

import (
	"bytes"
	"fmt"
	"hash"
	"math/rand/v2"
	"slices"

	gethkeccak "github.com/ethereum/go-ethereum/crypto/keccak"
	"golang.org/x/crypto/sha3"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	kernels "github.com/cowboy-foundation/cowboy/asm/keccak"
	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// messagesPerBatch is what one call of SumMany gets: enough for every kernel to
// run full.
const messagesPerBatch = 256

// hashBars race many messages and a lone one. The sizes are those the chain
// hashes most: storage keys, public keys, a full sponge block and a branch node
// of the trie.
func hashBars() []bars.Bar {
	var list []bars.Bar
	for _, size := range []int{32, 64, 136, 532} {
		list = append(list, bars.Bar{
			Name: fmt.Sprintf("keccak-many-%d", size), Peer: "go-ethereum crypto/keccak",
			Must: 6.5, Aim: 7.5, Cores: 1, Ops: messagesPerBatch,
			Setup: func() (bars.Contest, error) { return raceMany(size) },
		})
	}
	for _, size := range []int{32, 532} {
		list = append(list, bars.Bar{
			Name: fmt.Sprintf("keccak-lone-%d", size), Peer: "go-ethereum crypto/keccak",
			Must: 1.25, Aim: 1.4, Cores: 1,
			Setup: func() (bars.Contest, error) {
				return raceLone(size, func(msg []byte) [32]byte { return keccak.Sum256(msg) }, gethHash())
			},
		})
	}
	for _, size := range []int{32, 532} {
		list = append(list, kernelBars(size)...)
	}
	return list
}

// kernelBars race the kernels that the lone hash falls back to. x/crypto's is
// plain Go like ours; go-ethereum's is scalar assembly where there is some.
func kernelBars(size int) []bars.Bar {
	scalar := bars.Bar{
		Name: fmt.Sprintf("keccak-scalar-%d", size), Peer: "go-ethereum crypto/keccak",
		Must: 0.95, Aim: 1, Cores: 1,
		Setup: func() (bars.Contest, error) { return raceLone(size, kernels.BMI.SumOne, gethHash()) },
	}
	if !slices.Contains(kernels.Kernels(cpu.Chosen()), kernels.BMI) {
		scalar.Setup, scalar.Absent = nil, "no scalar assembly: it needs BMI, COWBOY_CPU above generic and no tag purego"
	}
	return []bars.Bar{{
		Name: fmt.Sprintf("keccak-pure-go-%d", size), Peer: "x/crypto sha3",
		Must: 1, Aim: 1.1, Cores: 1,
		Setup: func() (bars.Contest, error) {
			return raceLone(size, kernels.Generic.SumOne, hashWith(sha3.NewLegacyKeccak256()))
		},
	}, scalar}
}

func messages(n, size int) [][]byte {
	rng := rand.NewChaCha8([32]byte{1, byte(size)})
	list := make([][]byte, n)
	for i := range list {
		list[i] = make([]byte, size)
		_, _ = rng.Read(list[i]) // never fails
	}
	return list
}

// gethHash hashes as go-ethereum's own code does in a loop.
func gethHash() func(msg []byte, out *[32]byte) {
	return hashWith(gethkeccak.NewLegacyKeccak256())
}

// hashWith hashes with one state, reset for each message, read without the copy
// that Sum makes.
func hashWith(h hash.Hash) func(msg []byte, out *[32]byte) {
	state := h.(interface {
		Reset()
		Write([]byte) (int, error)
		Read([]byte) (int, error)
	})
	return func(msg []byte, out *[32]byte) {
		state.Reset()
		_, _ = state.Write(msg) // never fails
		_, _ = state.Read(out[:])
	}
}

func raceMany(size int) (bars.Contest, error) {
	msgs := messages(messagesPerBatch, size)
	ours, peer := make([][32]byte, len(msgs)), make([][32]byte, len(msgs))
	hash := gethHash()
	c := bars.Contest{
		Ours: bars.Side{Run: func(n int) error {
			for range n {
				keccak.SumMany(msgs, ours)
			}
			return nil
		}},
		Peer: bars.Side{Run: func(n int) error {
			for range n {
				for i, m := range msgs {
					hash(m, &peer[i])
				}
			}
			return nil
		}},
	}
	if err := runBoth(c); err != nil {
		return c, err
	}
	for i := range ours {
		if ours[i] != peer[i] {
			return c, fmt.Errorf("digests of message %d differ: ours %x, peer %x", i, ours[i], peer[i])
		}
	}
	return c, nil
}

func raceLone(size int, sum func(msg []byte) [32]byte, hash func(msg []byte, out *[32]byte)) (bars.Contest, error) {
	msg := messages(1, size)[0]
	var ours, peer [32]byte
	c := bars.Contest{
		Ours: bars.Side{Run: func(n int) error {
			for range n {
				ours = sum(msg)
			}
			return nil
		}},
		Peer: bars.Side{Run: func(n int) error {
			for range n {
				hash(msg, &peer)
			}
			return nil
		}},
	}
	if err := runBoth(c); err != nil {
		return c, err
	}
	if !bytes.Equal(ours[:], peer[:]) {
		return c, fmt.Errorf("digests differ: ours %x, peer %x", ours, peer)
	}
	return c, nil
}

// runBoth lets each side work once, so that the results can be compared.
func runBoth(c bars.Contest) error {
	if err := c.Ours.Run(1); err != nil {
		return fmt.Errorf("ours: %w", err)
	}
	if err := c.Peer.Run(1); err != nil {
		return fmt.Errorf("peer: %w", err)
	}
	return nil
}
