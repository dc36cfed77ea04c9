package ledger

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// ticking gives the ledger a clock that goes on by each look at it.
func (f *fixture) ticking(l *Ledger, each time.Duration) {
	var looks atomic.Int64
	start := f.now.Add(time.Minute)
	l.cfg.Now = func() time.Time { return start.Add(time.Duration(looks.Add(1)) * each) }
	l.cfg.Measure = func() func() uint64 {
		began := l.cfg.Now()
		return func() uint64 { return uint64(l.cfg.Now().Sub(began)) }
	}
}

// TestBuildingEndsInTime: a block takes transactions for three fifths of the block time,
// whatever waits, and stands in its order all the same.
func TestBuildingEndsInTime(t *testing.T) {
	const people, each = 20, 30
	f := newFixture(t)
	l, p, _, parent, first := f.crowded(t, people)
	for n := range people {
		for nonce := range uint64(each) {
			p.txs = append(p.txs, f.sent(person(t, n), chain.Tx{Nonce: nonce, To: &chain.Address{0xaa}, Value: 1, CyclesLimit: 21_000}))
		}
	}
	f.ticking(l, time.Millisecond)
	made, err := l.Propose(t.Context(), engine.ProposeRequest{Round: beacon.Round{View: 2}, Parent: parent})
	if err != nil {
		t.Fatal(err)
	}
	block, err := chain.DecodeBlock(made.Block, len(made.Block))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(block.Txs); n == 0 || n >= people*each {
		t.Errorf("%d of %d transactions: want some, and not all", n, people*each)
	}
	if l.Stats.Hurried.Load() == 0 {
		t.Error("nothing says that time was over")
	}
	if len(p.txs) != people*each {
		t.Errorf("%d of %d transactions are left in the pool: who had no time waits", len(p.txs), people*each)
	}
	f.verifiesSecond(t, first, parent, made)
}

// TestSlowTransactionsAreShunned: what takes far longer than its cycles pay for leaves
// the pool; payments, and what pays for its time, stay.
func TestSlowTransactionsAreShunned(t *testing.T) {
	f := newFixture(t)
	l, p, to, parent, first := f.crowded(t, 3)
	slow := f.sent(person(t, 0), chain.Tx{To: &to, Payload: actor.AppendMessage(nil, "none", cbor.AppendNull(nil)), CyclesLimit: 100_000, CellsLimit: 100})
	payment := f.sent(person(t, 2), chain.Tx{To: &chain.Address{0xaa}, Value: 1, CyclesLimit: 21_000})
	p.txs = []*chain.VerifiedTx{slow, payment}
	f.ticking(l, 60*time.Millisecond) // each transaction takes as long
	made, err := l.Propose(t.Context(), engine.ProposeRequest{Round: beacon.Round{View: 2}, Parent: parent})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(p.txs, slow) || !slices.Contains(p.txs, payment) {
		t.Errorf("%d of 2 transactions left, want the payment alone", len(p.txs))
	}
	if n := l.Stats.Slow.Load(); n != 1 {
		t.Errorf("%d counted as slow, want 1", n)
	}
	f.verifiesSecond(t, first, parent, made)

	w := l.newWatch(t.Context(), l.Head())
	ran := w.watchSelection([]*chain.VerifiedTx{slow, payment}).Ran
	const ms = uint64(time.Millisecond)
	ran(0, chain.Usage{Cycles: 249_999}, 50*ms)        // a pause of the machine
	ran(0, chain.Usage{Cycles: 2_000_000}, 400*ms)     // 200 ns a cycle
	ran(0, chain.Usage{Cycles: 2_000_000}, 400*ms+200) // a cycle's worth more
	ran(0, chain.Usage{}, 51*ms)                       // refused, and ran all the same
	ran(1, chain.Usage{Cycles: 21_000}, 10_000*ms)     // runs nothing
	if len(w.slow) != 2 {
		t.Errorf("%d of 5 are slow, want 2: %+v", len(w.slow), w.slow)
	}
}

