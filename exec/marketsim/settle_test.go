package marketsim

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/chain"
)

// earned is what a result that agrees may cost (resolutions 6.4, 12.13, 12.52).
func (j *job) earned(m *market, s *seat) *big.Int {
	u := &s.shown.result.Usage
	cost := least(j.share(), priced(j.spec.JobType.Kind(), &s.card, uint64(u.InputTokens), uint64(u.OutputTokens), uint64(u.Requests),
		uint64(u.WallMillis), uint64(u.MemoryMB)))
	switch j.outcome {
	case agreed:
		return cost
	case noAgreement: // its verifier rejects it, or others differ
		return part(cost, m.p.Job.RejectedShareBasisPoints)
	case actorFault:
		return least(j.share(), wei(m.p.Job.MinFee))
	}
	d := s.shown.result.Detail
	return least(j.share(), over(times(s.expected, wei(d.Done)), wei(d.Total)))
}

// settle divides the escrow of a job and burns what was frozen (resolutions 12.13, 12.81).
func (m *market) settle(j *job) {
	var paid []*seat
	for _, s := range j.seats() {
		if s.mark == "agrees" {
			paid = append(paid, s)
		}
	}
	gatherer := j.gatherer()
	left, bonuses, n := j.held, new(big.Int), wei(max(len(paid), 1))
	pay := func(to chain.Address, amount *big.Int) {
		left = minus(left, amount)
		m.money.move(chain.AddrJobDispatcher, to, amount)
		m.earned.credit(to, amount)
	}
	gets := map[*seat]*big.Int{}
	for i, s := range paid {
		treasury, bonus := part(s.cost, j.treasury), new(big.Int)
		if gatherer != nil {
			bonus = part(s.cost, j.gathers)
		}
		bonuses = plus(bonuses, bonus)
		pay(chain.AddrTreasury, treasury)
		gets[s] = minus(minus(s.cost, treasury), bonus)
		if j.outcome != agreed {
			continue
		}
		gets[s] = plus(gets[s], over(wei(j.spec.Tip), n))
		if i == 0 {
			gets[s] = plus(gets[s], new(big.Int).Mod(wei(j.spec.Tip), n))
		}
	}
	if gatherer != nil {
		m.met["aggregator paid"]++
		gets[gatherer] = plus(gets[gatherer], bonuses)
	}
	for _, s := range paid {
		r := m.runners[s.runner]
		to := s.runner
		if j.outcome == noAgreement && gets[s].Sign() > 0 && !m.rejected(r, j.by) {
			to = chain.AddrTreasury // the requester has had the work
		}
		pay(to, gets[s])
		if j.outcome != agreed {
			continue
		}
		r.successes++
		if j.backed() {
			r.rejectedBy = nil
		}
		m.gain(r)
		m.judgeStake(r)
		m.countPrice(j.priced(), s.cost)
	}
	pay(j.by, left)
	burned := new(big.Int)
	for _, seats := range j.attempts {
		for _, s := range seats {
			burned, s.frozen = plus(burned, s.frozen), new(big.Int)
		}
	}
	m.burn(burned)
	for _, s := range j.seats() {
		m.unbind(s)
	}
	j.held, j.phase, j.over = new(big.Int), ended, m.height
	j.due = event{m.height + m.p.Job.KeepBlocks, "prune"}
}

// gatherer is the aggregator, where what it showed of others was needed for the verdict
// (market design §10), and it is paid itself.
func (j *job) gatherer() *seat {
	alone, gathered := 0, 0
	for _, s := range j.seats() {
		switch {
		case s.mark != "agrees" || s.shown.at > j.verdict:
		case s.shown.gathered:
			gathered++
		default:
			alone++
		}
	}
	if a := j.aggregator(); gathered > 0 && alone < j.threshold() && a != nil && a.mark == "agrees" {
		return a
	}
	return nil
}

// countPrice is resolution 12.50.
func (m *market) countPrice(of pricedAs, paid *big.Int) {
	p, ok := m.prices[of]
	if !ok {
		p = [3]*big.Int{new(big.Int), new(big.Int), new(big.Int)}
	}
	if p[0].Cmp(wei(65_536)) >= 0 {
		for i := range p {
			p[i] = over(p[i], wei(2))
		}
	}
	m.prices[of] = [3]*big.Int{plus(p[0], wei(1)), plus(p[1], paid), plus(p[2], times(paid, paid))}
}

// pricedAs is what payments are counted for.
type pricedAs struct {
	kind  chain.JobKind
	model chain.Hash
}

func (j *job) priced() pricedAs {
	p := pricedAs{kind: j.spec.JobType.Kind()}
	if q, ok := j.spec.JobType.(*chain.LLMJob); ok {
		p.model = q.ModelID
	}
	return p
}
