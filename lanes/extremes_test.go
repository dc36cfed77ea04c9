package lanes

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// extremes is a pool, and a chain behind it, of which everything is drawn from the edges
// of what may come: caps of one, limits of nothing, prices of all that 64 bits hold, nonces
// at their end, heads that go back, blocks that nobody packed. It has no model; what it
// holds the pool against is a recount, and that a block without limits takes all that can
// run.
type extremes struct {
	rng      *rand.Rand
	pool     *bare
	head     head
	accounts map[chain.Address]account // as the head has them
	senders  []chain.Address
	known    []offer
	serial   uint64
	taken    int // by picks without limits
}

// TestPoolAtExtremes drives pools of odd settings through the methods that the node calls.
// Rerun one case with -run 'TestPoolAtExtremes/seed=3'.
func TestPoolAtExtremes(t *testing.T) {
	seeds, operations := uint64(16), 3_000
	if *long {
		seeds, operations = 40, 5_000
	} else if testing.Short() {
		seeds, operations = 12, 750
	}
	taken := 0
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			x := newExtremes(seed)
			for i := range operations {
				if x.step(t); i%16 == 0 {
					x.check(t)
				}
				if t.Failed() {
					t.Fatalf("operation %d", i)
				}
			}
			taken += x.taken
		})
	}
	if taken < operations {
		t.Errorf("%d were taken in all: the walk tests nothing", taken)
	}
}

// FuzzPoolAtExtremes is TestPoolAtExtremes for any seed.
func FuzzPoolAtExtremes(f *testing.F) {
	f.Add(uint64(1_000))
	f.Fuzz(func(t *testing.T, seed uint64) {
		x := newExtremes(seed)
		for range 1_000 {
			if x.step(t); t.Failed() {
				return
			}
		}
		x.check(t)
	})
}

