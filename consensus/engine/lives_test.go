package engine

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

var (
	livesSeeds = flag.Uint64("lives", 2, "seeds that TestLives plays of each case")
	livesFirst = flag.Uint64("lives-first", 1, "the first of them")
)

// TestLives plays four validators of which one key comes to have two lives, with the
// engine, journal and guard of a node over links that delay and lose. A seed fixes
// delays, losses, times, and how long each start listens. Of lives that start more
// than 10 s apart one stops and nobody is convicted; a restored life goes on and is
// not convicted. Of those that start together the test says how many were.
func TestLives(t *testing.T) {
	for _, c := range []livesCase{
		{name: "fresh folder copied", twin: true, apart: 15 * time.Second, fresh: true},
		{name: "clone at a height", twin: true, apart: 15 * time.Second},
		{name: "restored, the chain running"},
		{name: "restored, the chain standing", stands: true},
		{name: "all four restored", all: true},
		{name: "two that start together", twin: true, fresh: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var convicted, stopped, none uint64
			for seed := *livesFirst; seed < *livesFirst+*livesSeeds; seed++ {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, seed)
					w.play(c)
					n := w.stopped()
					stopped += uint64(n)
					if len(w.proofs) > 0 {
						convicted++
					}
					if c.twin && n == 0 {
						none++
					}
					together := c.twin && c.apart == 0
					switch {
					case !together && len(w.proofs) > 0:
						t.Errorf("seed %d: convicted: %+v", seed, w.proofs[0])
					case c.twin && !together && n != 1:
						t.Errorf("seed %d: %d lives stopped, want one", seed, n)
					case !c.twin && n != 0:
						t.Errorf("seed %d: a restored life stopped: %v", seed, w.ends)
					case w.grew < 5:
						t.Errorf("seed %d: %d blocks at the end", seed, w.grew)
					}
				})
			}
			t.Logf("%d runs: %d ended in a conviction, %d lives stopped, in %d runs none did", *livesSeeds, convicted, stopped, none)
		})
	}
}

// livesCase is a way to have two lives.
type livesCase struct {
	name   string
	twin   bool          // beside each other; else the second follows the first, from an older folder
	fresh  bool          // the folder was copied before the first start
	apart  time.Duration // between the starts
	stands bool          // while another validator is away, so that the chain stands
	all    bool          // every validator's life ends
}

// The twins are processes 3 and 4, both of validator 3.
const (
	firstLife  = 3
	secondLife = 4
)

// world is a network of up to five processes with four keys.
type world struct {
	t      *testing.T
	set    *beacon.ValidatorSet
	shares []bls.Share
	hash   chain.Hash
	grew   int // blocks after the last start

	mu     sync.Mutex
	rng    *rand.Rand
	procs  [5]*lifeOf
	holder [3]int // which of the two lives has the link to each other validator
	proofs []attest.Evidence
	ends   []error
}

// lifeOf is a process with its folder.
type lifeOf struct {
	engine *Engine
	folder folderOf
	stop   func() error
}

// folderOf is what a process keeps.
type folderOf struct {
	app     *chainApp
	journal *diskJournal
	guard   *memory
}

func newWorld(t *testing.T, seed uint64) *world {
	set, shares, g := committee(t, 4)
	return &world{t: t, set: set, shares: shares, hash: g.Hash(), rng: rand.New(rand.NewPCG(seed, 16)), holder: [3]int{3, 3, 3}}
}

func (w *world) empty() folderOf {
	app := newChainApp(w.t, w.hash)
	app.blockTime = time.Second
	return folderOf{app, new(diskJournal), new(memory)}
}

// copied is what a copy of a stopped process's folder has.
func (f folderOf) copied() folderOf {
	app := newChainApp(f.app.t, chain.Hash{})
	app.blockTime, app.final, app.floor = f.app.blockTime, slices.Clone(f.app.final), f.app.floor
	app.bytes = maps.Clone(f.app.bytes)
	app.restart()
	return folderOf{app, f.journal.crash(), &memory{f.guard.mark}}
}

func (w *world) draw(shortest, longest time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return shortest + time.Duration(w.rng.Int64N(int64(longest-shortest)))
}

// start begins a life on a folder.
func (w *world) start(at int, f folderOf) {
	key := min(at, firstLife)
	cfg := testConfig(w.t, w.set, w.shares[key], w.hash)
	cfg.Guard, cfg.LastFinalized, cfg.Archive = f.guard, f.app.floor, f.app
	cfg.Watch = Watch{Listen: w.draw(2*time.Second, 10*time.Second), Every: 2 * time.Second, Again: time.Minute}
	cfg.Evidence = func(e attest.Evidence) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.proofs = append(w.proofs, e)
	}
	w.mu.Lock()
	cfg.Watch.Instance = w.rng.Uint64() | 1
	w.mu.Unlock()
	e, err := New(cfg, f.app, worldPort{w, at}, f.journal)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	var ended error
	w.mu.Lock()
	w.procs[at] = &lifeOf{e, f, func() error { cancel(); <-done; return ended }}
	w.mu.Unlock()
	go func() {
		defer close(done)
		if ended = e.Run(ctx); !errors.Is(ended, context.Canceled) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ends = append(w.ends, ended)
			w.procs[at] = nil
		}
	}()
	go w.dial(ctx, done, at)
}

