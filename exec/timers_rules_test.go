package exec_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// only returns the one timer of a workshop.
func (w *workshop) only(id []byte) *timers.Timer {
	w.t.Helper()
	r := cbor.NewReader(id)
	text, err := r.Text(66)
	if err != nil {
		w.t.Fatal(err)
	}
	h, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		w.t.Fatal(err)
	}
	timer, err := timers.Load(w.state, timers.ID(h))
	if err != nil {
		w.t.Fatal(err)
	}
	return timer
}

// drain leaves the actor this much.
func (w *workshop) drain(left chain.Wei) {
	w.t.Helper()
	have := w.state.Balance(w.addr)
	if have < left {
		w.give(w.addr, left-have)
		return
	}
	a := w.state.Accounts[w.addr]
	a.Balance = left
	w.state.Accounts[w.addr] = a
	b := w.state.Accounts[bob]
	b.Balance += have - left
	w.state.Accounts[bob] = b
}

func TestUnfundedTimerEnds(t *testing.T) { // resolution 11.23
	w := newWorkshop(t, func(p *params.Params) { p.Timer.MaxUnfundedDeferrals = 20 })
	id := textOf(t, w.call("at", uintArg(uint64(w.height)+2)).Output)
	locked := w.state.Balance(chain.AddrTimers)
	w.drain(0)
	w.base = chain.FeePair{PerCycle: 100, PerCell: 100} // beyond twice what the escrow was for
	first, booked := w.height+1, chain.Cycles(0)
	for range 20 {
		opening, err := exec.Begin(w.state, w.inputs(), 0)
		if err != nil {
			t.Fatal(err)
		}
		r := w.step()
		if len(r.Receipts) != 0 {
			t.Fatalf("block %d: %+v", w.height, r.Receipts)
		}
		if used := r.Used[chain.LaneTimer]; used != opening.Reserved() {
			t.Errorf("block %d: looks took %+v of the lane, for which %+v were kept", w.height, used, opening.Reserved())
		}
		booked += r.Used[chain.LaneTimer].Cycles
		if w.only(id) == nil {
			t.Fatalf("ended at %d, unfunded since %d", w.height, first)
		}
	}
	r := w.step() // the twentieth deferral after the first
	if w.height != first+20 || w.only(id) != nil {
		t.Fatalf("still there at %d, unfunded since %d", w.height, first)
	}
	if len(r.Receipts) != 1 || len(r.Receipts[0].Events) != 1 || r.Receipts[0].Events[0].Name != "timer_unfunded" {
		t.Errorf("no event: %+v", r.Receipts)
	}
	looks := 2 * chain.Wei(w.g.Params.API.FiringCycles) * w.base.PerCycle // eight and sixteen blocks after the first; ADR 207
	if w.state.Balance(w.addr) != locked-looks {
		t.Errorf("gave back %d of %d, less %d", w.state.Balance(w.addr), locked, looks)
	}
	if chain.Wei(booked)*w.base.PerCycle != looks {
		t.Errorf("%d cycles of the lane for looks at which %d were burned", booked, looks)
	}
}

func TestUnfundedTimerRecovers(t *testing.T) { // resolutions 7.4, 11.23
	w := newWorkshop(t, nil)
	w.call("at", uintArg(uint64(w.height)+2))
	w.drain(0)
	w.base = chain.FeePair{PerCycle: 100, PerCell: 100}
	w.step()
	w.step()
	w.base = chain.FeePair{PerCycle: 1, PerCell: 1}
	for n := range 10 {
		if r := w.step(); len(r.Receipts) == 1 {
			if n+2 != int(w.g.Params.Timer.RebidDeferrals) {
				t.Errorf("fired %d blocks after it could not pay", n+2)
			}
			return
		}
	}
	t.Error("did not fire when the fee fell")
}

func TestIntervalEndsUnpaid(t *testing.T) { // resolution 11.24
	w := newWorkshop(t, nil)
	id := textOf(t, w.call("every", uintArg(2)).Output)
	w.step()
	timer := w.only(id)
	w.drain(0)
	// Less than a re-arm needs is left of the escrow once the firing is paid.
	r := w.step()
	if len(r.Receipts) != 2 || r.Receipts[0].Code != chain.CodeOK || r.Receipts[1].Events[0].Name != "interval_ended" {
		t.Fatalf("receipts %+v", r.Receipts)
	}
	if w.only(id) != nil || w.state.Balance(w.addr) != timer.Deposit+timer.Escrow-r.Receipts[0].Fee {
		t.Errorf("an interval that ended gave back %d", w.state.Balance(w.addr))
	}
}

