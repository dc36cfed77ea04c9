package marketsim

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

const (
	chainID = 7
	wealth  = chain.Wei(1_000_000_000_000_000) // of each account at first
)

var (
	proposer  = chain.Address{0: 0xee, 19: 1}
	validator = chain.Address{0: 0xee, 19: 2}
)

// game is a market that is played: the chain and the model beside it.
type game struct {
	t    testing.TB
	seed uint64
	rng  *rand.Rand
	p    *params.Params

	state   *statetest.Maps
	memo    *jobs.Memo
	beside  *parallel.Executor        // executes each block too; nil: nobody does
	another func() *parallel.Executor // makes one that knows nothing
	height  uint64
	nonces  map[chain.Address]uint64

	engine *pvm.Engine   // nil: there is no actor
	actor  chain.Address // that asks, verifies and takes answers

	m         *market
	supply    *big.Int    // the model's
	year      uint64      // of the last block
	yearStart *big.Int    // the supply at its start
	parts     []character // of the runners
	players   []*player
	next      func() []*act // what people may send for the next block
	tight     bool          // blocks have no room for all that falls due, and jobs may take longer
	scatters  int           // how many results of six an aggregator leaves for another time
	prompt    bool          // runners do at once what they do, and honest ones make no mistakes
	askers    []chain.Address

	promises map[promised]*signed
	stats    map[string]int
}

// act is something that somebody sends, and what the model says of it.
type act struct {
	name    string
	from    chain.Address
	to      chain.Address
	value   *big.Int
	payload func(before map[string]chain.Hash) []byte // by the hashes of acts with a tag
	tag     string
	do      func(tx chain.Hash) uint16
	signers []chain.Address // of results, as the signature pipeline recovers them; nil: nobody has
}

func fixed(payload []byte) func(map[string]chain.Hash) []byte {
	return func(map[string]chain.Hash) []byte { return payload }
}

// player is a runner.
type player struct {
	addr  chain.Address
	key   *secp256k1.PrivateKey
	plays character
}

func keyed(t testing.TB, n int) (*secp256k1.PrivateKey, chain.Address) {
	t.Helper()
	key, err := secp256k1.ParsePrivateKey(append(make([]byte, 30), 1, byte(n)))
	if err != nil {
		t.Fatal(err)
	}
	return key, key.PublicKey().Address()
}

// newGame returns a market in which nobody is registered, under rules that are drawn.
func newGame(t testing.TB, seed uint64, runners int) *game {
	t.Helper()
	g := bareGame(t, seed)
	g.p, g.scatters = g.rules(), []int{1, 4, 6}[seed%3]
	for range runners {
		g.parts = append(g.parts, g.cast())
	}
	g.next = func() []*act { return g.plan(true) }
	g.open()
	return g
}

// bareGame is one without rules and parts.
func bareGame(t testing.TB, seed uint64) *game {
	return &game{
		t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 227)), memo: jobs.NewMemo(), nonces: map[chain.Address]uint64{},
		promises: map[promised]*signed{}, stats: map[string]int{}, supply: new(big.Int),
	}
}

// open makes the state of the genesis and the model of it.
func (g *game) open() {
	g.t.Helper()
	d, money := state.NewDelta(), ledger{}
	rich := func(a chain.Address) {
		account := state.NewAccount()
		account.Balance = wealth
		d.SetAccount(a, account)
		money.credit(a, wei(wealth))
		g.supply = plus(g.supply, wei(wealth))
	}
	for n, plays := range g.parts {
		key, addr := keyed(g.t, n+1)
		g.players = append(g.players, &player{addr, key, plays})
		rich(addr)
	}
	for n := range 3 {
		g.askers = append(g.askers, chain.Address{0: 0xa0, 19: byte(n + 1)})
		rich(g.askers[n])
	}
	staking.Genesis(d, chain.Wei(g.supply.Uint64()))
	g.state, g.m = statetest.NewMaps(d), newMarket(money, g.stats)
	g.m.gone = g.count
}

// roomy are parameters whose blocks have room for all that a game sends.
func roomy() *params.Params {
	p := params.Default()
	p.CyclesTarget, p.CyclesCap, p.CellsTarget, p.CellsCap = 8_000_000_000, 16_000_000_000, 400_000_000, 800_000_000
	p.MaxTxCycles, p.MaxTxCells, p.MaxBlockBytes = 100_000_000, 5_000_000, 16<<20
	return &p
}

