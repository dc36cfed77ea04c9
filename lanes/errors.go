package lanes

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Refusals of admission. Each is about one transaction, leaves the pool as it
// was, and says with numbers what the sender can do about it.

// ErrStopped means that the lanes have ended with their node.
var ErrStopped = errors.New("lanes have stopped")

// ErrKnown means that this very transaction is in the pool already. Sending it
// again changes nothing.
var ErrKnown = errors.New("transaction is already in the pool")

// NonceTooLowError reports a nonce that the chain has used. The sender signs
// again with Want or later.
type NonceTooLowError struct {
	Got, Want uint64
}

func (e *NonceTooLowError) Error() string {
	return fmt.Sprintf("nonce too low: got %d, want %d", e.Got, e.Want)
}

// NonceGapError reports a nonce so far ahead that the pool does not keep it.
// The sender sends the missing nonces from Next on first.
type NonceGapError struct {
	Got    uint64
	Next   uint64 // first nonce that is missing
	GapMax uint64 // nonces beyond Next that are kept
}

func (e *NonceGapError) Error() string {
	return fmt.Sprintf("nonce too high: got %d, but %d is missing and at most %d nonces beyond it are kept", e.Got, e.Next, e.GapMax)
}

// BalanceError reports that a sender's waiting transactions, this one included,
// could cost more than the sender can spend.
type BalanceError struct {
	Spendable chain.Wei // at the head
	Waiting   chain.Wei // most that the sender's other waiting transactions can cost
	Cost      chain.Wei // most that this one can cost
}

func (e *BalanceError) Error() string {
	return fmt.Sprintf("balance too low: can spend %d, other waiting transactions may take %d, this one %d", e.Spendable, e.Waiting, e.Cost)
}

// ReplaceError reports a transaction that competes with a waiting one for its
// nonce without raising every price by the required part.
type ReplaceError struct {
	Nonce   uint64
	Price   string // spec name of the price that is too low
	Offered chain.Wei
	Needed  chain.Wei
}

func (e *ReplaceError) Error() string {
	return fmt.Sprintf("nonce %d is taken by a waiting transaction: to replace it %s must be at least %d, got %d", e.Nonce, e.Price, e.Needed, e.Offered)
}

// SenderFullError reports a sender with as many waiting transactions as the
// pool keeps for one, or as many bytes of them.
type SenderFullError struct {
	Waiting, Max    int
	Bytes, MaxBytes int // with the transaction; 0 where their number is what it is refused for
}

func (e *SenderFullError) Error() string {
	if e.Bytes > 0 {
		return fmt.Sprintf("the sender's waiting transactions would have %d bytes with this one, at most %d are kept: wait for some to be included", e.Bytes, e.MaxBytes)
	}
	return fmt.Sprintf("sender has %d waiting transactions, at most %d are kept: wait for some to be included", e.Waiting, e.Max)
}

// LaneFullError reports a full lane in which nothing is worth less than the
// transaction. Raising the tip above the lowest tier helps, or waiting.
type LaneFullError struct {
	Lane  chain.LaneID
	Txs   int // in the lane now
	Bytes int
	Tier  int // tier that this transaction would have; negative: it cannot run now
}

func (e *LaneFullError) Error() string {
	if e.Tier < 0 {
		return fmt.Sprintf("%s lane is full (%d transactions, %d bytes of large bodies) and this transaction cannot run yet", e.Lane, e.Txs, e.Bytes)
	}
	return fmt.Sprintf("%s lane is full (%d transactions, %d bytes of large bodies) and nothing in it pays less than tier %d: raise the tip or try later", e.Lane, e.Txs, e.Bytes, e.Tier)
}
