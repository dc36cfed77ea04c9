package sigverify

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Answers of the pipeline itself. They say nothing about the transaction.
var (
	// ErrBusy means that the queue has no room for the submission. Nothing of it
	// was taken; the caller drops it or tries again later.
	ErrBusy = errors.New("signature queue is full, try again later")
	// ErrStopped means that the pipeline has ended with its node.
	ErrStopped = errors.New("signature pipeline has stopped")
)

// Besides SizeError, the verdict on a transaction is the error of
// chain.DecodeTx, chain.ErrUnsigned, that of the instruction table or that of
// secp256k1, wrapped.

// SizeError reports a body longer than the protocol allows (whitepaper §12.1).
type SizeError struct {
	Bytes, Max int
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("transaction of %d bytes, at most %d are allowed", e.Bytes, e.Max)
}

// TxError names the transaction of a proposed block that makes it invalid. It
// is a verdict on the block: every node finds the same.
type TxError struct {
	Index int
	Hash  chain.Hash // zero if the body is too long to be hashed
	Err   error
}

func (e *TxError) Error() string {
	return fmt.Sprintf("transaction %d (%s): %v", e.Index, e.Hash, e.Err)
}

func (e *TxError) Unwrap() error { return e.Err }
