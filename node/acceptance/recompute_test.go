package acceptance_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// What follows is written from the texts, so that anybody could: it is what the tests hold the
// chain's answers to.

func be8(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }
func le8(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// jobIDOf is sha256(transaction hash ‖ height) (resolution 5.18).
func jobIDOf(tx chain.Hash, at chain.Height) chain.Hash {
	return sha256.Sum256(append(append([]byte(nil), tx[:]...), be8(uint64(at))...))
}

// seedOf is the seed of a job's first draw (CIP-2 §3; resolution 11.9).
func seedOf(block, job chain.Hash, at chain.Height) chain.Hash {
	return keccak.Sum256(block[:], []byte("cowboy-runner-select-v2:"), job[:], le8(uint64(at)))
}

// retrySeedOf is that of a later one (CIP-2 §6).
func retrySeedOf(first chain.Hash, retry uint32) chain.Hash {
	return keccak.Sum256(first[:], []byte("retry:"), binary.LittleEndian.AppendUint32(nil, retry))
}

// weightOf is floor(log2(stake/least + 1)) + 1 (CIP-2 §5): the largest w with
// least·2^(w-1) <= stake + least.
func weightOf(stake, least chain.Wei) (w uint64) {
	sum := new(big.Int).Add(new(big.Int).SetUint64(uint64(stake)), new(big.Int).SetUint64(uint64(least)))
	for step := new(big.Int).SetUint64(uint64(least)); step.Cmp(sum) <= 0; step.Lsh(step, 1) {
		w++
	}
	return w
}

// committeeOf draws m of the candidates as CIP-2 §5 writes it: a swap to the front, and the
// hash of a draw as the seed of the next.
func committeeOf(seed chain.Hash, candidates []rpc.CandidateReply, least chain.Wei, m int) (list []string) {
	type ball struct {
		name   string
		weight uint64
	}
	var balls []ball
	for _, c := range candidates {
		balls = append(balls, ball{c.Runner, weightOf(c.EffectiveStake, least)})
	}
	for i := 0; i < m && i < len(balls); i++ {
		total := uint64(0)
		for _, b := range balls[i:] {
			total += b.weight
		}
		hash := keccak.Sum256(seed[:], le8(uint64(i)))
		r := binary.LittleEndian.Uint64(hash[:8]) % total
		j := i
		for r >= balls[j].weight {
			r -= balls[j].weight
			j++
		}
		balls[i], balls[j] = balls[j], balls[i]
		seed = hash
		list = append(list, balls[i].name)
	}
	return list
}

// leafOf is a candidate's leaf in the tree of the snapshot (restored definitions §9.3).
func leafOf(c *rpc.CandidateReply) chain.Hash {
	var a chain.Address
	if a.UnmarshalText([]byte(c.Runner)) != nil {
		return chain.Hash{}
	}
	var stake, weight [16]byte
	binary.BigEndian.PutUint64(stake[8:], uint64(c.EffectiveStake))
	binary.BigEndian.PutUint64(weight[8:], c.BaseWeight)
	return keccak.Sum256([]byte("cowboy-candidates-leaf-v1"), binary.BigEndian.AppendUint32(nil, c.Index), a[:], stake[:], be8(c.ReputationX1e9), weight[:])
}

func innerOf(left, right chain.Hash) chain.Hash {
	return keccak.Sum256([]byte("cowboy-candidates-inner-v1"), left[:], right[:])
}

// rootOf is the root over all candidates: an odd last node is its own neighbour (CIP-11 §9.2).
func rootOf(candidates []rpc.CandidateReply) chain.Hash {
	if len(candidates) == 0 {
		return keccak.Sum256([]byte("cowboy-candidates-empty-v1"))
	}
	var level []chain.Hash
	for i := range candidates {
		level = append(level, leafOf(&candidates[i]))
	}
	for len(level) > 1 {
		if len(level)%2 == 1 {
			level = append(level, level[len(level)-1])
		}
		for i := range len(level) / 2 {
			level[i] = innerOf(level[2*i], level[2*i+1])
		}
		level = level[:len(level)/2]
	}
	return level[0]
}

// climb goes from a leaf up to the root that the siblings lead to.
func climb(leaf chain.Hash, index uint32, siblings []chain.Hash) chain.Hash {
	for _, s := range siblings {
		if index%2 == 0 {
			leaf = innerOf(leaf, s)
		} else {
			leaf = innerOf(s, leaf)
		}
		index /= 2
	}
	return leaf
}
