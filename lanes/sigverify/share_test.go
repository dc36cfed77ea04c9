package sigverify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// apart returns sources that do not share an account.
func apart(p *Pipeline, n int) (out []Source) {
	seen := map[*account]bool{}
	for s := Source(0); len(out) < n; s++ {
		if a := p.shares.accountOf(s); !seen[a] {
			seen[a] = true
			out = append(out, s)
		}
	}
	return out
}

func TestSourcesShareAContendedQueue(t *testing.T) {
	cfg := small()
	cfg.QueueTxs, cfg.QueueBytes = 120, 120_000
	p, err := New(cfg, &taker{}) // not running: nothing leaves the queue
	if err != nil {
		t.Fatal(err)
	}
	who := apart(p, 4)
	body := make([]byte, 10)
	fill := func(s Source) (n int) {
		for p.SubmitFrom(s, [][]byte{body}, func([]Verdict) {}) == nil {
			n++
		}
		return n
	}
	check := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d transactions, want %d", what, got, want)
		}
	}
	check("credit of an empty queue", p.Credit(who[0]), 60) // the other half is for others
	if err := p.SubmitFrom(who[1], [][]byte{body}, func([]Verdict) {}); err != nil {
		t.Fatal(err)
	}
	check("credit beside another", p.Credit(who[0]), 59)
	check("the first, beside one that has sent one", fill(who[0]), 59) // half of the queue
	check("its credit then", p.Credit(who[0]), 0)
	check("a third takes a quarter", fill(who[2]), 30)
	check("the second still may", p.Credit(who[1]), 29)
	check("and does", fill(who[1]), 29)
	check("the first may not, over its share as it is", fill(who[0]), 0)
	check("a fourth takes what is left", fill(who[3]), 1)
	check("then it is full for anybody", p.Credit(who[3]), 0)
	if p.Stats.OverShare.Load() != 4 || p.Stats.Busy.Load() != 1 {
		t.Errorf("%d over their share, %d busy; want 4 and 1", p.Stats.OverShare.Load(), p.Stats.Busy.Load())
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Run(ctx)
	if p.shares.active.Load() != 0 || p.Stats.QueuedTxs.Load() != 0 || p.Stats.QueuedBytes.Load() != 0 {
		t.Errorf("%d sources, %d transactions remain in an empty queue", p.shares.active.Load(), p.Stats.QueuedTxs.Load())
	}
}

func TestSourcesShareBytesToo(t *testing.T) {
	cfg := small()
	cfg.QueueTxs, cfg.QueueBytes = 1_000, 100_000
	p, err := New(cfg, &taker{})
	if err != nil {
		t.Fatal(err)
	}
	who := apart(p, 2)
	big, one := make([]byte, 10_000), make([]byte, 1)
	if err := p.SubmitFrom(who[1], [][]byte{one}, func([]Verdict) {}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for p.SubmitFrom(who[0], [][]byte{big}, func([]Verdict) {}) == nil {
		n++
	}
	if n != 4 { // a fifth would be more than half of the queue
		t.Errorf("took %d bodies of a tenth of the queue beside another source, want 4", n)
	}
	if err := p.SubmitFrom(who[1], [][]byte{big, big}, func([]Verdict) {}); err != nil {
		t.Errorf("the other source: %v", err)
	}
	if p.Credit(who[0]) != 0 || p.Credit(who[1]) == 0 {
		t.Errorf("credits %d and %d, want none for who has more than a third only", p.Credit(who[0]), p.Credit(who[1]))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Run(ctx)
}

// TestClientsShareTheRPC: clients that hand in as many as they can do not shut out one
// that has handed in nothing yet, whatever peers have in the queue, and who leaves takes
// nothing along.
func TestClientsShareTheRPC(t *testing.T) {
	for _, test := range []struct{ greedy, txs, peers int }{
		{1, 1, 0}, {2, 1, 0}, {4, 1, 0}, {10, 1, 0}, {10, 1, 3}, {10, 50, 0}, {10, 50, 3}, {40, 1, 3},
	} {
		t.Run(fmt.Sprintf("greedy=%d,txs=%d,peers=%d", test.greedy, test.txs, test.peers), func(t *testing.T) {
			cfg := small()
			cfg.QueueTxs, cfg.QueueBytes = 16_384, 1<<30
			p, err := New(cfg, &taker{}) // not running: the test empties the queue
			if err != nil {
				t.Fatal(err)
			}
			who := clientsApart(p, test.greedy+1)
			honest := who[test.greedy]
			bodies := func(n int) [][]byte {
				out := make([][]byte, n)
				for i := range out {
					out[i] = []byte{1}
				}
				return out
			}
			ask := func(client netip.Addr, n int) error {
				return p.SubmitOf(client, nil, bodies(n), nil, func([]Verdict) {})
			}
			for _, s := range apart(p, test.peers+1)[min(1, test.peers):] {
				if s != 0 {
					if err := p.SubmitFrom(s, bodies(10), func([]Verdict) {}); err != nil {
						t.Fatal(err)
					}
				}
			}
			late := 0
			for round := range 200 {
				for busy := 0; busy < test.greedy; { // until none gets another in
					busy = 0
					for _, c := range who[:test.greedy] {
						if ask(c, test.txs) != nil {
							busy++
						}
					}
				}
				if ask(honest, 5) != nil && round > 100 {
					late++
				}
				for range 256 { // as verified meanwhile
					if _, ok := p.nextPiece(); !ok {
						break
					}
				}
			}
			if late > 0 {
				t.Errorf("the honest client was refused %d of 99 times, once all had their share", late)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			p.Run(ctx)
			if p.clients.active.Load() != 0 || p.shares.active.Load() != 0 {
				t.Errorf("%d clients, %d sources remain in an empty queue", p.clients.active.Load(), p.shares.active.Load())
			}
		})
	}
}

// clientsApart returns clients that do not share an account.
func clientsApart(p *Pipeline, n int) (out []netip.Addr) {
	seen := map[*account]bool{}
	for a := netip.MustParseAddr("10.0.0.1"); len(out) < n; a = a.Next() {
		if at := p.clients.ofClient(a); !seen[at] {
			seen[at] = true
			out = append(out, a)
		}
	}
	return out
}

// TestCreditIsHonoured: if nobody else submits, credit is taken and one more is
// not. Rerun one case with -run 'TestCreditIsHonoured/seed=3'.
func TestCreditIsHonoured(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 9))
			cfg := small()
			cfg.QueueTxs = 8 + rng.IntN(200)
			p, err := New(cfg, &taker{})
			if err != nil {
				t.Fatal(err)
			}
			body := []byte{1}
			hand := func(s Source, n int) error {
				bodies := make([][]byte, n)
				for i := range bodies {
					bodies[i] = body
				}
				return p.SubmitFrom(s, bodies, func([]Verdict) {})
			}
			for range 30 {
				s := Source(rng.IntN(6))
				credit := p.Credit(s)
				if err := hand(s, credit+1); !errors.Is(err, ErrBusy) {
					t.Fatalf("one more than the credit of %d: %v", credit, err)
				}
				if n := rng.IntN(credit + 1); n > 0 {
					if err := hand(s, n); err != nil {
						t.Fatalf("%d of a credit of %d: %v", n, credit, err)
					}
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			p.Run(ctx)
		})
	}
}

