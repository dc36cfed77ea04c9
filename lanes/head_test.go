package lanes

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestAHeadComesInParts: a look at the pool between two shards of a head sees what no pool
// of one head is like. The checker of histories explains it, and not if it is said to be
// a pick's: then a pick that does not wait is found.
func TestAHeadComesInParts(t *testing.T) {
	for _, settled := range []bool{false, true} {
		p, h := newBare(validatorConfig(), 20), &history{}
		now := map[chain.Address]account{}
		var m maker
		for n := byte(1); len(now) < 2; n++ { // in two shards
			a := chain.Address{n}
			for before := range now {
				if p.shardNumber(a) == p.shardNumber(before) {
					a = before
				}
			}
			now[a] = account{Spendable: 1 << 40}
		}
		p.basis.account = reader(now, 0)
		h.init = &spec{model: model{cfg: validatorConfig(), weight: 20, accounts: map[chain.Address]account{}}, now: now}
		next := head{Height: 1, account: reader(now, 1)}
		next.BaseFees[chain.LaneUser].PerCycle = 900_000 // cuts tips
		clock := uint64(0)
		tick := func() uint64 { clock++; return clock }
		for a := range now {
			tx := m.tx(a[0], 0, 500_000)
			o := offer{Tx: tx, Calls: callOf(tx), Least: leastOf(tx), Key: keyOf(tx), Unused: unusedOf(tx), MayCall: mayCallOf(tx)}
			answer := make([]error, 1)
			s := step{before: -1, offer: &o, call: tick()}
			p.admit([]offer{o}, answer)
			s.back, s.got = tick(), verdict(answer[0])
			h.steps = append(h.steps, s)
		}
		began, shards := tick(), map[uint64]bool{}
		for a := range now {
			shards[p.shardNumber(a)] = true
		}
		var seen step
		moved := uint64(0)
		p.shake = func() { // behind each shard
			if shards[moved] && seen.got == "" {
				seen = step{before: -1, look: true, settled: settled, call: tick(), got: p.look(false), back: tick()}
			}
			moved++
		}
		var touched chain.Address // nobody
		if err := p.advance(next, nil, nil); err != nil {
			t.Fatal(err)
		}
		ended := tick()
		for i, part := range p.parts(now, next.BaseFees, touched) {
			s := step{part: part, before: len(h.steps) - 1, call: began, back: ended}
			if i == 0 {
				s.before = -1
			}
			h.steps = append(h.steps, s)
		}
		h.steps = append(h.steps, seen)
		if h.explained() == settled {
			t.Errorf("a look between two shards as a pick's %v: explained %v\n%s", settled, !settled, h)
		}
	}
}

// TestPickWaitsForTheHead: who packs while a head comes in gets a selection from the pool
// that has it, and admission does not wait for either.
func TestPickWaitsForTheHead(t *testing.T) {
	params, view := params.Default(), wealthy()
	l := idle(t, params, view)
	var m maker
	first, second := m.transfer(1, 0, 1, 21_000), m.transfer(1, 1, 1, 21_000)
	mustAdmit(t, l, first, second)
	packed := make(chan []*chain.VerifiedTx, 1)
	var packs sync.WaitGroup
	next := view.with(chain.Address{1}, 1, 1_000*chain.WeiPerCBY)
	shards := 0
	l.pool.shake = func() {
		if shards++; shards != numShards/2 {
			return
		}
		packs.Go(func() { // on the new head
			req := request(&params, next)
			req.Height = 2
			got, err := l.Pack(t.Context(), *req)
			if err != nil {
				t.Error(err)
			}
			packed <- got.Txs
		})
		mustAdmit(t, l, m.transfer(2, 0, 1, 21_000))
		select {
		case txs := <-packed:
			t.Errorf("packed %s from a pool in which half of the shards have the head", names(txs))
		case <-time.After(20 * time.Millisecond):
		}
		mustAdmit(t, l, m.transfer(3, 0, 1, 21_000))
	}
	if err := l.Finalized(t.Context(), FinalizedHead{Height: 1, View: next, BaseFees: evenFees(1), Txs: []*chain.VerifiedTx{first}}); err != nil {
		t.Fatal(err)
	}
	packs.Wait()
	if t.Failed() {
		return
	}
	txs := <-packed
	if len(txs) != 3 || slices.Contains(txs, first) || !slices.Contains(txs, second) {
		t.Errorf("packed %s", names(txs))
	}
}

