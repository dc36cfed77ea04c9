package state

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestSharedReadsLeaveNoTrace: of an overlay that several goroutines read no read
// changes anything, or they would race for it.
func TestSharedReadsLeaveNoTrace(t *testing.T) {
	written, other := chain.Address{1}, chain.Address{2}
	below := NewOverlay(nothing{})
	below.SetStorage(written, "k", []byte{1})
	read := func(o *Overlay) {
		for _, a := range []chain.Address{written, other} {
			_, _, err := o.Account(a)
			if err == nil {
				_, err = o.Storage(a, "other")
			}
			if err == nil {
				_, err = o.Exists(a)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	below.Share(true)
	read(below)
	if below.seen != (recent{}) || below.delta.accounts[written].before != unknown {
		t.Errorf("a shared overlay has noted %+v, %v", below.seen, below.delta.accounts[written].before)
	}
	below.Share(false)
	read(below)
	if below.seen == (recent{}) || below.delta.accounts[written].before != absent {
		t.Error("an overlay of one goroutine notes nothing")
	}
}

// nothing is a view of an empty state.
type nothing struct{}

func (nothing) Account(chain.Address) (Account, bool, error)      { return NewAccount(), false, nil }
func (nothing) Storage(chain.Address, StorageKey) ([]byte, error) { return nil, nil }
func (nothing) Code(chain.Hash) ([]byte, error)                   { return nil, nil }
func (nothing) Scan(chain.Address, Span) ([]Entry, error)         { return nil, nil }
