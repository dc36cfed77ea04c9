package lanes

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// plainPick is a pick of the model under way.
type plainPick struct {
	*model
	req           *PackRequest
	narrow        bool
	now           map[chain.Address]account
	left          map[chain.Address]chain.Cycles // that actors have
	called        map[chain.Address]callsOf      // of it, by those taken
	tight         map[chain.Address]struct{}     // unused limits above a half of it keep nobody from these actors
	met           map[chain.Address]bool         // senders of whom one is taken, or overcommitted
	shut          map[chain.Address]bool         // senders whose one has no promise
	drained       map[chain.Address]chain.Means  // what those taken may leave their senders without
	budget        *fees.Budget
	bytes         int
	out           picked
	overcommitted []*modelTx
	seen          map[string]int

	// Of the lane at hand.
	room     fees.Space  // as it was in the beginning
	promised chain.Usage // largest part of its limits that one of those taken does not use
	guessed  chain.Usage // taken by those that may come to nothing
	overFor  chain.Cycles
	passed   map[*modelTx]bool
	later    []*modelTx
	risked   chain.Usage // taken by those whose sender may be left without what they need
	risks    []*modelTx
}

// The stages of a lane: what stands in its turn, what had to wait, and what had to wait for
// that.
const (
	inTurn = iota
	afterTurn
	atLast
)

// pick is the rule of picking without any index: as long as possible, of all
// that can run and fits, take the best level and in it the first in the queue. What
// its actor may have no cycles for is not taken, and the only one of its sender is a
// unused. What may come to nothing (a guess, or whose unused limits have no promise) has
// a quarter of the lane before the rest, and what is left behind it, the smallest first. Where there was an
// execution, nothing but payments is served before what it has not kept. What may be left
// without what it needs by one of its sender before it has a sixteenth before the rest, and
// what is left behind all others, or that alone where there was an execution.
func (m *model) pick(req *PackRequest, now map[chain.Address]account, left map[chain.Address]chain.Cycles, narrow bool, tight map[chain.Address]struct{}, seen map[string]int) picked {
	p := &plainPick{
		model: m, req: req, narrow: narrow, tight: tight, now: maps.Clone(now), left: left, called: map[chain.Address]callsOf{},
		met: map[chain.Address]bool{}, shut: map[chain.Address]bool{}, drained: map[chain.Address]chain.Means{}, budget: fees.NewBudget(req.Params), bytes: req.MaxBytes, seen: seen,
	}
	for lane := range chain.NumLanes {
		p.room, p.promised, p.guessed = p.budget.Left(lane), chain.Usage{}, chain.Usage{}
		p.overFor, p.passed, p.later = 4*p.room.Cycles, map[*modelTx]bool{}, nil
		p.risked, p.risks = chain.Usage{}, nil
		p.fill(lane)
		p.takeLists(lane, p.later, afterTurn)
		p.takeLists(lane, p.risks, atLast)
	}
	p.out.Unreserved = p.budget.Left(chain.LaneUser).Usage
	p.out.Unreserved.Cycles -= p.promised.Cycles
	p.out.Unreserved.Cells -= p.promised.Cells
	bytes := min(p.bytes, int(p.budget.Left(chain.LaneUser).Bytes))
	for _, t := range p.overcommitted {
		if size := len(t.tx.Body) + 5; size <= bytes {
			bytes -= size
			p.out.Overcommitted = append(p.out.Overcommitted, t.tx)
		}
	}
	return p.out
}

// takeLists takes what had to wait, each followed by those of its sender.
func (p *plainPick) takeLists(lane chain.LaneID, later []*modelTx, stage int) {
	slices.SortStableFunc(later, func(a, b *modelTx) int { return cmp.Compare(p.sizeOf(a), p.sizeOf(b)) })
	for _, t := range later {
		for ; t != nil && p.runs(t, lane) && p.take(t, stage); t = p.after(t) {
			p.seen[[]string{"", "postponed", "risky"}[stage]]++
		}
	}
}