// rules are parameters under which everything happens soon, in small numbers that have to be
// rounded.
func (g *game) rules() *params.Params {
	p, r := roomy(), g.rng
	p.Runner.StakeFloor, p.Runner.HeartbeatTimeoutBlocks, p.Runner.UnbondingBlocks = 1_000, 8+r.Uint64N(20), 8+r.Uint64N(8)
	p.Runner.OfferCooldownBlocks, p.Runner.ReturnBlocks, p.Runner.ProbationSuccesses = 1+r.Uint64N(4), 3+r.Uint64N(8), r.Uint64N(3)
	p.Runner.ReputationHalfLifeBlocks, p.Runner.SlashThreshold = 2+r.Uint64N(200), 1+r.Uint64N(3)
	p.Job.MinWindowBlocks, p.Job.MinCommitteeTimeoutBlocks = 1+r.Uint64N(3), 5
	p.Job.ChallengeWindowBlocks, p.Job.KeepBlocks, p.Job.MinFee = 2+r.Uint64N(5), 3+r.Uint64N(12), 37
	p.Job.AggregatorWindowBasisPoints = []uint64{1_000, 2_000, 3_500}[r.IntN(3)]
	p.Job.RequirePrice = r.IntN(2) == 0
	p.Job.EarlyRetry = r.IntN(4) > 0
	p.Job.SelectionChainedDraw = r.IntN(3) > 0
	p.Job.SelectionSeed = []string{params.SelectionSeedSubmission, params.SelectionSeedBeacon, params.SelectionSeedParent}[r.IntN(3)]
	if g.seed%2 == 0 { // large results crowd the runner lane
		p.MaxBlockBytes = 1 << 20
	}
	if g.tight = g.seed%5 == 0; g.tight { // blocks have too little room
		switch r.IntN(3) {
		case 0:
			p.Job.DuePerBlock = 1 + r.Uint64N(3)
		case 1:
			p.Job.RetriesPerBlock = 1 + r.Uint64N(2)
		case 2:
			p.Job.JudgeStepsPerBlock = 1
			p.Job.DuePerBlock = 2 + r.Uint64N(6)
		}
	}
	return p
}

func (g *game) fatalf(format string, args ...any) {
	g.t.Helper()
	g.t.Fatalf("seed %d, block %d: %s", g.seed, g.height, fmt.Sprintf(format, args...))
}

// inputs are what a block depends on besides its transactions.
func (g *game) inputs(fork byte) exec.Inputs {
	p := *g.p
	in := exec.Inputs{
		Params: &p, ChainID: chainID, Height: chain.Height(g.height), TimestampMillis: 1_000 * g.height, Proposer: proposer,
		Validators: []chain.Validator{{Stake: 100, RewardAddress: validator}},
		ParentHash: chain.Hash{0: fork, 1: byte(g.seed), 2: byte(g.height)}, ParentBeacon: chain.Hash{0: 1 + fork, 1: byte(g.height)},
		Market: g.memo, Engine: g.engine,
	}
	for lane := range in.BaseFees {
		in.BaseFees[lane] = chain.FeePair{PerCycle: 1, PerCell: 1}
	}
	return in
}

// transactions makes what is sent out of acts, which it puts into the order of a block.
func (g *game) transactions(acts []*act) []*chain.VerifiedTx {
	target := func(a *act) *chain.Address {
		if a.to == (chain.Address{}) {
			return nil // a deployment
		}
		return &a.to
	}
	lanes := func(a *act) chain.LaneID {
		return verified(&chain.Tx{To: target(a), Payload: a.payload(nil)}, a.from).Lane
	}
	slices.SortStableFunc(acts, func(a, b *act) int { return cmp.Compare(lanes(a), lanes(b)) })
	nonces, tagged := map[chain.Address]uint64{}, map[string]chain.Hash{}
	var txs []*chain.VerifiedTx
	for _, a := range acts {
		tx := verified(&chain.Tx{
			ChainID: chainID, Nonce: g.nonces[a.from] + nonces[a.from], To: target(a), Value: chain.Wei(a.value.Uint64()), Payload: a.payload(tagged),
			CyclesLimit: g.cycles(a), CellsLimit: 1_000_000, MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: 2,
		}, a.from)
		tx.Signers = a.signers
		nonces[a.from]++
		if a.tag != "" {
			tagged[a.tag] = jobID(tx.Hash, g.height)
		}
		txs = append(txs, tx)
	}
	return txs
}

