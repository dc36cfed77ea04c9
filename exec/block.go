package exec

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
)

// Inputs is everything besides state and transactions that a block's result
// depends on. All of it stands in the header or follows from chain data.
type Inputs struct {
	Params          *chain.Params
	ChainID         uint64
	Genesis         chain.Hash   // hash that binds consensus signatures to the chain
	Epoch           chain.Epoch  // of the block's round
	Height          chain.Height // at least 1
	TimestampMillis uint64
	BaseFees        [chain.NumLanes]chain.FeePair
	Proposer        chain.Address     // the proposer's reward address
	Validators      []chain.Validator // of the block's epoch
	ParentBeacon    chain.Hash        // R of the parent's round (CIP-11 §9.2)
	PresenceInput   []byte            // literal bytes (CIP-11 §7.2)
	ConsumedSeeds   []byte            // canonical CBOR (CIP-11 §9.2)

	// Engine runs the actors' programs. It belongs to the caller and carries
	// nothing from one block to the next but compiled code, on which no result
	// depends.
	Engine *pvm.Engine
}

// Result is what a block did.
type Result struct {
	Receipts []chain.Receipt // one per transaction, in order, then those of deliveries
	Used     [chain.NumLanes]chain.Usage
	Delta    *state.Delta // writes on the parent's state
	Burned   chain.Wei    // base fees
	Issued   chain.Wei    // new CBY of whitepaper §8.2
	Tips     chain.Wei    // paid to the proposer
}

// Apply executes one block on the parent's state. The error is an [*InvalidTx]
// or a [*Fault]; on an error there is no result. Neither view nor arguments are
// changed.
func Apply(view state.View, in Inputs, txs []*chain.VerifiedTx) (Result, error) {
	if in.Height == 0 {
		return Result{}, &Fault{"start block", ErrHeight}
	}
	b := &block{
		in:     &in,
		state:  state.NewOverlay(view),
		budget: fees.NewBudget(in.Params),
		result: Result{Receipts: make([]chain.Receipt, 0, len(txs))},
	}
	b.actors = actor.NewBlock(actor.Block{
		Params: in.Params, ChainID: in.ChainID, Height: in.Height, TimestampMillis: in.TimestampMillis, Beacon: in.ParentBeacon,
	})
	supply, err := ReadSupply(view)
	if err != nil {
		return Result{}, err
	}
	for i, tx := range txs {
		if err := b.transact(i, tx); err != nil {
			return Result{}, err
		}
	}
	if err := b.reward(&supply); err != nil {
		return Result{}, err
	}
	b.state.SetStorage(chain.AddrTreasury, supplyKey(), supply.encode())
	b.result.Delta = b.state.Delta()
	return b.result, nil
}

// block is the execution of one block.
type block struct {
	in     *Inputs
	state  *state.Overlay
	actors *actor.Block
	budget *fees.Budget
	lane   chain.LaneID // segment that is running
	result Result
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
	if amount == 0 {
		return nil // leaves no empty account behind
	}
	a, err := b.account(addr)
	if err != nil {
		return err
	}
	if !add(&a.Balance, amount) {
		return &Fault{"credit " + addr.String(), ErrMoney}
	}
	b.state.SetAccount(addr, a)
	return nil
}

// add adds amount to total and reports whether the sum fits; if not, total
// stays as it was.
func add(total *chain.Wei, amount chain.Wei) bool {
	sum, carry := bits.Add64(uint64(*total), uint64(amount), 0)
	if carry != 0 {
		return false
	}
	*total = chain.Wei(sum)
	return true
}