// ran reports whether an execution on the parent has kept a transaction.
func (p *plainPick) ran(t *modelTx) bool {
	_, ran := p.req.Used[t.tx.Hash]
	return ran
}

// risky reports whether one of its sender that is taken may leave a transaction without
// what it needs.
func (p *plainPick) risky(t *modelTx) bool {
	return p.drained[t.tx.Sender]&needsOf(t.tx) != 0 && !p.ran(t)
}

// short reports whether an execution on the parent has refused something of its sender and
// not kept it.
func (p *plainPick) short(t *modelTx) bool {
	_, short := p.req.Short[t.tx.Sender]
	return short && !p.ran(t)
}

// sizeOf is the class of what a transaction counts with: those of one differ by less than
// twice, and all have a promise or none.
func (p *plainPick) sizeOf(t *modelTx) int {
	u, _ := p.uses(t)
	n, size := uint64(u.Cycles)+uint64(u.Cells)*p.weight, 0
	if p.narrow && p.large(t) {
		size = 100 // behind those with a promise
	}
	for ; n > 0; n /= 2 {
		size++
	}
	return size
}

// fill takes the best until none can run.
func (p *plainPick) fill(lane chain.LaneID) {
	for highest := level(numLevels); ; {
		var best *modelTx
		for _, t := range p.queue {
			if !p.passed[t] && p.runs(t, lane) && (best == nil || t.at > best.at) {
				best = t
			}
		}
		if best == nil {
			return
		}
		if best.at > highest {
			p.seen["late"]++ // it paid more, and had to wait for one before it
		}
		highest = best.at
		p.passed[best] = !p.take(best, inTurn)
	}
}

func (p *plainPick) isTight(a chain.Address) bool { _, ok := p.tight[a]; return ok }

// after is a sender's next transaction.
func (p *plainPick) after(t *modelTx) *modelTx {
	for _, next := range p.queue {
		if next.tx.Sender == t.tx.Sender && next.tx.Tx.Nonce == t.tx.Tx.Nonce+1 {
			return next
		}
	}
	return nil
}

// uses is what a transaction counts with, and whether that is a guess.
func (p *plainPick) uses(t *modelTx) (u chain.Usage, guess bool) {
	most, limits := mostOf(t.tx), chain.Usage{Cycles: t.tx.Tx.CyclesLimit, Cells: t.tx.Tx.CellsLimit}
	known, ok := p.req.Used[t.tx.Hash]
	if !ok && t.ran != (chain.Usage{}) {
		known, ok = t.ran, true
	}
	if !ok && !p.req.Doubt && keyOf(t.tx) != 0 {
		known, ok = p.req.expect(keyOf(t.tx))
	}
	switch {
	case pays(t):
		return most, false
	case !ok:
		return most, true
	}
	return chain.Usage{Cycles: min(known.Cycles, limits.Cycles), Cells: min(known.Cells, limits.Cells)}, false
}

// pays reports whether a transaction runs nothing, whatever others do.
func pays(t *modelTx) bool { return keyOf(t.tx) == 0 && !mayCallOf(t.tx) }

// busy reports whether its actor had no cycles left in an execution on the parent that has
// not kept it.
func (p *plainPick) busy(t *modelTx) bool {
	if t.tx.Tx.To == nil || pays(t) {
		return false
	}
	_, ran := p.req.Used[t.tx.Hash]
	_, busy := p.req.Busy[*t.tx.Tx.To]
	return busy && !ran
}

// unused is the part of a transaction's limits that it does not count with.
func (p *plainPick) unused(t *modelTx) chain.Usage {
	u, _ := p.uses(t)
	return chain.Usage{Cycles: t.tx.Tx.CyclesLimit - u.Cycles, Cells: t.tx.Tx.CellsLimit - u.Cells}
}

