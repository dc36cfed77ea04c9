package timers

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

func testQueue(t *testing.T, base chain.Wei) *queue {
	return &queue{Clock: Clock{Params: testParams(t, nil), Height: 10, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}, Head: Head{BaseFee: base}}
}

func TestDeposit(t *testing.T) { // whitepaper "Progressive Deposit Model", resolution 7.3
	q := testQueue(t, 1)
	for _, row := range []struct{ n, cby uint64 }{{1, 10}, {99, 10}, {100, 20}, {199, 20}, {200, 30}, {1_024, 110}} {
		if got := q.deposit(row.n); got != chain.Wei(row.cby)*chain.WeiPerCBY {
			t.Errorf("deposit of timer %d is %d, want %d CBY", row.n, got, row.cby)
		}
	}
}

func TestSurcharge(t *testing.T) { // whitepaper "Same-Block Exponential Pricing", resolutions 7.2, 11.24
	q := testQueue(t, 1_000_000)
	for _, row := range []struct {
		k    uint64
		want chain.Wei
	}{
		{1, 1_000_000},
		{16, 1_000_000},
		{17, 2_000_000},
		{18, 4_000_000},
		{19, 8_000_000},
		{32, 65_536_000_000},
		{60, 1_000_000 << 44}, // the last that fits: 10^6 takes 20 bits
		{61, math.MaxUint64},
		{1_024, math.MaxUint64},
		{math.MaxUint64, math.MaxUint64},
	} {
		if got := q.price(row.k); got != row.want {
			t.Errorf("timer %d for one block costs %d, want %d", row.k, got, row.want)
		}
	}
	q.BaseFee = math.MaxUint64
	if q.price(16) != math.MaxUint64 || q.price(17) != math.MaxUint64 {
		t.Error("the largest base fee does not saturate")
	}
}

func TestBaseFee(t *testing.T) { // whitepaper "Timer Queue Basefee"
	f := func(base chain.Wei, depth uint64, want chain.Wei) {
		t.Helper()
		q := testQueue(t, base)
		q.Depth = depth
		if q.adjust(); q.BaseFee != want {
			t.Errorf("base fee %d at depth %d becomes %d, want %d", base, depth, q.BaseFee, want)
		}
	}
	f(800, 100_000, 800)                // at the target
	f(800, 200_000, 900)                // twice the target: +12.5 %
	f(800, 10_000_000, 900)             // clamped
	f(800, 0, 700)                      // -12.5 %
	f(800, 150_000, 850)                // half of it
	f(1, 100_001, 2)                    // a rise is at least 1
	f(1, 0, 1)                          // the floor
	f(999_999, 100_001, 1_000_000)      // up to the ceiling
	f(900_000, 200_000, 1_000_000)      // likewise
	f(math.MaxUint64, 1<<40, 1_000_000) // also from above it, as when governance lowers it
	f(1_000_000, 0, 875_000)            // and down from there
}

// TestSleepersDoNotPriceOthersOut: 101,000 timers that wait for thousands of years keep
// the queue above its target for a day. Who sets a timer pays what it cost at the
// beginning of the chain at the most, and once they are gone the least fee is two
// minutes away. Without a ceiling the fee was 10^19 after ten hours (ADR 155).
func TestSleepersDoNotPriceOthersOut(t *testing.T) {
	q := testQueue(t, 1)
	q.Depth = 101_000
	for range 86_400 {
		q.adjust()
	}
	if start := q.limits().InitialBaseFee; q.BaseFee > start || q.price(1) > start {
		t.Errorf("a timer costs %d base units after a day, want at most %d", q.price(1), start)
	}
	if deposit := q.deposit(1); q.BaseFee > deposit/10_000 {
		t.Errorf("the base fee %d is more than a ten thousandth of the deposit %d", q.BaseFee, deposit)
	}
	q.Depth = 0
	for range 150 {
		q.adjust()
	}
	if q.BaseFee > 8 { // a fall below 8 is rounded away
		t.Errorf("150 blocks after they have gone the base fee is %d", q.BaseFee)
	}
}

