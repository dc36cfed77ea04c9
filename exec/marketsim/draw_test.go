package marketsim

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// candidatesOf are the runners that pass the filters of CIP-2 §4 at the end of a job's block,
// ascending by address, with their weights.
func (m *market) candidatesOf(j *job) (list []candidate) {
	for a, r := range m.runners {
		rep := r.standing.now(m.height, m.p.Runner.ReputationHalfLifeBlocks)
		if !r.healthy || r.paused || r.gone || r.under || rounded(rep) < m.p.Runner.MinReputation || !m.able(r, j) {
			continue
		}
		// floor(log2(stake / floor + 1)) + 1, which is the length of floor(stake / floor) + 1 in bits
		weight := plus(over(r.stake, wei(m.p.Runner.StakeFloor)), big.NewInt(1)).BitLen()
		list = append(list, candidate{a, r.stake, rep, wei(weight)})
	}
	slices.SortFunc(list, func(a, b candidate) int { return bytes.Compare(a.runner[:], b.runner[:]) })
	return list
}

// able says whether a runner can do a job: kind, price, room, bond.
func (m *market) able(r *runner, j *job) bool {
	kind := j.spec.JobType.Kind()
	if !slices.Contains(r.offer.can.JobTypes, kind) {
		return false
	}
	switch q := j.spec.JobType.(type) {
	case *chain.HTTPJob:
		if !slices.ContainsFunc(r.offer.can.HTTPDomains, func(d string) bool { return covers(d, host) }) {
			return false
		}
	case *chain.LLMJob:
		if q.ModelID != (chain.Hash{}) && !slices.Contains(r.offer.card.SupportedModels, q.ModelID) {
			return false
		}
	}
	if m.needs[j.by] && m.height > r.offer.attested { // resolution 5.20
		return false
	}
	if j.spec.MaxPrice > 0 && expected(j, &r.offer.card).Cmp(j.share()) > 0 {
		return false
	}
	if r.active >= m.limit(r) {
		return false
	}
	free := minus(r.stake, least(r.bonded, r.stake))
	return times(free, wei(uint64(1_000_000))).Cmp(times(wei(j.spec.MaxPrice), wei(j.bondE6()))) >= 0
}

// host is that of all pages that the model's jobs fetch.
const host = "www.a.example"

// covers says whether a pattern of domains has a host: all, the host itself, or what lies
// below a domain (entitlements §8.2).
func covers(pattern, host string) bool {
	below, wild := strings.CutPrefix(pattern, "*.")
	return pattern == "*" || pattern == host || wild && strings.HasSuffix(host, "."+below)
}

// bondE6 is what economic_bond asks for, in millionths of the price: twice that where the
// terms do not say.
func (j *job) bondE6() uint64 {
	switch {
	case j.spec.Verification.Mode != chain.VerifyEconomicBond:
		return 0
	case j.terms.BondMultiplierE6 != nil:
		return *j.terms.BondMultiplierE6
	}
	return 2_000_000
}

// priced is the sum of rates times amounts, of what a kind of job is priced by (resolution
// 12.12). Time is given in milliseconds.
func priced(kind chain.JobKind, card *chain.RateCard, input, output, requests, millis, memory uint64) *big.Int {
	sum := over(times(wei(card.ComputeSecond), wei(millis)), wei(uint64(1_000)))
	sum = plus(sum, times(wei(card.MemoryMB), wei(memory)))
	switch kind {
	case chain.JobLLM:
		sum = plus(sum, times(wei(card.LLMInputToken), wei(input)))
		sum = plus(sum, times(wei(card.LLMOutputToken), wei(output)))
	case chain.JobHTTP, chain.JobMCP:
		sum = plus(sum, times(wei(card.HTTPRequestBase), wei(requests)))
	}
	return sum
}

// expected is the price of all that a job's bounds allow.
func expected(j *job, card *chain.RateCard) *big.Int {
	b := &j.spec.Bounds
	return priced(j.spec.JobType.Kind(), card, uint64(b.MaxInputTokens), uint64(b.MaxOutputTokens), 1+uint64(b.MaxRetries),
		1_000*uint64(b.MaxWallTimeSeconds), uint64(b.MaxMemoryMB))
}