// large reports whether others would stay out for what a transaction does not use.
func (p *plainPick) large(t *modelTx) bool {
	u := p.unused(t)
	return u.Cycles > p.room.Cycles/16 || u.Cells > p.room.Cells/16
}

// runs reports whether a transaction is its sender's next, pays, and finds room for its
// limits wherever it stands, or for what it uses if nothing is promised.
func (p *plainPick) runs(t *modelTx, lane chain.LaneID) bool {
	at, base := p.now[t.tx.Sender], p.req.BaseFees[lane]
	if t.tx.Lane != lane || t.at < levelBarred || p.busy(t) || p.short(t) || t.tx.Tx.Nonce != at.Nonce || t.cost > at.Spendable || p.shut[t.tx.Sender] ||
		t.tx.Tx.MaxFeePerCycle < base.PerCycle || t.tx.Tx.MaxFeePerCell < base.PerCell {
		return false
	}
	left, size := p.budget.Left(lane), len(t.tx.Body)+5
	u, _ := p.uses(t)
	promised := p.promisedWith(t)
	return u.Cycles+promised.Cycles <= left.Cycles && u.Cells+promised.Cells <= left.Cells && size <= p.bytes && uint64(size) <= left.Bytes
}

func (p *plainPick) promisedWith(t *modelTx) chain.Usage {
	u := p.unused(t)
	if p.narrow && p.large(t) {
		return p.promised
	}
	return chain.Usage{Cycles: max(p.promised.Cycles, u.Cycles), Cells: max(p.promised.Cells, u.Cells)}
}

// take takes one that runs, or puts it off, or makes it overcommitted, or none of that.
func (p *plainPick) take(t *modelTx, stage int) bool {
	from, to := t.tx.Sender, t.tx.Tx.To
	u, guess := p.uses(t)
	loose := p.narrow && p.large(t)
	if loose && p.met[from] {
		return false
	}
	full := p.guessed.Cycles+u.Cycles > p.room.Cycles/4 || p.guessed.Cells+u.Cells > p.room.Cells/4
	refilled, risky := p.req.Used != nil && !p.req.Anew, p.risky(t)
	if risked := (chain.Usage{Cycles: p.risked.Cycles + u.Cycles, Cells: p.risked.Cells + u.Cells}); risky && stage < atLast &&
		(stage > inTurn || refilled || risked.Cycles > p.room.Cycles/16 || risked.Cells > p.room.Cells/16) {
		p.risks = append(p.risks, t)
		return false
	}
	again := refilled && !p.ran(t) && (guess || loose || !pays(t))
	of, takes, rest := callsOf{}, chain.Cycles(0), chain.Cycles(0)
	if to != nil {
		takes = min(t.tx.Tx.CyclesLimit, u.Cycles-min(u.Cycles, leastOf(t.tx).Cycles))
		rest = t.tx.Tx.CyclesLimit - takes
		of = p.called[*to]
		of.uses, of.unused = of.uses+takes, max(of.unused, rest)
		if guess {
			of.guessed += takes
		}
	}
	much := to != nil && guess && of.guessed > max(p.req.Params.Actor.BlockCycles, p.left[*to])/2
	if stage == inTurn && (again || (guess || loose) && (p.guessed != (chain.Usage{}) && full || much)) {
		p.later = append(p.later, t)
		return false
	}
	if limit := t.tx.Tx.CyclesLimit; to != nil && (of.uses+of.unused > p.left[*to] || p.isTight(*to) && rest > p.req.Params.Actor.BlockCycles/2) {
		if most := mostOf(t.tx).Cycles; !p.met[from] && limit <= p.left[*to] && most <= p.overFor {
			p.met[from] = true
			p.overFor -= most
			p.overcommitted = append(p.overcommitted, t)
		}
		return false
	} else if to != nil {
		p.called[*to] = of
	}
	if guess || loose {
		p.guessed.Cycles += u.Cycles
		p.guessed.Cells += u.Cells
	}
	if risky {
		p.risked.Cycles += u.Cycles
		p.risked.Cells += u.Cells
	}
	if loose {
		p.seen["loose"]++
	}
	if p.drained[from] |= drainsOf(t.tx); len(p.req.Short)+len(p.req.Busy) > 0 && !p.ran(t) {
		p.drained[from] = chain.AllMeans
	}
	p.promised = p.promisedWith(t)
	p.met[from], p.shut[from] = true, loose
	at := p.now[from]
	at.Nonce++
	at.Spendable -= t.cost
	p.now[from] = at
	p.budget.Take(t.tx.Lane, fees.Space{Usage: u, Bytes: fees.TxBytes(t.tx)})
	p.bytes -= len(t.tx.Body) + 5
	p.out.Txs, p.out.Counts = append(p.out.Txs, t.tx), append(p.out.Counts, u)
	return true
}

