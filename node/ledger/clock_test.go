package ledger

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestClockNotAdopted: a node that starts before its clock was set does not take the
// head's time for the offset of its clock: an hour later in a chain's life that would
// be an hour of chain time (hostile.md 1.5).
func TestClockNotAdopted(t *testing.T) {
	truth := time.UnixMilli(1_800_000_000_000)
	var p pace
	p.setClock(false, truth.Add(-time.Hour), uint64(truth.UnixMilli()))
	if off := int64(p.nowMillis(truth.Add(10*time.Minute))) - truth.Add(10*time.Minute).UnixMilli(); off != 0 {
		t.Errorf("after a slow start and a step chain time is %d ms off", off)
	}
	for i := range 5 {
		var p pace
		p.setClock(false, truth, uint64(truth.UnixMilli())+uint64(i+1)*5000)
		if off := int64(p.nowMillis(truth)) - truth.UnixMilli(); off != 0 {
			t.Errorf("after start %d chain time is %d ms off", i+1, off)
		}
	}
}

// TestSlowStartWaitsForTheClock: a leader whose clock is an hour slow builds nothing
// until the clock is set, and then at once.
func TestSlowStartWaitsForTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Int64
		slow.Store(int64(time.Hour))
		now := func() time.Time { return time.Now().Add(-time.Duration(slow.Load())) }
		var p pace
		head := uint64(time.Now().UnixMilli())
		p.setClock(false, now(), head)
		said, began := 0, time.Now()
		time.AfterFunc(10*time.Minute, func() { slow.Store(0) })
		if _, err := p.wait(t.Context(), now, timing{head, 1_000, 5_000}, func() { said++ }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 10*time.Minute || took > 10*time.Minute+2*time.Second {
			t.Errorf("waited %v, want until the clock was set", took)
		}
		if off := int64(p.nowMillis(now())) - time.Now().UnixMilli(); off != 0 || said != 1 {
			t.Errorf("chain time is %d ms off, waiting was said %d times", off, said)
		}
		// A clock that is set back while a leader waits costs it no more than the drift allows.
		parent := uint64(time.Now().UnixMilli())
		time.AfterFunc(500*time.Millisecond, func() { slow.Store(int64(4 * time.Second)) })
		began = time.Now()
		if _, err := p.wait(t.Context(), now, timing{parent, 1_000, 5_000}, nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 2500*time.Millisecond {
			t.Errorf("waited %v after the clock was set back", took)
		}
	})
}

// lives is one validator's store and the ledgers that open it one after the other.
type lives struct {
	f     *fixture
	store *store.Store
	now   func() time.Time
	*Ledger
	stop func()
}

