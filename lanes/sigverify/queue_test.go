package sigverify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

func TestLoneTransactionIsNotHeldBack(t *testing.T) {
	body := signed(t, 1, 0)
	synctest.Test(t, func(t *testing.T) {
		cfg := DefaultConfig(3) // the idle workers must not shorten or repeat the wait
		p, cancel := background(t, cfg, &taker{})
		begin := time.Now()
		submit(t, p, body)
		if waited := time.Since(begin); waited != cfg.BatchWaitMax {
			t.Errorf("waited %v, want exactly %v", waited, cfg.BatchWaitMax) // fake time: exact
		}
		cancel()
	})
}

func TestFullBatchDoesNotWait(t *testing.T) {
	var bodies [][]byte
	for n := range byte(4) {
		bodies = append(bodies, signed(t, n, 0))
	}
	synctest.Test(t, func(t *testing.T) {
		p, cancel := background(t, small(), &taker{})
		begin := time.Now()
		submit(t, p, bodies...)
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("waited %v with a full batch, want 0", waited)
		}
		cancel()
	})
}

func TestArrivalsWithinTheWaitShareABatch(t *testing.T) {
	bodies := [][]byte{signed(t, 1, 0), signed(t, 2, 0), signed(t, 3, 0)}
	synctest.Test(t, func(t *testing.T) {
		p, cancel := background(t, small(), &taker{})
		var answered atomic.Int32
		for i, body := range bodies {
			if err := p.Submit([][]byte{body}, func([]Verdict) { answered.Add(1) }); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(i+1) * 10 * time.Microsecond)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if answered.Load() != 3 || p.Stats.Batches.Load() != 1 {
			t.Errorf("%d answers from %d batches, want 3 from 1", answered.Load(), p.Stats.Batches.Load())
		}
		cancel()
	})
}

// background runs a pipeline inside a synctest bubble; cancel waits for its end.
func background(t *testing.T, cfg Config, lanes Lanes) (*Pipeline, func()) {
	t.Helper()
	p, err := New(cfg, lanes)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	return p, func() {
		cancel()
		<-done
	}
}

func TestFullQueueIsBusy(t *testing.T) {
	cfg := small()
	cfg.QueueTxs = 12 // half of it for one source
	cfg.QueueBytes = 4_000
	p, err := New(cfg, &taker{}) // not running: nothing leaves the queue
	if err != nil {
		t.Fatal(err)
	}
	var replies atomic.Int32
	hand := func(bodies ...[]byte) error {
		return p.Submit(bodies, func([]Verdict) { replies.Add(1) })
	}
	one := make([]byte, 100)
	if err := hand(one, one, one, one, one); err != nil {
		t.Fatalf("five of the six of a lone source: %v", err)
	}
	if err := hand(one, one); !errors.Is(err, ErrBusy) {
		t.Errorf("seven of the six of a lone source: %v, want ErrBusy", err)
	}
	if err := hand(make([]byte, 1_501)); !errors.Is(err, ErrBusy) {
		t.Errorf("byte cap: %v, want ErrBusy", err)
	}
	if err := hand(one); err != nil {
		t.Errorf("the sixth: %v", err)
	}
	if err := hand(one); !errors.Is(err, ErrBusy) {
		t.Errorf("the seventh: %v, want ErrBusy", err)
	}
	if err := hand(slices.Repeat([][]byte{one}, 13)...); !errors.Is(err, ErrBusy) {
		t.Errorf("more than the queue: %v, want ErrBusy", err)
	}
	if busy, over := p.Stats.Busy.Load(), p.Stats.OverShare.Load(); busy != 13 || over != 4 {
		t.Errorf("counted %d transactions for a full queue and %d over a share, want 13 and 4", busy, over)
	}
	if err := hand(); err != nil || replies.Load() != 1 {
		t.Errorf("empty submission: %v, %d replies; want an immediate one", err, replies.Load())
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Run(ctx)
	if replies.Load() != 3 || p.Stats.QueuedTxs.Load() != 0 || p.Stats.QueuedBytes.Load() != 0 {
		t.Errorf("%d replies, %d transactions queued; want all three answered and none left", replies.Load(), p.Stats.QueuedTxs.Load())
	}
	if err := hand(one); !errors.Is(err, ErrStopped) {
		t.Errorf("after Run: %v, want ErrStopped", err)
	}
}

// TestEverySubmissionIsAnsweredOnce stops the pipeline under load and counts.
func TestEverySubmissionIsAnsweredOnce(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			cfg := small()
			cfg.QueueTxs = 32
			p, err := New(cfg, &taker{block: make(chan struct{})})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { p.Run(ctx); close(done) }()
			body := signed(t, 1, 0)
			stop := time.After(time.Duration(rng.IntN(3_000)) * time.Microsecond)
			var taken, answered atomic.Int64
			senders := make(chan struct{})
			for range 3 {
				go func() {
					defer func() { senders <- struct{}{} }()
					for {
						err := p.Submit([][]byte{body, {1}, body, body, body}, func(v []Verdict) {
							for _, one := range v {
								if one.Err == nil && one.Tx == nil {
									t.Error("empty verdict")
								}
							}
							answered.Add(1)
						})
						switch {
						case err == nil:
							taken.Add(1)
						case errors.Is(err, ErrStopped):
							return
						}
						time.Sleep(20 * time.Microsecond)
					}
				}()
			}
			<-stop
			cancel()
			<-done
			for range 3 {
				<-senders
			}
			if taken.Load() != answered.Load() {
				t.Errorf("%d submissions taken, %d answered", taken.Load(), answered.Load())
			}
		})
	}
}