// dial keeps the links of a process: it takes one from the other life of its key
// some time after it lost it, as the transport does.
func (w *world) dial(ctx context.Context, done <-chan struct{}, at int) {
	for first := true; ; first = false {
		for peer := range 4 {
			if peer == min(at, firstLife) {
				continue
			}
			w.mu.Lock()
			other, mine := w.procs[peer], w.procs[at]
			taken := first
			if at >= firstLife && w.holder[peer] != at {
				w.holder[peer], taken = at, true
			}
			if peer == firstLife {
				other = w.procs[w.holder[min(at, 2)]]
			}
			w.mu.Unlock()
			if taken && other != nil && mine != nil {
				other.engine.Linked(beacon.Participant(min(at, firstLife)))
				mine.engine.Linked(beacon.Participant(peer))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-done:
			return
		case <-time.After(w.draw(100*time.Millisecond, 5*time.Second)):
		}
	}
}

// kill ends a process without a word, and returns its folder.
func (w *world) kill(at int) folderOf {
	w.mu.Lock()
	p := w.procs[at]
	w.procs[at] = nil
	w.mu.Unlock()
	if p == nil {
		w.t.Fatalf("process %d is not there: %v", at, w.ends)
	}
	_ = p.stop()
	return p.folder
}

func (w *world) stopped() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, err := range w.ends {
		if !errors.Is(err, ErrDoppelganger) {
			w.t.Errorf("a life ended: %v", err)
		}
		n++
	}
	return n
}

func (w *world) height(at int) int {
	w.mu.Lock()
	p := w.procs[at]
	w.mu.Unlock()
	p.folder.app.mu.Lock()
	defer p.folder.app.mu.Unlock()
	return len(p.folder.app.final)
}

// worldPort is what a process sends through.
type worldPort struct {
	w  *world
	at int
}

func (p worldPort) Broadcast(msg []byte) {
	for to := range 4 {
		if to != min(p.at, firstLife) {
			p.Send(beacon.Participant(to), msg)
		}
	}
}

// Send delivers after a delay, most of the time. Questions and answers need the link;
// what else a life has to say reaches its peers by links that are about to end.
func (p worldPort) Send(to beacon.Participant, msg []byte) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	lost := w.rng.IntN(50) == 0
	if p.at >= firstLife && msg[0] == tagAsk && w.holder[to] != p.at {
		lost = true
	}
	after := time.Duration(10+w.rng.IntN(190)) * time.Millisecond
	if lost {
		return
	}
	time.AfterFunc(after, func() {
		w.mu.Lock()
		at := int(to)
		if at == firstLife {
			at = w.holder[min(p.at, 2)]
		}
		q := w.procs[at]
		w.mu.Unlock()
		if q != nil {
			_ = q.engine.Deliver(beacon.Participant(min(p.at, firstLife)), bytes.Clone(msg))
		}
	})
}

func (w *world) play(c livesCase) {
	for i := range 4 {
		f := w.empty()
		w.start(i, f)
	}
	switch {
	case c.twin:
		second := w.empty()
		time.Sleep(w.draw(c.apart, c.apart+time.Second))
		if !c.fresh {
			first := w.kill(firstLife)
			second = first.copied()
			w.start(firstLife, first.copied())
			time.Sleep(c.apart)
		}
		w.start(secondLife, second)
		time.Sleep(30 * time.Second)
	default:
		w.restore(c)
	}
	before := w.height(0)
	time.Sleep(15 * time.Second)
	w.grew = w.height(0) - before
	for i := range w.procs {
		w.mu.Lock()
		p := w.procs[i]
		w.mu.Unlock()
		if p != nil {
			_ = p.stop()
		}
	}
	time.Sleep(time.Second) // what is under way arrives nowhere
}

// restore ends lives and goes on from older folders.
func (w *world) restore(c livesCase) {
	time.Sleep(w.draw(12*time.Second, 15*time.Second))
	old := map[int]folderOf{}
	for i := range 4 {
		if c.all || i == firstLife {
			f := w.kill(i)
			old[i] = f.copied()
			w.start(i, f.copied())
		}
	}
	time.Sleep(w.draw(15*time.Second, 20*time.Second))
	away := folderOf{}
	if c.stands {
		away = w.kill(1)
		time.Sleep(w.draw(time.Millisecond, 3*time.Second))
	}
	for i := range old {
		w.kill(i)
	}
	time.Sleep(w.draw(time.Millisecond, 10*time.Second))
	for i := range 4 {
		if f, ok := old[i]; ok {
			w.start(i, f)
		}
	}
	time.Sleep(20 * time.Second)
	if c.stands {
		w.start(1, away.copied())
		time.Sleep(15 * time.Second)
	}
}
