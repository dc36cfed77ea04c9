package selection_test

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"sort"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// The functions of this file are the sentences of CIP-2 §5-6 and CIP-11 §9.2-9.3, one
// after the other: lists that are really swapped and shortened, sums that are really
// summed, without a bound. The package is held to them.

// plainRunner is a runner in a plain list, by its index in the snapshot.
type plainRunner struct {
	index  uint32
	runner chain.Address
	weight *big.Int
}

func plainList(list []chain.Candidate, excluded []chain.Address) []plainRunner {
	var out []plainRunner
next:
	for i, c := range list {
		for _, e := range excluded {
			if e == c.Runner {
				continue next
			}
		}
		out = append(out, plainRunner{uint32(i), c.Runner, new(big.Int).SetUint64(c.BaseWeight)})
	}
	return out
}

func plainSeed(r *selection.Round) []byte {
	if r.Number == 0 {
		return r.First[:]
	}
	text := append(r.First[:], "retry:"...)
	return plainHash(binary.LittleEndian.AppendUint32(text, r.Number))
}

func plainHash(b []byte) []byte {
	h := keccak.Sum256(b)
	return h[:]
}

// plainTicket reduces the first eight bytes of the hash of a step.
func plainTicket(h []byte, weights []*big.Int) (total, ticket *big.Int) {
	total = new(big.Int)
	for _, w := range weights {
		total.Add(total, w)
	}
	if total.Sign() == 0 {
		return total, nil
	}
	word := new(big.Int).SetUint64(binary.LittleEndian.Uint64(h))
	return total, word.Mod(word, total)
}

// plainWalk passes weights until the ticket is below one of them.
func plainWalk(ticket *big.Int, weights []*big.Int) int {
	left := new(big.Int).Set(ticket)
	for j, w := range weights {
		if left.Cmp(w) < 0 {
			return j
		}
		left.Sub(left, w)
	}
	panic("a ticket that is not below the total")
}

func plainStep(total, ticket *big.Int, h []byte) selection.Step {
	var s selection.Step
	copy(s.Hash[:], h)
	word := new(big.Int).SetUint64(^uint64(0))
	s.Total = [2]uint64{new(big.Int).Rsh(total, 64).Uint64(), word.And(word, total).Uint64()}
	s.Ticket = ticket.Uint64()
	return s
}

// plainV2 is CIP-2 §5: the seed becomes the last hash, and the pick changes places with
// the first that is left.
func plainV2(list []chain.Candidate, r *selection.Round) []selection.Step {
	pool, current := plainList(list, r.Excluded), plainSeed(r)
	var steps []selection.Step
	for i := 0; i < r.Runners && i < len(pool); i++ {
		var weights []*big.Int
		for _, c := range pool[i:] {
			weights = append(weights, c.weight)
		}
		h := plainHash(binary.LittleEndian.AppendUint64(append([]byte(nil), current...), uint64(i)))
		total, ticket := plainTicket(h, weights)
		if ticket == nil {
			break
		}
		j := plainWalk(ticket, weights)
		step := plainStep(total, ticket, h)
		step.Candidate, step.Place = pool[i+j].index, uint32(i+j)
		steps = append(steps, step)
		pool[i], pool[i+j] = pool[i+j], pool[i]
		current = h
	}
	return steps
}

// plainFixed is the loop of CIP-11 §9.2 over one or two pools: one counter, one seed, the
// last of a pool takes the place of the pick.
func plainFixed(pools [][]plainRunner, r *selection.Round, f selection.MRU) []selection.Step {
	seed := plainSeed(r)
	var steps []selection.Step
	for i := 0; i < r.Runners; i++ {
		at := 0
		for at < len(pools) && len(pools[at]) == 0 {
			at++
		}
		if at == len(pools) {
			break
		}
		pool := pools[at]
		biased := false
		var weights []*big.Int
		for _, c := range pool {
			w := new(big.Int).Set(c.weight)
			if i == 0 && f.Known && f.Runner == c.runner {
				w.Mul(w, big.NewInt(int64(f.Factor)))
				biased = true
			}
			weights = append(weights, w)
		}
		h := plainHash(binary.LittleEndian.AppendUint64(append([]byte(nil), seed...), uint64(i)))
		total, ticket := plainTicket(h, weights)
		if ticket == nil {
			break
		}
		j := plainWalk(ticket, weights)
		step := plainStep(total, ticket, h)
		step.Candidate, step.Place, step.Pool, step.MRU = pool[j].index, uint32(j), uint8(at), biased
		steps = append(steps, step)
		pool[j] = pool[len(pool)-1]
		pools[at] = pool[:len(pool)-1]
	}
	return steps
}

func plainV3(list []chain.Candidate, r *selection.Round, m selection.Members, present func(chain.Address) bool, f selection.MRU) []selection.Step {
	all := plainList(list, r.Excluded)
	if m == selection.AllMembers {
		return plainFixed([][]plainRunner{all}, r, f)
	}
	var here, rest []plainRunner
	for _, c := range all {
		if present(c.runner) {
			here = append(here, c)
		} else if m == selection.PresentFirst {
			rest = append(rest, c)
		}
	}
	return plainFixed([][]plainRunner{here, rest}, r, f)
}

