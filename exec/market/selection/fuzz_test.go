package selection_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

func addressOf(seed, n uint64) (a chain.Address) {
	h := keccak.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, seed), n))
	copy(a[:], h[:])
	return a
}

// someWord is a number of any size, with the edges more often than others.
func someWord(rng *rand.Rand) uint64 {
	switch rng.IntN(8) {
	case 0:
		return 0
	case 1:
		return 1
	case 2:
		return ^uint64(0) - uint64(rng.IntN(2))
	}
	return rng.Uint64() >> rng.IntN(64)
}

// crowd is a list of candidates as a snapshot takes it. Weights of one size make most
// draws fair, weights of any size reach sums beyond 64 bits.
func crowd(rng *rand.Rand, n int) []chain.Candidate {
	seed, anySize := rng.Uint64(), rng.IntN(3) == 0
	out := make([]chain.Candidate, n)
	for i := range out {
		w := rng.Uint64() >> 20
		if anySize {
			w = someWord(rng)
		}
		out[i] = chain.Candidate{
			Runner: addressOf(seed, uint64(i)), EffectiveStake: chain.Wei(someWord(rng)), ReputationX1e9: someWord(rng), BaseWeight: w,
		}
	}
	slices.SortFunc(out, func(a, b chain.Candidate) int { return bytes.Compare(a.Runner[:], b.Runner[:]) })
	return out
}

// FuzzDraw holds all draws to the plain ones, at every step.
func FuzzDraw(f *testing.F) {
	f.Add(uint64(1), uint16(7), uint8(3), uint8(0))
	f.Add(uint64(2), uint16(0), uint8(3), uint8(1))
	f.Add(uint64(3), uint16(1), uint8(1), uint8(2))
	f.Add(uint64(4), uint16(40), uint8(60), uint8(3))
	f.Add(uint64(5), uint16(300), uint8(255), uint8(4))
	f.Fuzz(checkDraws)
}

// TestDrawsArePlain is FuzzDraw over many crowds of all sizes.
func TestDrawsArePlain(t *testing.T) {
	for seed := range uint64(400) {
		checkDraws(t, seed, uint16(seed%97), uint8(seed%23), uint8(seed))
	}
}

func checkDraws(t *testing.T, seed uint64, n uint16, m, number uint8) {
	rng := rand.New(rand.NewPCG(seed, 0))
	list := crowd(rng, int(n)%600)
	s := selection.Take(list)
	r := &selection.Round{Number: uint32(number) % 4, Runners: int(m)}
	binary.BigEndian.PutUint64(r.First[:], rng.Uint64())
	some := func() chain.Address {
		if len(list) == 0 || rng.IntN(6) == 0 {
			return addressOf(seed, 1<<40)
		}
		return list[rng.IntN(len(list))].Runner
	}
	for range rng.IntN(2) * rng.IntN(20) {
		r.Excluded = append(r.Excluded, some())
	}
	compareSteps(t, "chained", s.DrawV2(r, true), plainV2(list, r))
	none := selection.MRU{}
	compareSteps(t, "not chained", s.DrawV2(r, false), plainFixed([][]plainRunner{plainList(list, r.Excluded)}, r, none))

	here := map[chain.Address]bool{}
	for range rng.IntN(3) * rng.IntN(len(list)+1) {
		here[some()] = true
	}
	m3, present := selection.Members(rng.IntN(3)), func(a chain.Address) bool { return here[a] }
	fav := selection.MRU{Known: rng.IntN(4) > 0, Runner: some(), Factor: uint32(1 + rng.IntN(1000))}
	compareSteps(t, "v3", s.Divide(m3, present).DrawV3(r, fav), plainV3(list, r, m3, present, fav))
}

func compareSteps(t *testing.T, what string, got, want []selection.Step) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}

// FuzzProof: the tree has the root of the plain one, every proof of it leads there, and a
// bit that differs anywhere leads elsewhere.
func FuzzProof(f *testing.F) {
	f.Add(uint64(1), uint16(1), uint16(0), uint16(0))
	f.Add(uint64(2), uint16(5), uint16(4), uint16(900))
	f.Add(uint64(3), uint16(257), uint16(256), uint16(33))
	f.Fuzz(func(t *testing.T, seed uint64, n, at, bit uint16) {
		list := crowd(rand.New(rand.NewPCG(seed, 1)), int(n)%1000)
		s := selection.Take(list)
		root := s.CandidatesRoot()
		if want := chain.CandidatesRoot(list); root != want {
			t.Fatalf("root of %d: %v, want %v", len(list), root, want)
		}
		if len(list) == 0 {
			if _, ok := s.Prove(0); ok {
				t.Fatal("a candidate of none")
			}
			return
		}
		i := int(at) % len(list)
		p, ok := s.Prove(i)
		if !ok || p.Candidate != list[i] || !p.Verify(root) {
			t.Fatalf("%d of %d: %+v is no proof", i, len(list), p)
		}
		flipBit(&p, &root, int(bit))
		if p.Verify(root) {
			t.Fatalf("%d of %d, bit %d: %+v is a proof", i, len(list), bit, p)
		}
	})
}

