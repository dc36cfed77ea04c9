package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/crypto/erasure"
)

const (
	codedBytes      = 4 << 20
	codedValidators = 100
)

// blockBars hold what is done with a block of 4 MiB among 100 validators against
// the least that any such scheme must do: hash every shard once. A ratio of 0.5
// says twice the time of hashing alone.
func blockBars() []bars.Bar {
	const peer = "SHA-256 of every shard"
	return []bars.Bar{
		{Name: "block-4MiB-100-encode", Peer: peer, Must: 0.25, Aim: 0.5, Cores: 1, Setup: raceBlock(func(b *codedBlock) error {
			_, err := b.code.Encode(b.body)
			return err
		})},
		{Name: "block-4MiB-100-check-own-shard", Peer: peer, Must: 50, Cores: 1, Setup: raceBlock(func(b *codedBlock) error {
			return b.code.Check(b.word.Opening, b.word.Shard(0))
		})},
		{Name: "block-4MiB-100-reconstruct-and-verify", Peer: peer, Must: 0.25, Aim: 0.5, Cores: 1, Setup: raceBlock(func(b *codedBlock) error {
			_, err := b.code.Rebuild(b.word.Opening, slices.Clone(b.few))
			return err
		})},
	}
}

// codedBlock is a block with its codeword, of which only parity came in.
type codedBlock struct {
	code *shards.Code
	body []byte
	word *shards.Codeword
	few  [][]byte
}

func raceBlock(do func(*codedBlock) error) func() (bars.Contest, error) {
	return func() (bars.Contest, error) {
		limits := shards.Limits{WholeMax: 64 << 10, BodyMax: codedBytes, HeadMax: 1 << 10}
		code, err := shards.NewCode(codedValidators, limits, erasure.NewDigester(cpu.Chosen()))
		if err != nil {
			return bars.Contest{}, fmt.Errorf("code: %w", err)
		}
		b := &codedBlock{code: code, body: make([]byte, codedBytes)}
		source := rand.NewChaCha8([32]byte{1})
		_, _ = source.Read(b.body) // never fails
		if b.word, err = code.Encode(b.body); err != nil {
			return bars.Contest{}, fmt.Errorf("encode: %w", err)
		}
		b.few = make([][]byte, code.Total())
		for i := code.Total() - code.Needed(); i < code.Total(); i++ {
			b.few[i] = b.word.Shard(i).Bytes
		}
		var sums [codedValidators][sha256.Size]byte
		c := bars.Contest{
			Ours: bars.Side{Run: func(times int) error {
				for range times {
					if err := do(b); err != nil {
						return err
					}
				}
				return nil
			}},
			Peer: bars.Side{Run: func(times int) error {
				for range times {
					for i := range sums {
						sums[i] = sha256.Sum256(b.word.Shard(i).Bytes)
					}
				}
				return nil
			}},
		}
		return c, errors.Join(c.Ours.Run(1), c.Peer.Run(1))
	}
}