func (f *fixture) live(t *testing.T, now func() time.Time) *lives {
	t.Helper()
	options := store.DefaultOptions()
	options.FS = vfs.NewMem()
	s, err := store.Open("lives", options)
	if err != nil {
		t.Fatal(err)
	}
	delta, err := exec.GenesisDelta(f.genesis)
	if err == nil {
		err = s.Init(store.GenesisRecord{Hash: f.genesis.Hash(), Delta: delta})
	}
	if err != nil {
		t.Fatal(err)
	}
	l := &lives{f: f, store: s, now: now}
	l.start(t)
	t.Cleanup(func() {
		l.stop()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *lives) start(t *testing.T) {
	t.Helper()
	proposers, err := NewProposers(epoch.Of(l.f.genesis))
	if err != nil {
		t.Fatal(err)
	}
	signatures, err := sigverify.New(sigverify.DefaultConfig(runtime.GOMAXPROCS(0)), nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Ledger, err = New(Config{
		Genesis: l.f.genesis, Store: l.store, Pool: &pool{}, Signatures: signatures, Proposers: proposers,
		PeerKey: testPeer, OrderKey: l.f.order, Now: l.now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	l.stop = func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("ledger ended with %v", err)
		}
	}
}

// restart ends one life and begins the next on the same store.
func (l *lives) restart(t *testing.T) {
	t.Helper()
	l.stop()
	l.start(t)
}

// next is where the block after the head of a chain stands, one view further.
func (l *lives) next() (beacon.Round, engine.ParentRef) {
	head := l.Head()
	return beacon.Round{View: head.Round.View + 1}, engine.ParentRef{Round: head.Round, Digest: head.Digest}
}

// build proposes the next block by the clock of this ledger.
func (l *lives) build(t *testing.T) engine.VerifyRequest {
	t.Helper()
	round, parent := l.next()
	p, err := l.Propose(t.Context(), engine.ProposeRequest{Round: round, Parent: parent})
	if err != nil {
		t.Fatal(err)
	}
	return engine.VerifyRequest{Round: round, Parent: parent, Leader: testPeer, Digest: p.Digest, Block: p.Block}
}

// final makes a block final.
func (l *lives) final(t *testing.T, set *beacon.ValidatorSet, req engine.VerifyRequest) {
	t.Helper()
	c := l.f.certify(set, simplex.Finalize, simplex.Proposal{Round: req.Round, Parent: req.Parent.Round.View, Payload: req.Digest})
	encoded := simplex.AppendCertificate(nil, c)
	if err := l.Finalized(t.Context(), engine.Finalization{Round: req.Round, Digest: req.Digest, Certificate: encoded, Own: encoded}); err != nil {
		t.Fatal(err)
	}
	<-l.Events()
}

// realChain is a fixture whose chain is no development chain.
func realChain(t *testing.T) (*fixture, *beacon.ValidatorSet) {
	t.Helper()
	f := newFixture(t)
	f.genesis.Devnet = false
	set, err := beacon.NewValidatorSet(epoch.First(f.genesis))
	if err != nil {
		t.Fatal(err)
	}
	return f, set
}

// TestEdgeOfDriftOverRollingRestarts: a leader that stamps its blocks as far ahead as
// they are taken moves chain time by the drift and no further, however often the
// others restart on its blocks. Each restart used to make five more seconds of it.
func TestEdgeOfDriftOverRollingRestarts(t *testing.T) {
	f, set := realChain(t)
	drift := time.Duration(f.genesis.Params.MaxClockDriftMillis) * time.Millisecond
	truth, lie, tick := f.now, drift, time.Duration(0)
	honest := f.live(t, func() time.Time { truth = truth.Add(tick); return truth })
	liar := f.live(t, func() time.Time { return truth.Add(lie) })
	refused := 0
	for restarts := range 20 {
		truth = truth.Add(2 * time.Second)
		lie = time.Duration(restarts+1) * drift // what the restarts so far could have given away
		req := liar.build(t)
		if err := honest.Judge(t.Context(), req); err != nil {
			if !errors.Is(err, engine.ErrEarly) {
				t.Fatal(err)
			}
			refused++
			lie = drift
			liar.restart(t)
			req = liar.build(t)
			if err := honest.Judge(t.Context(), req); err != nil {
				t.Fatalf("restart %d: a block at the edge: %v", restarts, err)
			}
		}
		honest.final(t, set, req)
		liar.final(t, set, req)
		if ahead := time.UnixMilli(int64(honest.Head().Block.Header.TimestampMillis)).Sub(truth); ahead > drift {
			t.Fatalf("after %d restarts chain time is %v ahead of true time", restarts, ahead)
		}
		honest.restart(t)
		if behind := honest.ClockBehind(); behind != 0 {
			t.Fatalf("a clock that is right waits for %v", behind)
		}
	}
	if refused != 19 {
		t.Errorf("%d blocks beyond the drift were refused, want all but the first", refused)
	}
	// The next honest leader's block is above the parent's time, and no further.
	tick = time.Second // it waits a block time, and not for the head's
	req := honest.build(t)
	if block, err := chain.DecodeBlock(req.Block, len(req.Block)); err != nil || block.Header.TimestampMillis > honest.Head().Block.Header.TimestampMillis+1 {
		t.Errorf("an honest block: %+v, %v", block.Header, err)
	}
}

// TestSlowClockSaysSo: with a clock an hour slow at the start a node votes for
// nothing new and says for how long; once the clock is set it does, and chain time is
// the truth.
func TestSlowClockSaysSo(t *testing.T) {
	f, set := realChain(t)
	truth, slow := f.now.Add(time.Minute), time.Duration(0)
	node := f.live(t, func() time.Time { return truth.Add(-slow) })
	other := f.live(t, func() time.Time { return truth })
	first := other.build(t)
	if err := node.Judge(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	node.final(t, set, first)
	other.final(t, set, first)

	slow = time.Hour
	node.restart(t)
	if got, want := node.ClockBehind(), time.Hour-5*time.Second; got != want {
		t.Errorf("waits for %v, want %v", got, want)
	}
	if got := node.ClockLead(); got != time.Hour {
		t.Errorf("the head is %v ahead, want an hour", got)
	}
	truth = truth.Add(2 * time.Second)
	req := other.build(t)
	if err := node.Judge(t.Context(), req); !errors.Is(err, engine.ErrEarly) {
		t.Errorf("a block of the right time: %v, want that its time has not come", err)
	}
	round, parent := node.next()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond) // the view's end
	defer cancel()
	if _, err := node.Propose(ctx, engine.ProposeRequest{Round: round, Parent: parent}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a proposal by a slow clock: %v", err)
	}
	if got := node.Stats.ClockWaits.Load(); got != 1 {
		t.Errorf("%d proposals waited for the clock, want 1", got)
	}
	if got := node.ClockOff(1); got < time.Hour || got > time.Hour+10*time.Second {
		t.Errorf("most clocks are %v ahead, want an hour", got)
	}

	slow = 0 // time came from a server
	if err := node.Judge(t.Context(), req); err != nil || node.ClockBehind() != 0 {
		t.Errorf("after the clock was set: %v, waits for %v", err, node.ClockBehind())
	}
	if got := node.ClockOff(1); got != 0 {
		t.Errorf("most clocks are %v ahead of one that was just set", got)
	}
}

func TestDriftOfMost(t *testing.T) {
	f := func(rule string, others int, aheads []time.Duration, want time.Duration) {
		t.Helper()
		var d Drift
		for i, a := range aheads {
			d.observe(chain.PeerKey{byte(i)}, uint64(100_000+a.Milliseconds()), 100_000)
		}
		if got := d.most(others, 101_000); got != want {
			t.Errorf("%s: %v, want %v", rule, got, want)
		}
	}
	s := time.Second
	f("nobody was heard", 3, nil, 0)
	f("one of three is no majority", 3, []time.Duration{9 * s}, 0)
	f("a liar among three", 3, []time.Duration{9 * s, -s / 50, -s / 50}, -s/50)
	f("two of three", 3, []time.Duration{9 * s, 7 * s, 0}, 7*s)
	f("we are ahead", 3, []time.Duration{-9 * s, -7 * s, -8 * s}, -8*s)
	f("to both sides", 3, []time.Duration{-9 * s, 0, 9 * s}, 0)
	f("one other", 1, []time.Duration{6 * s}, 6*s)
	var d Drift
	d.observe(chain.PeerKey{1}, 9_000_000, 1_000_000)
	if got := d.most(1, 1_000_000+driftFreshMillis+1); got != 0 {
		t.Errorf("of long ago: %v", got)
	}
}