// cycles is the limit of a transaction: a message to an actor may not take more than that has
// for a block.
func (g *game) cycles(a *act) chain.Cycles {
	if a.to == g.actor {
		return 900_000
	}
	return 20_000_000
}

func verified(tx *chain.Tx, from chain.Address) *chain.VerifiedTx {
	tx.Signature = &chain.TxSignature{R: [32]byte{1}, S: [32]byte{1}}
	body := tx.Encode()
	v := &chain.VerifiedTx{Tx: tx, Body: body, Hash: chain.TxHash(body), Sender: from, Lane: chain.LaneUser}
	if ins, err := tx.Classify(); err == nil {
		v.Lane = ins.Lane
	}
	return v
}

// block executes the next block and holds it to the model.
func (g *game) block(acts []*act) {
	g.t.Helper()
	txs, in := g.transactions(acts), g.inputs(0)
	if g.rng.IntN(forksEach) == 0 {
		g.fork()
	}
	r, err := exec.Apply(g.state, in, txs)
	if err != nil {
		g.fatalf("%v", err)
	}
	if g.beside != nil {
		other := g.inputs(0)
		if got, want := text(g.beside.Apply(g.state, other, txs)), text(r, nil); got != want {
			g.fatalf("in parallel\n%s\none by one\n%s", got, want)
		}
	}
	if g.rng.IntN(strangersEach) == 0 {
		g.stranger()
	}
	g.state = g.state.With(r.Delta)
	g.model(&in, acts, txs, &r)
	g.compare(&r)
}

// A game has a fork in one of so many blocks, a restart, a vote, and somebody who sends what
// only others may.
const (
	forksEach     = 8
	restartsEach  = 15
	votesEach     = 12
	strangersEach = 6
)

// fork executes another block on the same parent, which nobody keeps. What was learned of it
// must not show in the one that is kept.
func (g *game) fork() {
	g.t.Helper()
	before := g.m.height
	txs, in := g.transactions(g.next()), g.inputs(1)
	if g.rng.IntN(2) == 0 {
		in.ParentHash, in.ParentBeacon = g.inputs(0).ParentHash, g.inputs(0).ParentBeacon
	}
	r, err := exec.Apply(g.state, in, txs)
	if err != nil {
		g.fatalf("a fork: %v", err)
	}
	if g.beside != nil {
		if got, want := text(g.beside.Apply(g.state, in, txs)), text(r, nil); got != want {
			g.fatalf("a fork in parallel\n%s\none by one\n%s", got, want)
		}
	}
	g.m.height = before
	g.stats["fork"]++
}

// stranger tries to send what runners alone may, or those who were drawn for a job: that
// stands in no block (resolution 11.13).
func (g *game) stranger() {
	g.t.Helper()
	by := g.askers[g.rng.IntN(len(g.askers))]
	var id chain.Hash
	for _, j := range g.m.byID(func(j *job) bool { return j.phase == assigned }) {
		id = j.id
	}
	a := []*act{
		g.heartbeat(by), g.commits(by, id, chain.Hash{1}), g.reveals(by, id, signed{}), g.gathers(by, id, []signed{{}}),
		g.toRegistry("deregister", by, new(big.Int), &chain.RunnerDeregister{}, nil),
		g.toRegistry("unstake", by, new(big.Int), &chain.RunnerUnstake{Amount: 1}, nil),
	}[g.rng.IntN(6)]
	_, err := exec.Apply(g.state, g.inputs(0), g.transactions([]*act{a}))
	if !errors.Is(err, fees.ErrRole) || !errors.As(err, new(*exec.InvalidTx)) {
		g.fatalf("%s of a stranger: %v", a.name, err)
	}
	g.stats["stranger "+a.name]++
}

// restart goes on from a snapshot of the state, with nothing else remembered.
func (g *game) restart() {
	g.t.Helper()
	g.state, g.memo = statetest.NewMaps(g.state.Delta()), jobs.NewMemo()
	if g.beside != nil {
		g.beside = g.another()
	}
	g.stats["restart"]++
}

