package statetest

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// ErrDisk is the fault of a [Broken] state.
var ErrDisk = errors.New("disk on fire")

// Broken is a state of which one account cannot be read.
type Broken struct {
	state.View
	At chain.Address
}

// Account implements state.View.
func (b Broken) Account(addr chain.Address) (state.Account, bool, error) {
	if addr == b.At {
		return state.Account{}, false, ErrDisk
	}
	return b.View.Account(addr)
}

// ErrRead says that a test read what it was not to.
var ErrRead = errors.New("nobody reads this here")

// Unread is a state of which nothing may be read. A view that embeds it answers only
// what its own methods do.
type Unread struct{}

// Account implements state.View.
func (Unread) Account(chain.Address) (state.Account, bool, error) {
	return state.Account{}, false, ErrRead
}

// Storage implements state.View.
func (Unread) Storage(chain.Address, state.StorageKey) ([]byte, error) { return nil, ErrRead }

// Scan implements state.View.
func (Unread) Scan(chain.Address, state.Span) ([]state.Entry, error) { return nil, ErrRead }

// Code implements state.View.
func (Unread) Code(chain.Hash) ([]byte, error) { return nil, ErrRead }
