package lanes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// step is one operation of a concurrent history: what was asked, what came
// back, and when. Everything that stands in it is known before the run but
// call, back and got.
type step struct {
	call, back uint64 // of one clock; back > call
	got        string
	before     int // step of the same batch that must take effect first, or -1

	offer   *offer // admission of one transaction
	discard *chain.VerifiedTx
	head    *head // a head comes in: all of it is asked for here, and done by its parts
	touched chain.Address
	part    *headPart
	look    bool // the whole pool at one instant
	settled bool // likewise, as a pick sees it: not while a head comes in
}

// headPart is what a head does at one instant. Its parts take effect one after the other.
type headPart struct {
	base    [chain.NumLanes]chain.FeePair
	now     map[chain.Address]account // accounts at the head
	begins  bool
	senders []chain.Address // of the shard that it comes to
	touched *chain.Address  // of these, whose account is another; the levels follow in the next part
	levels  bool
	ends    bool
}

// spec is the plain model with the operations of the scheduler.
type spec struct {
	model
	now    map[chain.Address]account
	held   []chain.Address // senders of a shard that is at work on a head: nobody else's
	coming bool            // a head
}

// waits is the answer of what cannot take effect now.
const waits = "waits"

func (m *spec) clone() *spec {
	out := &spec{model: m.model, now: maps.Clone(m.now), held: m.held, coming: m.coming}
	out.accounts, out.behind = maps.Clone(m.accounts), maps.Clone(m.behind)
	out.queue = make([]*modelTx, len(m.queue))
	for i, t := range m.queue {
		c := *t
		out.queue[i] = &c
	}
	return out
}

// do applies a step and returns what it must have answered.
func (m *spec) do(s *step) string {
	switch {
	case m.held != nil && (s.discard != nil || s.look || s.offer != nil && slices.Contains(m.held, s.offer.Tx.Sender)),
		s.settled && m.coming:
		return waits
	case s.offer != nil:
		return verdict(m.add(s.offer.Tx, s.offer.Cost, m.now[s.offer.Tx.Sender]))
	case s.discard != nil:
		for _, t := range m.queue {
			if t.tx == s.discard {
				m.remove(t)
				break
			}
		}
	case s.part != nil:
		m.take(s.part)
	case s.look:
		return m.listed()
	}
	return ""
}

// take applies a part of a head.
func (m *spec) take(p *headPart) {
	if p.begins {
		m.coming = true
		m.comes(p.base, slices.Collect(maps.Keys(m.now)))
	}
	m.reaches(p.senders)
	for _, a := range p.senders {
		m.now[a] = p.now[a]
	}
	m.held = nil
	if p.touched != nil {
		m.held = p.senders
		m.refresh(*p.touched, p.now[*p.touched])
	}
	if p.levels {
		m.relevel(p.senders)
	}
	if p.ends {
		m.coming = false
		m.promote()
	}
}

func (m *spec) listed() string {
	var b strings.Builder
	for lane := range chain.NumLanes {
		for l := range level(numLevels) {
			for _, t := range m.queue {
				if t.tx.Lane == lane && t.at == l {
					fmt.Fprintf(&b, "%d/%d:%x ", lane, l, t.tx.Hash[:8])
				}
			}
		}
	}
	return b.String()
}

// state is everything that the future depends on. The order of the queue counts
// across levels too: a change of fees can bring any two to the same one.
func (m *spec) state() string {
	var b strings.Builder
	for _, t := range m.queue {
		fmt.Fprintf(&b, "%x:%d ", t.tx.Hash[:8], t.at)
	}
	return b.String() + fmt.Sprint(m.accounts, m.now, m.base, m.was, m.behind)
}

