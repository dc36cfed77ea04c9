package marketsim

import (
	"math/big"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// runner is a record of the Runner Registry.
type runner struct {
	index    int
	stake    *big.Int
	tranches []tranche // oldest first
	bonded   *big.Int
	largest  *big.Int // job that it takes
	offer    offer

	healthy, paused, gone, under bool

	registered, offerChanged, seen uint64

	standing      standing
	fellAt        uint64
	active        int
	successes     uint64
	disagreements uint64
	silences      uint64
	inRow         uint64
	slashed       *big.Int
	rejectedBy    []chain.Address // three at most, since its last result that others confirmed
}

type tranche struct {
	amount *big.Int
	free   uint64
}

// offer is on what terms a runner works.
type offer struct {
	card     chain.RateCard
	can      chain.Capabilities
	attested uint64 // the last block in which it attests oracle.llm; 0: never
}

// market is the model.
type market struct {
	p         *params.Params // of the block
	height    uint64
	millis    uint64
	money     ledger
	earned    ledger   // by runners, of jobs
	burned    *big.Int // by the market, in this block
	runners   map[chain.Address]*runner
	joined    []chain.Address
	jobs      map[chain.Hash]*job
	touched   map[chain.Hash]bool      // jobs with new results
	waiting   []waiting                // to be judged, by since when and by id
	room      bool                     // the block can judge results yet
	announced uint64                   // events of the dispatcher in this block
	prices    map[pricedAs][3]*big.Int // how many payments, their sum, and that of their squares
	latest    map[requester]usedLast
	drawn     chain.Hash // hash that the block draws with
	answers   map[chain.Address]answers
	needs     map[chain.Address]bool // actors whose runners have to attest what they can do
	numbered  uint64                 // jobs that the actor has asked for
	met       map[string]int         // what has happened, for the report
	promises  []*share               // of the runner lane
	used      fees.Space             // of it by transactions in this block
	crowded   uint64                 // blocks in which more than half of it was promised
	busy      uint64                 // those of them in which half of it was used
	gone      func(*job)             // hears of each job whose rows go
}

type requester struct {
	by   chain.Address
	kind chain.JobKind
}

type usedLast struct {
	runner chain.Address
	at     uint64
}

func newMarket(money ledger, met map[string]int) *market {
	return &market{
		met:   met,
		money: money, earned: ledger{}, runners: map[chain.Address]*runner{}, jobs: map[chain.Hash]*job{}, touched: map[chain.Hash]bool{},
		answers: map[chain.Address]answers{}, needs: map[chain.Address]bool{}, prices: map[pricedAs][3]*big.Int{}, latest: map[requester]usedLast{}, burned: new(big.Int),
	}
}

// required is the stake that goes with a largest job (resolution 5.6).
func (m *market) required(largest *big.Int) *big.Int {
	need := times(largest, wei(m.p.Runner.StakePerJobBasisPoints))
	need = over(plus(need, wei(uint64(9_999))), wei(uint64(10_000)))
	if floor := wei(m.p.Runner.StakeFloor); floor.Cmp(need) > 0 {
		return floor
	}
	return need
}

// judgeStake says whether the stake suffices (resolution 12.3). It is judged when something
// changes the record: a vote on the floor is heard from then on.
func (m *market) judgeStake(r *runner) { r.under = r.stake.Cmp(m.required(r.largest)) < 0 }

// registered is a runner that is registered.
func (m *market) registered(a chain.Address) *runner {
	if r := m.runners[a]; r != nil && !r.gone {
		return r
	}
	return nil
}

func (m *market) register(a chain.Address, stake, largest *big.Int, o offer) uint16 {
	r := m.runners[a]
	switch {
	case r != nil && !r.gone:
		return chain.CodeExists
	case stake.Cmp(m.required(largest)) < 0:
		return chain.CodeStakeTooLow
	case r != nil && m.cools(r):
		return chain.CodeWrongState
	case r == nil && uint64(len(m.joined)) >= m.p.Runner.MaxRegistered:
		return chain.CodeLimitReached
	}
	if r == nil {
		r = &runner{
			index: len(m.joined), registered: m.height, bonded: new(big.Int), slashed: new(big.Int),
			standing: standing{times(wei(m.p.Runner.InitialReputation), point), m.height},
		}
		m.runners[a] = r
		m.joined = append(m.joined, a)
	} else {
		r.offerChanged = m.height
	}
	r.healthy, r.paused, r.gone = true, false, false
	r.stake, r.largest, r.offer, r.seen = stake, largest, o, m.height
	m.judgeStake(r)
	m.money.move(a, chain.AddrRunnerRegistry, stake)
	return chain.CodeOK
}

// cools says that an offer was changed too lately (resolution 12.4).
func (m *market) cools(r *runner) bool {
	return r.offerChanged != 0 && m.height-r.offerChanged < m.p.Runner.OfferCooldownBlocks
}

func (m *market) heartbeat(a chain.Address) uint16 {
	r := m.registered(a)
	if r.seen == m.height { // resolution 12.9
		return chain.CodeWrongState
	}
	r.seen = m.height
	if !r.healthy {
		r.healthy = true
		m.judgeStake(r)
	}
	return chain.CodeOK
}

func (m *market) update(a chain.Address, more *big.Int, q *chain.RunnerUpdate) uint16 {
	r := m.registered(a)
	changes := q.MaxJobValue != nil || q.RateCard != nil || q.Capabilities != nil
	if changes && m.cools(r) {
		return chain.CodeWrongState
	}
	stake, largest := plus(r.stake, more), r.largest
	if q.MaxJobValue != nil {
		if largest = wei(*q.MaxJobValue); stake.Cmp(m.required(largest)) < 0 {
			return chain.CodeStakeTooLow
		}
	}
	if changes {
		r.offerChanged = m.height
	}
	if q.RateCard != nil {
		r.offer.card = *q.RateCard
	}
	if q.Capabilities != nil {
		r.offer.can = *q.Capabilities
	}
	if q.Attestation != nil {
		r.offer.attested = uint64(q.Attestation.ValidUntil)
	}
	r.stake, r.largest = stake, largest
	m.judgeStake(r)
	m.money.move(a, chain.AddrRunnerRegistry, more)
	return chain.CodeOK
}

func (m *market) unstake(a chain.Address, amount *big.Int) uint16 {
	r := m.registered(a)
	free := m.height + m.p.Runner.UnbondingBlocks
	n := len(r.tranches)
	left := minus(r.stake, amount)
	switch {
	case n >= 8 && r.tranches[n-1].free != free:
		return chain.CodeLimitReached
	case left.Sign() < 0:
		return chain.CodeBadArgument
	case !r.paused && left.Cmp(m.required(r.largest)) < 0:
		return chain.CodeStakeTooLow
	case left.Cmp(r.bonded) < 0:
		return chain.CodeWrongState
	}
	m.unbond(r, amount, free)
	m.judgeStake(r)
	return chain.CodeOK
}

func (m *market) unbond(r *runner, amount *big.Int, free uint64) {
	r.stake = minus(r.stake, amount)
	n := len(r.tranches)
	if n > 0 && (r.tranches[n-1].free == free || n == 8) {
		newest := &r.tranches[n-1]
		newest.amount, newest.free = plus(newest.amount, amount), max(newest.free, free)
		return
	}
	r.tranches = append(r.tranches, tranche{amount, free})
}

func (m *market) withdraw(a chain.Address) uint16 {
	r := m.runners[a]
	if r == nil {
		return chain.CodeNotFound
	}
	out := new(big.Int)
	var left []tranche
	for _, t := range r.tranches {
		if t.free > m.height {
			left = append(left, t)
			continue
		}
		out = plus(out, t.amount)
	}
	if len(left) == len(r.tranches) {
		return chain.CodeWrongState
	}
	r.tranches = left
	m.judgeStake(r)
	m.money.move(chain.AddrRunnerRegistry, a, out)
	return chain.CodeOK
}

func (m *market) pause(a chain.Address, paused bool) uint16 {
	r := m.registered(a)
	r.paused = paused
	m.judgeStake(r)
	return chain.CodeOK
}

func (m *market) deregister(a chain.Address) uint16 {
	r := m.registered(a)
	if r.active > 0 || r.bonded.Sign() > 0 {
		return chain.CodeWrongState
	}
	if r.stake.Sign() > 0 {
		m.unbond(r, r.stake, m.height+m.p.Runner.UnbondingBlocks)
	}
	r.healthy, r.paused, r.gone = false, false, true
	m.judgeStake(r)
	return chain.CodeOK
}

// comeBack is runner_return (resolution 12.5).
func (m *market) comeBack(a chain.Address) uint16 {
	r, p := m.registered(a), &m.p.Runner
	if r.fellAt == 0 || rounded(r.standing.now(m.height, p.ReputationHalfLifeBlocks)) >= p.MinReputation || m.height-r.fellAt < p.ReturnBlocks {
		return chain.CodeWrongState
	}
	r.standing = standing{times(wei(p.InitialReputation), point), m.height}
	r.fellAt, r.successes = 0, 0
	m.judgeStake(r)
	return chain.CodeOK
}

// floor makes unhealthy who was not heard for longer than the timeout.
func (m *market) floor() {
	for _, r := range m.runners {
		if r.healthy && r.seen+m.p.Runner.HeartbeatTimeoutBlocks < m.height {
			r.healthy = false
			m.judgeStake(r)
		}
	}
}

// limit is how many jobs a runner takes at a time (resolution 5.7).
func (m *market) limit(r *runner) int {
	n := int(r.offer.can.MaxConcurrentJobs)
	if r.successes < m.p.Runner.ProbationSuccesses {
		return min(n, 1)
	}
	return n
}

// lose takes points of a reputation, down to 0.
func (m *market) lose(r *runner, points uint64) {
	now := r.standing.now(m.height, m.p.Runner.ReputationHalfLifeBlocks)
	m.stand(r, minus(now, least(now, times(wei(points), point))))
}

// gain is what a verified result brings, up to the most.
func (m *market) gain(r *runner) {
	p := &m.p.Runner
	now := plus(r.standing.now(m.height, p.ReputationHalfLifeBlocks), times(wei(p.ReputationPerResult), point))
	m.stand(r, least(now, times(wei(p.MaxReputation), point)))
}

// stand gives a runner a reputation, and notes when it falls below the minimum.
func (m *market) stand(r *runner, after *big.Int) {
	p := &m.p.Runner
	before := r.standing.now(m.height, p.ReputationHalfLifeBlocks)
	r.standing = standing{after, max(m.height, r.standing.at)}
	if rounded(after) < p.MinReputation && (r.fellAt == 0 || rounded(before) >= p.MinReputation) {
		r.fellAt = m.height
	}
}

// silent is what silence costs (resolutions 6.9, 12.35).
func (m *market) silent(a chain.Address) (slashed bool) {
	r, p := m.runners[a], &m.p.Runner
	r.silences++
	r.inRow++
	m.lose(r, p.TimeoutReputationPenalty)
	if r.inRow >= p.SlashThreshold {
		r.inRow = 0
		burned := m.slash(r, p.SlashTimeoutBasisPoints)
		m.burn(burned)
		slashed = burned.Sign() > 0
	}
	m.judgeStake(r)
	return slashed
}

// rejected notes work that came to nothing for a submitter, and says whether the runner is
// paid for it: not where three have said so and nobody has confirmed anything since (ADR 228).
func (m *market) rejected(r *runner, by chain.Address) bool {
	if len(r.rejectedBy) == 3 {
		m.met["share withheld"]++
		return false
	}
	if !slices.Contains(r.rejectedBy, by) {
		r.rejectedBy = append(r.rejectedBy, by)
		m.judgeStake(r)
	}
	return true
}

func (m *market) disagreed(a chain.Address) {
	r := m.runners[a]
	r.disagreements++
	m.lose(r, m.p.Runner.DisagreementPenalty)
	m.judgeStake(r)
}

// slash takes a share of stake and what unbonds: of the stake first, then of the newest
// tranche and so on back (resolution 12.47).
func (m *market) slash(r *runner, basisPoints uint64) *big.Int {
	base := r.stake
	for _, t := range r.tranches {
		base = plus(base, t.amount)
	}
	share := part(base, basisPoints)
	left := share
	taken := least(left, r.stake)
	r.stake, left = minus(r.stake, taken), minus(left, taken)
	for n := len(r.tranches) - 1; left.Sign() > 0; n-- {
		t := &r.tranches[n]
		taken = least(left, t.amount)
		t.amount, left = minus(t.amount, taken), minus(left, taken)
		if t.amount.Sign() == 0 {
			r.tranches = slices.Delete(r.tranches, n, n+1)
		}
	}
	r.slashed = plus(r.slashed, share)
	m.judgeStake(r)
	return share
}

// burn takes money out of the registry for good.
func (m *market) burn(n *big.Int) {
	m.money.debit(chain.AddrRunnerRegistry, n)
	m.burned = plus(m.burned, n)
}