// TestCancelledInItsOwnBlock: a transaction of the block comes before the timer,
// which was chosen already and gives all back.
func TestCancelledInItsOwnBlock(t *testing.T) { // resolutions 7.5, 7.9
	w := newWorkshop(t, nil)
	id := textOf(t, w.call("at", uintArg(uint64(w.height)+2)).Output)
	before, locked := w.state.Balance(w.addr), w.state.Balance(chain.AddrTimers)
	r := w.step(w.message("cancel", id))
	if len(r.Receipts) != 1 || !bytes.Equal(r.Receipts[0].Output, cbor.AppendBool(nil, true)) || w.head().Depth != 0 {
		t.Errorf("receipts %+v, depth %d", r.Receipts, w.head().Depth)
	}
	if got := w.state.Balance(w.addr); got != before+locked {
		t.Errorf("gave back %d of %d", got-before, locked)
	}
}

// order is an instruction to the timers of the workshop's actor.
func (w *workshop) order(from chain.Address, opcode uint64, args ...[]byte) *chain.VerifiedTx {
	payload := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, len(args)+2), opcode), w.addr[:])
	for _, a := range args {
		payload = append(payload, a...)
	}
	to := chain.AddrActors
	tx := w.transfer(from, to, 0).Tx
	tx.Payload, tx.CyclesLimit, tx.CellsLimit = payload, 100_000, 2_000
	return verified(tx, from)
}

func TestOwnersInstructions(t *testing.T) { // instructions 48, 49, 50, 95
	w := newWorkshop(t, nil)
	text := func(s string) []byte { return cbor.AppendText(nil, s) }
	bytesOf := func(b []byte) []byte { return cbor.AppendBytes(nil, b) }
	null := cbor.AppendNull(nil)
	do := func(want uint16, tx *chain.VerifiedTx) chain.Receipt {
		t.Helper()
		r := w.step(tx).Receipts[0]
		if r.Code != want {
			t.Errorf("code %s, want %s", chain.CodeName(r.Code), chain.CodeName(want))
		}
		return r
	}
	schedule := func(from chain.Address, h uint64) *chain.VerifiedTx {
		return w.order(from, chain.OpTimerSchedule, uintArg(h), null, text("tick"), bytesOf(null))
	}
	do(chain.CodeForbidden, schedule(bob, uint64(w.height)+5))
	do(chain.CodeBadArgument, schedule(alice, uint64(w.height)+1))
	r := do(chain.CodeOK, schedule(alice, uint64(w.height)+10))
	if r.CyclesUsed != 5_001 { // one for the byte of data
		t.Errorf("scheduling took %d cycles, want 5,001", r.CyclesUsed)
	}
	id := r.Output // a byte string of 32
	config := cbor.AppendUint(cbor.AppendText(cbor.AppendMap(nil, 1), "cycles_limit"), 50_000)
	do(chain.CodeForbidden, w.order(bob, chain.OpTimerConfig, id, config))
	before := w.state.Balance(chain.AddrTimers)
	do(chain.CodeOK, w.order(alice, chain.OpTimerConfig, id, config))
	if got := before - w.state.Balance(chain.AddrTimers); got != 2*150_000 {
		t.Errorf("lower limits gave back %d, want 300,000", got)
	}
	do(chain.CodeBadArgument, w.order(alice, chain.OpTimerConfig, id, cbor.AppendUint(cbor.AppendText(cbor.AppendMap(nil, 1), "cycles"), 1)))
	do(chain.CodeBadArgument, w.order(alice, chain.OpTimerExtend, id, uintArg(3)))
	do(chain.CodeNotFound, w.order(alice, chain.OpTimerCancel, bytesOf(make([]byte, 32))))
	do(chain.CodeOK, w.order(alice, chain.OpTimerExtend, id, uintArg(uint64(w.height)+100)))
	do(chain.CodeForbidden, w.order(bob, chain.OpTimerCancel, id))
	do(chain.CodeOK, w.order(alice, chain.OpTimerCancel, id))
	do(chain.CodeNotFound, w.order(alice, chain.OpTimerCancel, id))
	if w.head().Depth != 0 {
		t.Errorf("depth %d", w.head().Depth)
	}
}

