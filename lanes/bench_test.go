package lanes

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// fullPool returns idle lanes with n transactions of n/4 senders in four tiers,
// on a chain without caps.
func fullPool(b *testing.B, n int) (*Lanes, *PackRequest, []*chain.VerifiedTx) {
	b.Helper()
	params := params.Default()
	params.CyclesTarget, params.CyclesCap = 1<<40, 1<<41
	view := accounts{of: map[chain.Address]state.Account{}}
	txs := make([]*chain.VerifiedTx, 0, n)
	var m maker
	for i := range n {
		tx := m.transfer(0, uint64(i%4), chain.Wei(1<<(i%4)), 21_000)
		tx.Sender = chain.Address{byte(i >> 18), byte(i >> 10), byte(i >> 2)}
		if _, ok := view.of[tx.Sender]; !ok {
			acc := view.of[tx.Sender]
			acc.Balance = chain.WeiPerCBY
			view.of[tx.Sender] = acc
		}
		txs = append(txs, tx)
	}
	l, err := New(DefaultConfig(), &params, testChain, FinalizedHead{View: view, BaseFees: evenFees(1)})
	if err != nil {
		b.Fatal(err)
	}
	req := request(&params, view)
	req.MaxBytes = 1 << 30
	return l, req, txs
}

func BenchmarkAdmit(b *testing.B) {
	const n = 100_000
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		l, _, txs := fullPool(b, n)
		b.StartTimer()
		for i := 0; i < n; i += 64 {
			l.Admit(b.Context(), txs[i:min(i+64, n)])
		}
		if l.Stats().Admitted != n {
			b.Fatalf("admitted %d", l.Stats().Admitted)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "txs/s")
}

func BenchmarkPack(b *testing.B) {
	for _, picked := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("waiting=100000/picked=%d", picked), func(b *testing.B) {
			l, req, txs := fullPool(b, 100_000)
			l.Admit(b.Context(), txs)
			req.MaxBytes = picked * 105
			b.ReportAllocs()
			for b.Loop() {
				got, err := l.Pack(b.Context(), *req)
				if err != nil || len(got.Txs) != picked {
					b.Fatalf("packed %d: %v", len(got.Txs), err)
				}
			}
			b.ReportMetric(float64(picked)*float64(b.N)/b.Elapsed().Seconds(), "txs/s")
		})
	}
}

// BenchmarkPackTips packs from 5,000 senders of 20: with equal tips, whose
// transactions came in turns, and with tips at random, sender by sender, as in
// the bar pick-10k-of-100k. There most wait for one that pays less.
func BenchmarkPackTips(b *testing.B) {
	const senders, each, picked = 5_000, 20, 10_000
	for _, random := range []bool{false, true} {
		b.Run(fmt.Sprintf("random=%v", random), func(b *testing.B) {
			params := params.Default()
			params.CyclesTarget, params.CyclesCap = 1<<40, 1<<41
			view := accounts{of: map[chain.Address]state.Account{}}
			txs := make([]*chain.VerifiedTx, 0, senders*each)
			rng := rand.New(rand.NewPCG(1, 0))
			var m maker
			for i := range senders * each {
				sender, nonce, tip := i%senders, i/senders, chain.Wei(1)
				if random {
					sender, nonce, tip = i/each, i%each, 1+chain.Wei(rng.Uint64N(1000))
				}
				tx := m.transfer(0, uint64(nonce), tip, 21_000)
				tx.Sender = chain.Address{byte(sender >> 8), byte(sender)}
				acc := view.of[tx.Sender]
				acc.Balance = chain.WeiPerCBY
				view.of[tx.Sender] = acc
				txs = append(txs, tx)
			}
			l, err := New(DefaultConfig(), &params, testChain, FinalizedHead{View: view, BaseFees: evenFees(1)})
			if err != nil {
				b.Fatal(err)
			}
			for i := 0; i < len(txs); i += 64 {
				l.Admit(b.Context(), txs[i:min(i+64, len(txs))])
			}
			req := request(&params, view)
			req.MaxBytes = picked * 108
			b.ReportAllocs()
			taken := 0
			for b.Loop() {
				got, err := l.Pack(b.Context(), *req)
				if err != nil {
					b.Fatal(err)
				}
				taken += len(got.Txs)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(taken), "ns/tx")
		})
	}
}

