package engine

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// slowApp takes its time to execute a block, once: when it builds it, when it
// prepares its preview, or when it verifies it.
type slowApp struct {
	*chainApp
	takes  time.Duration
	silent bool // hands out no previews

	mu     sync.Mutex
	ready  map[chain.Hash]time.Time // when the execution of a preview ends
	finals []time.Time
}

func (a *slowApp) Propose(ctx context.Context, req ProposeRequest) (Proposed, error) {
	p, err := a.chainApp.Propose(ctx, req)
	if err != nil {
		return p, err
	}
	if !a.silent {
		req.Preview(p.Block)
	}
	time.Sleep(a.takes)
	return p, nil
}

func (a *slowApp) Prepare(_ context.Context, req PrepareRequest) error {
	a.mu.Lock()
	a.ready[digestOf(req.Preview)] = time.Now().Add(a.takes)
	a.mu.Unlock()
	time.Sleep(a.takes)
	return nil
}

func (a *slowApp) Verify(ctx context.Context, req VerifyRequest) (bool, error) {
	a.mu.Lock()
	ready, ok := a.ready[req.Digest]
	a.mu.Unlock()
	if !ok {
		ready = time.Now().Add(a.takes)
	}
	time.Sleep(time.Until(ready))
	return a.chainApp.Verify(ctx, req)
}

func (a *slowApp) Finalized(ctx context.Context, f Finalization) error {
	a.mu.Lock()
	a.finals = append(a.finals, time.Now())
	a.mu.Unlock()
	return a.chainApp.Finalized(ctx, f)
}

// farPort delivers late.
type farPort struct {
	port
	delay time.Duration
}

func (p farPort) Broadcast(msg []byte) { time.AfterFunc(p.delay, func() { p.port.Broadcast(msg) }) }

func (p farPort) Send(to beacon.Participant, msg []byte) {
	time.AfterFunc(p.delay, func() { p.port.Send(to, msg) })
}

// blockInterval runs four validators whose applications take execution for each
// block, and returns the mean time between final blocks.
func blockInterval(t *testing.T, execution, hop time.Duration, silent bool) (interval time.Duration) {
	t.Helper()
	const blocks = 20
	set, shares, g := committee(t, 4)
	synctest.Test(t, func(t *testing.T) {
		m := &mesh{engines: make([]*Engine, 4)}
		apps := make([]*slowApp, 4)
		ctx, cancel := context.WithCancel(t.Context())
		var runs sync.WaitGroup
		var reached <-chan struct{}
		for i := range m.engines {
			apps[i] = &slowApp{chainApp: newChainApp(t, g.Hash()), takes: execution, silent: silent, ready: map[chain.Hash]time.Time{}}
			e, err := New(testConfig(t, set, shares[i], g.Hash()), apps[i], farPort{port{m, beacon.Participant(i)}, hop}, new(diskJournal))
			if err != nil {
				t.Fatal(err)
			}
			m.engines[i] = e
		}
		reached = apps[0].want(blocks)
		for _, e := range m.engines {
			runs.Go(func() {
				if err := e.Run(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("Run = %v", err)
				}
			})
		}
		<-reached
		cancel()
		runs.Wait()
		finals := apps[0].finals
		interval = finals[blocks-1].Sub(finals[0]) / (blocks - 1)
		for _, e := range m.engines {
			if n := e.Stats.Bans.Load() + e.Stats.LeaderTimeouts.Load(); n != 0 {
				t.Errorf("%d bans and timeouts", n)
			}
		}
	})
	return interval
}

// The stages of a block overlap: its execution takes its time once from block to
// block, although leader and others must each do it before the next view.
func TestStagesOverlap(t *testing.T) {
	const execution, hop = 200 * time.Millisecond, 5 * time.Millisecond
	got := blockInterval(t, execution, hop, false)
	t.Logf("a block every %v where execution takes %v and a message %v", got, execution, hop)
	if got > execution*12/10 {
		t.Errorf("a block every %v, want at most the slowest stage and a fifth", got)
	}
	if got < execution {
		t.Errorf("a block every %v, which is faster than execution allows", got)
	}
	alone := blockInterval(t, execution, hop, true)
	t.Logf("a block every %v without previews", alone)
	if alone < 2*execution {
		t.Errorf("a block every %v without previews: the test does not show their work", alone)
	}
}

// What comes too early, too late, twice or from another than the leader is not
// executed.
func TestPreviewsOfOthersAreDropped(t *testing.T) {
	play(t, func(s *scene) {
		round := beacon.Round{View: 1} // led by validator 1
		say := func(from beacon.Participant, d wire.Preview) uint64 {
			before := s.engine.Stats.Dropped.Load()
			s.hear(from, wire.Append(nil, d))
			return s.engine.Stats.Dropped.Load() - before
		}
		if n := say(2, wire.Preview{Round: round, Parent: 0, Bytes: []byte("x")}); n != 1 {
			t.Error("the preview of another than the leader was taken")
		}
		if n := say(1, wire.Preview{Round: beacon.Round{View: 3}, Parent: 0, Bytes: []byte("x")}); n != 1 {
			t.Error("the preview of a view far ahead was taken")
		}
		if n := say(1, wire.Preview{Round: beacon.Round{Epoch: 1, View: 1}, Parent: 0, Bytes: []byte("x")}); n != 1 {
			t.Error("the preview of another epoch was taken")
		}
		if n := say(1, wire.Preview{Round: round, Parent: 0, Bytes: []byte("x")}); n != 0 {
			t.Error("the leader's preview was dropped")
		}
		if n := say(1, wire.Preview{Round: round, Parent: 0, Bytes: []byte("y")}); n != 1 {
			t.Error("a second preview was taken")
		}
		if n := s.engine.Stats.Bans.Load(); n != 0 {
			t.Errorf("%d bans", n)
		}
	})
}

// Of the two who may lead a view, the one past a nullified view is listened to
// only if there is the nullification: its preview would take the place of the
// leader's.
func TestPreviewPastAViewThatStands(t *testing.T) {
	play(t, func(s *scene) {
		v, parent := chain.View(1), s.parent
		var leader, past beacon.Participant
		for leader == past || leader == 0 || past == 0 { // 0 is this validator
			at := beacon.Round{View: v}
			block := encodeBlock(at, parent, uint64(v))
			c := s.certificate(simplex.Finalize, simplex.Proposal{Round: at, Parent: v - 1, Payload: digestOf(block)})
			s.hear(2, wire.Append(nil, wire.Backfill{Certificate: c, Block: block}))
			v, parent = v+1, ParentRef{Round: at, Digest: c.Proposal.Payload, Seed: c.Seed}
			leader, _ = s.engine.machine.LeaderOf(v, v-1)
			past, _ = s.engine.machine.LeaderOf(v, v-2)
		}
		prepared := func() (n uint64) {
			for _, count := range s.engine.Stats.Stages[StagePrepare].Counts() {
				n += count
			}
			return n
		}
		s.hear(past, wire.Append(nil, wire.Preview{Round: beacon.Round{View: v}, Parent: v - 2, Bytes: []byte("preview")}))
		if prepared() != 0 {
			t.Error("a preview past a view that stands was executed")
		}
		s.hear(leader, wire.Append(nil, wire.Preview{Round: beacon.Round{View: v}, Parent: v - 1, Bytes: []byte("preview")}))
		if prepared() != 1 {
			t.Error("the leader's preview was not executed")
		}
	})
}