// model does the block in the model. Fees are those of the receipts: metering is another's
// proof.
func (g *game) model(in *exec.Inputs, acts []*act, txs []*chain.VerifiedTx, r *exec.Result) {
	g.t.Helper()
	m := g.m
	m.p, m.height, m.millis, m.drawn = in.Params, g.height, in.TimestampMillis, in.ParentHash
	if m.p.Job.SelectionSeed == params.SelectionSeedBeacon {
		m.drawn = in.ParentBeacon
	}
	m.begin()
	m.used = fees.Space{Usage: r.Used[chain.LaneRunner]}
	burned := new(big.Int)
	for i, a := range acts {
		receipt := &r.Receipts[i]
		want := a.do(txs[i].Hash)
		g.stats[a.name+" "+chain.CodeName(want)]++
		if receipt.Code != want {
			g.fatalf("%s of %s: %s, want %s", a.name, a.from, chain.CodeName(receipt.Code), chain.CodeName(want))
		}
		g.nonces[a.from]++
		m.money.debit(a.from, wei(receipt.Fee))
		m.money.credit(proposer, wei(receipt.Tip))
		burned = plus(burned, wei(receipt.Fee-receipt.Tip))
		if txs[i].Lane == chain.LaneRunner {
			m.used.Bytes += fees.TxBytes(txs[i])
		}
	}
	m.finish()
	issued := g.issued()
	m.money.credit(validator, issued)
	g.supply = minus(minus(plus(g.supply, issued), burned), m.burned)
	if burned := plus(burned, m.burned); burned.Cmp(wei(r.Burned)) != 0 || issued.Cmp(wei(r.Issued)) != 0 {
		g.fatalf("%d burned and %d issued, want %s and %s", r.Burned, r.Issued, burned, issued)
	}
}

// issued is what a block issues: the supply at the start of its year times the year's rate
// (whitepaper §8.2; resolutions 9.3, 9.4).
func (g *game) issued() *big.Int {
	year := (g.height-1)/g.p.BlocksPerYear + 1
	if year != g.year {
		g.year, g.yearStart = year, g.supply
	}
	rate := uint64(0)
	for _, step := range g.p.InflationBasisPoints {
		if rate = step.BasisPoints; step.UntilYear == 0 || year <= step.UntilYear {
			break
		}
	}
	return over(times(g.yearStart, wei(rate)), wei(10_000*g.p.BlocksPerYear))
}

// lateness is how many blocks behind its deadline an attempt ends: one, in which the pass
// comes to it, and another where results are judged without those that were withheld.
const lateness = 2

// count notes what became of a job, and holds it to its time: three attempts, each a block
// or two behind its deadline, and the window.
func (g *game) count(j *job) {
	g.stats["job "+string(j.outcome)]++
	g.stats[fmt.Sprintf("job of %d attempts", len(j.attempts))]++
	window := max(j.window, j.verdict) - j.verdict
	if most := j.submitted + uint64(max(3, len(j.attempts)))*(j.spec.TimeoutBlocks+lateness) + window + 1; j.over > most && !g.tight {
		g.fatalf("job %s of block %d, with %d blocks for an attempt and a window of %d, was over at %d", j.id, j.submitted, j.spec.TimeoutBlocks, window, j.over)
	}
	for _, seats := range j.attempts {
		for _, s := range seats {
			g.stats["seat "+s.mark]++
			if s.excess {
				g.stats["seat excess"]++
			}
		}
	}
}

// text writes out all of a result.
func text(r exec.Result, err error) string {
	if err != nil {
		return err.Error()
	}
	var s strings.Builder
	for i := range r.Receipts {
		fmt.Fprintf(&s, "%x\n", r.Receipts[i].Encode())
	}
	fmt.Fprintln(&s, r.Used, r.Burned, r.Issued, r.Tips)
	for _, c := range r.Delta.Accounts() {
		fmt.Fprintln(&s, c.Address, c.Cleared, c.Account)
		for _, w := range c.Storage {
			fmt.Fprintf(&s, "  %q %v %x\n", w.Key, w.Value == nil, w.Value)
		}
	}
	return s.String()
}
