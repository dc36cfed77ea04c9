package attacks

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/market/books"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

const (
	chainID = 7
	wealth  = 1_000_000 * chain.WeiPerCBY // of each person at first
	stake   = 10_000 * chain.WeiPerCBY    // the floor
)

var (
	proposer  = chain.Address{0: 0xee, 19: 1}
	validator = chain.Address{0: 0xee, 19: 2}
)

// person is an account with a key.
type person struct {
	key  *secp256k1.PrivateKey
	addr chain.Address
}

// market is a chain on which an attack is played.
type market struct {
	*testing.T
	p      *params.Params
	state  *statetest.Maps
	memo   *jobs.Memo
	books  books.Books
	engine *pvm.Engine // nil: there is no actor
	height chain.Height
	people []*person
	fees   map[chain.Address]chain.Wei // that each has paid
	burned chain.Wei                   // besides fees, in all
	parent func(h chain.Height) chain.Hash
	beacon func(h chain.Height) chain.Hash
}

// newMarket returns a chain with so many people, none of whom is registered. Its parameters
// are those of the code, but for windows that are short, a hundred blocks of silence that are
// many, and blocks with room for what is played.
func newMarket(t *testing.T, count int) *market {
	t.Helper()
	p := params.Default()
	p.CyclesTarget, p.CyclesCap, p.CellsTarget, p.CellsCap = 8_000_000_000, 16_000_000_000, 400_000_000, 800_000_000
	p.MaxTxCycles, p.MaxTxCells, p.MaxBlockBytes = 100_000_000, 5_000_000, 16<<20
	p.Runner.HeartbeatTimeoutBlocks, p.Runner.UnbondingBlocks = 1<<30, 200
	p.Job.ChallengeWindowBlocks, p.Job.KeepBlocks = 20, 50
	m := &market{
		T: t, p: &p, memo: jobs.NewMemo(), fees: map[chain.Address]chain.Wei{},
		parent: func(h chain.Height) chain.Hash { return keccak.Sum256([]byte(fmt.Sprint("parent of ", h))) },
		beacon: func(h chain.Height) chain.Hash { return keccak.Sum256([]byte(fmt.Sprint("beacon of ", h))) },
	}
	d := state.NewDelta()
	for n := range count {
		m.people = append(m.people, newPerson(t, n))
		a := state.NewAccount()
		a.Balance = wealth
		d.SetAccount(m.people[n].addr, a)
	}
	staking.Genesis(d, chain.Wei(count)*wealth)
	m.state = statetest.NewMaps(d)
	return m
}

func newPerson(t *testing.T, n int) *person {
	t.Helper()
	key, err := secp256k1.ParsePrivateKey(append(make([]byte, 30), 1, byte(n+1)))
	if err != nil {
		t.Fatal(err)
	}
	return &person{key, key.PublicKey().Address()}
}

// act is a transaction that somebody sends, whose nonce is not known yet.
type act struct {
	by      *person
	to      *chain.Address
	value   chain.Wei
	payload []byte
	cycles  chain.Cycles // limits; 0: large ones
	cells   chain.Cells
}

func to(a chain.Address) *chain.Address { return &a }

func ask(by *person, at chain.Address, value chain.Wei, q chain.Request) act {
	return act{by: by, to: to(at), value: value, payload: chain.EncodeRequest(q)}
}

// sent makes the transactions of a block out of acts, in the order of a block.
func (m *market) sent(acts []act) (txs []*chain.VerifiedTx) {
	lane := func(a act) chain.LaneID {
		ins, err := (&chain.Tx{To: a.to, Payload: a.payload}).Classify()
		if err != nil {
			return chain.LaneUser
		}
		return ins.Lane
	}
	slices.SortStableFunc(acts, func(a, b act) int { return cmp.Compare(lane(a), lane(b)) })
	nonces := map[chain.Address]uint64{}
	for _, a := range acts {
		tx := &chain.Tx{
			ChainID: chainID, Nonce: m.state.Accounts[a.by.addr].Nonce + nonces[a.by.addr], To: a.to, Value: a.value, Payload: a.payload,
			CyclesLimit: cmp.Or(a.cycles, 20_000_000), CellsLimit: cmp.Or(a.cells, min(1_000_000, m.p.MaxTxCells)), MaxFeePerCycle: 1, MaxFeePerCell: 1,
			Signature: &chain.TxSignature{R: [32]byte{1}, S: [32]byte{1}},
		}
		nonces[a.by.addr]++
		body := tx.Encode()
		txs = append(txs, &chain.VerifiedTx{Tx: tx, Body: body, Hash: chain.TxHash(body), Sender: a.by.addr, Lane: lane(a)})
	}
	return txs
}

// inputs are those of the next block.
func (m *market) inputs() exec.Inputs {
	p, h := *m.p, m.height+1
	in := exec.Inputs{
		Params: &p, ChainID: chainID, Height: h, TimestampMillis: 1_000 * uint64(h), Proposer: proposer,
		Validators: []chain.Validator{{Stake: 100, RewardAddress: validator}},
		ParentHash: m.parent(h), ParentBeacon: m.beacon(h), Market: m.memo, Engine: m.engine,
	}
	for lane := range in.BaseFees {
		in.BaseFees[lane] = chain.FeePair{PerCycle: 1, PerCell: 1}
	}
	return in
}

// try executes a block that nobody keeps.
func (m *market) try(acts ...act) (exec.Result, error) {
	return exec.Apply(m.state, m.inputs(), m.sent(acts))
}

