package engine

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/hashed"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

var (
	livesSeeds = flag.Uint64("lives", 2, "seeds that TestLives plays of each case")
	livesTell  = flag.Bool("lives-tell", false, "log what the two lives say")
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
		{name: "restored, among a liar and a laggard", misled: true},
		{name: "clone, among a liar and a laggard", misled: true, twin: true, apart: 15 * time.Second},
		{name: "two that start together", twin: true, fresh: true},
		{name: "paused, and resumed beside its replacement", held: paused},
		{name: "paused, and resumed, in a chain that stood", held: paused, stands: true},
		{name: "cut off, and back beside its replacement", held: cutOff},
		{name: "cut off, and back, in a chain that stood", held: cutOff, stands: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var convicted, contradicted, stopped, elder, none uint64
			for seed := *livesFirst; seed < *livesFirst+*livesSeeds; seed++ {
				var faults []string // an error in the bubble would end the series
				wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, seed)
					w.play(c)
					n := w.stopped()
					stopped += uint64(n)
					elder += uint64(w.elder)
					if len(w.proofs) > 0 {
						convicted++
					}
					if w.contradicted {
						contradicted++
					}
					if c.twin && n == 0 {
						none++
					}
					together := c.twin && c.apart == 0
					switch {
					case !together && len(w.proofs) > 0:
						wrong("convicted: %+v", w.proofs[0])
					case !together && !c.all && w.contradicted:
						wrong("words that contradict left")
					case (c.twin && !together || c.held != "") && n != 1:
						wrong("%d lives stopped, want one", n)
					case !c.twin && c.held == "" && n != 0:
						wrong("a restored life stopped: %v", w.ends)
					case w.grew < 5:
						wrong("%d blocks at the end", w.grew)
					}
				})
				for _, fault := range faults {
					t.Errorf("seed %d: %s", seed, fault)
				}
			}
			t.Logf("%d runs: %d ended in a conviction, %d with words that contradict, %d lives stopped, %d of them the older one, in %d runs none did", *livesSeeds, convicted, contradicted, stopped, elder, none)
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
	misled bool          // a liar and a laggard are the first to answer
	held   string        // the first life is held while the second takes its place, and then goes on
}

// Ways to hold a life.
const (
	paused = "paused"  // its memory stands still, and nothing reaches it
	cutOff = "cut off" // it goes on, and thinks that it is linked for a while
)

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

	mu           sync.Mutex
	rng          *rand.Rand
	procs        [5]*lifeOf
	holder       [3]int // which of the two lives has the link to each other validator
	proofs       []attest.Evidence
	ends         []error
	elder        int                                                       // of these, of the first of two lives
	said         [4]map[chain.View][simplex.Finalize + 1]*simplex.Proposal // by key: what left
	contradicted bool                                                      // some key's lives said what contradicts
	victim       int                                                       // the life that is misled
	lags, tells  time.Time                                                 // until when validator 1 hears nothing but questions, and the third to answer takes its time
	held         string
	thawed       chan struct{} // closed when the first life's memory goes on
	later        *time.Timer   // starts a validator that is away
	kept         []func()      // what the first life said when it was cut off, on its way out
}

// lifeOf is a process with its folder.
type lifeOf struct {
	engine *Engine
	folder folderOf
	born   time.Time // what was sent before went to a process that is no more
	stop   func() error
}

// folderOf is what a process keeps.
type folderOf struct {
	app     *chainApp
	journal *diskJournal
	guard   *memory
}

// dealt is the committee of all worlds: making one takes as long as a run.
var dealt = func() func(testing.TB) (*beacon.ValidatorSet, []bls.Share, *genesis.Genesis) {
	var once sync.Once
	var set *beacon.ValidatorSet
	var shares []bls.Share
	var g *genesis.Genesis
	return func(t testing.TB) (*beacon.ValidatorSet, []bls.Share, *genesis.Genesis) {
		once.Do(func() { set, shares, g = committee(t, 4) })
		return set, shares, g
	}
}()

