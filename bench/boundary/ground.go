package boundary

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// The people of a ground, all of them rich. Proposer takes the tips.
var (
	Alice    = chain.Address{0: 0xa1}
	Bob      = chain.Address{0: 0xb0}
	Mallory  = chain.Address{0: 0xee}
	Proposer = chain.Address{0: 0xdd}
)

// wealth is what each of the people has.
const wealth = 10_000_000 * chain.WeiPerCBY

// Ground is a chain on a store in memory. Its methods are for one goroutine.
type Ground struct {
	Genesis *genesis.Genesis
	State   *store.Version // its head
	Height  chain.Height   // likewise

	store  *store.Store
	engine *pvm.Engine
	nonces map[chain.Address]uint64

	// What cases made once for all that come behind them.
	targets  []byte          // list of the actors with the largest records
	manifest int             // bytes of these
	target   chain.Address   // actor of which Alice is the creator
	salts    int             // of actors so far
	workers  []worker        // runners of the market
	people   []chain.Address // with money
	wanted   uint64          // cycles of a looped case; 0: wanted
}

// Config says how a ground begins. The zero value is one with the default
// parameters and people alone.
type Config struct {
	Change       func(*params.Params) // of the default parameters; may be nil
	ProgramBytes int                  // of sources that stay compiled; 0: none, so that every use is the first
	More         func(d *state.Delta) // written into the first state besides; may be nil
	People       []chain.Address      // that are as rich as the others
}

// New makes a ground.
func New(cfg Config) (*Ground, error) {
	g, err := newGenesis(&cfg)
	if err != nil {
		return nil, err
	}
	d, err := exec.GenesisDelta(g)
	if err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	if cfg.More != nil {
		cfg.More(d)
	}
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		return nil, err
	}
	options := store.DefaultOptions()
	options.FS, options.KeepVersions, options.UndoBlocks = vfs.NewMem(), 4096, 0 // cases are measured again on their states
	s, err := store.Open("ground", options)
	if err != nil {
		return nil, err
	}
	if err := s.Init(store.GenesisRecord{Hash: g.Hash(), Delta: d}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Ground{
		Genesis: g, State: s.Head(), store: s, nonces: map[chain.Address]uint64{},
		engine: pvm.NewEngine(rt, pvm.NewLRU(cfg.ProgramBytes), pvm.DefaultLimits()),
	}, nil
}

// Close frees the store.
func (g *Ground) Close() error { return g.store.Close() }

func newGenesis(cfg *Config) (*genesis.Genesis, error) {
	g := genesis.DevnetTemplate()
	p := &g.Params
	p.Machine = params.MachineTables{CostTable: chain.Hash{0: 1}, ExceptionTexts: chain.Hash{0: 2}}
	p.Governance.Members, p.Governance.Threshold, p.Governance.Seats = []chain.Address{Alice, Bob}, 2, 2
	if cfg.Change != nil {
		cfg.Change(p)
	}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	set := []chain.Validator{{
		PeerKey: chain.PeerKey{1}, BLSKey: [96]byte{0: 0x80, 95: 1}, BLSPossession: [48]byte{0: 0x80}, PublicShare: [96]byte{0: 0x80},
		Stake: p.Staking.MinValidatorStake, RewardAddress: Proposer,
	}}
	points := make([][96]byte, chain.Quorum(len(set)))
	for i := range points {
		points[i][0] = 0x80
	}
	var rich []genesis.Allocation
	for _, a := range append([]chain.Address{Alice, Bob, Mallory}, cfg.People...) {
		rich = append(rich, genesis.Allocation{Name: "rich", Address: a, Amount: wealth / chain.Wei(1+len(cfg.People))})
	}
	if err := g.Complete(set, points[0], points, rich, 1); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	return g, nil
}

// Params are those of the chain.
func (g *Ground) Params() *params.Params { return &g.Genesis.Params }

func (g *Ground) inputs() exec.Inputs {
	in := exec.Inputs{
		Params: g.Params(), ChainID: g.Genesis.ChainID, Height: g.Height + 1, TimestampMillis: 1_000 * uint64(g.Height+1),
		Proposer: Proposer, Validators: epoch.First(g.Genesis).Validators, Engine: g.engine,
	}
	for lane := range in.BaseFees {
		in.BaseFees[lane] = chain.FeePair{PerCycle: 1, PerCell: 1}
	}
	return in
}