// TestRefill: the room that limits reserve and nobody uses is filled again (attack B5
// of the soundness review, with deployments, of which nothing is known beforehand: they
// use a twentieth of their limits).
func TestRefill(t *testing.T) {
	const hostile, honest = 10, 960
	f := newFixtureOf(t, func(p *params.Params) {
		p.Machine = params.MachineTables{CostTable: chain.Hash{0: 1}, ExceptionTexts: chain.Hash{0: 2}}
	})
	f.inMemory = true
	l, _, _, parent, first := f.crowded(t, 100)
	full := int(f.genesis.Params.CyclesCap / f.genesis.Params.Intrinsic.TransferCycles)
	var deploys, payments []*chain.VerifiedTx
	for n := range hostile {
		d := actor.Deployment{Source: []byte("x = 1\n"), Salt: []byte{byte(n)}, Manifest: append(cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements"), 0x80)}
		tx := f.sent(person(t, n), chain.Tx{Payload: actor.AppendPayload(nil, &d), CyclesLimit: 1_990_000, CellsLimit: 10_000, TipPerCycle: 8})
		deploys = append(deploys, tx)
	}
	for n := range honest {
		payments = append(payments, f.sent(person(t, hostile+n%90), chain.Tx{Nonce: uint64(n / 90), To: &chain.Address{0xaa}, Value: 1, CyclesLimit: 21_000}))
	}
	f.fill(t, l, deploys, payments)
	made, err := l.Propose(t.Context(), engine.ProposeRequest{Round: beacon.Round{View: 2}, Parent: parent})
	if err != nil {
		t.Fatal(err)
	}
	block, err := chain.DecodeBlock(made.Block, len(made.Block))
	if err != nil {
		t.Fatal(err)
	}
	took := 0
	for _, body := range block.Txs {
		if !slices.ContainsFunc(deploys, func(tx *chain.VerifiedTx) bool { return tx.Hash == chain.TxHash(body) }) {
			took++
		}
	}
	t.Logf("%d honest transfers of the %d that a block holds, %d deployments, %d refills", took, full, len(block.Txs)-took, l.Stats.Refilled.Load())
	if 10*took < 9*full || l.Stats.Refilled.Load() == 0 {
		t.Errorf("%d honest transfers beside %d large limits, want nine tenths of %d", took, hostile, full)
	}
	f.verifiesSecond(t, first, parent, made)
}

// TestExecutionLetsOthersRun: where an execution has the only core, others run between two
// of its transactions once it has had the core for a millisecond, and not each time.
func TestExecutionLetsOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const asked = 1_000
	var now time.Duration
	w := &watch{
		now:  func() time.Time { now += coreTime / 10; return time.Unix(0, 0).Add(now) },
		most: time.Hour, began: time.Unix(0, 0), overtaken: func() bool { return false },
	}
	var others, ended atomic.Int64
	var other sync.WaitGroup
	other.Go(func() {
		for ended.Load() == 0 {
			others.Add(1)
			runtime.Gosched()
		}
	})
	for range asked {
		w.exhausted()
	}
	ended.Store(1)
	other.Wait()
	if n := others.Load(); n < asked/20 || n > asked/5 {
		t.Errorf("another goroutine ran %d times, want some %d", n, asked/10)
	}
}

// TestExecutionKeepsHalfACore: where others keep the core for longer than the execution may,
// it has it for as long as they had it, and not for one transaction between two of them.
func TestExecutionKeepsHalfACore(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const away, asked, step = 5 * time.Millisecond, 1_000, 100 * time.Microsecond
	var clock atomic.Int64 // nobody's but those two's
	w := &watch{
		now:  func() time.Time { return time.Unix(0, clock.Load()) },
		most: time.Hour, began: time.Unix(0, 0), overtaken: func() bool { return false },
	}
	var times, ended atomic.Int64
	var other sync.WaitGroup
	other.Go(func() {
		for ended.Load() == 0 {
			times.Add(1)
			clock.Add(int64(away))
			runtime.Gosched()
		}
	})
	for range asked {
		clock.Add(int64(step))
		w.exhausted()
	}
	n := times.Load()
	ended.Store(1)
	other.Wait()
	if most := int64(asked*step/away) + 2; n > most || n < most/4 { // Go may let it run besides
		t.Errorf("others had the core %d times %v while the execution had it for %v, want at most %d", n, away, asked*step, most)
	}
	w.most = w.spent() + away/2
	clock.Add(int64(away))
	if !w.exhausted() {
		t.Error("a transaction is taken after the end")
	}
}
