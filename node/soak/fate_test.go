package soak

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// sent is a transfer that a node took: it answered with its hash.
type sent struct {
	from  setup.DevAccount
	nonce uint64
}

// took remembers a transfer; w is locked.
func (w *witness) took(hash string, s sent) {
	if w.accepted == nil {
		w.accepted = map[string]sent{}
	}
	w.accepted[hash] = s
}

// senders lists the accounts whose transfers were taken.
func (w *witness) senders() (out []chain.Address) {
	for _, s := range w.accepted {
		if !slices.Contains(out, s.from.Address) {
			out = append(out, s.from.Address)
		}
	}
	return out
}

// settle waits until the nonces of the senders are past all that was taken. On
// request it sends again what does not come, as a sender does whose node died, and
// returns how many it sent.
func (w *witness) settle(t *testing.T, url string, again bool) (resent int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	next := map[chain.Address]sent{} // behind the last of each sender
	for _, s := range w.accepted {
		if s.nonce+1 > next[s.from.Address].nonce {
			next[s.from.Address] = sent{s.from, s.nonce + 1}
		}
	}
	for address, last := range next {
		for try := 0; ; try++ {
			var info rpc.AccountReply
			if _, err := get(ctx, url+"/account/"+address.String(), &info); err != nil {
				t.Fatalf("account %s: %v", address, err)
			}
			if info.Nonce >= last.nonce {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("account %s is at nonce %d, not past %d", address, info.Nonce, last.nonce-1)
			}
			if again && try%50 == 49 { // five seconds of waiting
				var batch []byte
				first := max(info.Nonce, info.PendingNext)
				for nonce := first; nonce < min(first+10, last.nonce); nonce++ {
					batch = transfer(last.from, nonce).AppendWire(batch)
					resent++
				}
				var reply rpc.SubmitReply
				if len(batch) > 0 { // else all of it waits in the pool
					if err := post(ctx, url+"/submit", batch, &reply); err != nil {
						t.Fatalf("send again: %v", err)
					}
				}
			}
			_ = sleepCtx(ctx, 100*time.Millisecond)
		}
	}
	return resent
}

// tally counts what became of transactions that nodes took.
type tally struct{ taken, final, replaced, lost int }

func (f tally) String() string {
	return fmt.Sprintf("%d transactions, %d final exactly once in all stores, %d replaced, %d lost", f.taken, f.final, f.replaced, f.lost)
}

// fates looks every transaction that was taken up in the stores of stopped nodes.
// It is final exactly once in each, or, where its sender's nonce is past it, gave
// way to another one with its nonce.
func (w *witness) fates(t *testing.T, folders []string) tally {
	t.Helper()
	got := tally{taken: len(w.accepted)}
	times := map[string]int{} // over all stores
	nonces := map[chain.Address]uint64{}
	for i, folder := range folders {
		s, err := store.Open(filepath.Join(folder, "store"), store.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		for hash, n := range finalIn(t, s) {
			if n != 1 {
				t.Errorf("transaction %s is in %d blocks of %s", hash, n, folder)
			}
			times[hash] += n
		}
		for _, a := range w.senders() {
			account, _, err := s.Head().Account(a)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				nonces[a] = account.Nonce
			} else if account.Nonce != nonces[a] {
				t.Errorf("account %s: nonce %d in %s, %d in %s", a, nonces[a], folders[0], account.Nonce, folder)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for hash, a := range w.accepted {
		switch n := times[hash]; {
		case n == len(folders):
			got.final++
		case n == 0 && a.nonce < nonces[a.from.Address]:
			got.replaced++ // by whom? This load never gives a nonce to two transfers
			t.Errorf("transaction %s, nonce %d of %s, gave way to another one", hash, a.nonce, a.from.Address)
		default:
			got.lost++
			t.Errorf("transaction %s, nonce %d of %s, was taken and is in %d of %d stores", hash, a.nonce, a.from.Address, n, len(folders))
		}
	}
	return got
}

// finalIn counts in how many places of a store's blocks each transaction is. What
// a block holds is read from its bytes, not from the index.
func finalIn(t *testing.T, s *store.Store) map[string]int {
	t.Helper()
	count := map[string]int{}
	head, _ := s.HeadInfo()
	for h := chain.Height(1); h <= head; h++ {
		rec, ok, err := s.BlockByHeight(h)
		if err != nil || !ok {
			t.Fatalf("block %d: found %v, %v", h, ok, err)
		}
		block, err := chain.DecodeBlock(rec.Block, len(rec.Block))
		if err != nil {
			t.Fatalf("block %d: %v", h, err)
		}
		for _, body := range block.Txs {
			hash := chain.TxHash(body)
			count[hash.String()]++
			if at, _, ok, err := s.ReceiptLocation(hash); err != nil || !ok || at != h {
				t.Errorf("the index has transaction %s of block %d in block %d (found %v, %v)", hash, h, at, ok, err)
			}
		}
	}
	return count
}