// TestTimerDataArePaid: who moves, changes or ends a timer pays for each byte of its data
// that nodes read for it, also where it is another's, and for those that they write again.
func TestTimerDataArePaid(t *testing.T) {
	w := newWorkshop(t, nil)
	addr, made := w.deploy(alice, clockwork+"#", manifest.Manifest("storage.kv", "timer.schedule"))
	if made.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(made.Code))
	}
	other := &workshop{w.testChain, addr}
	order := func(of *workshop, opcode uint64, args ...[]byte) chain.Receipt {
		tx := of.order(alice, opcode, args...).Tx
		tx.CellsLimit = 20_000
		return w.step(verified(tx, alice)).Receipts[0]
	}
	set := func(n int) (id []byte, r chain.Receipt) {
		data := cbor.AppendBytes(nil, cbor.AppendBytes(nil, make([]byte, n)))
		r = order(w, chain.OpTimerSchedule, uintArg(uint64(w.height)+50), cbor.AppendNull(nil), cbor.AppendText(nil, "tick"), data)
		return r.Output, r
	}
	config := cbor.AppendUint(cbor.AppendText(cbor.AppendMap(nil, 1), "cycles_limit"), 50_000)
	measure := func(n int) (out []chain.Receipt) {
		id, r := set(n)
		return append(out, r, order(w, chain.OpTimerConfig, id, config),
			order(other, chain.OpTimerExtend, id, uintArg(uint64(w.height)+90)), order(w, chain.OpTimerExtend, id, uintArg(uint64(w.height)+90)),
			order(other, chain.OpTimerCancel, id), order(w, chain.OpTimerCancel, id))
	}
	small, large := measure(100), measure(4_100)
	for i := range small {
		if got := large[i].CyclesUsed - small[i].CyclesUsed; got != 4_001 { // one for the longer head
			t.Errorf("change %d: 4,001 bytes more cost %d cycles", i, got)
		}
		if small[i].Code != large[i].Code {
			t.Errorf("change %d: %s, %s", i, chain.CodeName(small[i].Code), chain.CodeName(large[i].Code))
		}
	}
	if got := measure(900)[1].CellsUsed - small[1].CellsUsed; got != 801 {
		t.Errorf("writing 801 bytes again cost %d cells", got)
	}
	if got := measure(0)[1].CellsUsed - large[1].CellsUsed; got != 1 { // ADR 153: they lie apart and are not written
		t.Errorf("data of 1 byte cost %d cells more to leave than 4,100", got)
	}
}

func TestSurchargeInBlocks(t *testing.T) { // resolutions 7.2, 11.24
	w := newWorkshop(t, nil)
	many := func(n uint64) chain.Wei {
		t.Helper()
		r := w.step(w.message("many", cbor.AppendUint(cbor.AppendUint(cbor.AppendArray(nil, 2), 9_000), n)))
		if r.Receipts[0].Code != chain.CodeOK {
			t.Fatalf("many: %+v", r.Receipts[0])
		}
		return r.Burned - (r.Receipts[0].Fee - r.Receipts[0].Tip)
	}
	if got := many(16); got != 16*w.head().BaseFee {
		t.Errorf("16 timers for one block cost %d, want 16 × %d", got, w.head().BaseFee)
	}
	if got := many(1); got != 2*w.head().BaseFee {
		t.Errorf("the 17th cost %d, want twice %d", got, w.head().BaseFee)
	}
	if got := many(1); got != 4*w.head().BaseFee {
		t.Errorf("the 18th cost %d, want four times %d", got, w.head().BaseFee)
	}
}