// TestHeadsComeInUnderLoad runs a ledger that packs and executes one block after another,
// a listener some blocks behind that hands them to the lanes, and senders. Every
// transaction is in one block, with the nonces of each sender in order, and none is
// refused, whatever the pool is at meanwhile. A sender's next nonce never goes back.
func TestHeadsComeInUnderLoad(t *testing.T) {
	const senders, clients = 30, 3
	each := uint64(400)
	if testing.Short() {
		each = 120
	}
	params := params.Default()
	params.CyclesTarget, params.CyclesCap = 1<<40, 1<<41
	l := idle(t, params, wealthy())
	l.pool.shake = jitter(1)
	heads := make(chan FinalizedHead, 3)
	var included, heard atomic.Uint64
	var all sync.WaitGroup
	all.Go(func() { // the listener
		for head := range heads {
			if err := l.Finalized(t.Context(), head); err != nil {
				t.Error(err)
			}
			heard.Store(uint64(head.Height))
		}
	})
	all.Go(func() { // the ledger
		defer close(heads)
		state := wealthy()
		var blocks [][]*chain.VerifiedTx // the newest first
		for h := chain.Height(1); included.Load() < senders*each && !t.Failed(); h++ {
			req := request(&params, state)
			req.Height, req.Before, req.MaxBytes = h, blocks, 30_000
			got, err := l.Pack(t.Context(), *req)
			if err != nil {
				t.Error(err)
				return
			}
			head := FinalizedHead{Height: h, BaseFees: evenFees(1 + chain.Wei(h%9)), Txs: got.Txs}
			state = state.after(t, got.Txs)
			head.View = state
			included.Add(uint64(len(got.Txs)))
			blocks = append([][]*chain.VerifiedTx{got.Txs}, blocks[:min(len(blocks), 8)]...)
			heads <- head
		}
	})
	for c := range clients {
		all.Go(func() { sendInOrder(t, l, byte(c), clients, senders, each) })
	}
	all.Wait()
	stats := l.Stats()
	if want := senders * each; included.Load() != want || stats.Admitted != want || stats.Included != want || stats.Lanes[chain.LaneUser].Txs != 0 {
		t.Errorf("%d of %d included; %+v", included.Load(), want, stats)
	}
	(&bare{l.pool}).checkShards(t)
	t.Logf("%d blocks", heard.Load())
}

// jitter returns what sleeps now and then, for one goroutine.
func jitter(seed uint64) func() {
	rng := rand.New(rand.NewPCG(seed, 29))
	return func() {
		if rng.IntN(16) == 0 {
			time.Sleep(time.Duration(rng.IntN(20)) * time.Microsecond)
		}
	}
}

// after is the state behind a block, whose nonces must follow those of the state.
func (a accounts) after(t *testing.T, txs []*chain.VerifiedTx) accounts {
	next := accounts{of: map[chain.Address]state.Account{}}
	for addr, acc := range a.of {
		next.of[addr] = acc
	}
	for _, tx := range txs {
		acc := next.of[tx.Sender]
		if acc.Nonce != tx.Tx.Nonce {
			t.Errorf("packed %x/%d, whose account is at %d", tx.Sender[:1], tx.Tx.Nonce, acc.Nonce)
		}
		acc.Nonce++
		next.of[tx.Sender] = acc
	}
	return next
}

