// Package service is what all services of the system have in common: the call of an
// operation, and the table of the instructions that transactions reach it by.
//
// A service is a package with its operations on the state and their money. It has two
// doors. Through one come instructions of transactions, which package exec finds in the
// service's table by address and opcode; through the other the host calls of programs, in
// the frames of package actor. Both make a [Call] and hand it to the same operations,
// whose errors are verdicts (package verdict), what ends the run (from [Run]), or faults.
//
// The package is pure.
package service

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
)

// Call is one use of a service.
type Call struct {
	By        chain.Address // who asks, and pays: a transaction's sender, or an actor
	ID        chain.Hash    // of the run: that of the transaction, the message or the firing
	Value     chain.Wei     // that an instruction brought; a program's calls bring none
	State     *state.Overlay
	Params    *params.Params
	Height    chain.Height
	ChainID   uint64
	Millis    uint64          // the block's timestamp
	Signers   []chain.Address // of the results that an instruction brings; nil where nobody has recovered them (chain.VerifiedTx)
	TimerBase chain.FeePair   // base fees of the timer lane
	Round     *Round
	Run       Run
}

// Round is what consensus says of the block.
type Round struct {
	Genesis    chain.Hash // hash that binds consensus signatures to the chain
	Epoch      chain.Epoch
	View       chain.View
	Validators []chain.Validator // of the epoch
}

// Run is what the run that a call is part of does for it. Errors of its methods end the
// operation and are handed on as they are.
type Run interface {
	funds.Purse
	// Take charges both, or ends the run with as much of either as there is.
	Take(u chain.Usage) error
	// TakeCells charges cells, or ends the run.
	TakeCells(n uint64) error
	// TakeLater charges cycles that a run in a later block may use, or ends this one.
	TakeLater(n chain.Cycles) error
	// FirstUse is what the first use in a block costs of an actor's code that a message of
	// another reaches; 0 for an address without code.
	FirstUse(by, to chain.Address) (chain.Cycles, error)
	// Cycles are what is left.
	Cycles() chain.Cycles
	// Growth is what an instruction has added to the state, for one that charges it itself.
	Growth() (fees.Growth, error)
	// Overwritten are the bytes of rows of an address that were there before an instruction
	// and that it has written again, as long as they were at most, and of the keys of those
	// that it has taken out. For the instruction to charge: growth does not weigh them.
	Overwritten(of chain.Address) (uint64, error)
	// Handled charges data that an operation has hashed, read or moved, however it ends.
	Handled(bytes uint64)
	// Whole does an operation, or undoes it where it fails. What it was charged stays
	// charged.
	Whole(do func() error) error
	// Ask runs a handler and returns its answer.
	Ask(q *Question) ([]byte, error)
	// Creator returns who made an actor; false for an address that is none.
	Creator(of chain.Address) (chain.Address, bool, error)
	// MayHaveTimer ends the run unless the manifest of an actor allows one more than so
	// many timers.
	MayHaveTimer(actor chain.Address, has uint64) error
	// Events is how many the run has kept.
	Events() int
	// Emit keeps an event, for which the operation has paid.
	Emit(e chain.Event)
}

// Question is what a service asks an actor.
type Question struct {
	From, To chain.Address
	Handler  string
	Payload  []byte       // canonical
	Most     chain.Cycles // for the body and the handler; the first use of its code in the block comes on top, up to actor_limits.load_cycles
	Who      string       // is asked, for the texts of verdicts
	Failed   verdict.Reason
}

// Args are the arguments of an instruction, as its Read made them.
type Args any

// Instruction is a row of a service's table.
type Instruction struct {
	Opcode uint64
	// Read takes the arguments, which have the types of [chain.InstructionTable]. What is
	// out of range is a verdict, before anything is charged. nil: Run reads them.
	Read func(r *cbor.Reader) (Args, error)
	// Price is what the operation costs besides what is intrinsic and what it charges
	// itself, cycles before cells. nil: nothing.
	Price func(p *params.Params, a Args) chain.Usage
	// Run calls the operation. The answer stands in the receipt.
	Run func(c *Call, a Args) (answer []byte, err error)

	Value ValueRule
	// OwnGrowth says that the operation charges itself for what it adds to the state, or
	// that nobody does.
	OwnGrowth bool
}

// ValueRule says what becomes of value that comes with an instruction.
type ValueRule uint8

const (
	// NoValue refuses it before anything is charged.
	NoValue ValueRule = iota
	// NoValueLast refuses it after the operation, whose verdict and charge come first.
	NoValueLast
	// TakesValue leaves it to the operation.
	TakesValue
)

// Table is what a system address does.
type Table struct {
	Address      chain.Address
	Instructions []Instruction
}
