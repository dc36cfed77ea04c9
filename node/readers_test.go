package node

import (
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// TestReadersBesideFastBlocks asks for everything that is read of the head while
// blocks become final as fast as they can: no answer is that the node could not.
func TestReadersBesideFastBlocks(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{})
	c, v := r.client(t), r.verifier(t)
	waitForHeight(t, r, 1)
	owner, slot := storedSlot(t, r.genesis)
	dev := setup.DevAccounts()[0].Address
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
