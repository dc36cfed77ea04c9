package light

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// Query is a question that a document answers.
type Query struct {
	Kind     Kind
	Height   chain.Height   // header: of the block, 0 for the newest
	Accounts []AccountQuery // account and storage: exactly one
	TxHash   chain.Hash     // transaction and receipt
}

// AccountQuery asks for an account and storage values of it.
type AccountQuery struct {
	Address chain.Address
	Slots   []state.StorageKey // storage: exactly one
}

// Keys counts what a query asks for.
func (q *Query) Keys() int {
	n := len(q.Accounts)
	for i := range q.Accounts {
		n += len(q.Accounts[i].Slots)
	}
	return n
}

// Answered returns nil if what was shown answers the query, [ErrNotAsked] if it
// answers another. It does not judge how old the block is.
func (q *Query) Answered(s *Shown) error {
	differs := func(what string) error { return fmt.Errorf("%w: %s", ErrNotAsked, what) }
	if s.Kind != q.Kind {
		return differs("it is a proof of kind " + string(s.Kind))
	}
	if q.Kind == KindHeader && q.Height != 0 && q.Height != s.Height {
		return differs(fmt.Sprintf("it is about block %d", s.Height))
	}
	if s.Tx != nil && s.Tx.Hash != q.TxHash {
		return differs("it is about transaction " + s.Tx.Hash.String())
	}
	if s.Receipt != nil && s.Receipt.Receipt.TxHash != q.TxHash {
		return differs("it is about transaction " + s.Receipt.Receipt.TxHash.String())
	}
	if len(s.Accounts) != len(q.Accounts) {
		return differs(fmt.Sprintf("it is about %d accounts", len(s.Accounts)))
	}
	for i := range q.Accounts {
		if !q.Accounts[i].answered(&s.Accounts[i]) {
			return differs("it is about " + s.Accounts[i].Address.String() + " or about other slots of it")
		}
	}
	return nil
}

func (q *AccountQuery) answered(a *ShownAccount) bool {
	if a.Address != q.Address || len(a.Slots) != len(q.Slots) {
		return false
	}
	for i := range q.Slots {
		if a.Slots[i].Slot != q.Slots[i] {
			return false
		}
	}
	return true
}