// flipBit flips one bit of what a proof consists of.
func flipBit(p *selection.Proof, root *chain.Hash, bit int) {
	bit %= 32 + 160 + 64 + 64 + 64 + 256 + 256*len(p.Siblings)
	for _, part := range []struct {
		bits int
		flip func(k int)
	}{
		{32, func(k int) { p.Index ^= 1 << k }},
		{160, func(k int) { p.Candidate.Runner[k/8] ^= 1 << (k % 8) }},
		{64, func(k int) { p.Candidate.EffectiveStake ^= 1 << k }},
		{64, func(k int) { p.Candidate.ReputationX1e9 ^= 1 << k }},
		{64, func(k int) { p.Candidate.BaseWeight ^= 1 << k }},
		{256, func(k int) { root[k/8] ^= 1 << (k % 8) }},
		{256 * len(p.Siblings), func(k int) { p.Siblings[k/256][k%256/8] ^= 1 << (k % 8) }},
	} {
		if bit < part.bits {
			part.flip(bit)
			return
		}
		bit -= part.bits
	}
}

// FuzzWeight holds weights to their formulas in numbers without a bound.
func FuzzWeight(f *testing.F) {
	f.Add(uint64(10_000e9), uint64(50e9), uint64(100), uint64(100_000), uint64(10_000e9))
	f.Add(^uint64(0), ^uint64(0), uint64(1), ^uint64(0), uint64(1))
	f.Add(^uint64(0)-1, uint64(200e9), uint64(100), uint64(0), uint64(1))
	f.Add(uint64(1)<<63, uint64(0), uint64(100), uint64(2_000_000), uint64(1)) // exactly 2^64
	f.Add(uint64(1)<<63-1, uint64(0), uint64(100), uint64(2_000_000), uint64(1))
	f.Fuzz(func(t *testing.T, stake, reputation, normalizer, floor, stakeFloor uint64) {
		c := &selection.Config{StakeFloor: chain.Wei(max(stakeFloor, 1)), Normalizer: max(normalizer, 1), WeightFloorE6: floor}
		for _, c.Version = range []selection.Version{selection.V2, selection.V3} {
			if got, want := c.Weight(chain.Wei(stake), reputation), plainWeight(c, stake, reputation); got != want {
				t.Fatalf("version %d: %d of %d at %d: want %d", c.Version, got, stake, reputation, want)
			}
		}
	})
}

// FuzzStanding holds decay to the plain one, and says what no event may do.
func FuzzStanding(f *testing.F) {
	f.Add(uint64(45e9), uint64(4_018_205), uint64(1_209_600), uint8(0))
	f.Add(uint64(200e9), ^uint64(0), uint64(1), uint8(2))
	f.Add(^uint64(0), uint64(63), uint64(1), uint8(5))
	f.Fuzz(func(t *testing.T, reputation, blocks, halfLife uint64, event uint8) {
		halfLife = max(halfLife, 1)
		s := selection.Standing{ReputationX1e9: reputation, Height: 0}
		got := s.At(chain.Height(blocks), halfLife)
		if want := plainDecay(reputation, blocks, halfLife); !want.IsUint64() || want.Uint64() != got {
			t.Fatalf("%d after %d of %d: %d, want %v", reputation, blocks, halfLife, got, want)
		}
		points := &selection.Points{PerResult: 1, PerTimeout: 5, PerDisagreement: 1, PerFailure: 3, Max: 200}
		e := selection.Event(event % 6)
		for _, v := range []selection.Version{selection.V2, selection.V3} {
			c := configOf(v)
			c.HalfLifeBlocks = halfLife
			after := s.After(e, chain.Height(blocks), c, points)
			if after.Height != chain.Height(blocks) {
				t.Fatalf("stands at %d", after.Height)
			}
			good := e == selection.Verified || e == selection.Gathered
			if got <= 100*selection.Point && (good && after.ReputationX1e9 < got || !good && after.ReputationX1e9 > got) {
				t.Fatalf("version %d, event %d: from %d to %d", v, e, got, after.ReputationX1e9)
			}
			if v == selection.V2 && good && after.ReputationX1e9 > 200*selection.Point {
				t.Fatalf("%d is above the ceiling", after.ReputationX1e9)
			}
		}
	})
}