// expectations gives a request what is known of some handlers and what some transactions
// used, and the model what the pool will believe of it.
func (w *walk) expectations(req *PackRequest) {
	known := map[uint64]chain.Usage{}
	use := func(cycles, cells int) chain.Usage {
		return chain.Usage{Cycles: 1 + chain.Cycles(w.rng.IntN(cycles)), Cells: chain.Cells(w.rng.IntN(cells))}
	}
	for key := range uint64(6) {
		if w.rng.IntN(3) > 0 {
			known[key] = use(20_000, 200)
		}
	}
	req.expect = func(key uint64) (chain.Usage, bool) { u, ok := known[key]; return u, ok }
	if w.rng.IntN(3) > 0 {
		return
	}
	if w.rng.IntN(2) == 0 {
		req.Short = map[chain.Address]struct{}{}
		for _, a := range w.senders {
			if w.rng.IntN(8) == 0 {
				req.Short[a] = struct{}{}
			}
		}
	}
	req.Used, req.Doubt = map[chain.Hash]chain.Usage{}, w.rng.IntN(2) == 0
	req.Anew = req.Doubt && w.rng.IntN(2) == 0
	req.Busy = map[chain.Address]struct{}{}
	for n := range byte(3) {
		if w.rng.IntN(3) == 0 {
			req.Busy[chain.Address{0xac, n}] = struct{}{}
		}
	}
	for _, t := range w.model.queue {
		if w.rng.IntN(2) > 0 {
			u := use(60_000, 500) // maybe above the limits
			req.Ran = append(req.Ran, t.tx)
			if req.Used[t.tx.Hash] = u; req.Doubt {
				t.ran = u
			}
		}
	}
}

// pass is one pass of a pick: with a promise for all or not, in the lanes and before actors.
// It says what a second pass is to be like.
func (p *bare) pass(req *PackRequest, narrow bool, tight map[chain.Address]struct{}) (picked, *picker, error) {
	ahead, err := p.readAhead(req)
	if err != nil {
		return picked{}, nil, err
	}
	p.holdAll()
	defer p.releaseAll()
	defer p.merge.clearEntries()
	k, err := p.picker(req, ahead, narrow, tight)
	if err != nil {
		return picked{}, nil, err
	}
	s := k.result()
	return apart(&s), k, nil
}

