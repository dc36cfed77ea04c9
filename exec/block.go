package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/state"
)

// Inputs is everything besides state and transactions that a block's result
// depends on. All of it stands in the header or follows from chain data. The caller makes
// it and does not change it while the block is executed; workers read copies of it, with
// engines of their own.
type Inputs struct {
	Params          *params.Params
	ChainID         uint64
	Genesis         chain.Hash   // hash that binds consensus signatures to the chain
	Epoch           chain.Epoch  // of the block's round
	View            chain.View   // the same
	Height          chain.Height // at least 1
	TimestampMillis uint64
	BaseFees        [chain.NumLanes]chain.FeePair
	Proposer        chain.Address     // the proposer's reward address
	Validators      []chain.Validator // of the block's epoch
	ParentHash      chain.Hash        // of the parent's header; at height 1 the genesis hash
	ParentBeacon    chain.Hash        // R of the parent's round (CIP-11 §9.2)
	PresenceInput   []byte            // literal bytes (CIP-11 §7.2)
	ConsumedSeeds   []byte            // canonical CBOR (CIP-11 §9.2)

	// Engine runs the actors' programs. It belongs to the caller and carries
	// nothing from one block to the next but compiled code, on which no result
	// depends.
	Engine *pvm.Engine

	// Manifests are those that were parsed before; nil: none. They carry nothing from
	// one block to the next either.
	Manifests manifest.Cache

	// Market is what the market made of rows before; nil: nothing. It carries nothing
	// either, and only the passes of the block use it.
	Market *jobs.Memo
}

// Actors is what the actors that run in the block share of it.
func (in *Inputs) Actors() *actor.Block {
	return actor.NewBlock(actor.Block{
		Params: in.Params, ChainID: in.ChainID, Height: in.Height, TimestampMillis: in.TimestampMillis, Beacon: in.ParentBeacon,
		TimerBase: in.BaseFees[chain.LaneTimer], Manifests: in.Manifests,
		Round:    service.Round{Genesis: in.Genesis, Epoch: in.Epoch, View: in.View, Validators: in.Validators},
		JobRules: jobRules(),
	})
}

// Result is what a block did. It belongs to the caller and refers to nothing that execution
// uses again. All but Defects is consensus: every node has the same bytes.
type Result struct {
	Receipts []chain.Receipt             // one per transaction, in order, then those of messages, timers and announcements
	Used     [chain.NumLanes]chain.Usage // what was paid for in the block: all but deliveries, which were paid when they were sent
	Delta    *state.Delta                // writes on the parent's state
	Burned   chain.Wei                   // base fees, and what rent and setting timers cost
	Issued   chain.Wei                   // new CBY of whitepaper §8.2
	Tips     chain.Wei                   // paid to the proposer
	Defects  []pvm.Dump                  // of the machine, to be written where people find them; no consensus
}

// Apply executes one block on the parent's state. The error is an [*InvalidTx]
// or a [*Fault]; on an error there is no result. Neither view nor arguments are
// changed.
func Apply(view state.View, in Inputs, txs []*chain.VerifiedTx) (Result, error) {
	s, err := Begin(view, in, len(txs))
	if err != nil {
		return Result{}, err
	}
	// Paid: by each transaction.
	for i, tx := range txs {
		if err := s.Transact(i, tx); err != nil {
			return Result{}, err
		}
	}
	return s.Finish()
}

// begin does what comes before the transactions.
func (b *block) begin(n int) (err error) {
	b.result.Receipts = make([]chain.Receipt, 0, n)
	if b.supply, err = staking.ReadSupply(b.state); err != nil {
		return &Fault{"read supply", err}
	}
	if err := b.readMeter(); err != nil {
		return err
	}
	b.announceRemovals()
	if err := b.beginMarket(); err != nil {
		return err
	}
	if err := b.beginRent(); err != nil {
		return err
	}
	return b.selectTimers()
}

// finish does what comes after the transactions.
func (b *block) finish() error {
	if err := b.deliverWaiting(); err != nil {
		return err
	}
	if err := b.fireTimers(); err != nil {
		return err
	}
	if err := b.endMarket(); err != nil {
		return err
	}
	if err := b.reward(); err != nil {
		return &Fault{"pay rewards", err}
	}
	if err := b.rentBlock().End(b.parent); err != nil {
		return &Fault{"close the rent of the block", err}
	}
	if err := b.meter.addWrites(b.state); err != nil {
		return &Fault{"count the state", err}
	}
	b.writeEvents()
	b.result.Delta = b.state.Delta()
	return nil
}

// reward pays what the block issues and what its transactions tip, and books it.
func (b *block) reward() (err error) {
	b.result.Issued, err = b.supply.Reward(&staking.Block{
		State: b.state, Params: b.in.Params, Height: b.in.Height, Validators: b.in.Validators, Proposer: b.in.Proposer,
		Burned: b.result.Burned, Tips: b.result.Tips,
	})
	return err
}

// block is the execution of one block, or of one of its transactions by itself
// ([Worker]). What a transaction changes is in state and in what [block.execute]
// returns: nothing else may be written before [block.commit].
//
// Owner: one goroutine, that of Apply, of Steps or of a worker. A worker's block has the
// state of one execution and no result; what it shares with others, in and actors, is only
// read.
type block struct {
	in     *Inputs
	parent state.View // before the block; nil in a worker
	state  *state.Overlay
	actors *actor.Block
	budget *fees.Budget // nil: the transaction's place is judged elsewhere
	lane   chain.LaneID // segment that is running
	// reserved is the part of the target actor's per-block cycles that is set aside for
	// later messages that are not overcommitted; the transaction at hand may not use it.
	reserved  chain.Cycles
	warm      *actor.Warm // the code that was used so far
	explain   bool        // somebody reads where a handler failed
	due       []firing    // timers that fire in this block, in their order
	saved     []*promise  // buckets that are held back for timers which do not fire yet
	forTimers chain.Usage // of their lane: what bids used, and the limits of those that were due first; all of it where crowded
	crowded   bool        // due timers found no room in the lane
	supply    staking.Supply
	meter     Meter         // of the parent
	events    []chain.Event // of the protocol itself
	payment   *payment      // room of the one at hand, see payable; nil in a worker
	result    Result

	runnerBytes uint64 // of the transactions of runners
}

// newBlock is a block that has not begun: nothing falls due in it.
func newBlock(view state.View, in Inputs) *block {
	return &block{
		in: &in, parent: view, warm: actor.NewWarm(nil), state: state.NewOverlay(view), budget: fees.NewBudget(in.Params), actors: in.Actors(),
		payment: new(payment),
	}
}

func (b *block) account(addr chain.Address) (state.Account, error) {
	a, _, err := b.state.Account(addr)
	if err != nil {
		return a, &Fault{"read account " + addr.String(), err}
	}
	return a, nil
}

// credit adds to a balance money that was taken elsewhere or issued, which
// therefore fits. The error is a [*Fault].
func (b *block) credit(addr chain.Address, amount chain.Wei) error {
	if err := funds.Issue(b.state, addr, amount); err != nil {
		return &Fault{"credit " + addr.String(), err}
	}
	return nil
}
