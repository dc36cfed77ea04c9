package node

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/books"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/node/nice"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// marketWatch counts runners and jobs of the state from time to time, for the metrics, and
// holds the market's accounts against them. It works on a thread of low priority and rests
// long enough to take a fiftieth of a core at the most, however many there are.
type marketWatch struct {
	head   func() *store.Version
	alarms *alarms
	last   atomic.Pointer[marketCount] // nil before the first
}

// marketCount is what one look found.
type marketCount struct {
	books     books.Books
	place     marketPlace
	due, late int // events that are due, and verdicts; marketMost of each at the most
}

// marketPlace tells two states of the market apart: storage and balance of each of its
// accounts.
type marketPlace [len(books.Accounts)]struct {
	root    chain.Hash
	balance chain.Wei
}

func placeOf(v state.View) (p marketPlace, err error) {
	for i, a := range books.Accounts {
		account, _, err := v.Account(a)
		if err != nil {
			return p, err
		}
		p[i].root, p[i].balance = account.StorageRoot, account.Balance
	}
	return p, nil
}

const (
	// marketEvery is the least time from one look to the next.
	marketEvery = 10 * time.Second
	// marketRests is how many times the time of a look it rests.
	marketRests = 50
	// marketMost is how many jobs that wait are counted.
	marketMost = 10_000
)

// run looks until ctx ends.
func (m *marketWatch) run(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { // a thread of its own, which ends with it
		nice.Thread()
		done <- survive(ctx, m.watch)
	}()
	return <-done
}

func (m *marketWatch) watch(ctx context.Context) error {
	for {
		began := time.Now()
		if err := m.look(); err != nil && !errors.Is(err, store.ErrStale) {
			return err
		}
		if err := rest(ctx, max(marketEvery, marketRests*time.Since(began))); err != nil {
			return err
		}
	}
}

// look counts once, and only if something has changed since the last time. Books that do
// not add up are an alarm: no block is lost by it, but somebody's money is.
func (m *marketWatch) look() error {
	v := m.head()
	release, err := v.Keep()
	if err != nil {
		return err
	}
	defer release()
	count := m.found()
	at, err := placeOf(v)
	if err != nil {
		return fmt.Errorf("read the runner market's accounts: %w", err)
	}
	if at != count.place {
		if count.books, err = m.countAll(v); err != nil {
			return err
		}
		count.place = at
	}
	if count.due, count.late, err = books.Waiting(v, v.Height(), marketMost); err != nil {
		return fmt.Errorf("count jobs that wait: %w", err)
	}
	m.last.Store(&count)
	return nil
}

// countAll adds up all records, and holds the accounts to them.
func (m *marketWatch) countAll(v *store.Version) (books.Books, error) {
	sums, err := books.Read(v)
	if err != nil {
		return sums, fmt.Errorf("count the runner market: %w", err)
	}
	switch err := sums.Check(v); {
	case errors.Is(err, books.ErrUnbalanced):
		m.alarms.raise(alarmMarket, fmt.Sprintf("after block %d: %v; stop sending jobs and report it with the output of cowboyd verify", v.Height(), err))
	case err != nil:
		return sums, fmt.Errorf("check the runner market: %w", err)
	default:
		m.alarms.clear(alarmMarket)
	}
	return sums, nil
}

// found returns what the last look found.
func (m *marketWatch) found() marketCount {
	if c := m.last.Load(); c != nil {
		return *c
	}
	return marketCount{}
}

func (n *Node) marketMetrics(r prometheus.Registerer, gauge gaugeFunc) {
	labelled := func(name, help, label, value string, read func(*books.Books) uint64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "cowboy", Name: name, Help: help, ConstLabels: prometheus.Labels{label: value},
		}, func() float64 { b := n.market.found().books; return float64(read(&b)) }))
	}
	for p := range jobs.Phases {
		labelled("market_jobs", "Jobs in the state, by phase; counted every ten seconds.", "phase", p.String(),
			func(b *books.Books) uint64 { return b.Jobs[p] })
	}
	for h := range runners.Healths {
		labelled("market_runners", "Runners that have a record, by health.", "health", h.String(),
			func(b *books.Books) uint64 { return b.Runners[h] })
	}
	wei := func(name, help string, read func(*books.Books) chain.Wei) {
		gauge(name, help, func() float64 { b := n.market.found().books; return float64(read(&b)) })
	}
	wei("market_staked_wei", "Stakes of runners, with what unbonds.", func(b *books.Books) chain.Wei { return b.Stakes })
	wei("market_frozen_wei", "Penalties that wait for the settlement of their jobs.", func(b *books.Books) chain.Wei { return b.Frozen })
	wei("market_escrow_wei", "What jobs hold that are not settled.", func(b *books.Books) chain.Wei { return b.Escrows })
	wei("market_slashed_wei_total", "What runners that have a record lost in all.", func(b *books.Books) chain.Wei { return b.Slashed })
	gauge("market_kept_bytes", "Bytes of results that are kept for actors to read.", func() float64 { return float64(n.market.found().books.Kept) })
	gauge("market_due_backlog", "Jobs with an event that is due and was put off to a later block; 10,000 stands for more.",
		func() float64 { return float64(n.market.found().due) })
	gauge("market_judge_backlog", "Jobs that wait to be judged; 10,000 stands for more.", func() float64 { return float64(n.market.found().late) })
}
