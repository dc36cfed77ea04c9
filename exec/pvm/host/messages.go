package host

import "github.com/cowboy-foundation/cowboy/chain"

// Message is a message to be sent, or a call to be made.
type Message struct {
	To      chain.Address
	Handler string // of the receiver, at most 256 bytes; empty: its default
	Payload []byte // canonical, at most 64 KiB
	Value   uint64 // base units, out of the actor's balance
	Cycles  uint64 // reserved for the receiver (resolution 11.21); 0: the default
}

// Deferred is a message that becomes a run of its own in a later block, paid in
// full when it is scheduled.
type Deferred struct {
	Message
	Height uint64 // of its block; 0: the next
	Cells  uint64 // limit; 0: the default
}

// Spawn is an actor to be made.
type Spawn struct {
	Source       []byte // nil: the actor's own
	Salt         []byte // at most 32 bytes
	Entitlements []byte // canonical list of grants; nil: all that may be inherited
	Init         []byte // canonical payload of its handler "init"; nil: no handler runs
	Value        uint64 // base units, out of the actor's balance
}

// Messages is what leaves the actor for others.
type Messages interface {
	// Send queues a message, delivered once, in this transaction, after the
	// handler has ended (whitepaper §3.3, resolution 7.7). Value and the receiver's
	// cycles are taken from the actor at once and come back when the receiver
	// fails. Refuses with RefusedFunds, RefusedLimit beyond the fan-out of the
	// transaction (1,024), RefusedMailbox. Charge: send_message.
	Send(m Message) (ID, error)
	// Call runs a handler of another actor now and returns its canonical answer.
	// A handler that fails undoes what it did. Refuses with RefusedFunds,
	// RefusedTarget, RefusedHandler, RefusedDormant, RefusedReentrancy beyond 32
	// nested calls, RefusedFailed where the handler raised or ran out of Cycles.
	// Charge: send_message, and what the handler used.
	Call(m Message) ([]byte, error)
	// Defer schedules a message as a run of its own. Its cycles and cells are
	// charged at once, its value is kept for it. Refuses with
	// RefusedFunds, RefusedLimit, RefusedPast. Charge: send_message and timer.
	Defer(d Deferred) (ID, error)
	// EmitEvent writes to the receipt: a topic of 1 to 256 bytes and canonical
	// data. Charge: emit_event, emit_event_byte per byte.
	EmitEvent(topic string, data []byte) error
	// Spawn makes an actor (entitlement exec.spawn), whose entitlements are within
	// the actor's own inheritable ones, and returns its address; a child that is
	// there and non-executable it gives such entitlements. Refuses with
	// RefusedArgument source that does not compile and other addresses that have
	// code, RefusedEntitlement, RefusedFailed where the first message fails,
	// RefusedFunds. Charge: deploy, and deploy_byte per byte of source.
	Spawn(s Spawn) (chain.Address, error)
}

// Balances is base units of accounts.
type Balances interface {
	// Balance of any account. Charge: get_block_info.
	Balance(a chain.Address) (uint64, error)
	// Transfer moves base units of the actor (entitlement econ.transfer). The
	// receiver's code does not run. Refuses with RefusedFunds, RefusedReserve, and
	// RefusedEntitlement where the receiver may not hold any (resolution 11.25).
	// Charge: send_message.
	Transfer(to chain.Address, amount uint64) error
}