func TestCost(t *testing.T) { // amounts that nobody has are refused, never wrapped
	const top = chain.Wei(math.MaxUint64)
	for _, row := range []struct {
		rule  string
		use   chain.Usage
		price chain.FeePair
		want  chain.Wei
		fits  bool
	}{
		{"both meters", chain.Usage{Cycles: 3, Cells: 5}, chain.FeePair{PerCycle: 7, PerCell: 11}, 76, true},
		{"the largest that fits", chain.Usage{Cycles: 1, Cells: 1}, chain.FeePair{PerCycle: top - 2, PerCell: 2}, top, true},
		{"the sum", chain.Usage{Cycles: 1, Cells: 1}, chain.FeePair{PerCycle: top - 2, PerCell: 3}, top, false},
		{"the sum alone", chain.Usage{Cycles: 1, Cells: 1}, chain.FeePair{PerCycle: top - 1, PerCell: top - 1}, top, false},
		{"cycles", chain.Usage{Cycles: 1 << 32}, chain.FeePair{PerCycle: 1 << 32}, top, false},
		{"cells", chain.Usage{Cells: 1 << 32}, chain.FeePair{PerCell: 1 << 32}, top, false},
	} {
		if got, fits := Cost(row.use, row.price); got != row.want || fits != row.fits {
			t.Errorf("%s: %d, %v, want %d, %v", row.rule, got, fits, row.want, row.fits)
		}
	}
	q := testQueue(t, 1)
	q.Params.Timer.BaseDeposit = 1 << 63
	if got := q.deposit(100); got != top {
		t.Errorf("twice 2^63 is a deposit of %d", got)
	}
	for _, row := range []struct {
		rule string
		bill Bill
		fits bool
	}{
		{"the largest", Bill{Fee: 1, Lock: top - 1}, true},
		{"one more", Bill{Fee: 2, Lock: top - 1}, false},
		{"a lock that was cut off", Bill{Lock: top}, false},
		{"no fee", Bill{Lock: top - 1}, true},
	} {
		if _, fits := row.bill.Total(); fits != row.fits {
			t.Errorf("%s: payable %v, want %v", row.rule, fits, row.fits)
		}
	}
}

func TestBidCaps(t *testing.T) { // resolution 2.13: below the base fee nothing fires
	base := chain.FeePair{PerCycle: 5, PerCell: 3}
	for _, row := range []struct {
		rule string
		caps chain.FeePair
		want chain.FeePair // of the tips, both 4
		fits bool
	}{
		{"room for the tips", chain.FeePair{PerCycle: 9, PerCell: 7}, chain.FeePair{PerCycle: 4, PerCell: 4}, true},
		{"room for a part", chain.FeePair{PerCycle: 6, PerCell: 5}, chain.FeePair{PerCycle: 1, PerCell: 2}, true},
		{"caps at the base fees", base, chain.FeePair{}, true},
		{"cycles below", chain.FeePair{PerCycle: 4, PerCell: 3}, chain.FeePair{}, false},
		{"cells below", chain.FeePair{PerCycle: 5, PerCell: 2}, chain.FeePair{}, false},
	} {
		b := Bid{MaxFee: row.caps, Tip: chain.FeePair{PerCycle: 4, PerCell: 4}}
		if got, fits := b.Price(base); fits != row.fits || got != row.want {
			t.Errorf("%s: tips %+v, %v, want %+v, %v", row.rule, got, fits, row.want, row.fits)
		}
	}
}

func TestNeedsBid(t *testing.T) { // resolution 11.23: asked again every 8 deferrals
	c := testQueue(t, 1).Clock
	agent := spec(1, 5)
	agent.Bidder = &chain.Address{1}
	for _, row := range []struct {
		rule  string
		timer Timer
		want  bool
	}{
		{"no agent", Timer{Spec: spec(1, 5)}, false},
		{"never asked", Timer{Spec: agent}, true},
		{"asked in this block", Timer{Spec: agent, link: link{Bid: &Bid{At: 10}}}, false},
		{"seven blocks ago", Timer{Spec: agent, link: link{Bid: &Bid{At: 3}}}, false},
		{"eight blocks ago", Timer{Spec: agent, link: link{Bid: &Bid{At: 2}}}, true},
	} {
		if got := NeedsBid(&c, &row.timer); got != row.want {
			t.Errorf("%s: %v", row.rule, got)
		}
	}
}