// look lists the pool at one instant; settled: as a pick sees it.
func (p *bare) look(settled bool) string {
	if settled {
		p.coming.Lock()
		defer p.coming.Unlock()
	}
	p.holdAll()
	defer p.releaseAll()
	var b strings.Builder
	for lane := range chain.NumLanes {
		for l := range level(numLevels) {
			for _, e := range p.at(lane, l) {
				fmt.Fprintf(&b, "%d/%d:%x ", lane, l, e.tx.Hash[:8])
			}
		}
	}
	return b.String()
}

// history is a concurrent run of a few threads of steps.
type history struct {
	steps []step
	init  *spec
}

// explained searches for an order of the steps, each at some instant between
// its call and its return, in which the plain model answers the same.
func (h *history) explained() bool {
	seen := map[string]bool{}
	var search func(done uint64, m *spec) bool
	search = func(done uint64, m *spec) bool {
		if done == 1<<len(h.steps)-1 {
			return true
		}
		key := fmt.Sprint(done, m.state())
		if seen[key] {
			return false
		}
		seen[key] = true
		first := ^uint64(0) // no step may take effect after another has returned
		for i := range h.steps {
			if done>>i&1 == 0 {
				first = min(first, h.steps[i].back)
			}
		}
		for i := range h.steps {
			s := &h.steps[i]
			if done>>i&1 == 1 || s.call > first || s.before >= 0 && done>>s.before&1 == 0 {
				continue
			}
			next := m.clone()
			if next.do(s) == s.got && search(done|1<<i, next) {
				return true
			}
		}
		return false
	}
	return search(0, h.init)
}

// run lets the threads loose. A thread is a list of batches of steps; the
// admissions of a batch are one call. The last step is a look at the end.
func (h *history) run(p *bare, threads [][][]int, seed uint64) {
	steps := h.steps
	var clock atomic.Uint64
	var start, all sync.WaitGroup
	start.Add(len(threads))
	for t, batches := range threads {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(t)))
			start.Done()
			start.Wait()
			for _, batch := range batches {
				if rng.IntN(4) == 0 {
					runtime.Gosched()
				}
				call := clock.Add(1)
				ask(p, steps, batch)
				back := clock.Add(1)
				for _, i := range batch {
					steps[i].call, steps[i].back = call, back
				}
			}
		})
	}
	all.Wait()
	h.steps = append(h.steps, step{look: true, settled: true, before: -1, call: clock.Add(1), back: clock.Add(1), got: p.look(true)})
}

func ask(p *bare, steps []step, batch []int) {
	s := &steps[batch[0]]
	switch {
	case s.offer != nil:
		var offers []offer
		for _, i := range batch {
			offers = append(offers, *steps[i].offer)
		}
		answers := make([]error, len(batch))
		p.admit(offers, answers)
		for k, i := range batch {
			steps[i].got = verdict(answers[k])
		}
	case s.discard != nil:
		p.discard([]*chain.VerifiedTx{s.discard})
	case s.head != nil:
		if err := p.advance(*s.head, nil, []chain.Address{s.touched}); err != nil {
			s.got = err.Error()
		}
	case s.look:
		s.got = p.look(s.settled)
	}
}