// TestBatchesAreFullUnderLoad: submissions of any size come out in batches of
// exactly BatchTxs, in order, and every one gets its own verdicts.
func TestBatchesAreFullUnderLoad(t *testing.T) {
	cfg := DefaultConfig(3)
	cfg.BatchTxs = 8
	lanes := &taker{}
	p, err := New(cfg, lanes)
	if err != nil {
		t.Fatal(err)
	}
	var bodies [][]byte
	for nonce := range uint64(123) {
		bodies = append(bodies, signed(t, 1, nonce))
	}
	var open sync.WaitGroup
	var wrong atomic.Int64
	for at, size := 0, 1; at < len(bodies); at, size = at+size, size%11+3 {
		part := bodies[at:min(at+size, len(bodies))]
		open.Add(1)
		err := p.SubmitFrom(Source(size), part, func(verdicts []Verdict) {
			defer open.Done()
			for i, v := range verdicts {
				if v.Err != nil || v.Tx.Tx.Nonce != uint64(at+i) || string(v.Tx.Body) != string(part[i]) {
					wrong.Add(1)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	open.Wait()
	cancel()
	<-done
	if wrong.Load() != 0 {
		t.Errorf("%d verdicts belong to others", wrong.Load())
	}
	if got, want := p.Stats.Batches.Load(), uint64(len(bodies)+7)/8; got != want {
		t.Errorf("%d batches, want %d", got, want)
	}
	for i, tx := range lanes.taken {
		if tx.Tx.Nonce != uint64(i) {
			t.Fatalf("place %d has nonce %d", i, tx.Tx.Nonce)
		}
	}
}

// TestReorderBufferKeepsOrderAndIdlesNobody: batches finish in a random order and
// pass in theirs; a worker waits only behind a full row.
func TestReorderBufferKeepsOrderAndIdlesNobody(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			const workers, batches = 4, 200
			turn := newReorderBuffer(6)
			var next atomic.Uint64
			var passed []uint64
			yields := make([]int, batches)
			for i := range yields {
				yields[i] = rng.IntN(4)
			}
			var all sync.WaitGroup
			for range workers {
				all.Go(func() {
					for n := next.Add(1) - 1; n < batches; n = next.Add(1) - 1 {
						b := turn.batch()
						b.number = n
						for range yields[n] {
							runtime.Gosched()
						}
						turn.passInOrder(t.Context(), b, func(_ context.Context, b *batch) { passed = append(passed, b.number) })
					}
				})
			}
			all.Wait()
			if len(passed) != batches {
				t.Fatalf("%d passed, want %d", len(passed), batches)
			}
			for i, n := range passed {
				if n != uint64(i) {
					t.Fatalf("place %d: batch %d", i, n)
				}
			}
		})
	}
	turn := newReorderBuffer(3)
	var passed int
	for n := range uint64(2) { // a lone goroutine leaves two and goes on
		turn.passInOrder(t.Context(), &batch{number: n + 1}, func(context.Context, *batch) { passed++ })
	}
	if passed != 0 {
		t.Errorf("%d passed before their turn", passed)
	}
	turn.passInOrder(t.Context(), &batch{number: 0}, func(context.Context, *batch) { passed++ })
	if passed != 3 || len(turn.spare) != 3 {
		t.Errorf("%d passed, %d spare; want 3 and 3", passed, len(turn.spare))
	}
}