// sendInOrder sends of every so many senders so many transactions, in batches, and again
// what there was no room for.
func sendInOrder(t *testing.T, l *Lanes, first, step, senders byte, each uint64) {
	m := maker{serial: uint64(first) << 32}
	rng := rand.New(rand.NewPCG(uint64(first), 31))
	next, made := map[byte]uint64{}, map[byte][]*chain.VerifiedTx{}
	for sent := true; sent && !t.Failed(); {
		sent = false
		for sender := first; sender < senders; sender += step {
			for n := uint64(len(made[sender])); n < min(each, next[sender]+1+rng.Uint64N(8)); n++ {
				made[sender] = append(made[sender], m.transfer(sender, n, 1<<rng.IntN(4), 21_000))
			}
			txs := made[sender][next[sender]:]
			sent = sent || len(txs) > 0
			for i, err := range l.Admit(t.Context(), txs) {
				if errors.As(err, new(*SenderFullError)) {
					time.Sleep(time.Millisecond)
					break
				}
				if err != nil && !errors.Is(err, ErrKnown) { // room may have come in the middle of a batch
					t.Errorf("%x/%d: %v", sender, txs[i].Tx.Nonce, err)
				}
				next[sender]++
			}
			if got, err := l.PendingNonce(t.Context(), chain.Address{sender}); err != nil || got < next[sender] || got > uint64(len(made[sender])) {
				t.Errorf("sender %d sent %d, the next nonce is %d, %v", sender, next[sender], got, err)
			}
		}
	}
}

// TestWhoWaitedForAShardRuns: on the only core, whoever waits for a shard to admit has it
// when a head, or a pick, has given it free, and does not wait until that ends. Go's scheduler
// gives the core back to who gave it away once in 61 turns, and may take it from anybody: so
// most of the times count, where without the yield it is none.
func TestWhoWaitedForAShardRuns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const times = 32
	p := newBare(validatorConfig(), 20)
	h := &p.shards[7]
	for _, tt := range []struct {
		name       string
		hold, free func()
	}{
		{"a head", h.mu.Lock, func() { p.yields = 0; h.mu.Unlock(); p.letOthers(h) }},
		{"a pick", p.holdAll, p.releaseAll},
	} {
		had := 0
		for range times {
			tt.hold()
			if hasItAfter(h, tt.free) {
				had++
			}
		}
		if had <= times/2 {
			t.Errorf("%s has given the shard free, and who waited for it had it at once in %d of %d times", tt.name, had, times)
		}
	}
}

// hasItAfter reports whether somebody who waits for the shard has it when free returns.
func hasItAfter(h *shard, free func()) bool {
	var admitted atomic.Bool
	var other sync.WaitGroup
	defer other.Wait()
	other.Go(func() {
		h.enter()
		defer h.mu.Unlock()
		admitted.Store(true)
	})
	for h.wanted.Load() == 0 {
		runtime.Gosched()
	}
	runtime.Gosched() // it waits now
	free()
	return admitted.Load()
}

// TestAHeadSharesTheCoreWithinBounds: however many wait for shards, a head lets others run so
// many times and no more, and not at all while a pick waits for it.
func TestAHeadSharesTheCoreWithinBounds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const most = numShards/shardsAtOnce + yieldsMost
	for _, tt := range []struct {
		name                  string
		wanted, picks         int32
		least, times, perhaps int64 // Go may take the core away besides, or give it to somebody else
	}{
		{"nobody waits", 0, 0, numShards / shardsAtOnce, numShards / shardsAtOnce, 3},
		{"for all shards", 1, 0, most, most, 3},
		{"for all shards, and a pick for the head", 1, 1, 0, 0, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newBare(validatorConfig(), 20)
			for i := range p.shards {
				p.shards[i].wanted.Store(tt.wanted)
			}
			p.picksWait.Store(tt.picks)
			var times, ended atomic.Int64
			var other sync.WaitGroup
			other.Go(func() {
				for ended.Load() == 0 {
					times.Add(1)
					runtime.Gosched()
				}
			})
			for height := range chain.Height(2) { // the bound is that of each head
				before := times.Load()
				next := head{Height: height + 1, BaseFees: p.laneBases(), measures: p.basis.measures}
				if err := p.advance(next, nil, nil); err != nil {
					t.Fatal(err)
				}
				if n := times.Load() - before; n < tt.least-tt.perhaps || n > tt.times+tt.perhaps {
					t.Errorf("others ran %d times, want %d", n, tt.times)
				}
			}
			ended.Store(1)
			other.Wait()
		})
	}
}
