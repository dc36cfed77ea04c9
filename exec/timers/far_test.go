package timers

import (
	"encoding/binary"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// sleepers is a state with n timers, made up as it is read: half of them in the
// epoch queue, half in the overflow tree. It counts what is read.
type sleepers struct {
	state.Empty
	p      *params.Params
	n      uint64 // even
	now    chain.Height
	reads  int
	record map[slot][]byte // written over it
}

// slot is an entry of an account's storage.
type slot struct {
	addr chain.Address
	key  state.StorageKey
}

const perEpoch = 50_000

func sleeperID(i uint64) (id ID) {
	binary.BigEndian.PutUint64(id[24:], i+1)
	return id
}

// height is where timer i is due: the first half from two epochs ahead, the rest
// beyond the queue, in the order of i.
func (s *sleepers) height(i uint64) chain.Height {
	e := s.p.Timer.RingBlocks / 2
	now := uint64(s.now) / e
	if i < s.n/2 {
		return chain.Height((now + 3 + i/perEpoch) * e)
	}
	return chain.Height((now + s.p.Timer.QueueEpochs + 10) * e)
}

func (s *sleepers) far(i uint64) nodeKey { return newNodeKey(uint64(s.height(i)), sleeperID(i)) }

// subtree is the node in the middle of the timers [lo, hi).
func (s *sleepers) subtree(lo, hi uint64) (k nodeKey, height uint64) {
	for n := hi - lo; n > 0; n /= 2 {
		height++
	}
	if lo < hi {
		k = s.far(lo + (hi-lo)/2)
	}
	return k, height
}

func (s *sleepers) Storage(addr chain.Address, k state.StorageKey) ([]byte, error) {
	s.reads++
	if b, ok := s.record[slot{addr, k}]; ok {
		return b, nil
	}
	b := []byte(k)[1:]
	switch {
	case s.n == 0 || len(b) == 0 || addr != chain.AddrTimersFar:
		return nil, nil
	case b[0] == keyFar:
		return s.node(binary.BigEndian.Uint64(b[len(b)-8:]) - 1), nil
	case b[0] == keyLink && len(b) == 33:
		return s.link(binary.BigEndian.Uint64(b[25:]) - 1), nil
	case b[0] == keySpec && len(b) == 33:
		one := spec(1, 0)
		return (&Timer{Spec: one, Deposit: 1}).encodeSpec(), nil
	case b[0] == keyEpoch:
		return s.epoch(binary.BigEndian.Uint64(b[1:])), nil
	}
	return nil, nil
}

func (s *sleepers) node(i uint64) []byte {
	lo, hi := s.n/2, s.n
	for {
		mid := lo + (hi-lo)/2
		switch {
		case i < mid:
			hi = mid
		case i > mid:
			lo = mid + 1
		default:
			var n node
			n.left, n.leftHeight = s.subtree(lo, mid)
			n.right, n.rightHeight = s.subtree(mid+1, hi)
			return n.encode()
		}
	}
}

func (s *sleepers) link(i uint64) []byte {
	l := link{place: inTree, target: s.height(i), due: s.height(i), aimed: true}
	if i < s.n/2 {
		l.place = inEpoch
		if i%perEpoch > 0 {
			l.prev = sleeperID(i - 1)
		}
		if i%perEpoch < perEpoch-1 && i+1 < s.n/2 {
			l.next = sleeperID(i + 1)
		}
	}
	return l.encode()
}

func (s *sleepers) epoch(e uint64) []byte {
	first := (e - uint64(s.now)/(s.p.Timer.RingBlocks/2) - 3) * perEpoch
	if first >= s.n/2 {
		return nil
	}
	a, b := sleeperID(first), sleeperID(min(first+perEpoch, s.n/2)-1)
	return append(append([]byte{0x82, 0x58, 32}, a[:]...), append([]byte{0x58, 32}, b[:]...)...)
}

func newSleepers(p *params.Params, n uint64, now chain.Height) *sleepers {
	s := &sleepers{p: p, n: n, now: now, record: map[slot][]byte{}}
	h := Head{Depth: n, BaseFee: p.Timer.InitialBaseFee, epoch: uint64(now)/(p.Timer.RingBlocks/2) + 2}
	if n > 0 {
		h.farRoot, _ = s.subtree(n/2, n)
		h.farFirst = s.height(n / 2)
	}
	s.record[slot{chain.AddrTimers, key(keyHead)}] = h.encode()
	return s
}

// work is what a block does: Advance, a timer that is set and one that fires.
func (s *sleepers) work(t *testing.T, blocks int) (reads, writes []int) {
	t.Helper()
	c := Clock{Params: s.p, Height: s.now, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
	for range blocks {
		c.Height++
		s.reads = 0
		o := state.NewOverlay(s)
		head, err := Advance(o, c)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := Ready(o, head, 512)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if _, err := fireOff(o, c, id); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := Set(o, c, spec(9, c.Height+2)); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, a := range o.Delta().Accounts() {
			for _, w := range a.Storage {
				n++
				s.record[slot{a.Address, w.Key}] = w.Value
			}
		}
		reads, writes = append(reads, s.reads), append(writes, n)
	}
	return reads, writes
}

// TestTenMillionSleepers holds the reads and writes of a block to those of an
// empty queue, however many timers sleep (whitepaper "Scalable Design").
func TestTenMillionSleepers(t *testing.T) {
	p := testParams(t, func(tp *params.Timer) { tp.QueueTarget = 1 << 30 })
	const now = 500 // far from the turn of an epoch
	wantReads, wantWrites := newSleepers(p, 0, now).work(t, 20)
	for _, n := range []uint64{1_000_000, 10_000_000} {
		reads, writes := newSleepers(p, n, now).work(t, 20)
		for i := range reads {
			if reads[i] != wantReads[i] || writes[i] != wantWrites[i] {
				t.Errorf("%d sleep: block %d reads %d and writes %d, want %d and %d", n, i, reads[i], writes[i], wantReads[i], wantWrites[i])
			}
		}
	}
	t.Logf("a block that sets a timer and fires one reads %d and writes %d entries", wantReads[19], wantWrites[19])
}

// TestMigrationIsBounded runs through the turn of an epoch in which fifty
// thousand of ten million come into the ring: a block moves its share and no
// more.
func TestMigrationIsBounded(t *testing.T) {
	p := testParams(t, func(tp *params.Timer) { tp.QueueTarget, tp.MovesPerBlock = 1<<30, 20 })
	s := newSleepers(p, 10_000_000, 3_597)                     // the queue begins with epoch 3
	c := Clock{Params: p, Height: s.now + chain.Height(3_600)} // which comes near in epoch 2
	most := 0
	for range 10 {
		c.Height++
		s.reads = 0
		o := state.NewOverlay(s)
		if _, err := Advance(o, c); err != nil {
			t.Fatal(err)
		}
		for _, a := range o.Delta().Accounts() {
			for _, w := range a.Storage {
				s.record[slot{a.Address, w.Key}] = w.Value
			}
		}
		most = max(most, s.reads)
	}
	if most > 20*12+10 || most < 20 {
		t.Errorf("a block reads up to %d entries to move 20 timers", most)
	}
}

// TestNearTimersLeaveSleepersAlone sets and fires a timer of the ring beside one
// of the same actor that sleeps, whose records it must not touch, and follows the
// sleeper into the ring.
func TestNearTimersLeaveSleepersAlone(t *testing.T) {
	p := testParams(t, func(tp *params.Timer) { tp.RingBlocks, tp.QueueEpochs = 8, 3 })
	kept := map[slot][]byte{}
	s := &sleepers{p: p, record: kept}
	c := Clock{Params: p, Height: 1, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
	block := func(change func(o *state.Overlay)) (asleep int) {
		t.Helper()
		o := state.NewOverlay(s)
		if _, err := Advance(o, c); err != nil {
			t.Fatal(err)
		}
		change(o)
		for _, a := range o.Delta().Accounts() {
			for _, w := range a.Storage {
				if a.Address == chain.AddrTimersFar {
					asleep++
				}
				if kept[slot{a.Address, w.Key}] = w.Value; w.Value == nil {
					delete(kept, slot{a.Address, w.Key})
				}
			}
		}
		c.Height++
		return asleep
	}
	set := func(h chain.Height) func(*state.Overlay) {
		return func(o *state.Overlay) {
			t.Helper()
			if _, _, err := Set(o, c, spec(1, h)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, far := range []chain.Height{13, 40} { // of the queue, of the overflow tree
		if n := block(set(far)); n == 0 {
			t.Errorf("a timer for block %d does not sleep", far)
		}
	}
	if n := block(set(c.Height + 1)); n != 0 {
		t.Errorf("setting a timer of the ring writes %d entries of those that sleep", n)
	}
	n := block(func(o *state.Overlay) {
		h, err := ReadHead(o, p)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := Ready(o, h, 9)
		if err != nil || len(ids) != 1 {
			t.Fatalf("%d timers are due, %v", len(ids), err)
		}
		if _, err := fireOff(o, c, ids[0]); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("firing it writes %d entries of those that sleep", n)
	}
	for c.Height < 41 {
		block(func(*state.Overlay) {})
	}
	for k := range kept {
		if k.addr == chain.AddrTimersFar {
			t.Errorf("all timers are due, and %q sleeps", k.key)
		}
	}
}

// TestSurchargeCountsBothHomes sets timers of one actor for one block, some before
// and some after one of them came into the ring: each is dearer than the one
// before.
func TestSurchargeCountsBothHomes(t *testing.T) {
	p := testParams(t, func(tp *params.Timer) {
		tp.RingBlocks, tp.QueueEpochs, tp.MovesPerBlock, tp.SurchargeFree = 8, 3, 1, 1
	})
	o := state.NewOverlay(state.Empty{})
	c := Clock{Params: p, Height: 1}
	set := func(k int) {
		t.Helper()
		h, err := ReadHead(o, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, bill, err := Set(o, c, spec(1, 14)); err != nil || bill.Fee != h.BaseFee<<(k-1) {
			t.Errorf("block %d: timer %d costs %d, %v, want %d", c.Height, k, bill.Fee, err, h.BaseFee<<(k-1))
		}
	}
	for k := 1; k <= 3; k++ {
		set(k)
	}
	for c.Height = 2; c.Height <= 8; c.Height++ { // block 8 begins the epoch before
		if _, err := Advance(o, c); err != nil {
			t.Fatal(err)
		}
	}
	c.Height = 8
	near, asleep := counts(t, o, c, 14)
	if near != 1 || asleep != 2 {
		t.Fatalf("%d timers came near, %d sleep", near, asleep)
	}
	set(4)
	set(5)
	if near, asleep = counts(t, o, c, 14); near != 3 || asleep != 2 {
		t.Errorf("%d timers are near, %d sleep", near, asleep)
	}
}

func counts(t *testing.T, o *state.Overlay, c Clock, h chain.Height) (near, asleep uint64) {
	t.Helper()
	q := queue{Clock: c, o: o}
	near, err := q.target(chain.AddrTimers, spec(1, h).Actor, h)
	if err != nil {
		t.Fatal(err)
	}
	if asleep, err = q.target(chain.AddrTimersFar, spec(1, h).Actor, h); err != nil {
		t.Fatal(err)
	}
	return near, asleep
}