// comparePick picks for a random block on the head or on a parent before it,
// and holds the choice and its order against the plain rule.
func (w *walk) comparePick(t *testing.T) {
	t.Helper()
	if w.next != nil {
		return // nothing is picked while a head comes in
	}
	params := params.Default()
	params.CyclesTarget = chain.Cycles(300_000 + w.rng.IntN(2_000_000))
	params.CyclesCap = params.CyclesTarget
	params.MaxBlockBytes = chain.MaxHeaderBytes + uint64(500+w.rng.IntN(40_000)) // shares that bind
	params.Actor.BlockCycles = chain.Cycles(w.rng.IntN(30_000))
	left := map[chain.Address]chain.Cycles{}
	for n := range byte(3) {
		left[chain.Address{0xac, n}] = params.Actor.BlockCycles + chain.Cycles(w.rng.IntN(100_000))
	}
	now := map[chain.Address]account{}
	req := &PackRequest{
		Params: &params, Height: 1, MaxBytes: 500 + w.rng.IntN(20_000),
		account: func(a chain.Address) (account, error) { return now[a], nil },
		Left:    func(a chain.Address) (chain.Cycles, error) { return left[a], nil },
	}
	req.BaseFees = w.pool.laneBases()
	w.expectations(req)
	onHead := w.rng.IntN(2) == 0
	var before []*chain.VerifiedTx
	if !onHead {
		req.Height = 3
		req.BaseFees[chain.LaneUser].PerCycle = chain.Wei(85 + w.rng.IntN(30))
	}
	for _, a := range w.senders {
		at := w.head[a]
		if !onHead && w.rng.IntN(2) == 0 {
			at.Nonce += uint64(w.rng.IntN(5))
			at.Spendable -= chain.Wei(w.rng.IntN(8_000))
			before = append(before, &chain.VerifiedTx{Sender: a})
		}
		now[a] = at
	}
	cut := w.rng.IntN(len(before) + 1)
	req.Before = [][]*chain.VerifiedTx{before[:cut], append(before[cut:], before[:cut/2]...)}
	picked, err := w.pool.pick(req) // which believes what was used
	if err != nil {
		t.Fatal(err)
	}
	type kind struct {
		narrow bool
		tight  map[chain.Address]struct{}
	}
	all := map[chain.Address]struct{}{{0xac, 0}: {}, {0xac, 1}: {}, {0xac, 2}: {}}
	kinds := []kind{{}, {narrow: true}, {tight: all}, {narrow: true, tight: all}, {}} // the last: that of the pick
	for i := 0; i < len(kinds); i++ {
		narrow, tight := kinds[i].narrow, kinds[i].tight
		got, k, err := w.pool.pass(req, narrow, tight)
		if err != nil {
			t.Fatal(err)
		}
		want := w.model.pick(req, now, left, narrow, tight, w.seen)
		if !slices.Equal(got.Txs, want.Txs) || !slices.Equal(got.Counts, want.Counts) {
			t.Errorf("picked on the head %v, narrow %v, tight %d: %s, model %s", onHead, narrow, len(tight), names(got.Txs), names(want.Txs))
		}
		if !slices.Equal(got.Overcommitted, want.Overcommitted) || got.Unreserved != want.Unreserved {
			t.Errorf("overcommitted %s and unreserved %v, model %s and %v", names(got.Overcommitted), got.Unreserved, names(want.Overcommitted), want.Unreserved)
		}
		if i == 4 && (k.cramped || len(k.called.tight) > 0) {
			kinds = append(kinds, kind{k.cramped, k.called.tight})
			w.seen["tight"] += len(k.called.tight)
		} else if i >= 4 && !slices.Equal(picked.Txs, got.Txs) {
			t.Errorf("picked %s, which is not the last pass %s", names(picked.Txs), names(got.Txs))
		}
	}
	w.seen["picked"] += len(picked.Txs)
	w.seen["short"] += len(req.Short)
	w.seen["overcommitted"] += len(picked.Overcommitted)
	if !onHead {
		w.seen["ahead"] += len(picked.Txs)
	}
}

// FuzzPoolMatchesModel is TestPoolMatchesModel for any seed, with more picks.
func FuzzPoolMatchesModel(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(seed + 1_000)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		w := newWalk(seed)
		for i := range 400 {
			if w.step(t); i%16 == 0 {
				w.model.compare(t, w.pool)
				w.comparePick(t)
			}
			if t.Failed() {
				t.Fatalf("operation %d", i)
			}
		}
	})
}