// TestAdmissionKeepsTheOrderOfArrival: many workers, one sender.
func TestAdmissionKeepsTheOrderOfArrival(t *testing.T) {
	cfg := DefaultConfig(8)
	cfg.BatchTxs = 3
	cfg.BatchWaitMax = time.Microsecond
	lanes := &taker{}
	p := start(t, cfg, lanes)
	const n = 300
	replies := make(chan []Verdict, n)
	for nonce := range uint64(n) {
		if err := p.Submit([][]byte{signed(t, 1, nonce)}, func(v []Verdict) { replies <- v }); err != nil {
			t.Fatal(err)
		}
	}
	for range n {
		if v := <-replies; v[0].Err != nil {
			t.Fatal(v[0].Err)
		}
	}
	for i, tx := range lanes.taken {
		if tx.Tx.Nonce != uint64(i) {
			t.Fatalf("place %d has nonce %d", i, tx.Tx.Nonce)
		}
	}
}

func TestCacheStaysBoundedAndKeepsWhatIsUsed(t *testing.T) {
	c := newCache(4, 1_000)
	tx := func(n byte, bytes int) *chain.VerifiedTx {
		return &chain.VerifiedTx{Tx: new(chain.Tx), Hash: chain.Hash{n}, Body: make([]byte, bytes)}
	}
	known := func(n byte) bool {
		out := make([]*chain.VerifiedTx, 1)
		return c.fillKnown([][32]byte{{n}}, out) == 1 && out[0].Hash == chain.Hash{n}
	}
	for n := range byte(100) {
		c.add([]*chain.VerifiedTx{tx(n, 10), nil})
		if !known(0) {
			t.Fatalf("the first one, in constant use, was forgotten after %d", n)
		}
		if len(c.young) > 4 || len(c.old) > 4 {
			t.Fatalf("%d and %d entries, want at most 4 each", len(c.young), len(c.old))
		}
	}
	if known(50) {
		t.Error("an old unused entry is still there")
	}
	c.add([]*chain.VerifiedTx{tx(200, 999)})
	c.add([]*chain.VerifiedTx{tx(201, 999)})
	if len(c.young) != 1 || c.bytes != 999 || !known(200) {
		t.Errorf("young has %d entries of %d bytes, want the byte cap to start a generation", len(c.young), c.bytes)
	}
	listed := tx(202, 0) // its list takes the bytes that its body does not
	listed.Tx.AccessList = []chain.AccessEntry{{Keys: make([]chain.Hash, 20)}}
	c.add([]*chain.VerifiedTx{listed})
	c.add([]*chain.VerifiedTx{tx(203, 400)})
	if len(c.young) != 1 || c.bytes != 400 || !known(202) {
		t.Errorf("young has %d entries of %d bytes, want a list of 20 keys to count", len(c.young), c.bytes)
	}
}

// TestCacheFollowsThePool: more places are used at once, fewer from the next generation on.
func TestCacheFollowsThePool(t *testing.T) {
	p, err := New(small(), &taker{})
	if err != nil {
		t.Fatal(err)
	}
	c := p.known
	add := func(n int) {
		for i := range n {
			c.add([]*chain.VerifiedTx{{Tx: new(chain.Tx), Hash: chain.Hash{byte(i), byte(i >> 8), 1}, Body: []byte{1}}})
		}
	}
	p.Resize(300)
	add(300)
	if len(c.young) != 300 {
		t.Errorf("%d of 300 in the young generation", len(c.young))
	}
	p.Resize(10)
	if known := len(c.young) + len(c.old); known < 300 {
		t.Errorf("%d known after a smaller size was set, want what was", known)
	}
	c.add([]*chain.VerifiedTx{{Tx: new(chain.Tx), Hash: chain.Hash{9, 9, 9}, Body: []byte{1}}})
	if len(c.young) != 1 || len(c.old) != 300 {
		t.Errorf("generations of %d and %d", len(c.young), len(c.old))
	}
	p.Resize(0)
	add(3)
	if len(c.young) != 1 {
		t.Errorf("%d in the young generation, want the one that there always is", len(c.young))
	}
}

// FuzzSubmit feeds the pipeline any bytes, as one body and next to good ones.
func FuzzSubmit(f *testing.F) {
	good := signed(f, 1, 0)
	f.Add(good)
	f.Add([]byte{})
	f.Add([]byte{0x8d})
	f.Add(good[:len(good)/2])
	f.Add(append(append([]byte(nil), good...), good...))
	p, err := New(DefaultConfig(1), &taker{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		other := signed(t, 2, 0)
		b := &batch{bodies: [][]byte{other, body, other}}
		p.verify(b, nil)
		for i := range b.bodies {
			if (b.txs[i] == nil) == (b.errs[i] == nil) {
				t.Fatalf("body %d: transaction %v and error %v", i, b.txs[i], b.errs[i])
			}
		}
		if b.errs[0] != nil || b.errs[2] != nil || b.txs[0].Sender != b.txs[2].Sender {
			t.Fatalf("the neighbours of a body suffered: %v, %v", b.errs[0], b.errs[2])
		}
		if tx := b.txs[1]; tx != nil {
			if tx.Hash != chain.TxHash(body) || string(tx.Tx.Encode()) != string(body) || tx.Lane >= chain.NumLanes {
				t.Fatalf("accepted %x as %+v", body, tx)
			}
		}
	})
}
