// Package host is what an actor may ask of the chain: one interface that the
// actor package implements over state and that package sdk puts under the names
// of the whitepaper's Python SDK.
//
// Values cross it as canonical bytes of package values, never as objects of the
// machine, so an implementation knows nothing of Python. A call flows in with
// its arguments bounded; out flows the answer, a [Refusal] that the program can
// catch, or any other error, which ends the call past every handler and is a
// fault of this node or a limit of the chain.
//
// Cycles are charged by package sdk from [Costs] before a method is called.
// Cells, entitlements, quotas, deposits, the limits of fan-out and of timers,
// and the undoing of all effects of a call that fails are the implementation's.
//
// [Recorder] implements the interface in memory for tests and tools.
package host

import "github.com/cowboy-foundation/cowboy/chain"

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

// Entry is a key of storage with its value.
type Entry struct {
	Key   string
	Value []byte
}

// Message is a message to be sent, or a call to be made.
type Message struct {
	To      chain.Address
	Handler string // of the receiver; empty: its default
	Payload []byte // canonical
	Value   uint64 // base units
	Cycles  uint64 // reserved for the receiver (resolution 11.21); 0: the default
}

// Timer is a timer to be set: at Height, or for Every > 0 each so many blocks.
type Timer struct {
	Height  uint64
	Every   uint64
	Handler string
	Data    []byte         // canonical
	Bidder  *chain.Address // Gas Bidding Agent; nil: the network's default
}

// Job is work for runners. The answer goes to Handler of the actor.
type Job struct {
	Spec        []byte // canonical, finite floats only (resolution 11.45)
	Handler     string
	Correlation ID // given back with the answer
}

// Host serves one call.
type Host interface {
	Env() Env

	// StorageGet returns the bytes under a key; false when there are none. The
	// caller does not change them.
	StorageGet(key string) ([]byte, bool, error)
	// StorageSet takes value over.
	StorageSet(key string, value []byte) error
	// StorageDelete tells whether there was a value.
	StorageDelete(key string) (bool, error)
	// StorageScan returns entries whose keys begin with prefix, in ascending
	// order of their bytes, at most limit.
	StorageScan(prefix string, limit int) ([]Entry, error)

	// Send queues a message (whitepaper §3.3).
	Send(m Message) (ID, error)
	// Call runs a handler of another actor now and returns its answer.
	Call(m Message) ([]byte, error)
	SetTimer(t Timer) (ID, error)
	// CancelTimer tells whether the timer was there.
	CancelTimer(id ID) (bool, error)
	EmitEvent(topic string, data []byte) error
	SubmitJob(j Job) (ID, error)

	// Randomness returns HKDF of the parent block's seed (resolution 1.1).
	Randomness(label string) ([32]byte, error)
	Balance(a chain.Address) (uint64, error)
	Transfer(to chain.Address, amount uint64) error
	// System performs an operation of a system actor or of the account, such as
	// "token_transfer" or "rent_prepay"; arguments and answer are canonical.
	System(op string, args []byte) ([]byte, error)
}

// Answering is a host that has the answer to a job at once: tests, and tools
// that run an actor without a chain. Without it an await of a runner's answer
// outside a continuation is refused.
type Answering interface {
	// Answer returns the canonical answer to a job.
	Answer(j Job) ([]byte, error)
}

// Refusal is an error that the program sees, as CowboyError with this code.
type Refusal struct {
	Code string // of the SDK's table, such as "E1101"
	Text string
}

// Error returns code and text.
func (r *Refusal) Error() string { return r.Code + ": " + r.Text }

// The codes that the interface itself gives out.
const (
	RefusedFunds      = "E1101" // balance too small
	RefusedPermission = "E1201" // the caller or the manifest does not allow it
	RefusedLimit      = "E1301" // a quota or limit is used up
	RefusedTarget     = "E1401" // no such actor, timer or job
	RefusedArgument   = "E1501" // an argument that the chain does not take
	RefusedFailed     = "E1601" // the called handler failed
)