// Try executes the next block and forgets it.
func (g *Ground) Try(txs ...*chain.VerifiedTx) (exec.Result, error) {
	return exec.Apply(g.State, g.inputs(), txs)
}

// TryBy is Try by who executes blocks in a way of its own.
func (g *Ground) TryBy(apply func(state.View, exec.Inputs, []*chain.VerifiedTx) (exec.Result, error), txs ...*chain.VerifiedTx) (exec.Result, error) {
	return apply(g.State, g.inputs(), txs)
}

// Block executes the next block and keeps it.
func (g *Ground) Block(txs ...*chain.VerifiedTx) (exec.Result, error) {
	r, err := g.Try(txs...)
	if err != nil {
		return r, fmt.Errorf("block %d: %w", g.Height+1, err)
	}
	next, err := g.State.Apply(r.Delta)
	if err == nil {
		g.Height++
		err = g.store.Commit(next, store.BlockRecord{Height: g.Height, Digest: keccak.Sum256(fmt.Append(nil, g.Height)), Block: []byte{1}})
	}
	if err != nil {
		return r, fmt.Errorf("keep block %d: %w", g.Height, err)
	}
	g.State = next
	for _, tx := range txs {
		g.nonces[tx.Sender] = tx.Tx.Nonce + 1
	}
	return r, nil
}

// One keeps a block of one transaction, which must succeed, and returns its receipt.
func (g *Ground) One(tx *chain.VerifiedTx) (chain.Receipt, error) {
	r, err := g.Block(tx)
	if err != nil {
		return chain.Receipt{}, err
	}
	if code := r.Receipts[0].Code; code != chain.CodeOK {
		return r.Receipts[0], fmt.Errorf("block %d: %s", g.Height, chain.CodeName(code))
	}
	return r.Receipts[0], nil
}

// Empty keeps n blocks without transactions.
func (g *Ground) Empty(n int) error {
	for range n {
		if _, err := g.Block(); err != nil {
			return err
		}
	}
	return nil
}

// Tx is a sender's next transaction with the largest limits there are for it. A
// smaller one takes its limits.
func (g *Ground) Tx(from chain.Address, to *chain.Address, value chain.Wei, payload []byte, limits chain.Usage) *chain.VerifiedTx {
	tx := chain.Tx{To: to, Value: value, Payload: payload, Nonce: g.nonces[from], CyclesLimit: limits.Cycles, CellsLimit: limits.Cells}
	return g.Verified(from, tx)
}

// Verified is a transaction as signature recovery hands it on.
func (g *Ground) Verified(from chain.Address, tx chain.Tx) *chain.VerifiedTx {
	tx.ChainID = g.Genesis.ChainID
	tx.MaxFeePerCycle, tx.MaxFeePerCell = 1_000, 1_000
	tx.Signature = &chain.TxSignature{R: [32]byte{1}, S: [32]byte{1}}
	body := tx.Encode()
	v := &chain.VerifiedTx{Tx: &tx, Body: body, Hash: chain.TxHash(body), Sender: from, Lane: chain.LaneUser}
	if ins, err := tx.Classify(); err == nil {
		v.Lane = ins.Lane
	}
	return v
}

// Most are the largest limits of a transaction.
func (g *Ground) Most() chain.Usage {
	return chain.Usage{Cycles: g.Params().MaxTxCycles, Cells: g.Params().MaxTxCells}
}

// Deploy makes an actor of a source.
func (g *Ground) Deploy(source string, salt string, manifest []byte, init *actor.Init, value chain.Wei) (chain.Address, error) {
	d := actor.Deployment{Source: []byte(source), Salt: []byte(salt), Manifest: manifest, Init: init}
	if _, err := g.One(g.Tx(Alice, nil, value, actor.AppendPayload(nil, &d), g.Most())); err != nil {
		return chain.Address{}, fmt.Errorf("deploy: %w", err)
	}
	return actor.AddressOf(Alice, d.Salt, d.Source), nil
}

// Message is a message of Alice's to an actor, with all that the actor may use.
func (g *Ground) Message(to chain.Address, handler string, arg []byte) *chain.VerifiedTx {
	limits := chain.Usage{Cycles: g.Params().Actor.BlockCyclesBurst, Cells: g.Params().MaxTxCells}
	return g.Tx(Alice, &to, 0, actor.AppendMessage(nil, handler, arg), limits)
}
