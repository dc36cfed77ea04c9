package node

import (
	"net/http"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// TestOldBlocksRecoverNothing: senders are stored with their block, so that a reader of
// the past costs no signature. What he sees is what he saw when the block was new.
func TestOldBlocksRecoverNothing(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{BlockTime: 100 * time.Millisecond})
	from, to := setup.DevAccounts()[0], setup.DevAccounts()[1].Address
	var height chain.Height
	for nonce := range uint64(3) {
		var done rpc.SubmitReply
		if code := r.post(t, "/submit_wait?timeout_ms=10000", pay(r.genesis, from, nonce, to).AppendWire(nil), &done); code != http.StatusOK {
			t.Fatalf("submit: %d %+v", code, done)
		}
	}
	fresh := map[chain.Height]*rpc.Block{}
	for height = 1; height <= r.ledger.Head().Height(); height++ {
		b, ok, err := r.answers.BlockByHeight(t.Context(), height)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		fresh[height] = b
	}
	stored, err := newAnswers(r.Node) // remembers nothing yet
	if err != nil {
		t.Fatal(err)
	}
	before, txs := r.sigverify.Stats.Recovered.Load(), 0
	for h, want := range fresh {
		b, ok, err := stored.BlockByHeight(t.Context(), h)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if b == want || len(b.Txs) != len(want.Txs) || len(b.Deliveries) != len(want.Deliveries) {
			t.Fatalf("block %d: %d transactions, want %d, from the disk", h, len(b.Txs), len(want.Txs))
		}
		keys, wantKeys := b.OrderKeys(), want.OrderKeys()
		for i, tx := range b.Txs {
			if w := want.Txs[i]; tx.Hash != w.Hash || tx.Sender != w.Sender || tx.Lane != w.Lane || string(tx.Body) != string(w.Body) || keys[i] != wantKeys[i] {
				t.Errorf("block %d: transaction %d is %s of %s, want %s of %s", h, i, tx.Hash, tx.Sender, w.Hash, w.Sender)
			}
			txs++
		}
	}
	if txs != 3 {
		t.Errorf("%d transactions in %d blocks, want 3", txs, len(fresh))
	}
	if got := r.sigverify.Stats.Recovered.Load(); got != before {
		t.Errorf("%d senders were recovered for readers", got-before)
	}
}