func newWorld(t *testing.T, seed uint64) *world {
	set, shares, g := dealt(t)
	w := &world{t: t, set: set, shares: shares, hash: g.Hash(), rng: rand.New(rand.NewPCG(seed, 16)), holder: [3]int{3, 3, 3}}
	for i := range w.said {
		w.said[i] = map[chain.View][simplex.Finalize + 1]*simplex.Proposal{}
	}
	return w
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
	cfg.Checks = func(keys *simplex.Threshold) simplex.Verifier { // evidence is judged by the voice alone
		return hashed.Scheme{Self: beacon.Participant(key), Quorum: w.set.Quorum(), Voice: keys}
	}
	cfg.Guard, cfg.LastFinalized, cfg.Archive = f.guard, f.app.floor, f.app
	cfg.Watch = Watch{Listen: w.draw(2*time.Second, 10*time.Second), Longest: 10 * time.Second, Every: 2 * time.Second, Again: time.Minute}
	cfg.Evidence = func(e attest.Evidence) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.proofs = append(w.proofs, e)
	}
	if *livesTell && key == firstLife {
		cfg.Log = slog.New(slog.NewTextHandler(w.t.Output(), nil)).With("life", at)
	}
	w.mu.Lock()
	cfg.Watch.Instance = w.rng.Uint64() | 1
	w.mu.Unlock()
	if at == firstLife {
		cfg.Guard = gatedGuard{cfg.Guard, w}
	}
	e, err := New(cfg, f.app, worldPort{w, at}, gatedJournal{f.journal, w, at})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	var ended error
	w.mu.Lock()
	w.procs[at] = &lifeOf{e, f, time.Now(), func() error { cancel(); <-done; return ended }}
	w.mu.Unlock()
	go func() {
		defer close(done)
		if ended = e.Run(ctx); !errors.Is(ended, context.Canceled) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ends = append(w.ends, ended)
			if at == firstLife {
				w.elder++
			}
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
			if w.held != "" && (at == firstLife || peer == firstLife && w.holder[min(at, 2)] == firstLife) {
				other = nil
			} else if at >= firstLife && w.holder[peer] != at {
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
	if w.held == "" || p.at != firstLife {
		w.listen(p.at, msg)
	}
	lost := w.rng.IntN(50) == 0
	if w.held != "" && p.at == firstLife {
		if msg[0] == wire.TagVote {
			w.kept = append(w.kept, func() { p.Send(to, msg) })
		}
		return
	}
	if p.at >= firstLife && msg[0] == wire.TagAsk && w.holder[to] != p.at {
		lost = true
	}
	after := time.Duration(10+w.rng.IntN(190)) * time.Millisecond
	sent := time.Now()
	if sent.Before(w.lags) {
		msg, lost, after = w.mislead(p.at, to, msg, lost, after)
	}
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
		if w.held != "" && at == firstLife || q != nil && q.born.After(sent) {
			q = nil
		}
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
		if w.lag(c); c.misled {
			w.tell(secondLife)
		}
		w.start(secondLife, second)
	case c.held != "":
		w.replace(c)
	default:
		w.restore(c)
	}
	w.settle(c)
	if w.later != nil {
		w.later.Stop()
	}
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

// settle lets time pass until the outcome is sure: one of two lives has stopped, or
// those that were restored vote, and the chain goes on for a while after it.
func (w *world) settle(c livesCase) {
	const patience = 60 * time.Second
	start, at, before := time.Now(), time.Time{}, 0
	for time.Since(start) < patience {
		time.Sleep(time.Second)
		w.mu.Lock()
		sure := len(w.ends) > 0
		if !c.twin && c.held == "" {
			sure = !slices.ContainsFunc(w.procs[:], func(p *lifeOf) bool { return p != nil && p.engine.Stats.Watching.Load() })
		}
		w.mu.Unlock()
		switch h := w.height(0); {
		case !sure:
			at = time.Time{}
		case at.IsZero():
			at, before = time.Now(), h
		default:
			w.grew = h - before
		}
		if !at.IsZero() && time.Since(at) >= 5*time.Second && w.grew >= 5 {
			return
		}
	}
}

// replace holds the first life, starts a second one in its place, from an older
// folder, and lets the first go on.
func (w *world) replace(c livesCase) {
	time.Sleep(w.draw(12*time.Second, 15*time.Second))
	f := w.kill(firstLife)
	old := f.copied()
	w.start(firstLife, f.copied())
	time.Sleep(w.draw(12*time.Second, 20*time.Second))
	if c.stands {
		away := w.kill(1)
		// Without it the chain may wait for the view that the first life spoke in.
		w.later = time.AfterFunc(w.draw(40*time.Second, 60*time.Second), func() { w.start(1, away.copied()) })
		time.Sleep(w.draw(time.Millisecond, 2*time.Second))
	}
	w.mu.Lock()
	w.held, w.thawed = c.held, make(chan struct{})
	w.mu.Unlock()
	time.AfterFunc(w.draw(time.Millisecond, 10*time.Second), w.unlink)
	time.Sleep(w.draw(500*time.Millisecond, 10*time.Second))
	w.start(secondLife, old)
	time.Sleep(w.draw(5*time.Second, 30*time.Second))
	w.mu.Lock()
	kept := w.kept
	w.held, w.kept = "", nil
	close(w.thawed)
	w.mu.Unlock()
	for _, say := range kept {
		say()
	}
	time.AfterFunc(w.draw(time.Millisecond, 3*time.Second), w.unlink) // what it had from before is dead
}

// unlink tells the first life that it has lost its links.
func (w *world) unlink() {
	w.mu.Lock()
	p := w.procs[firstLife]
	held, holder := w.held, w.holder
	w.mu.Unlock()
	if p == nil || held == paused {
		return // it hears of nothing
	}
	for peer := range firstLife {
		if held != "" || holder[peer] != firstLife {
			p.engine.Unlinked(beacon.Participant(peer))
		}
	}
}

// pass waits while the memory of a process stands still.
func (w *world) pass(at int) {
	w.mu.Lock()
	wait := w.thawed
	still := w.held == paused && at == firstLife
	w.mu.Unlock()
	if still {
		<-wait
	}
}

// gatedGuard and gatedJournal stand still with their process, at the two places where
// a vote comes by.
type gatedGuard struct {
	Guard
	w *world
}

func (g gatedGuard) Permit(k simplex.Kind, p simplex.Proposal) error {
	g.w.pass(firstLife)
	return g.Guard.Permit(k, p)
}

type gatedJournal struct {
	*diskJournal
	w  *world
	at int
}

func (j gatedJournal) Sync() error {
	err := j.diskJournal.Sync()
	j.w.pass(j.at)
	return err
}

// ForgetVotes drops what is on its way out.
func (p worldPort) ForgetVotes() {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.at == firstLife {
		p.w.kept = nil
	}
}

// lag has validator 1 fall behind.
func (w *world) lag(c livesCase) {
	if !c.misled {
		return
	}
	w.mu.Lock()
	w.lags = time.Now().Add(time.Hour)
	w.mu.Unlock()
	time.Sleep(w.draw(5*time.Second, 15*time.Second))
}

// tell says for how long a life that starts now is told little.
func (w *world) tell(victim int) {
	takes := w.draw(500*time.Millisecond, 2*time.Second)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.victim, w.tells = victim, time.Now().Add(takes)
	w.lags = w.tells.Add(time.Second)
}

// mislead is what becomes of a message while validator 1 is behind: it hears questions
// and nothing else. Once the restored life asks, validator 0 says that it knows of
// nothing, and what validator 2 knows takes its time.
func (w *world) mislead(from int, to beacon.Participant, msg []byte, lost bool, after time.Duration) ([]byte, bool, time.Duration) {
	question := msg[0] == wire.TagAsk || msg[0] == wire.TagAnswer
	if (from == 1 || to == 1) && !question {
		return msg, true, after
	}
	if to != firstLife || w.tells.IsZero() || w.holder[from] != w.victim {
		return msg, lost, after
	}
	switch from {
	case 0:
		if msg[0] != wire.TagAnswer {
			return msg, true, after
		}
		if a, err := wire.DecodeAnswer(msg[1:], wire.Limits{}); err == nil {
			msg = wire.Append(nil, wire.Answer{Instance: a.Instance, Number: a.Number, Spoke: -1})
		}
	case 2:
		after += max(0, time.Until(w.tells))
	}
	return msg, lost, after
}

// listen is a stranger who keeps every vote that leaves, of which one that arrives
// nowhere could be heard as well: what contradicts is on the record.
func (w *world) listen(at int, msg []byte) {
	rest := msg
	switch msg[0] {
	case wire.TagVote:
	case wire.TagOffer:
		rest = msg[1:]
	default:
		return
	}
	v, _, err := simplex.ReadVote(rest)
	if err != nil || int(v.Signer) != min(at, firstLife) {
		return
	}
	if *livesTell && v.Signer == firstLife {
		w.t.Logf("%v: life %d says %s of view %d, %.4x", time.Now().Format("04:05.000"), at, v.Kind, v.Proposal.Round.View, v.Proposal.Payload)
	}
	said := w.said[v.Signer]
	for k, p := range said[v.Proposal.Round.View] {
		if k > 0 && p != nil && (simplex.Kind(k) == v.Kind && *p != v.Proposal || attest.Contradicts(v.Kind, v.Proposal, simplex.Kind(k), *p)) {
			w.contradicted = true
		}
	}
	words := said[v.Proposal.Round.View]
	words[v.Kind] = &v.Proposal
	said[v.Proposal.Round.View] = words
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
	w.lag(c)
	away := folderOf{}
	if c.stands {
		away = w.kill(1)
		time.Sleep(w.draw(time.Millisecond, 3*time.Second))
	}
	for i := range old {
		w.kill(i)
	}
	time.Sleep(w.draw(time.Millisecond, 10*time.Second))
	if c.misled {
		w.tell(firstLife)
	}
	for i := range 4 {
		if f, ok := old[i]; ok {
			w.start(i, f)
		}
	}
	if c.stands {
		time.Sleep(20 * time.Second)
		w.start(1, away.copied())
	}
}