// TestTimersConserve runs random blocks of everything that touches timers. Every
// block is held to conservation and to what the timers hold (in step), and a
// second execution to the same receipts and state. Rerun one case with
// -run 'TestTimersConserve/seed=3'.
func TestTimersConserve(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			w := newWorkshop(t, func(p *params.Params) {
				p.Timer.RingBlocks, p.Timer.QueueEpochs, p.Timer.MaxUnfundedDeferrals = 8, 2, 12
				p.Timer.BaseDeposit = chain.WeiPerCBY / 10
			})
			var ids [][]byte
			fired := 0
			for range 60 {
				h := uint64(w.height) + 1
				var tx *chain.VerifiedTx
				switch rng.IntN(7) {
				case 0, 1:
					tx = w.message("at", uintArg(h+rng.Uint64N(40)))
				case 2:
					tx = w.message("every", uintArg(1+rng.Uint64N(9)))
				case 3:
					tx = w.message("bidding", cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), h+1+rng.Uint64N(9)), w.addr[:]))
				case 4:
					tx = w.message("fails", uintArg(h+1+rng.Uint64N(9)))
				case 5:
					if len(ids) > 0 {
						tx = w.message("cancel", ids[rng.IntN(len(ids))])
					}
				}
				if rng.IntN(5) == 0 {
					w.drain(chain.Wei(rng.Uint64N(3)) * chain.WeiPerCBY)
				}
				w.base.PerCycle = chain.Wei(1 + rng.Uint64N(2)*rng.Uint64N(8))
				var txs []*chain.VerifiedTx
				if tx != nil {
					txs = append(txs, tx)
				}
				again, err := w.try(txs...)
				if err != nil {
					t.Fatal(err)
				}
				same := w.state.With(again.Delta)
				r := w.step(txs...)
				if fmt.Sprint(again.Receipts) != fmt.Sprint(r.Receipts) || !reflect.DeepEqual(same.Storages, w.state.Storages) {
					t.Fatalf("block %d: a second execution differs", w.height)
				}
				checkUse(t, r)
				for i, receipt := range r.Receipts {
					if i < len(txs) && len(receipt.Output) > 60 {
						ids = append(ids, receipt.Output)
					}
					if receipt.Lane == chain.LaneTimer {
						fired++
					}
				}
			}
			if fired < 10 {
				t.Errorf("only %d firings", fired)
			}
		})
	}
}

// checkUse holds the timer lane to its share.
func checkUse(t *testing.T, r exec.Result) {
	t.Helper()
	var used chain.Cycles
	for _, receipt := range r.Receipts {
		if receipt.Lane == chain.LaneTimer {
			used += receipt.CyclesUsed
		}
	}
	if got := r.Used[chain.LaneTimer].Cycles; got > 2_000_000 || got < used {
		t.Fatalf("the timer lane used %d cycles, its firings %d", got, used)
	}
}

// TestMaxTimers: the entitlement's limit is a trap, the protocol's a refusal that a
// program may catch; of two that are the same number, the entitlement's comes first. Who made
// the actor has timers of its own, and sets one only for an actor that may have one more.
func TestMaxTimers(t *testing.T) { // entitlements §9.8; musts E18, E20
	for _, tt := range []struct {
		name        string
		most        int // of the entitlement; 0: none
		perActor    uint64
		holds       uint64
		many, order uint16 // codes of one more, by the program and by who made it
	}{
		{"the entitlement's is lower", 3, 1024, 3, chain.CodeEntitlementQuota, chain.CodeEntitlementQuota},
		{"both are the same", 3, 3, 3, chain.CodeEntitlementQuota, chain.CodeEntitlementQuota},
		{"the protocol's is lower", 4, 3, 3, chain.CodeReverted, chain.CodeOK},
		{"the protocol's alone", 0, 3, 3, chain.CodeReverted, chain.CodeOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := oneValidator(t)
			c.engine = testEngine(t)
			c.g.Params.Timer.MaxPerActor = tt.perActor
			schedule := limited("timer.schedule")
			if tt.most > 0 {
				schedule = limited("timer.schedule", "max_timers", tt.most)
			}
			addr, r := c.deploy(alice, clockwork, manifestOf(limited("econ.hold_balance"), limited("storage.kv"), schedule))
			if r.Code != chain.CodeOK {
				t.Fatalf("deploy: %+v", r)
			}
			c.give(addr, 100*chain.WeiPerCBY)
			w := &workshop{c, addr}
			many := func(n uint64) uint16 {
				return w.call("many", cbor.AppendUint(cbor.AppendUint(cbor.AppendArray(nil, 2), 50), n)).Code
			}
			if got := many(tt.holds + 1); got != tt.many {
				t.Errorf("%d of %d: %s", tt.holds+1, tt.holds, chain.CodeName(got))
			}
			if got := many(tt.holds); got != chain.CodeOK {
				t.Errorf("%d of %d: %s", tt.holds, tt.holds, chain.CodeName(got))
			}
			if got := many(1); got != tt.many {
				t.Errorf("one more: %s", chain.CodeName(got))
			}
			tick := w.order(alice, chain.OpTimerSchedule, uintArg(60), cbor.AppendNull(nil), cbor.AppendText(nil, "tick"), cbor.AppendBytes(nil, cbor.AppendNull(nil)))
			if got := w.step(tick).Receipts[0].Code; got != tt.order {
				t.Errorf("one more by who made it: %s", chain.CodeName(got))
			}
		})
	}
}