// script makes up a history of a small, crowded pool.
func script(seed uint64) (*bare, *history, [][][]int) {
	rng := rand.New(rand.NewPCG(seed, 23))
	cfg := validatorConfig()
	cfg.SenderTxs, cfg.NonceGap = 6, 3
	cfg.LaneTxs = [chain.NumLanes]int{chain.LaneSystem: 2, chain.LaneRunner: 3, chain.LaneUser: 5}
	cfg.LaneBytes = [chain.NumLanes]int{chain.LaneSystem: 700, chain.LaneRunner: 900, chain.LaneUser: 1_700}
	cfg.actorRefill, cfg.actorMost = 30_000, 45_000 // two messages
	if seed%2 == 1 {
		cfg.unsureBlocks = 1
		for lane := range cfg.laneRoom {
			cfg.laneRoom[lane] = chain.Usage{Cycles: 50_000, Cells: 5_000}
		}
	}
	now := map[chain.Address]account{}
	for i := range 5 {
		now[chain.Address{byte(i + 1)}] = account{Spendable: 20_000}
	}
	p := newBare(cfg, 20)
	p.basis.account = reader(now, 0)
	p.shake = jitter(seed)
	h := &history{init: &spec{model: model{cfg: cfg, weight: 20, accounts: map[chain.Address]account{}}, now: now}}
	var made []*chain.VerifiedTx
	offer := func() *offer {
		if len(made) > 0 && rng.IntN(8) == 0 {
			tx := made[rng.IntN(len(made))]
			return &offer{Tx: tx, Cost: 1, Calls: callOf(tx), Least: leastOf(tx), Key: keyOf(tx), Unused: unusedOf(tx), MayCall: mayCallOf(tx)}
		}
		price := func() chain.Wei { return 90 + chain.Wei(rng.IntN(60)) }
		tx := &chain.VerifiedTx{
			Tx: &chain.Tx{
				Nonce: uint64(rng.IntN(4)), CyclesLimit: 21_000, CellsLimit: chain.Cells(rng.IntN(400)),
				MaxFeePerCycle: price(), MaxFeePerCell: price(), TipPerCycle: chain.Wei(rng.IntN(100)), TipPerCell: chain.Wei(rng.IntN(100)),
			},
			Body: make([]byte, 200+rng.IntN(300)), Sender: chain.Address{byte(1 + rng.IntN(5))},
			Lane: []chain.LaneID{chain.LaneSystem, chain.LaneRunner, chain.LaneUser, chain.LaneUser}[rng.IntN(4)],
		}
		if rng.IntN(2) == 0 {
			tx.Tx.To = &chain.Address{0xac, byte(rng.IntN(2))}
		}
		made = append(made, tx)
		binary.BigEndian.PutUint64(tx.Hash[:], uint64(len(made)))
		return &offer{Tx: tx, Cost: chain.Wei(2_000 + rng.IntN(6_000)), Calls: callOf(tx), Least: leastOf(tx), Key: keyOf(tx), Unused: unusedOf(tx), MayCall: mayCallOf(tx)}
	}
	var threads [][][]int
	heads := 0
	for t := range 3 {
		var batches [][]int
		for range 3 + rng.IntN(2) {
			var batch []int
			add := func(s step) {
				if s.before = -1; len(batch) > 0 {
					s.before = batch[len(batch)-1]
				}
				batch = append(batch, len(h.steps))
				h.steps = append(h.steps, s)
			}
			switch k := rng.IntN(10); {
			case k == 0 && len(made) > 0:
				add(step{discard: made[rng.IntN(len(made))]})
			case k == 1 && t == 0: // one ledger: heads come one after another
				heads++
				touched := chain.Address{byte(1 + rng.IntN(5))}
				now = maps.Clone(now)
				now[touched] = account{Nonce: now[touched].Nonce + uint64(rng.IntN(3)), Spendable: chain.Wei(6_000 + rng.IntN(20_000)), Height: 0}
				next := &head{Height: chain.Height(heads), account: reader(now, chain.Height(heads))}
				for i := range next.BaseFees {
					next.BaseFees[i] = chain.FeePair{PerCycle: chain.Wei(85 + rng.IntN(30)), PerCell: chain.Wei(85 + rng.IntN(30))}
				}
				for i, some := range p.parts(now, next.BaseFees, touched) {
					s := step{part: some}
					if i == 0 {
						s.head, s.touched = next, touched
					}
					add(s)
				}
			case k == 2:
				add(step{look: true, settled: rng.IntN(2) == 0})
			default:
				for range 1 + rng.IntN(3) {
					add(step{offer: offer()})
				}
			}
			batches = append(batches, batch)
		}
		threads = append(threads, batches)
	}
	return p, h, threads
}

