package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/reedsolomon"
	"github.com/panjf2000/ants/v2"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/crypto/erasure"
)

// Shapes of ADR 10: a block of 4 MiB among 100 validators, a third of which can
// rebuild it.
const (
	dataShards  = 34
	totalShards = 100
	blockBytes  = 4 << 20
	sendTasks   = 100
	sendDepth   = 14 << 10 // bytes of stack that a send through QUIC needs
)

// serviceBars race the services around the signatures: erasure coding, shard
// digests, and the fan-out of sends (ADR 10 and 11).
func serviceBars() []bars.Bar {
	list := []bars.Bar{
		{
			Name: "erasure-34-of-100-rebuild-4MiB", Peer: "klauspost Leopard codec", Must: 1, Aim: 2,
			Cores: 1, Setup: raceRebuild,
		},
		{
			Name: "fan-out-100-deep-sends", Peer: "one goroutine each", Must: 1, Aim: 2,
			Ops: sendTasks, Setup: raceFanOut,
		},
	}
	digests := bars.Bar{
		Name: "shard-digests-100x126KiB", Peer: "crypto/sha256", Must: 1, Aim: 1.5,
		Cores: 1, Ops: totalShards, Setup: raceDigests,
	}
	if cpu.Detect().Level() != cpu.AVX512 {
		digests.Setup, digests.Absent = nil, "this processor has no AVX-512"
	}
	return append(list, digests)
}

var errRebuild = errors.New("the block came back changed")

func someBlock() []byte {
	block := make([]byte, blockBytes)
	for i := range block {
		block[i] = byte(i * 7)
	}
	return block
}

// raceRebuild decodes from parity shards alone, the worst case, and encodes
// again, as a validator does before it votes.
func raceRebuild() (bars.Contest, error) {
	codec, err := erasure.New(dataShards, totalShards, 1)
	if err != nil {
		return bars.Contest{}, fmt.Errorf("codec: %w", err)
	}
	block := someBlock()
	shards, err := codec.Encode(block)
	if err != nil {
		return bars.Contest{}, fmt.Errorf("encode: %w", err)
	}
	leopard, err := reedsolomon.New(dataShards, totalShards-dataShards, reedsolomon.WithLeopardGF(true), reedsolomon.WithMaxGoroutines(1))
	if err != nil {
		return bars.Contest{}, fmt.Errorf("Leopard: %w", err)
	}
	theirs, err := leopard.Split(bytes.Clone(block))
	if err == nil {
		err = leopard.Encode(theirs)
	}
	if err != nil {
		return bars.Contest{}, fmt.Errorf("Leopard encodes: %w", err)
	}
	c := bars.Contest{
		Ours: bars.Side{Run: func(n int) error {
			for range n {
				got, _, err := codec.Decode(parityOnly(shards))
				if err != nil {
					return err
				}
				if len(got) != len(block) || got[len(got)-1] != block[len(block)-1] {
					return errRebuild
				}
			}
			return nil
		}},
		Peer: bars.Side{Run: func(n int) error {
			for range n {
				have := parityOnly(theirs)
				if err := leopard.ReconstructData(have); err != nil {
					return err
				}
				for i := dataShards; i < totalShards-dataShards; i++ {
					have[i] = make([]byte, len(theirs[0]))
				}
				if err := leopard.Encode(have); err != nil {
					return err
				}
			}
			return nil
		}},
	}
	return c, runBoth(c)
}

// parityOnly keeps the last shards, just enough to rebuild.
func parityOnly(shards [][]byte) [][]byte {
	have := make([][]byte, len(shards))
	copy(have[len(have)-dataShards:], shards[len(shards)-dataShards:])
	return have
}

func raceDigests() (bars.Contest, error) {
	width := (blockBytes + dataShards - 1) / dataShards
	shards := make([][]byte, totalShards)
	for i := range shards {
		shards[i] = bytes.Repeat([]byte{byte(i)}, width)
	}
	digester := erasure.NewDigester(cpu.Detect())
	out, want := make([][sha256.Size]byte, totalShards), make([][sha256.Size]byte, totalShards)
	c := bars.Contest{
		Ours: bars.Side{Run: func(n int) error {
			for range n {
				digester.Digest(shards, out)
			}
			return nil
		}},
		Peer: bars.Side{Run: func(n int) error {
			for range n {
				for i := range shards {
					want[i] = sha256.Sum256(shards[i])
				}
			}
			return nil
		}},
	}
	if err := runBoth(c); err != nil {
		return c, err
	}
	for i := range out {
		if out[i] != want[i] {
			return c, fmt.Errorf("digests of shard %d differ", i)
		}
	}
	return c, nil
}

// deep stands for a send: it goes down a stack that a fresh goroutine does not
// have yet.
//
//go:noinline
func deep(bytesLeft int) byte {
	var frame [256]byte
	frame[bytesLeft%len(frame)] = byte(bytesLeft)
	if bytesLeft <= len(frame) {
		return frame[0]
	}
	return deep(bytesLeft-len(frame)) + frame[1]
}

// raceFanOut sends one message to each of a hundred peers: our choice is the
// pool, whose goroutines keep their stacks.
func raceFanOut() (bars.Contest, error) {
	pool, err := ants.NewPool(64)
	if err != nil {
		return bars.Contest{}, fmt.Errorf("pool: %w", err)
	}
	fan := func(start func(func()) error) func(int) error {
		return func(n int) error {
			for range n {
				var sent sync.WaitGroup
				for range sendTasks {
					sent.Add(1)
					if err := start(func() { deep(sendDepth); sent.Done() }); err != nil {
						return err
					}
				}
				sent.Wait()
			}
			return nil
		}
	}
	c := bars.Contest{
		Ours: bars.Side{Run: fan(pool.Submit)},
		Peer: bars.Side{Run: fan(func(f func()) error { go f(); return nil })},
	}
	return c, runBoth(c)
}
