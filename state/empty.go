package state

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Empty is the state before any account: what an [Overlay] stands on when all
// there is was written to it.
type Empty struct{}

// Account implements [View]: no account exists.
func (Empty) Account(chain.Address) (Account, bool, error) { return NewAccount(), false, nil }

// Storage implements [View]: nothing is stored.
func (Empty) Storage(chain.Address, StorageKey) ([]byte, error) { return nil, nil }

// Scan implements [View]: there is nothing to find.
func (Empty) Scan(chain.Address, Span) ([]Entry, error) { return nil, nil }

// Code implements [View]: an account that names code names what is not there.
func (Empty) Code(hash chain.Hash) ([]byte, error) {
	if hash == EmptyCodeHash {
		return nil, nil
	}
	return nil, fmt.Errorf("an empty state has no code %s", hash)
}