// plainWeight is the weight by its formula, cut to 64 bits.
func plainWeight(c *selection.Config, stake, reputation uint64) uint64 {
	s := new(big.Int).SetUint64(stake)
	if c.Version == selection.V2 { // the largest k with 2^k ≤ stake/floor + 1, and one
		floor := new(big.Int).SetUint64(uint64(c.StakeFloor))
		k := uint64(0)
		for new(big.Int).Lsh(floor, uint(k)+1).Cmp(new(big.Int).Add(s, floor)) <= 0 {
			k++
		}
		return k + 1
	}
	ratio := new(big.Int).SetUint64(reputation)
	ratio.Mul(ratio, big.NewInt(1000)).Div(ratio, new(big.Int).SetUint64(c.Normalizer))
	factor := ratio.Sqrt(ratio)
	if floor := new(big.Int).SetUint64(c.WeightFloorE6); factor.Cmp(floor) < 0 {
		factor = floor
	}
	s.Mul(s, factor).Div(s, big.NewInt(1_000_000))
	if !s.IsUint64() {
		return ^uint64(0)
	}
	return s.Uint64()
}

// plainDecay is resolution 11.4 in big numbers: the factor as a product of the roots of
// one half that the bits of the exponent name, floored one by one.
func plainDecay(reputation, blocks, halfLife uint64) *big.Int {
	halvings := blocks / halfLife
	distance := new(big.Int).Sub(new(big.Int).SetUint64(reputation), big.NewInt(50e9))
	above := distance.Sign() >= 0
	distance.Abs(distance)
	fraction := new(big.Int).SetUint64(blocks % halfLife)
	fraction.Lsh(fraction, 32).Div(fraction, new(big.Int).SetUint64(halfLife))
	factor := new(big.Int).Lsh(big.NewInt(1), 64)
	root := new(big.Int).Lsh(big.NewInt(1), 64+256-1)
	for k := range 32 {
		root.Sqrt(root.Lsh(root, 64+256))
		if fraction.Bit(31-k) == 1 {
			factor.Rsh(factor.Mul(factor, new(big.Int).Rsh(root, 256)), 64)
		}
	}
	factor.Rsh(factor, uint(min(halvings, 1<<20)))
	distance.Rsh(distance.Mul(distance, factor), 64)
	if above {
		return distance.Add(big.NewInt(50e9), distance)
	}
	return distance.Sub(big.NewInt(50e9), distance)
}

// plainEligible asks every filter of every runner and sorts what is left.
func plainEligible(runners []selection.Runner, w *selection.Wanted, c *selection.Config, ask selection.Ask) (places []uint32, by []selection.Filter) {
	for i := range runners {
		r := &runners[i]
		fails := plainFilters(r, w, c, ask)
		first := selection.Passed
		for k := len(fails) - 1; k >= 0; k-- {
			if fails[k] {
				first = selection.Filter(k + 1)
			}
		}
		by = append(by, first)
		if first == selection.Passed {
			places = append(places, uint32(i))
		}
	}
	sort.Slice(places, func(a, b int) bool {
		return bytes.Compare(runners[places[a]].Address[:], runners[places[b]].Address[:]) < 0
	})
	return places, by
}

// plainFilters says of each filter, in the order of restored definitions §8, whether it
// keeps the runner away.
func plainFilters(r *selection.Runner, w *selection.Wanted, c *selection.Config, ask selection.Ask) []bool {
	n := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
	mul := func(a, b uint64) *big.Int { return new(big.Int).Mul(n(a), n(b)) }

	rounded := new(big.Int).Div(new(big.Int).Add(n(r.ReputationX1e9), big.NewInt(500_000_000)), big.NewInt(1_000_000_000))
	capable := r.Kinds&(1<<w.Kind) != 0
	if capable && w.Kind == chain.JobHTTP {
		capable = false
		domains := someHosts
		if r.Offer.Domains == readyAny {
			domains = anyHost
		}
		for _, d := range domains {
			below, all := strings.CutPrefix(d, "*")
			capable = capable || d == w.Host || all && strings.HasSuffix(w.Host, below)
		}
	}
	if capable && w.Kind == chain.JobLLM && w.Model != (chain.Hash{}) {
		capable = false
		for _, m := range r.Offer.Models {
			capable = capable || m == w.Model
		}
	}
	if capable && w.Manifest != (chain.Hash{}) {
		capable, _ = ask.Provides(w.Manifest, r.Address)
	}
	cost := new(big.Int).Add(mul(r.Offer.Rates.ComputeSecond, w.Bounds.WallSeconds), mul(r.Offer.Rates.MemoryMB, w.Bounds.MemoryMB))
	switch w.Kind {
	case chain.JobLLM:
		cost.Add(cost, mul(r.Offer.Rates.InputToken, w.Bounds.InputTokens))
		cost.Add(cost, mul(r.Offer.Rates.OutputToken, w.Bounds.OutputTokens))
	case chain.JobHTTP, chain.JobMCP:
		cost.Add(cost, mul(r.Offer.Rates.Request, w.Bounds.Requests))
	}
	share := new(big.Int).Div(n(uint64(w.MaxPrice)), n(w.Runners))
	member := true
	if w.Pool != "" {
		member, _ = ask.JoinedPool(w.Pool, r.Address)
	}
	free := new(big.Int).Sub(n(uint64(r.Stake)), n(uint64(r.Bonded)))
	if free.Sign() < 0 {
		free.SetInt64(0)
	}
	return []bool{
		r.Flags != selection.Healthy,
		rounded.Cmp(n(c.MinReputation)) < 0,
		!capable,
		w.Tee && (r.Offer.Enclave == "" || w.TeeType != "" && r.Offer.Enclave != w.TeeType),
		w.MaxPrice > 0 && cost.Cmp(share) > 0,
		r.Active >= r.Cap,
		!member,
		mul(uint64(r.Stake), 10_000).Cmp(mul(uint64(w.MaxPrice), w.CoverBasisPoints)) < 0,
		free.Mul(free, big.NewInt(1_000_000)).Cmp(mul(uint64(w.MaxPrice), w.BondE6)) < 0,
	}
}