func oneOf[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func newExtremes(seed uint64) *extremes {
	rng := rand.New(rand.NewPCG(seed, 98))
	cfg := testConfig{Config: Config{
		SenderTxs: oneOf(rng, 1, 2, 8, 300, senderTxsMax), BumpPercent: oneOf[uint64](rng, 0, 10, 1_000), PackMisses: math.MaxInt,
		AgeMillis: oneOf[uint64](rng, 0, 1, 50, math.MaxUint64),
	}, measures: anyMeasures(rng)}
	cfg.SenderBytes = oneOf(rng, 0, 0, 300, 300_000)
	cfg.NonceGap = oneOf(rng, 0, uint64(cfg.SenderTxs-1), uint64(cfg.SenderTxs-1)/2)
	for lane := range chain.NumLanes {
		cfg.LaneTxs[lane] = oneOf(rng, 1, 3, 20, 200, laneTxsMax)
		cfg.LaneBytes[lane] = oneOf(rng, 100, 1_000, 300_000, laneBytesMax)
	}
	x := &extremes{rng: rng, pool: newBare(cfg, cfg.cellWeight), accounts: map[chain.Address]account{}}
	for i := range oneOf(rng, 1, 3, 12) {
		a := chain.Address{byte(i + 1)}
		x.senders = append(x.senders, a)
		x.accounts[a] = account{Nonce: oneOf[uint64](rng, 0, 0, 0, math.MaxUint64-3), Spendable: x.wei()}
	}
	x.advance(nil, nil)
	return x
}

func anyMeasures(rng *rand.Rand) measures {
	return measures{
		cellWeight:  oneOf[uint64](rng, 0, 1, 20, math.MaxUint64),
		actorRefill: oneOf[chain.Cycles](rng, 0, 1, 1_000_000), actorMost: oneOf[chain.Cycles](rng, 0, 1, 30_000, 10_000_000, math.MaxUint64/2),
	}
}

// wei is an amount or a price.
func (x *extremes) wei() chain.Wei {
	return oneOf[chain.Wei](x.rng, 0, 1, 15, 16, 99, 100, 101, 110, 1<<32, 1<<60, math.MaxUint64-1, math.MaxUint64)
}

func (x *extremes) price() chain.Wei {
	if x.rng.IntN(8) > 0 {
		return oneOf[chain.Wei](x.rng, 99, 100, 101, 200)
	}
	return x.wei()
}

func (x *extremes) offer() offer {
	rng := x.rng
	if len(x.known) > 0 && rng.IntN(10) == 0 {
		return x.known[rng.IntN(len(x.known))] // as before, or what replaced it
	}
	from := oneOf(rng, x.senders...)
	at := x.accounts[from]
	next, _ := x.pool.pendingNonce(from)
	x.serial++
	tx := &chain.Tx{
		Nonce:       oneOf(rng, max(next, at.Nonce), max(next, at.Nonce), at.Nonce, at.Nonce+uint64(rng.IntN(6)), at.Nonce-1, 0, math.MaxUint64-1),
		CyclesLimit: oneOf[chain.Cycles](rng, 0, 1, 21_000, 21_001, 2_000_000, 10_000_000), CellsLimit: oneOf[chain.Cells](rng, 0, 0, 1, 500_000),
		MaxFeePerCycle: x.price(), MaxFeePerCell: x.price(), TipPerCycle: x.price(), TipPerCell: x.price(),
	}
	v := &chain.VerifiedTx{
		Tx: tx, Sender: from, Body: make([]byte, oneOf(rng, 0, 1, 99, 100, 101, 128<<10)),
		Lane: oneOf(rng, chain.LaneSystem, chain.LaneTimer, chain.LaneRunner, chain.LaneUser, chain.LaneUser, chain.LaneUser),
	}
	binary.BigEndian.PutUint64(v.Hash[:], x.serial)
	o := offer{Tx: v, Cost: oneOf(rng, 0, 1, 1, at.Spendable/8, at.Spendable/8, at.Spendable, x.wei()), Key: uint64(rng.IntN(3))}
	if o.Key == 0 {
		o.Unused = chain.Usage{Cycles: oneOf(rng, 0, tx.CyclesLimit/2, tx.CyclesLimit), Cells: oneOf(rng, 0, tx.CellsLimit)}
	} else if rng.IntN(2) == 0 {
		o.Expected = chain.Usage{Cycles: oneOf(rng, 0, 1, tx.CyclesLimit), Cells: oneOf(rng, 0, tx.CellsLimit)}
	}
	if rng.IntN(2) == 0 {
		v.Tx.To = &chain.Address{0xac, byte(rng.IntN(2))}
		o.Calls = call{Actor: v.Tx.To, Most: tx.CyclesLimit - min(tx.CyclesLimit, oneOf[chain.Cycles](rng, 0, 21_000))}
		o.Calls.Likely = oneOf(rng, 0, 1, o.Calls.Most, o.Expected.Cycles)
	}
	if rng.IntN(50) == 0 {
		o.Err = ErrKnown
	}
	x.known = append(x.known, o)
	if len(x.known) > 200 {
		x.known = x.known[100:]
	}
	return o
}

func (x *extremes) step(t *testing.T) {
	t.Helper()
	switch k := x.rng.IntN(100); {
	case k < 80:
		offers := make([]offer, oneOf(x.rng, 0, 1, 1, 2, 50))
		for i := range offers {
			offers[i] = x.offer()
		}
		x.pool.admit(offers, make([]error, len(offers)))
	case k < 85:
		var txs []*chain.VerifiedTx
		for range x.rng.IntN(4) {
			if len(x.known) > 0 {
				txs = append(txs, x.known[x.rng.IntN(len(x.known))].Tx)
			}
		}
		if x.rng.IntN(2) == 0 {
			x.pool.bar(txs)
		} else {
			x.pool.discard(txs)
		}
	case k < 90:
		x.pick(t)
	default:
		x.block()
	}
}

// block makes a head of what a pick would have, of what the pool knows, and of what it
// never saw, in the order of their nonces.
func (x *extremes) block() {
	var txs []*chain.VerifiedTx
	var touched []chain.Address
	for _, from := range x.senders {
		at := x.accounts[from]
		for range x.rng.IntN(4) {
			if at.Nonce == math.MaxUint64 {
				break
			}
			tx := &chain.VerifiedTx{Tx: &chain.Tx{Nonce: at.Nonce}, Sender: from, Hash: chain.Hash{0xff, byte(x.rng.IntN(256))}}
			if s := x.pool.shardOf(from).senders[from]; s != nil && x.rng.IntN(2) == 0 {
				if i, ok := s.indexOf(at.Nonce); ok {
					tx = s.waiting[i].tx
				}
			}
			txs = append(txs, tx)
			at.Nonce++
		}
		if x.rng.IntN(3) == 0 {
			at.Spendable = x.wei()
			touched = append(touched, from)
		}
		x.accounts[from] = at
	}
	x.advance(txs, touched)
}

func (x *extremes) advance(txs []*chain.VerifiedTx, touched []chain.Address) {
	now := maps.Clone(x.accounts)
	h := head{Height: x.head.Height + 1, Millis: x.head.Millis + oneOf[uint64](x.rng, 0, 1, 10), BaseFees: x.head.BaseFees}
	if x.rng.IntN(20) == 0 {
		h.Millis = oneOf[uint64](x.rng, 0, 1, math.MaxUint64)
	}
	for lane := range h.BaseFees {
		switch x.rng.IntN(20) {
		case 0:
			h.BaseFees[lane] = chain.FeePair{PerCycle: x.wei(), PerCell: x.wei()}
		case 1, 2, 3, 4, 5, 6, 7, 8:
			h.BaseFees[lane] = oneOf(x.rng, chain.FeePair{}, chain.FeePair{PerCycle: 99, PerCell: 99}, chain.FeePair{PerCycle: 100, PerCell: 1})
		}
	}
	if x.rng.IntN(30) == 0 {
		m := anyMeasures(x.rng)
		h.measures = &m
	}
	h.account = func(a chain.Address) (account, error) {
		at := now[a]
		at.Height = h.Height
		return at, nil
	}
	x.head = h
	if err := x.pool.advance(h, txs, touched); err != nil {
		panic(err) // accounts are always read
	}
}

// pick picks with odd bounds, which must not be broken.
func (x *extremes) pick(t *testing.T) {
	t.Helper()
	params := params.Default()
	params.CyclesTarget = oneOf[chain.Cycles](x.rng, 1, 21_000, 10_000_000)
	params.CyclesCap = params.CyclesTarget
	req := x.request(&params)
	req.MaxBytes = oneOf(x.rng, -1, 0, 1, 105, 1_000, 1<<20)
	req.Reserved = chain.Usage{Cycles: oneOf[chain.Cycles](x.rng, 0, 1<<40), Cells: oneOf[chain.Cells](x.rng, 0, 1<<40)}
	left := oneOf[chain.Cycles](x.rng, 0, 1, 1_000_000)
	req.Left = func(chain.Address) (chain.Cycles, error) { return left, nil }
	if x.rng.IntN(4) == 0 {
		req.Left = nil
	}
	picked, err := x.pool.pick(req)
	if err != nil {
		t.Fatal(err)
	}
	size, uses := 0, chain.Usage{}
	for i, tx := range picked.Txs {
		size += len(tx.Body) + chain.BodyFrameBytes
		uses = sum(uses, picked.Counts[i])
	}
	if size > max(req.MaxBytes, 0) || uses.Cycles > params.CyclesTarget || picked.Unreserved.Cycles > params.CyclesTarget {
		t.Errorf("%d bytes of %d, %d cycles of %d, unreserved %d", size, req.MaxBytes, uses.Cycles, params.CyclesTarget, picked.Unreserved.Cycles)
	}
}

// request asks for a block on the head, or on a parent above it, with some uses known.
func (x *extremes) request(params *params.Params) *PackRequest {
	now := maps.Clone(x.accounts)
	req := &PackRequest{Params: params, Height: x.head.Height + 1, BaseFees: x.head.BaseFees, MaxBytes: math.MaxInt32}
	if x.rng.IntN(2) == 0 {
		req.Height += 2
		var before []*chain.VerifiedTx
		for _, from := range x.senders {
			at := now[from]
			used := min(uint64(x.rng.IntN(3)), math.MaxUint64-at.Nonce)
			for range used {
				before = append(before, &chain.VerifiedTx{Sender: from})
			}
			at.Nonce += used
			at.Spendable -= min(at.Spendable, oneOf(x.rng, 0, 1, x.wei()))
			now[from] = at
		}
		req.Before = [][]*chain.VerifiedTx{before, nil, before}
	}
	req.account = func(a chain.Address) (account, error) {
		at := now[a]
		at.Height = req.Height - 1
		return at, nil
	}
	if knows := x.rng.IntN(3); knows > 0 {
		req.expect = func(key uint64) (chain.Usage, bool) {
			return chain.Usage{Cycles: chain.Cycles(key) * 1_000, Cells: math.MaxUint32}, key < uint64(knows)
		}
	}
	if x.rng.IntN(3) == 0 {
		req.Used, req.Doubt = map[chain.Hash]chain.Usage{}, x.rng.IntN(2) == 0
		req.Anew = x.rng.IntN(2) == 0
		for _, o := range x.known {
			req.Ran = append(req.Ran, o.Tx)
			req.Used[o.Tx.Hash] = oneOf(x.rng, chain.Usage{}, chain.Usage{Cycles: 1}, chain.Usage{Cycles: 1 << 40, Cells: 1 << 40})
		}
	}
	return req
}

// check recounts everything and packs a block without limits.
func (x *extremes) check(t *testing.T) {
	t.Helper()
	x.pool.checkShards(t)
	x.checkTargets(t)
	s := x.pool.stats()
	if left := s.Replaced + s.Evicted + s.Included + s.Outdated + s.Starved + s.Discarded + s.Aged; s.Admitted-left != uint64(x.pool.held()) {
		t.Fatalf("%d admitted, %d left, %d wait", s.Admitted, left, x.pool.held())
	}
	params := params.Default()
	params.CyclesTarget, params.CellsTarget, params.MaxBlockBytes = 1<<50, 1<<50, 1<<50
	params.CyclesCap, params.CellsCap = params.CyclesTarget, params.CellsTarget
	req := x.request(&params)
	req.Left = func(chain.Address) (chain.Cycles, error) { return 1 << 60, nil }
	picked, err := x.pool.pick(req)
	if err != nil {
		t.Fatal(err)
	}
	want := x.executable(req)
	x.taken += len(want)
	got := map[chain.Hash]bool{}
	for _, tx := range picked.Txs {
		got[tx.Hash] = true
	}
	for _, e := range want {
		if !got[e.tx.Hash] {
			t.Errorf("on a parent at %d (head %d): %x/%d of lane %s, level %d, is left out of a block without limits",
				req.Height-1, x.head.Height, e.tx.Sender[:1], e.nonce, e.lane, e.level)
		}
	}
	if len(got) != len(want) || len(picked.Txs) != len(got) || len(picked.Overcommitted) > 0 {
		t.Errorf("%d and %d overcommitted in a block without limits, want %d", len(picked.Txs), len(picked.Overcommitted), len(want))
	}
}

// executable are the transactions that can stand in the block behind one another.
func (x *extremes) executable(req *PackRequest) (out []*entry) {
	for _, from := range x.senders {
		s := x.pool.shardOf(from).senders[from]
		if s == nil {
			continue
		}
		at, _ := req.account(from)
		lane := chain.LaneID(0)
		for i, found := s.indexOf(at.Nonce); found && i < len(s.waiting); i++ {
			e := s.waiting[i]
			base := req.BaseFees[e.lane]
			if e.nonce != at.Nonce || e.level < levelBarred || e.lane < lane || e.cost > at.Spendable ||
				e.maxFee.PerCycle < base.PerCycle || e.maxFee.PerCell < base.PerCell {
				break
			}
			out = append(out, e)
			lane = e.lane
			at.Nonce++
			at.Spendable -= e.cost
		}
	}
	return out
}

// checkTargets counts anew what stands in tiers before each actor.
func (x *extremes) checkTargets(t *testing.T) {
	t.Helper()
	want := map[chain.Address][]demanded{}
	p := x.pool
	for i := range p.shards {
		for _, e := range p.shards[i].byHash {
			if !p.targets.counts(e) {
				continue
			}
			list := want[*e.calls.Actor]
			k := slices.IndexFunc(list, func(d demanded) bool { return d.level == e.level && d.large == p.targets.large(&e.calls) })
			if k < 0 {
				k, list = len(list), append(list, demanded{level: e.level, large: p.targets.large(&e.calls)})
			}
			list[k].n++
			list[k].cycles += p.targets.demands(&e.calls)
			want[*e.calls.Actor] = list
		}
	}
	order := func(a, b demanded) int {
		return 2*(int(a.level)-int(b.level)) + map[bool]int{true: 1}[a.large] - map[bool]int{true: 1}[b.large]
	}
	for actor, list := range p.targets.of {
		got := slices.SortedFunc(slices.Values(list), order)
		if !slices.Equal(got, slices.SortedFunc(slices.Values(want[actor]), order)) {
			t.Fatalf("before %x: %+v, counted %+v", actor[:2], got, want[actor])
		}
	}
	if len(want) != len(p.targets.of) {
		t.Fatalf("%d actors, counted %d", len(p.targets.of), len(want))
	}
}
