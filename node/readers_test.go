package node

import (
	"errors"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestReadersBesideFastBlocks asks for everything that is read of the head while
// blocks become final as fast as they can: no answer is that the node could not.
func TestReadersBesideFastBlocks(t *testing.T) {
	r := run(t, t.TempDir(), DevnetOptions{})
	c, v := r.client(t), r.verifier(t)
	waitForHeight(t, r, 1)
	owner, slot := storedSlot(t, r.genesis)
	dev := DevAccounts()[0].Address
	tx := &chain.Tx{To: &owner, Value: 1}
	reads := map[string]func() error{
		"account": func() error { _, err := c.Account(t.Context(), dev); return err },
		"storage": func() error { _, err := c.StorageAt(t.Context(), owner, slot, nil); return err },
		"code":    func() error { _, err := c.CodeAt(t.Context(), dev, nil); return err },
		"export":  func() error { _, err := c.Export(t.Context(), v, owner); return err },
		"proof": func() error {
			_, err := c.Prove(t.Context(), &light.Query{Kind: light.KindAccount, Accounts: []light.AccountQuery{{Address: dev}}})
			return err
		},
		"rent":       func() error { _, err := c.Rent(t.Context(), dev); return err },
		"governance": func() error { _, err := c.Governance(t.Context()); return err },
		"tokens":     func() error { _, err := c.Tokens(t.Context(), 0, 10); return err },
		"estimate":   func() error { _, err := c.Estimate(t.Context(), dev, tx); return err },
		"read": func() error {
			_, err := c.ReadActor(t.Context(), rpc.ReadRequest{Actor: dev.String(), Handler: "none"})
			return err
		},
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for name, read := range reads {
		readers.Go(func() {
			for n := 0; ; n++ {
				if err := read(); err != nil && !client.IsCode(err, rpc.CodeStorageMoved) {
					t.Errorf("%s, read %d: %v", name, n, err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	_, err := c.Advance(t.Context(), 100)
	close(done)
	readers.Wait()
	if err != nil {
		t.Error(err)
	}
}

// TestReaderThatLosesItsHead begins again with the next head, a bounded number of
// times, and not for other errors.
func TestReaderThatLosesItsHead(t *testing.T) {
	r := run(t, t.TempDir(), DevnetOptions{})
	waitForHeight(t, r, 1)
	tries := 0
	losing := func(times int, end error) func(*ledger.Executed) error {
		tries = 0
		return func(*ledger.Executed) error {
			if tries++; tries <= times {
				return store.ErrStale
			}
			return end
		}
	}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		read  func(*ledger.Executed) error
		want  error
		tries int
	}{
		"never":       {losing(0, nil), nil, 1},
		"twice":       {losing(2, nil), nil, 3},
		"always":      {losing(headTries, nil), rpc.ErrBusy, headTries},
		"other error": {losing(1, broken), broken, 2},
	} {
		tries = 0
		if err := r.source.atHead(t.Context(), c.read); !errors.Is(err, c.want) || tries != c.tries {
			t.Errorf("%s: %v after %d tries", name, err, tries)
		}
	}
}
