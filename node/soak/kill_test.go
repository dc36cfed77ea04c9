package soak

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

var (
	kills = flag.Int("kills", 4, "how often TestSoakKill kills the validator")
	seed  = flag.Uint64("seed", 0, "seed of the kill moments; 0 takes the clock")
)

// TestSoakKill kills a loaded validator at random moments. After each restart
// everything that was ever reported final is still there, in the same block,
// and the chain goes on; at the end a re-execution from genesis arrives at the
// stored root.
func TestSoakKill(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes: left out of -short runs, runs in make test")
	}
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d: repeat with -run TestSoakKill -args -kills=%d -seed=%d", *seed, *kills, *seed)
	rng := rand.New(rand.NewPCG(*seed, 1))
	bin, dataDir := buildBinary(t), t.TempDir()
	seen := &witness{}

	first := []string{"--block-time=50ms"}
	for i := range *kills {
		p := start(t, bin, dataDir, first...)
		first = nil
		seen.check(t, p, recentChecked, fmt.Sprintf("after kill %d", i))
		ctx, cancel := context.WithCancel(context.Background())
		var load sync.WaitGroup
		for worker := range 2 {
			load.Go(func() { seen.load(ctx, p.rpc, worker) })
		}
		seen.waitForProgress(t, p)
		if i == 0 {
			seen.waitForReceipt(t) // the load runs
		}
		time.Sleep(time.Duration(rng.IntN(600)) * time.Millisecond)
		p.kill()
		cancel()
		load.Wait()
	}
	p := start(t, bin, dataDir, first...)
	seen.check(t, p, len(seen.receipts), "after the last kill")
	seen.waitForProgress(t, p)
	p.stop(t)
	t.Log(verifyChain(t, bin, dataDir))
	t.Logf("%d kills, %d transactions seen final, height %d", *kills, len(seen.receipts), seen.height)
}

// recentChecked is how many of the newest transactions and blocks are looked up
// after each kill; after the last one it is all of them.
const recentChecked = 500

// witness remembers what the validator reported as final.
type witness struct {
	mu       sync.Mutex
	receipts []rpc.ReceiptReply // oldest first
	accepted map[string]sent    // by hash, what a node took
	height   uint64
}

// load sends transfers from one development account and records each that is
// reported final, until the node is gone.
func (w *witness) load(ctx context.Context, url string, worker int) {
	for ctx.Err() == nil && w.batch(ctx, url, worker) == nil {
	}
}

// batch sends ten transfers and waits for them for a while.
func (w *witness) batch(ctx context.Context, url string, worker int) error {
	account := setup.DevAccounts()[worker]
	var info rpc.AccountReply
	if _, err := get(ctx, url+"/account/"+account.Address.String(), &info); err != nil {
		return err
	}
	var batch []byte
	for i := range uint64(10) {
		batch = transfer(account, info.PendingNext+i).AppendWire(batch)
	}
	var reply rpc.SubmitWaitReply
	if err := post(ctx, url+"/submit_wait?timeout_ms=3000", batch, &reply); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, r := range reply.Results {
		if r.Accepted {
			w.took(r.Hash, sent{account, info.PendingNext + uint64(i)})
		}
		if r.Receipt != nil {
			w.receipts = append(w.receipts, *r.Receipt)
			w.height = max(w.height, r.Receipt.BlockHeight)
		}
	}
	return nil
}

// final is how many transactions were reported so.
func (w *witness) final() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.receipts)
}

// waitForReceipt returns when one transaction of a load is final.
func (w *witness) waitForReceipt(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); w.final() == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no transaction became final in %v: the load did not run", patience)
		}
	}
}

// passOn sends transfers through a node until n of them are final.
func (w *witness) passOn(t *testing.T, p *process, worker, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for w.final() < n {
		if err := w.batch(ctx, p.rpc, worker); err != nil {
			t.Fatalf("%d of %d transactions sent through a node are final: %v\n%s", w.final(), n, err, p.stderr)
		}
	}
}

// devnetChainID is the chain id of the built-in development genesis.
var devnetChainID = genesis.DevnetTemplate().ChainID

func transfer(from setup.DevAccount, nonce uint64) *chain.Tx {
	to := chain.Address{0xbe, 0xef, byte(nonce)}
	tx := &chain.Tx{
		ChainID: devnetChainID, Nonce: nonce, To: &to, Value: 1,
		CyclesLimit: 21_000, MaxFeePerCycle: 100, MaxFeePerCell: 100, TipPerCycle: 1,
	}
	sig := from.Key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	return tx
}

// check asks the node for the newest transactions that were ever final, and for
// their blocks.
func (w *witness) check(t *testing.T, p *process, newest int, when string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	var head rpc.HeightReply
	if _, err := get(ctx, p.rpc+"/height", &head); err != nil {
		t.Fatalf("%s: %v\n%s", when, err, p.stderr)
	}
	if head.Height < w.height {
		t.Errorf("%s: height %d, but %d was reported final", when, head.Height, w.height)
	}
	checked := map[uint64]bool{}
	for _, want := range w.receipts[max(0, len(w.receipts)-newest):] {
		var got rpc.ReceiptReply
		ok, err := get(ctx, p.rpc+"/transaction/"+want.TxHash+"/receipt", &got)
		if err != nil || !ok {
			t.Errorf("%s: final transaction %s is gone (%v)", when, want.TxHash, err)
		} else if got.BlockHash != want.BlockHash || got.Slot != want.Slot || got.Status != want.Status {
			t.Errorf("%s: transaction %s was %+v, is %+v", when, want.TxHash, want, got)
		}
		if checked[want.BlockHeight] {
			continue
		}
		checked[want.BlockHeight] = true
		var block rpc.BlockReply
		ok, err = get(ctx, fmt.Sprintf("%s/block/%d", p.rpc, want.BlockHeight), &block)
		if err != nil || !ok || block.Hash != want.BlockHash {
			t.Errorf("%s: block %d was %s, is %q (found %v, %v)", when, want.BlockHeight, want.BlockHash, block.Hash, ok, err)
		}
	}
	if t.Failed() {
		t.Fatalf("%s\n%s", when, p.stderr)
	}
}

// waitForProgress returns once two more blocks are final.
func (w *witness) waitForProgress(t *testing.T, p *process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var from, now rpc.HeightReply
	if _, err := get(ctx, p.rpc+"/height", &from); err != nil {
		t.Fatalf("%v\n%s", err, p.stderr)
	}
	for now.Height < from.Height+2 {
		select {
		case <-ctx.Done():
			t.Fatalf("no progress past height %d in %v\n%s", from.Height, patience, p.stderr)
		case <-p.exited:
			t.Fatalf("cowboyd ended: %v\n%s", p.err, p.stderr)
		case <-time.After(20 * time.Millisecond):
		}
		if _, err := get(ctx, p.rpc+"/height", &now); err != nil {
			t.Fatalf("%v\n%s", err, p.stderr)
		}
	}
	w.mu.Lock()
	w.height = max(w.height, now.Height)
	w.mu.Unlock()
}
