package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

const clockwork = "testdata/clockwork.py"

// smallTiers makes timers pass through all tiers within a test, four of an actor
// fill a block, and an unfunded one end soon.
func smallTiers(p *params.Params) {
	p.Timer.RingBlocks, p.Timer.QueueEpochs = 20, 4
	p.Timer.DefaultCycles, p.Timer.DefaultCells = 500_000, 5_000
	p.Timer.MinBaseFee = p.Timer.InitialBaseFee
	p.Timer.MaxUnfundedDeferrals = 10
}

// ticks are the blocks in which an actor's timers fired, by the height each was
// set for, and the places of the firings in their blocks.
func (l *live) ticks(actor string) (blocks map[uint64][]uint64, places map[uint64]int) {
	l.t.Helper()
	blocks, places = map[uint64][]uint64{}, map[uint64]int{}
	var logs rpc.LogsReply
	l.do(&logs, "actor", "logs", actor)
	for _, e := range logs.Logs {
		if e.Name != "tick" {
			continue
		}
		var set uint64
		if err := json.Unmarshal(e.Value, &set); err != nil {
			l.t.Fatalf("%+v: %v", e, err)
		}
		blocks[set], places[set] = append(blocks[set], e.BlockHeight), e.Slot
	}
	return blocks, places
}

// TestTimerRulesOnDevnet holds timers to when they fire, in which order, and what
// they cost.
func TestTimerRulesOnDevnet(t *testing.T) { // whitepaper §3.3; resolutions 7.2, 11.14, 11.23, 11.24
	l := newLiveWith(t, smallTiers)
	all := append(grants("econ.hold_balance", "econ.transfer", "storage.kv", "timer.schedule"), "--amount", "1000")
	a, b := l.deploy(clockwork, append(all, "--salt", "0x01")...), l.deploy(clockwork, append(all, "--salt", "0x02")...)
	t.Run("tiers", func(t *testing.T) { l.on(t).tiers(a) })
	t.Run("surcharge", func(t *testing.T) { l.on(t).surcharge(a) })
	t.Run("bids", func(t *testing.T) { l.on(t).bids(a, b) })
	t.Run("budget", func(t *testing.T) { l.on(t).budget(a) })
	t.Run("interval", func(t *testing.T) { l.on(t).interval(b) })
	t.Run("owner", func(t *testing.T) { l.on(t).ownersTimers(b) })
	t.Run("unfunded", func(t *testing.T) { l.on(t).unfunded(b) })
}

// tiers sets timers that begin in the ring, in an epoch's queue and beyond all of
// these: each fires in its block, once.
func (l *live) tiers(a string) {
	t := l.t
	var set [][2]any
	if err := json.Unmarshal(l.execute(a, "plan", "[2,3,35,70,300,301]").Value, &set); err != nil || len(set) != 6 {
		t.Fatalf("%v, %v", set, err)
	}
	if r := l.execute(a, "cancel", fmt.Sprintf("%q", set[5][1])); string(r.Value) != "true" {
		t.Errorf("cancel: %+v", r)
	}
	last := uint64(set[5][0].(float64))
	l.advance(last + 3 - l.height())
	fired, _ := l.ticks(a)
	for _, timer := range set[:5] {
		if h := uint64(timer[0].(float64)); len(fired[h]) != 1 || fired[h][0] != h {
			t.Errorf("the timer of block %d fired in %d", h, fired[h])
		}
	}
	if len(fired) != 5 {
		t.Errorf("fired: %v; the one of %d was cancelled", fired, last)
	}
}

// surcharge compares the price of the timers of one block: it doubles beyond the
// sixteenth, and again.
func (l *live) surcharge(a string) {
	t := l.t
	l.advance(2)
	var prices []chain.Wei
	if err := json.Unmarshal(l.execute(a, "prices", `{"ahead":5000,"times":18}`).Value, &prices); err != nil || len(prices) != 18 {
		t.Fatalf("%v, %v", prices, err)
	}
	fee := params.Default().Timer.InitialBaseFee
	for n, price := range prices {
		more := map[int]chain.Wei{16: fee, 17: 3 * fee}[n]
		if price != prices[0]+more {
			t.Errorf("timer %d costs %d more than the first, want %d", n+1, price-prices[0], more)
		}
	}
}

// bids sets two timers for one block, twice: who bids more is first, whoever was
// set first, and pays what it bid.
func (l *live) bids(a, b string) {
	t := l.t
	for _, order := range [][2]string{{a, b}, {b, a}} {
		l.advance(2)
		height := l.height() + 120
		for i, actor := range order {
			l.execute(actor, "bidding", fmt.Sprintf(`{"height":%d,"tip":%d}`, height, 1+6*i))
		}
		if l.height() >= height {
			t.Fatalf("block %d came before the timers were set", height)
		}
		l.advance(height + 2 - l.height())
		var places [2]int
		for i, actor := range order {
			fired, at := l.ticks(actor)
			if len(fired[height]) != 1 || fired[height][0] != height {
				t.Fatalf("fired in %v, want %d", fired[height], height)
			}
			places[i] = at[height]
		}
		if places[1] >= places[0] {
			t.Errorf("the higher bid is at %d of the block, the lower at %d", places[1], places[0])
		}
		block, err := l.api().BlockByHeight(t.Context(), chain.Height(height))
		if err != nil || len(block.Deliveries) != 2 {
			t.Fatalf("%+v, %v", block, err)
		}
		for i, tip := range []chain.Wei{7, 1} {
			r := l.receipt(block.Deliveries[i])
			if want := chain.Wei(r.CyclesUsed)*(1+tip) + chain.Wei(r.CellsUsed); r.Lane != "timer" || r.Fee != want {
				t.Errorf("firing %d of lane %s paid %d, want %d", i, r.Lane, r.Fee, want)
			}
		}
	}
}