// parts are what a head does to a pool of these accounts, in order: from shard to shard the
// account that it touched, then the levels; at the end what is barred.
func (p *bare) parts(now map[chain.Address]account, base [chain.NumLanes]chain.FeePair, touched chain.Address) (out []*headPart) {
	by := map[uint64][]chain.Address{}
	for a := range now {
		by[p.shardNumber(a)] = append(by[p.shardNumber(a)], a)
	}
	for _, i := range slices.Sorted(maps.Keys(by)) {
		if slices.Contains(by[i], touched) {
			out = append(out, &headPart{base: base, now: now, senders: by[i], touched: &touched})
		}
		out = append(out, &headPart{base: base, now: now, senders: by[i], levels: true})
	}
	out[0].begins = true
	return append(out, &headPart{ends: true})
}

func reader(now map[chain.Address]account, height chain.Height) func(chain.Address) (account, error) {
	return func(a chain.Address) (account, error) {
		at, ok := now[a]
		if !ok {
			return account{}, errors.New("nobody")
		}
		at.Height = height
		return at, nil
	}
}

// TestConcurrentHistoriesAreLinearizable runs seeded scripts on several
// goroutines and searches for a sequential order that explains every answer and
// every look at the pool. Rerun one script with
// -run 'TestConcurrentHistoriesAreLinearizable/seed=17'; which interleaving it
// meets is up to Go's scheduler, so each is run several times.
func TestConcurrentHistoriesAreLinearizable(t *testing.T) {
	scripts, runs := uint64(200), 5
	if *long {
		scripts = 400
	} else if testing.Short() {
		scripts = 30
	}
	overlapping := 0
	for seed := range scripts {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			for range runs {
				p, h, threads := script(seed)
				h.run(p, threads, seed)
				p.checkShards(t)
				overlapping += h.overlaps()
				if !h.explained() {
					t.Fatalf("no sequential order explains this history:\n%s", h)
				}
			}
		})
	}
	t.Logf("%d scripts, %d pairs of overlapping operations", scripts, overlapping)
	if overlapping == 0 && runtime.GOMAXPROCS(0) > 1 {
		t.Error("no two operations overlapped: the test shows nothing")
	}
}

// overlaps counts the pairs of operations that were under way together.
func (h *history) overlaps() (n int) {
	for i, a := range h.steps {
		for _, b := range h.steps[:i] {
			if a.call < b.back && b.call < a.back && a.call != b.call {
				n++
			}
		}
	}
	return n
}

// String lists the steps with their answers.
func (h *history) String() string {
	var b strings.Builder
	for _, s := range h.steps {
		what := "look"
		switch {
		case s.offer != nil:
			what = fmt.Sprintf("admit %x: %x/%d in lane %d", s.offer.Tx.Hash[:8], s.offer.Tx.Sender[:1], s.offer.Tx.Tx.Nonce, s.offer.Tx.Lane)
		case s.discard != nil:
			what = fmt.Sprintf("discard %x", s.discard.Hash[:8])
		case s.part != nil:
			what = fmt.Sprintf("head comes to %x", s.part.senders)
		}
		fmt.Fprintf(&b, "%d-%d %s: %s\n", s.call, s.back, what, s.got)
	}
	return b.String()
}

// TestTheCheckerFindsFaults: a search that explains everything is worth nothing.
func TestTheCheckerFindsFaults(t *testing.T) {
	found, scripts := 0, uint64(40)
	if testing.Short() {
		scripts = 12
	}
	for seed := range scripts {
		p, h, threads := script(seed)
		h.run(p, threads, seed)
		victim := -1
		for i := range h.steps { // turn one admission into a refusal
			if h.steps[i].offer != nil && h.steps[i].got == "<nil>" {
				victim = i
			}
		}
		if victim < 0 {
			continue
		}
		h.steps[victim].got = verdict(&LaneFullError{})
		if !h.explained() {
			found++
		}
	}
	if found < int(scripts*3/4) {
		t.Errorf("%d of %d falsified histories were found", found, scripts)
	}
}