// block executes the next block and returns what became of its transactions. Whatever is in
// it, no money comes into being or gets lost.
func (m *market) block(acts ...act) []chain.Receipt {
	m.Helper()
	r, err := m.try(acts...)
	if err != nil {
		m.Fatalf("block %d: %v", m.height+1, err)
	}
	txs := m.sent(acts)
	paid := chain.Wei(0)
	for i := range txs {
		m.fees[txs[i].Sender] += r.Receipts[i].Fee
		paid += r.Receipts[i].Fee
	}
	m.burned += r.Burned - paid
	if err := m.books.Follow(m.state, r.Delta); err != nil {
		m.Fatal(err)
	}
	m.state.Write(r.Delta)
	m.height++
	if err := m.books.Check(m.state); err != nil {
		m.Fatalf("block %d: %v", m.height, err)
	}
	supply, err := staking.ReadSupply(m.state)
	sum := chain.Wei(0)
	for _, a := range m.state.Accounts {
		sum += a.Balance
	}
	if err != nil || supply.Total != sum {
		m.Fatalf("block %d: balances come to %d, the supply is %d, %v", m.height, sum, supply.Total, err)
	}
	return r.Receipts
}

// does is a block of transactions that succeed.
func (m *market) does(acts ...act) []chain.Receipt {
	m.Helper()
	return m.codes(chain.CodeOK, acts...)
}

// codes is a block of transactions that all end with a code.
func (m *market) codes(want uint16, acts ...act) []chain.Receipt {
	m.Helper()
	receipts := m.block(acts...)
	for i := range acts {
		if got := receipts[i].Code; got != want {
			m.Fatalf("block %d, transaction %d: %s, want %s", m.height, i, chain.CodeName(got), chain.CodeName(want))
		}
	}
	return receipts
}

// until executes empty blocks up to a height.
func (m *market) until(h chain.Height) {
	m.Helper()
	for m.height < h {
		m.block()
	}
}

// over executes empty blocks until jobs are settled.
func (m *market) over(ids ...chain.Hash) {
	m.Helper()
	for limit := m.height + 500; ; m.block() {
		if !slices.ContainsFunc(ids, func(id chain.Hash) bool { return m.job(id).Phase != jobs.Ended }) {
			return
		}
		if m.height > limit {
			m.Fatalf("jobs go on at block %d", m.height)
		}
	}
}

func (m *market) job(id chain.Hash) *jobs.Job {
	m.Helper()
	j, err := jobs.Read(m.state, id)
	if err != nil || j == nil {
		m.Fatalf("job %s: %v, %v", id, j, err)
	}
	return j
}

// ended fails unless a job is over with an outcome.
func (m *market) ended(id chain.Hash, want jobs.Outcome) {
	m.Helper()
	m.over(id)
	if j := m.job(id); j.Outcome != want || j.Held != 0 {
		m.Fatalf("the job ended with outcome %d and %d held, want outcome %d", j.Outcome, j.Held, want)
	}
}

// seats are those of an attempt of a job.
func (m *market) seats(id chain.Hash, attempt uint8) []*jobs.Seat {
	m.Helper()
	seats, err := jobs.ReadSeats(m.state, id, attempt)
	if err != nil {
		m.Fatal(err)
	}
	return seats
}

// drawn reports whether somebody has a seat in an attempt.
func (m *market) drawn(id chain.Hash, attempt uint8, a *person) bool {
	m.Helper()
	return slices.ContainsFunc(m.seats(id, attempt), func(s *jobs.Seat) bool { return s.Runner == a.addr })
}

func (m *market) runner(a *person) *runners.Runner {
	m.Helper()
	r, err := runners.Read(m.state, a.addr)
	if err != nil || r == nil {
		m.Fatalf("runner %s: %v, %v", a.addr, r, err)
	}
	return r
}

// reputation is that of a runner at the last block, in points, as filters round it.
func (m *market) reputation(a *person) uint64 {
	m.Helper()
	return selection.Rounded(m.runner(a).Standing.At(m.height, m.p.Runner.ReputationHalfLifeBlocks))
}

// gain is what people have more than at first, without what they paid as fees: on their
// accounts, and at stake.
func (m *market) gain(all ...*person) (wei int64) {
	m.Helper()
	for _, a := range all {
		wei += int64(m.state.Balance(a.addr)) + int64(m.fees[a.addr]) - int64(wealth)
		r, err := runners.Read(m.state, a.addr)
		if err != nil {
			m.Fatal(err)
		}
		if r != nil {
			wei += int64(r.AtRisk())
		}
	}
	return wei
}

// gains fails unless people have so much more than at first, besides fees.
func (m *market) gains(what string, want int64, all ...*person) {
	m.Helper()
	if got := m.gain(all...); got != want {
		m.Errorf("%s: %s, want %s", what, cby(got), cby(want))
	}
}

// treasury is what the Treasury has.
func (m *market) treasury() int64 { return int64(m.state.Balance(chain.AddrTreasury)) }

// cby writes an amount of money.
func cby(wei int64) string {
	sign := "+"
	switch {
	case wei == 0:
		return "0 CBY"
	case wei < 0:
		sign, wei = "−", -wei
	}
	text := fmt.Sprintf("%d.%09d", wei/int64(chain.WeiPerCBY), wei%int64(chain.WeiPerCBY))
	return sign + strings.TrimRight(strings.TrimRight(text, "0"), ".") + " CBY"
}

// byAddress sorts people as candidates are sorted.
func byAddress(all []*person) []*person {
	return slices.SortedFunc(slices.Values(all), func(a, b *person) int { return bytes.Compare(a.addr[:], b.addr[:]) })
}