// committee draws for an attempt, or ends the job where too few are left.
func (m *market) committee(j *job) {
	pool := slices.DeleteFunc(slices.Clone(j.candidates), func(c candidate) bool { return j.wasSilent(c.runner) })
	if len(pool) < j.threshold() && m.p.Job.FailUnfillable {
		if j.attempt() > 0 {
			m.conclude(j, timedOut)
			return
		}
		m.conclude(j, noCandidates)
		return
	}
	seed := j.seed
	if n := j.attempt(); n > 0 {
		seed = keccak.Sum256(j.seed[:], []byte("retry:"), binary.LittleEndian.AppendUint32(nil, uint32(n)))
	}
	m.sit(j, draw(pool, seed, j.runners(), m.p.Job.SelectionChainedDraw))
}

func (j *job) wasSilent(a chain.Address) bool {
	for _, seats := range j.attempts {
		for _, s := range seats {
			if s.silent && s.runner == a {
				return true
			}
		}
	}
	return false
}

// draw is CIP-2 §5; not chained, the form that CIP-11 calls its erratum.
func draw(pool []candidate, seed chain.Hash, n int, chained bool) (drawn []candidate) {
	for i := 0; i < n && len(pool) > 0; i++ {
		total := new(big.Int)
		for _, c := range pool {
			total.Add(total, c.weight)
		}
		hash := keccak.Sum256(seed[:], binary.LittleEndian.AppendUint64(nil, uint64(i)))
		ticket := new(big.Int).Mod(wei(binary.LittleEndian.Uint64(hash[:8])), total)
		at := 0
		for ; ticket.Cmp(pool[at].weight) >= 0; at++ {
			ticket.Sub(ticket, pool[at].weight)
		}
		drawn = append(drawn, pool[at])
		if chained {
			pool[0], pool[at] = pool[at], pool[0]
			pool, seed = pool[1:], hash
			continue
		}
		pool[at] = pool[len(pool)-1]
		pool = pool[:len(pool)-1]
	}
	return drawn
}

// sit seats a committee and sets the windows of the attempt (resolutions 11.27, 12.24).
func (m *market) sit(j *job, drawn []candidate) {
	j.phase, j.begun = assigned, m.height
	j.deadline = m.height + j.spec.TimeoutBlocks
	if j.attempt() == 0 {
		j.deadline = j.submitted + j.spec.TimeoutBlocks
	}
	j.spared = j.deadline < j.begun+m.p.Job.MinWindowBlocks || // less time than anybody has to use (resolution 12.27)
		!m.givesTime(&j.spec, &j.terms) // or to show all results, behind a vote (ADR 229)
	for _, c := range drawn {
		r := m.runners[c.runner]
		bond := times(wei(j.spec.MaxPrice), wei(j.bondE6()))
		bond = over(plus(bond, wei(uint64(999_999))), wei(uint64(1_000_000)))
		bond = least(bond, minus(r.stake, least(r.bonded, r.stake)))
		j.attempts[j.attempt()] = append(j.seats(), &seat{
			runner: c.runner, card: r.offer.card, expected: expected(j, &r.offer.card), excess: j.spared || r.gone || r.active >= m.limit(r),
			rep: c.rep, cost: new(big.Int), frozen: new(big.Int), bonded: bond, open: true,
		})
		r.active++
		r.bonded = plus(r.bonded, bond)
		m.judgeStake(r)
	}
	if j.runners() == 1 {
		j.commitBy, j.gatherTo, j.due = j.deadline, 0, event{j.deadline, "deadline"}
		m.promise(j)
		return
	}
	span := j.deadline - j.begun
	j.commitBy = j.begun + span*m.p.Job.CommitDeadlineBasisPoints/10_000
	j.gatherTo = j.deadline - span*m.p.Job.AggregatorWindowBasisPoints/10_000
	j.due = event{j.commitBy, "commit deadline"}
	m.promise(j)
}