// budget sets more timers for one block than the limits of which their lane has room for:
// the rest fires behind them, with what they did not use.
func (l *live) budget(a string) {
	l.advance(2)
	var set [][2]any
	if err := json.Unmarshal(l.execute(a, "plan", "[40,40,40,40,40,40]").Value, &set); err != nil {
		l.t.Fatal(err)
	}
	h := uint64(set[0][0].(float64))
	l.advance(h + 3 - l.height())
	fired, _ := l.ticks(a)
	in := map[uint64]int{}
	for _, block := range fired[h] {
		in[block]++
	}
	if in[h] != 6 { // three have their limits reserved, and what these do not use is the others'
		l.t.Errorf("six timers of %d fired in %v, want all in their block", h, in)
	}
}

// interval fires until it is cancelled.
func (l *live) interval(b string) {
	r := l.execute(b, "every", "4")
	l.advance(13)
	count := func() (n int) {
		var logs rpc.LogsReply
		l.do(&logs, "actor", "logs", b)
		for _, e := range logs.Logs {
			if string(e.Value) == "null" && e.Name == "tick" {
				if n++; (e.BlockHeight-r.BlockHeight)%4 != 0 {
					l.t.Errorf("fired in block %d, set in %d", e.BlockHeight, r.BlockHeight)
				}
			}
		}
		return n
	}
	if n := count(); n < 3 {
		l.t.Errorf("fired %d times in 13 blocks", n)
	}
	l.execute(b, "cancel", string(r.Value))
	n := count()
	if l.advance(9); count() != n {
		l.t.Errorf("fired %d times after it was cancelled", count()-n)
	}
}

// ownersTimers has the creator of an actor schedule, move and cancel timers for it
// from outside (instructions 48, 49, 50, 95).
func (l *live) ownersTimers(b string) {
	t := l.t
	order := func(by int, opcode uint64, args ...[]byte) rpc.ReceiptReply {
		t.Helper()
		payload := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, len(args)+2), opcode), mustUnhex(t, b))
		for _, a := range args {
			payload = append(payload, a...)
		}
		return l.submit(by, &chain.Tx{To: &chain.AddrActors, Payload: payload})
	}
	number, null := func(n uint64) []byte { return cbor.AppendUint(nil, n) }, cbor.AppendNull(nil)
	first := l.height() + 120
	last := first + 30
	schedule := func() []byte {
		t.Helper()
		r := order(0, chain.OpTimerSchedule, number(first), null, cbor.AppendText(nil, "strike"), cbor.AppendBytes(nil, number(last)))
		if r.Status != "success" || uint64(r.CyclesUsed) != 5_000+uint64(len(number(last))) {
			t.Fatalf("schedule: %+v", r)
		}
		return mustUnhex(t, r.Output)
	}
	id, other := schedule(), schedule()
	limits := cbor.AppendUint(cbor.AppendText(cbor.AppendMap(nil, 1), "cycles_limit"), 100_000)
	held := l.balance(b)
	for _, s := range []struct {
		rule string
		got  rpc.ReceiptReply
		want string
	}{
		{"cancelled by another", order(1, chain.OpTimerCancel, id), "forbidden"},
		{"moved by another", order(1, chain.OpTimerExtend, id, number(last)), "forbidden"},
		{"to an earlier block", order(0, chain.OpTimerExtend, id, number(first-1)), "bad_argument"},
		{"moved", order(0, chain.OpTimerExtend, id, number(last)), ""},
		{"with lower limits", order(0, chain.OpTimerConfig, id, limits), ""},
		{"cancelled", order(0, chain.OpTimerCancel, other), ""},
		{"cancelled twice", order(0, chain.OpTimerCancel, other), "not_found"},
	} {
		if s.got.RevertReason != s.want {
			t.Errorf("%s: %q, want %q", s.rule, s.got.RevertReason, s.want)
		}
	}
	if l.height() >= first || l.balance(b) != held {
		t.Errorf("at %d of %d, the creator's timers changed the actor's balance from %d to %d", l.height(), first, held, l.balance(b))
	}
	l.advance(last + 2 - l.height())
	if fired, _ := l.ticks(b); len(fired[last]) != 1 || fired[last][0] != last {
		t.Errorf("moved to %d, it fired in %v", last, fired[last])
	}
}

// unfunded raises the base fee above what a timer's escrow and actor can pay: the
// timer waits, then ends, and gives back what it held, less a second look at it.
func (l *live) unfunded(b string) {
	t := l.t
	held := l.balance(b)
	set := l.execute(b, "plan", "[60]")
	held -= l.balance(b) + params.Default().Timer.InitialBaseFee + 100*chain.Wei(params.Default().API.FiringCycles)
	l.execute(b, "leave", "0")
	l.decide("set", `min_base_fee="100"`)
	l.advance(set.BlockHeight + 60 + 5 - l.height())
	if got := l.balance(b); got != 0 {
		t.Errorf("while it waits, the actor has %d", got)
	}
	l.advance(10)
	var logs rpc.LogsReply
	if l.do(&logs, "actor", "logs", chain.AddrTimers.String()); len(logs.Logs) != 1 || logs.Logs[0].Name != "timer_unfunded" || l.balance(b) != held {
		t.Errorf("%+v; the actor has %d of %d", logs, l.balance(b), held)
	}
}
