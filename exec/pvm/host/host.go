// Package host is what an actor may ask of the chain, as a table of system
// calls: an interface for each domain, put together as [Host], which the actor
// package implements over state and which package sdk puts under the names of
// the Python SDK (docs/sdk.md).
//
//	Storage     keys and values, the bond that widens their quota, blobs
//	Messages    messages, calls, deferred messages, events, spawned actors
//	Timers      timers and intervals
//	Balances    base units of accounts
//	Tokens      fungible tokens (CIP-20)
//	Randomness  the beacon under labels
//	Crypto      signatures on the validators' curve
//	Runners     jobs for runners, and secrets
//	Rent        status, prepayment, restoration
//	Chain       the call's surroundings, actors, entitlements, code
//
// Values cross it as canonical bytes of package values, never as objects of the
// machine, so an implementation knows nothing of Python. A call flows in with
// its arguments bounded; out flows the answer, a [Refusal] that the program can
// catch, or any other error, which ends the call past every handler and is a
// fault of this node or a limit of the chain.
//
// # Charges
//
// Cycles are charged by package sdk from [Costs] before a method is called; each
// method names the row. What depends on the length of an answer is charged when
// the answer is there, so an implementation bounds what it returns. Cells,
// entitlements, quotas, deposits, surcharges, the limits of fan-out and of
// timers, and the undoing of all effects of a call that fails are the
// implementation's.
//
// # Refusals
//
// Every method may refuse with [RefusedEntitlement] or [RefusedQuota] where the
// manifest must allow it (entitlements §6), and whatever changes state refuses
// with [RefusedReadOnly] in a call that only reads. The other codes stand with
// the methods.
//
// [Recorder] implements the interface in memory for tests and tools.
package host

import "github.com/cowboy-foundation/cowboy/chain"

// Host serves one call of one actor.
type Host interface {
	Chain
	Storage
	Messages
	Timers
	Balances
	Tokens
	Randomness
	Crypto
	Runners
	Rent
}

// ID names a message, a timer or a job.
type ID [32]byte

// Env is what a call knows of its surroundings. It does not change during the
// call.
type Env struct {
	ChainID   uint64
	Height    uint64        // of the block under execution
	Timestamp uint64        // of that block, milliseconds
	Self      chain.Address // the actor
	Sender    chain.Address // of the message
	Origin    chain.Address // of the transaction
	Creator   chain.Address // of the actor
	Value     uint64        // base units that came with the message
	CodeHash  [32]byte      // of the actor's source
	CallID    [32]byte      // distinct for every call of the chain
}

// Actor is what the chain tells of an account.
type Actor struct {
	Code     [32]byte      // hash of the source; zero: an external account
	Creator  chain.Address // zero for an external account
	Storage  uint64        // bytes of keys and values; 0 while dormant
	Deployed uint64        // height
	Dormant  bool          // evicted: its handlers do not run
}

// Chain answers questions about the surroundings of the call and the code.
type Chain interface {
	// Env costs nothing; package sdk charges get_block_info for each question
	// that a program asks of it.
	Env() Env
	// Actor tells of an account; false when the state knows none. Charge:
	// get_block_info.
	Actor(a chain.Address) (Actor, bool, error)
	// Entitlement returns the parameters, a canonical map, with which the actor's
	// manifest grants id; false when it does not (entitlements §9). Charge:
	// get_block_info.
	Entitlement(id string) (params []byte, ok bool, err error)
	// UpgradeSelf puts other source in place of the actor's, from the next call
	// on. Only system actors may: RefusedEntitlement otherwise (resolution 8.2).
	// Refuses with RefusedArgument source that does not compile. Charge: deploy,
	// and deploy_byte per byte of source.
	UpgradeSelf(source []byte) error
}

// Randomness is the beacon of the parent block's round (resolution 1.1).
type Randomness interface {
	// Randomness returns HKDF of the seed under a label of 1 to 256 bytes: the
	// same in every call of a block that asks for the same label. An actor that
	// wants its own puts its address into the label. Charge: hash.
	Randomness(label string) ([32]byte, error)
}

// Undoing is a host that keeps the promise that a refused call changes nothing.
// Package sdk marks the place where a function of the library begins; when the
// host refuses anything that the function asks for, all of it is taken back.
type Undoing interface {
	// Begin marks the present place. Marks nest: a function may call methods of the
	// program, which call others.
	Begin()
	// End forgets the last mark.
	End()
	// Undo takes back what was done since the last mark, which stays.
	Undo()
}

// Answering is a host that has the answer to a job at once: tests, and tools
// that run an actor without a chain. Without it an await of a runner's answer
// outside a continuation is refused.
type Answering interface {
	// Answer returns the canonical answer to a job.
	Answer(j Job) ([]byte, error)
}