// TestChangesOfTimers: what may be changed of a timer, and when.
func TestChangesOfTimers(t *testing.T) { // resolution 7.6; instructions 49, 50
	o := state.NewOverlay(state.Empty{})
	at := func(h chain.Height) Clock {
		return Clock{Params: testParams(t, nil), Height: h, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
	}
	s := spec(1, 20)
	id, _, err := Set(o, at(10), s)
	if err != nil {
		t.Fatal(err)
	}
	is := func(rule string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
	}
	extend := func(c Clock, h chain.Height) error {
		_, err := Extend(o, c, Party{s.Actor, s.Actor}, id, h)
		return err
	}
	is("extended to where it is", extend(at(10), 20), ErrEarlier)
	is("extended to the present", extend(at(10), 10), ErrPast)
	is("extended too far", extend(at(10), 11+MaxAhead), ErrTooFar)
	is("extended by another", func() error {
		_, err := Extend(o, at(10), Party{chain.Address{9}, chain.Address{9}}, id, 30)
		return err
	}(), ErrNotFound)
	mark := o.Snapshot()
	is("extended as far as it goes", extend(at(10), 10+MaxAhead), nil)
	o.Revert(mark)
	configure := func(c Clock, n Config) (Bill, error) { return Configure(o, c, Party{s.Actor, s.Actor}, id, n) }
	bill, err := configure(at(11), Config{Limits: chain.Usage{Cells: 50}})
	is("fewer cells", err, nil)
	if got, err := Load(o, id); err != nil || got.Limits != (chain.Usage{Cycles: 10_000, Cells: 50}) || bill.Refund != 2*50 || bill.Lock != 0 {
		t.Errorf("fewer cells: limits %+v, bill %+v, %v", got.Limits, bill, err)
	}
	bill, err = configure(at(11), Config{Limits: chain.Usage{Cycles: 10_001}})
	is("more cycles", err, nil)
	if got, err := Load(o, id); err != nil || got.Limits != (chain.Usage{Cycles: 10_001, Cells: 50}) || bill.Refund != 0 || bill.Lock != 2 {
		t.Errorf("more cycles: limits %+v, bill %+v, %v", got.Limits, bill, err)
	}
	_, err = configure(at(11), Config{Limits: chain.Usage{Cycles: 1}})
	is("too few cycles", err, ErrArgument)
	_, err = configure(at(20), Config{Limits: chain.Usage{Cycles: 10_002}})
	is("its block has come and was not begun", err, ErrDue)
	if _, err := Advance(o, at(20)); err != nil {
		t.Fatal(err)
	}
	_, err = configure(at(20), Config{Limits: chain.Usage{Cycles: 10_002}})
	is("it waits for its turn", err, ErrDue)
	got, err := fireOff(o, at(20), id)
	if err != nil || got == nil {
		t.Fatalf("taken: %+v, %v", got, err)
	}
	_, err = configure(at(20), Config{})
	is("it has fired", err, ErrNotFound)
}

// TestRecordsAreJudged: records that decode and are none.
func TestRecordsAreJudged(t *testing.T) {
	good := link{Escrow: 5, place: inRing, target: 9, due: 9}
	refused := func(rule string, err error) {
		t.Helper()
		if !errors.Is(err, ErrRecord) {
			t.Errorf("%s: %v", rule, err)
		}
	}
	if _, err := decodeLink(good.encode()); err != nil {
		t.Fatal(err)
	}
	bad := good
	bad.place = placeEnd
	_, err := decodeLink(bad.encode())
	refused("a tier that is none", err)
	bad = good
	bad.line = lines
	_, err = decodeLink(bad.encode())
	refused("a line that is none", err)
	field := func(b []byte) []byte { // of a node without children
		return append(append(append([]byte{0x84}, b...), 0x40), 0, 0)
	}
	if _, err := decodeNode(field([]byte{0x40})); err != nil {
		t.Fatal(err)
	}
	_, err = decodeNode(field([]byte{0x41, 1}))
	refused("a short name", err)
	zeros := node{left: newNodeKey(1, ID{1}), leftHeight: 1}
	b := zeros.encode()
	clear(b[3 : 3+len(zeros.left)])
	_, err = decodeNode(b)
	refused("a name of zeros", err)
	for rule, n := range map[string]node{
		"a height without a child":   {leftHeight: 1},
		"a child without a height":   {right: newNodeKey(1, ID{1})},
		"a left child too high":      {left: newNodeKey(1, ID{1}), leftHeight: maxTreeHeight},
		"a right child too high":     {right: newNodeKey(1, ID{1}), rightHeight: maxTreeHeight},
		"a height without a right":   {rightHeight: 1},
		"a left child and no height": {left: newNodeKey(1, ID{1})},
	} {
		_, err := decodeNode(n.encode())
		refused(rule, err)
	}
	high := node{left: newNodeKey(1, ID{1}), leftHeight: maxTreeHeight - 1}
	if _, err := decodeNode(high.encode()); err != nil {
		t.Errorf("the highest child: %v", err)
	}
	for rule, e := range map[string]ends{"a first without a last": {first: ID{1}}, "a last without a first": {last: ID{1}}} {
		b := appendID([]byte{0x82}, &e.first)
		_, err := decodeEnds(appendID(b, &e.last))
		refused(rule, err)
	}
}

func TestEscrowOfAgents(t *testing.T) { // resolution 11.25: the question is paid out of it
	q := testQueue(t, 1)
	s := spec(1, 11)
	if got := q.escrow(&s); got != 2*(10_000+100) {
		t.Errorf("escrow %d", got)
	}
	s.Load = 700
	if got := q.escrow(&s); got != 2*(10_000+700+100) {
		t.Errorf("escrow with the first use of the code %d", got)
	}
	s.Bidder = &chain.Address{1}
	if got, l := q.escrow(&s), q.limits(); got != 2*(10_000+700+100+chain.Wei(l.BidCycles)+chain.Wei(l.BidCells)) {
		t.Errorf("escrow with an agent %d", got)
	}
}

// TestOverflowBringsTheFirst: timers far away come in the order of their heights,
// whatever the order in which they were set.
func TestOverflowBringsTheFirst(t *testing.T) {
	p := testParams(t, func(p *params.Timer) { p.RingBlocks, p.QueueEpochs = 8, 2 })
	o := state.NewOverlay(state.Empty{})
	at := func(h chain.Height) Clock {
		return Clock{Params: p, Height: h, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
	}
	heights := []chain.Height{200, 100, 150}
	for _, h := range heights {
		if _, _, err := Set(o, at(10), spec(1, h)); err != nil {
			t.Fatal(err)
		}
	}
	ready := uint64(0)
	for h := chain.Height(11); h <= 200; h++ {
		head, err := Advance(o, at(h))
		if err != nil {
			t.Fatal(err)
		}
		for _, due := range heights {
			if due == h {
				ready++
			}
		}
		if head.Ready != ready {
			t.Fatalf("%d are due at height %d, want %d", head.Ready, h, ready)
		}
	}
}

// TestCatchingUp: of more timers for one block than it moves, the rest comes in the
// blocks after, and whoever packs those knows it. Two moves are the least there may
// be: one passes the present height, the other makes up for one that was missed.
func TestCatchingUp(t *testing.T) { // resolution 11.14
	p := testParams(t, func(p *params.Timer) { p.MovesPerBlock = 2 })
	o := state.NewOverlay(state.Empty{})
	at := func(h chain.Height) Clock {
		return Clock{Params: p, Height: h, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
	}
	for n, h := range []chain.Height{12, 12, 12, 12, 12, 20} {
		if _, _, err := Set(o, at(10), spec(byte(n), h)); err != nil {
			t.Fatal(err)
		}
	}
	want := map[chain.Height]int{12: 2, 13: 2, 14: 1, 20: 1}
	behind := map[chain.Height]bool{12: true, 13: true, 14: true, 15: true, 16: true, 20: true} // 14 and 15 are empty and were not looked at
	for h := chain.Height(11); h < 24; h++ {
		if got, err := AnyDue(o, at(h)); got != behind[h] || err != nil {
			t.Errorf("some may be due at height %d: %v, %v", h, got, err)
		}
		head, err := Advance(o, at(h))
		if err != nil {
			t.Fatal(err)
		}
		ids, err := Ready(o, head, 9)
		if err != nil || len(ids) != want[h] {
			t.Errorf("%d ready at height %d, %v, want %d", len(ids), h, err, want[h])
		}
		for _, id := range ids {
			if got, err := fireOff(o, at(h), id); got == nil || err != nil {
				t.Fatalf("%+v, %v", got, err)
			}
		}
	}
}

func TestTiers(t *testing.T) { // whitepaper "The Tiered Calendar Queue", resolution 7.6
	p := testParams(t, nil)
	c := Clock{Params: p, Height: 7_000} // epoch 1 of 3,600 blocks
	for _, row := range []struct {
		h    chain.Height
		want place
	}{
		{7_000, inReady},
		{7_001, inRing},
		{10_799, inRing}, // the last of the next epoch
		{10_800, inEpoch},
		{(1+720+1)*3_600 - 1, inEpoch},
		{(1 + 720 + 1) * 3_600, inTree},
		{7_000 + MaxAhead, inTree},
	} {
		if got := c.tier(row.h); got != row.want {
			t.Errorf("height %d waits in tier %d, want %d", row.h, got, row.want)
		}
	}
}

func TestLimits(t *testing.T) { // musts W6: 1,024 timers an actor, the next one reverts
	p := testParams(t, nil)
	o := state.NewOverlay(state.Empty{})
	c := Clock{Params: p, Height: 10, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
	for n := range 1_024 {
		if _, _, err := Set(o, c, spec(1, chain.Height(11+n))); err != nil {
			t.Fatalf("timer %d: %v", n+1, err)
		}
	}
	if _, _, err := Set(o, c, spec(1, 5_000)); !errors.Is(err, ErrLimit) {
		t.Errorf("timer 1,025: %v", err)
	}
	if _, _, err := Set(o, c, spec(2, 5_000)); err != nil {
		t.Errorf("another actor's: %v", err)
	}
	if n, refund, err := DropAll(o, c, spec(1, 0).Actor, 1_000); n != 1_000 || refund == 0 || err != nil {
		t.Errorf("dropped %d, %v", n, err)
	}
	if n, _, err := DropAll(o, c, spec(1, 0).Actor, 1_000); n != 24 || err != nil {
		t.Errorf("dropped the last %d, %v", n, err)
	}
}

func TestSpecBounds(t *testing.T) { // boundary and one past it
	p := testParams(t, nil)
	c := Clock{Params: p, Height: 10, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
	f := func(name string, want error, change func(*Spec)) {
		t.Helper()
		s := spec(1, 11)
		change(&s)
		if err := s.Check(&c); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	f("next block", nil, func(*Spec) {})
	f("this block", ErrPast, func(s *Spec) { s.Height = 10 })
	f("the past", ErrPast, func(s *Spec) { s.Height = 0 })
	f("farthest", nil, func(s *Spec) { s.Height = 10 + MaxAhead })
	f("too far", ErrTooFar, func(s *Spec) { s.Height = 11 + MaxAhead })
	f("longest interval", nil, func(s *Spec) { s.Every = MaxAhead })
	f("interval too long", ErrTooFar, func(s *Spec) { s.Every = MaxAhead + 1 })
	f("longest handler", nil, func(s *Spec) { s.Handler = strings.Repeat("x", MaxHandlerBytes) })
	f("handler too long", ErrArgument, func(s *Spec) { s.Handler = strings.Repeat("x", MaxHandlerBytes+1) })
	f("handler that is no UTF-8", ErrArgument, func(s *Spec) { s.Handler = "a\xed\xa0\x80" })
	f("no handler", ErrArgument, func(s *Spec) { s.Handler = "" })
	f("most data", nil, func(s *Spec) { s.Data = make([]byte, p.Actor.InlineBlobBytes) })
	f("too much data", ErrArgument, func(s *Spec) { s.Data = make([]byte, p.Actor.InlineBlobBytes+1) })
	f("system actor", ErrArgument, func(s *Spec) { s.To = chain.AddrTimers })
	f("least cycles", nil, func(s *Spec) { s.Limits.Cycles = p.Timer.MinCycles })
	f("too few cycles", ErrArgument, func(s *Spec) { s.Limits.Cycles = p.Timer.MinCycles - 1 })
	f("most cycles", nil, func(s *Spec) { s.Limits.Cycles = 1_000_000 })
	f("too many cycles", ErrArgument, func(s *Spec) { s.Limits.Cycles = 1_000_001 })
	f("most cells", nil, func(s *Spec) { s.Limits.Cells = 50_000 })
	f("too many cells", ErrArgument, func(s *Spec) { s.Limits.Cells = 50_001 })
}

func TestDefaultLimits(t *testing.T) {
	p := testParams(t, nil)
	for _, row := range []struct {
		target    chain.Cycles
		ask, want chain.Usage
	}{
		{10_000_000, chain.Usage{}, chain.Usage{Cycles: 200_000, Cells: 8_000}},
		{10_000_000, chain.Usage{Cycles: 7, Cells: 9}, chain.Usage{Cycles: 7, Cells: 64}}, // what a receipt takes
		{1_000_000, chain.Usage{}, chain.Usage{Cycles: 100_000, Cells: 8_000}},            // half of the lane
	} {
		p.CyclesTarget = row.target
		if got := Limits(p, row.ask); got != row.want {
			t.Errorf("limits %+v of a target of %d become %+v, want %+v", row.ask, row.target, got, row.want)
		}
	}
}

// FuzzRecords holds every decoder to its encoder: what one takes, the other
// writes.
func FuzzRecords(f *testing.F) {
	s := spec(1, 11)
	s.Bidder = &chain.Address{1}
	l := link{Escrow: 5, since: 4, line: putOff, place: inReady, target: 9, due: 9, rank: 77, aimed: true, prev: ID{1}, newer: ID{2}, Bid: &Bid{At: 3}}
	h := Head{Depth: 4, BaseFee: 8, behind: [lines]chain.Height{putOff: 3}, farFirst: 9, farRoot: newNodeKey(9, ID{1})}
	n := node{left: newNodeKey(1, ID{1}), leftHeight: 1}
	f.Add((&Timer{Spec: s, Deposit: 7}).encodeSpec())
	f.Add((&Timer{Spec: s, Deposit: 7, apart: InlineBytes + 1}).encodeSpec())
	f.Add(l.encode())
	f.Add(h.encode())
	f.Add(n.encode())
	f.Add([]byte{0x82, 0x40, 0x40})
	f.Add([]byte{0x83, 0x01, 0x02, 0x40})
	f.Fuzz(func(t *testing.T, b []byte) {
		check := func(what string, err error, again []byte) {
			t.Helper()
			if err == nil && string(again) != string(b) {
				t.Errorf("%s %x comes back as %x", what, b, again)
			}
			if err != nil && !errors.Is(err, ErrRecord) {
				t.Errorf("%s: %v", what, err)
			}
		}
		var one Timer
		err := one.decodeSpec(b)
		check("spec", err, one.encodeSpec())
		l, err := decodeLink(b)
		check("link", err, l.encode())
		h, err := decodeHead(b)
		check("head", err, h.encode())
		n, err := decodeNode(b)
		check("node", err, n.encode())
		if _, err := decodeEnds(b); err != nil && !errors.Is(err, ErrRecord) {
			t.Error(err)
		}
		if _, err := decodeRoster(b); err != nil && !errors.Is(err, ErrRecord) {
			t.Error(err)
		}
	})
}

// fireOff takes a timer out of the order as a firing does; nil for one that is not due.
func fireOff(o *state.Overlay, c Clock, id ID) (*Taken, error) {
	t, err := LoadDue(o, id)
	if err != nil || t == nil {
		return nil, err
	}
	return Take(o, c, t)
}
