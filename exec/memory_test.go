package exec_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
)

// memory is a state in maps: the slow twin of state/store for these tests.
type memory struct {
	accounts map[chain.Address]state.Account
	storage  map[slotOf]string
	codes    map[chain.Hash][]byte
	broken   chain.Address // reading this account fails
}

type slotOf struct {
	addr chain.Address
	key  state.StorageKey
}

var errDisk = errors.New("disk on fire")

func (m *memory) Account(addr chain.Address) (state.Account, bool, error) {
	if m.broken != (chain.Address{}) && addr == m.broken {
		return state.Account{}, false, errDisk
	}
	a, ok := m.accounts[addr]
	if !ok {
		return state.NewAccount(), false, nil
	}
	return a, true, nil
}

func (m *memory) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	v, ok := m.storage[slotOf{addr, key}]
	if !ok {
		return nil, nil
	}
	return []byte(v), nil
}

func (m *memory) Scan(addr chain.Address, s state.Span) (list []state.Entry, err error) {
	for at, v := range m.storage {
		if at.addr == addr && at.key >= s.From && strings.HasPrefix(string(at.key), string(s.Prefix)) {
			list = append(list, state.Entry{Key: at.key, Value: []byte(v)})
		}
	}
	slices.SortFunc(list, func(a, b state.Entry) int { return strings.Compare(string(a.Key), string(b.Key)) })
	for i := range list {
		if s.Used() {
			return list[:i], nil
		}
		s.Take(&list[i])
	}
	return list, nil
}

func (m *memory) Code(hash chain.Hash) ([]byte, error) { return m.codes[hash], nil }

// apply returns the state after the writes.
func (m *memory) apply(d *state.Delta) *memory {
	next := &memory{accounts: maps.Clone(m.accounts), storage: maps.Clone(m.storage), codes: maps.Clone(m.codes)}
	if next.accounts == nil {
		next.accounts, next.storage = map[chain.Address]state.Account{}, map[slotOf]string{}
		next.codes = map[chain.Hash][]byte{}
	}
	for _, c := range d.Accounts() {
		a, existed := next.accounts[c.Address]
		size := a.StorageSize
		for _, s := range c.Storage {
			if old, ok := next.storage[slotOf{c.Address, s.Key}]; ok {
				size = size.Sub(state.SizeOf(s.Key, []byte(old)))
			}
			if s.Value != nil {
				size = size.Add(state.SizeOf(s.Key, s.Value))
			}
		}
		if c.Account != nil {
			a, existed = *c.Account, !c.Account.Empty()
		}
		if delete(next.accounts, c.Address); existed {
			a.StorageSize = size
			next.accounts[c.Address] = a
		}
		for _, s := range c.Storage {
			if s.Value == nil {
				delete(next.storage, slotOf{c.Address, s.Key})
				continue
			}
			next.storage[slotOf{c.Address, s.Key}] = string(s.Value)
		}
	}
	for _, c := range d.Codes() {
		next.codes[c.Hash] = c.Code
	}
	return next
}

// money returns the sum of all balances.
func (m *memory) money(t testing.TB) chain.Wei {
	t.Helper()
	var sum chain.Wei
	for _, a := range m.accounts {
		if sum+a.Balance < sum {
			t.Fatal("balances exceed 64 bits")
		}
		sum += a.Balance
	}
	return sum
}

func (m *memory) balance(addr chain.Address) chain.Wei { return m.accounts[addr].Balance }

// testGenesis returns a devnet genesis whose validators have these stakes, in
// thousands of CBY, and the accounts in accounts.
func testGenesis(t testing.TB, stakes []chain.Wei, accounts ...chain.Allocation) *chain.Genesis {
	t.Helper()
	g := chain.DevnetGenesisTemplate()
	g.Params.Machine = chain.MachineTables{CostTable: chain.Hash{0: 1}, ExceptionTexts: chain.Hash{0: 2}}
	set := make([]chain.Validator, len(stakes))
	for i := range set {
		set[i] = chain.Validator{
			PeerKey: chain.PeerKey{0: byte(i + 1)}, ShareIndex: uint32(i),
			BLSKey: [96]byte{0: 0x80, 95: byte(i + 1)}, BLSPossession: [48]byte{0: 0x80}, PublicShare: [96]byte{0: 0x80},
			Stake: stakes[i] * 1_000 * chain.WeiPerCBY, RewardAddress: rewardOf(i),
		}
	}
	points := make([][96]byte, chain.Quorum(len(set)))
	for i := range points {
		points[i][0] = 0x80
	}
	if err := g.Complete(set, points[0], points, accounts, 1); err != nil {
		t.Fatal(err)
	}
	return g
}

func rewardOf(validator int) chain.Address { return chain.Address{0: 0xee, 19: byte(validator + 1)} }

// testChain executes blocks on a state in memory.
type testChain struct {
	engine   *pvm.Engine // nil: no programs
	t        testing.TB
	g        *chain.Genesis
	state    *memory
	height   chain.Height
	base     chain.FeePair
	nonces   map[chain.Address]uint64
	included int // transactions of the last block of twice
}

func newTestChain(t testing.TB, g *chain.Genesis) *testChain {
	t.Helper()
	d, err := exec.GenesisDelta(g)
	if err != nil {
		t.Fatal(err)
	}
	return &testChain{t: t, g: g, state: (&memory{}).apply(d), base: chain.FeePair{PerCycle: 1, PerCell: 1}, nonces: map[chain.Address]uint64{}}
}

func (c *testChain) inputs() exec.Inputs {
	in := exec.Inputs{
		Params: &c.g.Params, ChainID: c.g.ChainID, Height: c.height + 1,
		Proposer: rewardOf(0), Validators: c.g.Validators, Engine: c.engine,
	}
	for lane := range in.BaseFees {
		in.BaseFees[lane] = c.base
	}
	return in
}

// try executes a block without keeping it.
func (c *testChain) try(txs ...*chain.VerifiedTx) (exec.Result, error) {
	return exec.Apply(c.state, c.inputs(), txs)
}

// block executes a block that must be valid, holds it to conservation, and
// keeps it.
func (c *testChain) block(txs ...*chain.VerifiedTx) exec.Result {
	c.t.Helper()
	before := c.state.money(c.t)
	r, err := c.try(txs...)
	if err != nil {
		c.t.Fatalf("block %d: %v", c.height+1, err)
	}
	next := c.state.apply(r.Delta)
	if after := next.money(c.t); after != before+r.Issued-r.Burned {
		c.t.Fatalf("block %d: balances add up to %d, want %d + %d issued - %d burned", c.height+1, after, before, r.Issued, r.Burned)
	}
	if total, err := exec.Supply(next); err != nil || total != next.money(c.t) {
		c.t.Fatalf("block %d: supply record %d, %v, balances add up to %d", c.height+1, total, err, next.money(c.t))
	}
	c.state = next
	c.height++
	for _, tx := range txs {
		c.nonces[tx.Sender] = tx.Tx.Nonce + 1
	}
	return r
}

// transfer returns the sender's next transfer at exactly its intrinsic cost.
func (c *testChain) transfer(from, to chain.Address, value chain.Wei) *chain.VerifiedTx {
	tx := &chain.Tx{
		ChainID: c.g.ChainID, Nonce: c.nonces[from], To: &to, Value: value,
		CyclesLimit: 21_000, MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: 2,
	}
	return verified(tx, from)
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