func BenchmarkReprice(b *testing.B) {
	l, req, txs := fullPool(b, 100_000)
	l.Admit(b.Context(), txs)
	fee := chain.Wei(1)
	for b.Loop() {
		fee = 10 - fee // 1 and 9: most transactions change their tier
		if err := l.Finalized(b.Context(), FinalizedHead{View: req.Parent, BaseFees: evenFees(fee)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "txs/s")
}

// BenchmarkFinalized takes in a block of ten transfers from each of a thousand senders,
// whose next forty wait.
func BenchmarkFinalized(b *testing.B) {
	const senders, sent, waiting = 1_000, 10, 40
	for b.Loop() {
		b.StopTimer()
		l, req, _ := fullPool(b, 4*senders)
		view := req.Parent.(accounts)
		var txs []*chain.VerifiedTx
		var m maker
		head := FinalizedHead{Height: 1, View: accounts{of: map[chain.Address]state.Account{}}, BaseFees: evenFees(1)}
		for n := range uint64(sent + waiting) {
			for addr := range view.of {
				tx := m.transfer(0, n, 1, 21_000)
				tx.Sender = addr
				txs = append(txs, tx)
				if n < sent {
					head.Txs, head.Touched = append(head.Txs, tx), append(head.Touched, addr)
				}
			}
		}
		for addr, a := range view.of {
			a.Nonce = sent
			head.View.(accounts).of[addr] = a
		}
		l.Admit(b.Context(), txs)
		b.StartTimer()
		if err := l.Finalized(b.Context(), head); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*senders*sent), "ns/tx")
}

// BenchmarkAdmitBesideHead takes in heads of 15,000 transfers of a thousand senders, of
// whom 60,000 wait, while somebody admits one transaction after the other, and says how
// long the slowest of these took, in the median of the heads. On a machine that others use,
// that is in part the time for which nobody ran it.
func BenchmarkAdmitBesideHead(b *testing.B) {
	besideOf(b, func(l *Lanes, c *busySenders) func() error {
		head := FinalizedHead{Height: 1, View: c.at(15), BaseFees: evenFees(1), Txs: c.sent[:15*crowdSenders]}
		for _, tx := range head.Txs {
			head.Touched = append(head.Touched, tx.Sender)
		}
		return func() error { return l.Finalized(b.Context(), head) }
	})
}

// BenchmarkAdmitBesideOther is the same beside what has nothing to do with the lanes: what
// this machine makes of the measurement.
func BenchmarkAdmitBesideOther(b *testing.B) {
	besideOf(b, func(*Lanes, *busySenders) func() error {
		return func() error {
			for began := time.Now(); time.Since(began) < 12*time.Millisecond; {
				continue
			}
			return nil
		}
	})
}

// BenchmarkAdmitBesidePick is the same beside a pick of 15,000 on a parent two blocks of as
// many above the pool's head.
func BenchmarkAdmitBesidePick(b *testing.B) {
	besideOf(b, func(l *Lanes, c *busySenders) func() error {
		req := request(c.params, c.at(30))
		req.Height, req.MaxBytes = 3, 15*crowdSenders*105
		req.Before = [][]*chain.VerifiedTx{c.sent[15*crowdSenders : 30*crowdSenders], c.sent[:15*crowdSenders]}
		return func() error {
			got, err := l.Pack(b.Context(), *req)
			if err == nil && len(got.Txs) != 15*crowdSenders {
				return fmt.Errorf("packed %d", len(got.Txs))
			}
			return err
		}
	})
}

const crowdSenders = 1_000

// busySenders are a thousand senders of whom sixty transfers each wait.
type busySenders struct {
	params      *params.Params
	view        accounts
	sent, later []*chain.VerifiedTx // by nonce
}

// at is the state behind so many transfers of each.
func (c *busySenders) at(nonce uint64) accounts {
	out := accounts{of: map[chain.Address]state.Account{}}
	for addr, a := range c.view.of {
		a.Nonce = nonce
		out.of[addr] = a
	}
	return out
}

// besideOf does something to lanes with a crowd in them while somebody admits one
// transaction after the other, and reports, of the median round, the milliseconds that it
// took and those of the slowest of these admissions.
func besideOf(b *testing.B, do func(*Lanes, *busySenders) func() error) {
	var slowest, itself []time.Duration
	for b.Loop() { // whose clock nobody reads: to stop it would stop the world
		l, req, _ := fullPool(b, 4*crowdSenders)
		c := &busySenders{params: req.Params, view: req.Parent.(accounts)}
		var m maker
		for n := range uint64(90) {
			for addr := range c.view.of {
				tx := m.transfer(0, n, 1, 21_000)
				if tx.Sender = addr; n < 60 {
					c.sent = append(c.sent, tx)
				} else {
					c.later = append(c.later, tx)
				}
			}
		}
		l.Admit(b.Context(), c.sent)
		run := do(l, c)
		runtime.GC()
		var ended atomic.Bool
		began, took := make(chan struct{}), make(chan time.Duration, 1)
		go func() {
			most := time.Duration(0)
			for i, tx := range c.later {
				if ended.Load() {
					break
				}
				if i == 100 {
					close(began)
				}
				call := time.Now()
				l.Admit(b.Context(), []*chain.VerifiedTx{tx})
				if i > 100 {
					most = max(most, time.Since(call))
				}
			}
			took <- most
		}()
		<-began
		call := time.Now()
		if err := run(); err != nil {
			b.Fatal(err)
		}
		itself = append(itself, time.Since(call))
		ended.Store(true)
		slowest = append(slowest, <-took)
	}
	median := func(of []time.Duration) float64 {
		slices.Sort(of)
		return float64(of[len(of)/2].Microseconds()) / 1e3
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(itself), "itself-ms")
	b.ReportMetric(median(slowest), "slowest-ms")
}
