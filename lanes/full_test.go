package lanes

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// small is a pool with few places in the user lane.
func small(t *testing.T, params params.Params, view state.View, places int) *Lanes {
	t.Helper()
	cfg := DefaultConfig()
	cfg.LaneTxs[chain.LaneUser] = places
	l, err := New(cfg, &params, testChain, FinalizedHead{View: view, BaseFees: evenFees(1)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// actors adds accounts with code.
func (a accounts) withActors(n int) accounts {
	for i := range n {
		a.of[chain.Address{0xac, 1, byte(i)}] = accountWithCode()
	}
	return a
}

// TestWhatNeverRunsLeavesFirst fills a lane with messages to an actor that has no cycles
// for them, at a high tip (attack B6 of the soundness review: 50 of 50 honest transfers
// were refused). All honest ones get in and are packed.
func TestWhatNeverRunsLeavesFirst(t *testing.T) {
	const places, honest = 100, 90
	params := params.Default()
	view := wealthy().withActors(2)
	for _, limit := range []chain.Cycles{2_000_000, 900_000} {
		l := small(t, params, view, places)
		var m maker
		to := chain.Address{0xac, 1, 0}
		for i := range places {
			tx := m.transfer(byte(i), 0, 1_000, limit)
			tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = &to, message("none"), 100
			if err := l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0]; err != nil {
				t.Fatal(err)
			}
		}
		barred := l.Stats().Lanes[chain.LaneUser].Barred
		took := 0
		for i := range honest {
			if l.Admit(t.Context(), []*chain.VerifiedTx{m.transfer(byte(100+i), 0, 0, 21_000)})[0] == nil {
				took++
			}
		}
		req := request(&params, view)
		req.Left = func(chain.Address) (chain.Cycles, error) { return 0, nil }
		packed := len(mustPack(t, l, req))
		t.Logf("limits of %d: %d of %d messages barred, %d of %d transfers in the pool, %d in the block", limit, barred, places, took, honest, packed)
		if 10*took < 9*honest-10 || packed < took {
			t.Errorf("limits of %d: %d of %d honest transfers in the pool, %d packed", limit, took, honest, packed)
		}
	}
}

// TestWhatMayComeToNothingLeavesFirst fills a lane, at a high tip, with what no block has
// room for more than a few of, or with payments that wait for such. All honest transfers
// get in and are packed.
func TestWhatMayComeToNothingLeavesFirst(t *testing.T) {
	const places, honest, others = 200, 100, 56 // where the senders of the crowd begin
	params := params.Default()
	deployment := func(tx *chain.VerifiedTx) *chain.VerifiedTx {
		tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = nil, deploymentPayload(), 20_000
		return tx
	}
	to := chain.Address{0xac, 1, 0}
	for _, tt := range []struct {
		name string
		make func(m *maker, i int) *chain.VerifiedTx
	}{
		{"deployments of strangers", func(m *maker, i int) *chain.VerifiedTx {
			return deployment(m.transfer(byte(others+i), 0, 1_000, params.MaxTxCycles))
		}},
		{"deployments of who used all that they might", func(m *maker, i int) *chain.VerifiedTx {
			return deployment(m.transfer(byte(100+i%10), uint64(i/10), 1_000, 2_000_000))
		}},
		{"payments with large limits", func(m *maker, i int) *chain.VerifiedTx {
			return m.transfer(byte(others+i), 0, 1_000, params.MaxTxCycles)
		}},
		{"payments behind a message that its actor never has the cycles for", func(m *maker, i int) *chain.VerifiedTx {
			tx := m.transfer(byte(100+i%5), uint64(i/5), 1_000, 21_000)
			if i < 5 {
				tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit, tx.Tx.CyclesLimit = &to, message("none"), 100, 1_900_000
			}
			return tx
		}},
	} {
		l := small(t, params, wealthy().withActors(1), places)
		var m maker
		for i := range 10 {
			lesson := deployment(m.transfer(byte(100+i), 0, 0, 2_000_000))
			l.uses.learn([]*chain.VerifiedTx{lesson}, []chain.Receipt{{TxHash: lesson.Hash, CyclesUsed: 2_000_000, CellsUsed: 20_000}})
		}
		for i := range places {
			if err := l.Admit(t.Context(), []*chain.VerifiedTx{tt.make(&m, i)})[0]; err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
		took := 0
		for i := range honest {
			if l.Admit(t.Context(), []*chain.VerifiedTx{m.transfer(byte(i/2), uint64(i%2), 0, 21_000)})[0] == nil {
				took++
			}
		}
		t.Logf("%s: %d of %d honest transfers in the pool, %d of %d barred", tt.name, took, honest, l.Stats().Lanes[chain.LaneUser].Barred, places)
		if 10*took < 9*honest {
			t.Errorf("%s: %d of %d honest transfers in the pool", tt.name, took, honest)
		}
	}
}

// TestReplacingBarsWhatStandsBehind: payments at a high tip are barred when what stands
// before them is replaced by what may come to nothing, and have their places again when it
// has gone.
func TestReplacingBarsWhatStandsBehind(t *testing.T) {
	params, view := params.Default(), wealthy()
	l := small(t, params, view, 100)
	var m maker
	for nonce := range uint64(5) {
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{m.transfer(1, nonce, 10, 21_000)})[0]; err != nil {
			t.Fatal(err)
		}
	}
	barred := func() int { return l.Stats().Lanes[chain.LaneUser].Barred }
	if n := barred(); n != 0 {
		t.Fatalf("%d payments are barred", n)
	}
	wide := m.transfer(1, 1, 20, params.MaxTxCycles)
	wide.Tx.MaxFeePerCell = 20
	if err := l.Admit(t.Context(), []*chain.VerifiedTx{wide})[0]; err != nil {
		t.Fatal(err)
	}
	if n := barred(); n != 3 {
		t.Errorf("%d payments are barred behind a wide one, want 3", n)
	}
	gone := FinalizedHead{Height: 1, View: view.with(chain.Address{1}, 2, 1_000*chain.WeiPerCBY), BaseFees: evenFees(1), Touched: []chain.Address{{1}}}
	if err := l.Finalized(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if s := l.Stats().Lanes[chain.LaneUser]; s.Barred != 0 || s.Txs != 3 {
		t.Errorf("%d of %d payments are barred when it has gone", s.Barred, s.Txs)
	}
}

// TestLargeBodiesShutNobodyOut: where large bodies fill the bytes of a lane, small ones find
// their places all the same, and all together stay below what lane and places hold.
func TestLargeBodiesShutNobodyOut(t *testing.T) {
	const places, honest = 100, 80
	params, cfg := params.Default(), DefaultConfig()
	cfg.LaneTxs[chain.LaneUser], cfg.LaneBytes[chain.LaneUser] = places, 500_000
	l, err := New(cfg, &params, testChain, FinalizedHead{View: wealthy(), BaseFees: evenFees(1)})
	if err != nil {
		t.Fatal(err)
	}
	var m maker
	held := 0
	offer := func(sender byte, tip chain.Wei, size int) bool {
		tx := m.transfer(sender, 0, tip, 21_000)
		tx.Body = make([]byte, size)
		if l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0] != nil {
			return false
		}
		held += size
		return true
	}
	for i, size := range []int{120_000, 120_000, 120_000, 120_000, 20_000, 4_000, 2_000, 1_100, 1_100} {
		offer(byte(i), 1_000, size)
	}
	for i := range byte(honest) {
		if !offer(100+i, 0, 1_024) {
			t.Errorf("small body %d is refused", i)
		}
	}
	if offer(250, 0, 20_000) {
		t.Error("a large body got in beside others that pay more")
	}
	if most := cfg.LaneBytes[chain.LaneUser] + places*cfg.SmallBytes; held > most || held < 500_000 {
		t.Errorf("%d bytes wait, want at most %d", held, most)
	}
}

// TestListsCountAsBytes: what is read out of a large body counts against the bytes of a lane
// as the body does, so that lists do not hold twice what the lane may.
func TestListsCountAsBytes(t *testing.T) {
	cfg := DefaultConfig()
	cfg.LaneBytes[chain.LaneUser] = 100_000
	params := params.Default()
	l, err := New(cfg, &params, testChain, FinalizedHead{View: wealthy(), BaseFees: evenFees(1)})
	if err != nil {
		t.Fatal(err)
	}
	var m maker
	in, took := 0, 0
	for i := range byte(100) {
		tx := m.transfer(i, 0, 1, 21_000)
		for k := range byte(100) {
			tx.Tx.AccessList = append(tx.Tx.AccessList, chain.AccessEntry{Address: chain.Address{k}, Keys: nil})
		}
		tx.Body = make([]byte, 2_300) // of 23 bytes each
		tx.Tx.CellsLimit = 10_000
		if l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0] == nil {
			in++
			took += len(tx.Body) + 48*len(tx.Tx.AccessList)
		}
	}
	places := in * cfg.SmallBytes
	if most := cfg.LaneBytes[chain.LaneUser] + places; in < 10 || took > most {
		t.Errorf("%d transactions hold %d bytes, want at most %d", in, took, most)
	}
}

// TestNoLaneHoldsIt: limits that no block has the room for in the lane are refused, and
// those that an empty one has are not.
func TestNoLaneHoldsIt(t *testing.T) {
	params := params.Default()
	var m maker
	senders := map[chain.Address]bool{}
	for i := range byte(3) {
		senders[m.transfer(i, 0, 1, 21_000).Sender] = true
	}
	l := small(t, params, registered{wealthy(), senders}, 100)
	room := roomOf(&params, chain.LaneRunner)
	for i, tt := range []struct {
		name   string
		cycles chain.Cycles
		cells  chain.Cells
		ok     bool
	}{
		{"all of the lane", room.Cycles, room.Cells, true},
		{"a cycle more", room.Cycles + 1, 1_000, false},
		{"a cell more", 100_000, room.Cells + 1, false},
	} {
		tx := m.in(chain.LaneRunner, m.transfer(byte(i), 0, 1, tt.cycles))
		tx.Tx.To, tx.Tx.CellsLimit = &chain.AddrRunnerRegistry, tt.cells
		tx.Tx.Payload = []byte{0x81, chain.OpRunnerHeartbeat}
		err := l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0]
		if refused := new(fees.LimitError); errors.As(err, &refused) == tt.ok || tt.ok && err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestACrowdBarsOnlyItself: what pays more is not counted behind what pays less, small
// messages not behind large ones, others' actors not at all; and who is barred is
// served when the others are gone.
func TestACrowdBarsOnlyItself(t *testing.T) {
	params := params.Default()
	view := wealthy().withActors(2)
	l := small(t, params, view, 1_000)
	var m maker
	send := func(sender, actor byte, tip chain.Wei, limit chain.Cycles) WaitState {
		t.Helper()
		to := chain.Address{0xac, 1, actor}
		tx := m.transfer(sender, 0, tip, limit)
		tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = &to, message("go"), 100
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0]; err != nil {
			t.Fatal(err)
		}
		w, ok, err := l.Lookup(t.Context(), tx.Hash)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		return w.State
	}
	for i := range byte(5) { // ten million cycles: two saved blocks and eight to come
		if got := send(i, 0, 1, 2_000_000); got != WaitExecutable {
			t.Fatalf("message %d is %v", i, got)
		}
	}
	for _, tt := range []struct {
		name   string
		got    WaitState
		barred bool
	}{
		{"one more", send(10, 0, 1, 2_000_000), true},
		{"one that pays less", send(11, 0, 0, 2_000_000), true},
		{"one that pays more", send(12, 0, 100, 2_000_000), false},
		{"a small one", send(13, 0, 1, 100_000), false},
		{"one to another actor", send(14, 1, 1, 2_000_000), false},
	} {
		if (tt.got == WaitBarred) != tt.barred {
			t.Errorf("%s is %v", tt.name, tt.got)
		}
	}
	next := view.with(chain.Address{0}, 1, chain.WeiPerCBY).with(chain.Address{1}, 1, chain.WeiPerCBY)
	if err := l.Finalized(t.Context(), FinalizedHead{Height: 1, View: next, BaseFees: evenFees(1), Touched: []chain.Address{{0}, {1}}}); err != nil {
		t.Fatal(err)
	}
	if got := l.Stats().Lanes[chain.LaneUser].Barred; got != 1 {
		t.Errorf("%d are barred when the one that pays more has one place of the two that are free, want 1", got)
	}
}

// TestLimitsHoldNoActor: messages with limits far above what the handler takes hold no
// more than a fourth of their limits before a popular actor, so that who keeps others from
// it pays for as much of it as they would.
func TestLimitsHoldNoActor(t *testing.T) {
	params := params.Default()
	l := small(t, params, wealthy().withActors(1), 1_000)
	var m maker
	to := chain.Address{0xac, 1, 0}
	call := func(sender byte, limit chain.Cycles) *chain.VerifiedTx {
		tx := m.transfer(sender, 0, 1, limit)
		tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = &to, message("go"), 100
		return tx
	}
	lesson := call(250, 100_000)
	l.uses.learn([]*chain.VerifiedTx{lesson}, []chain.Receipt{{TxHash: lesson.Hash, CyclesUsed: 25_000}})
	stands := func(tx *chain.VerifiedTx) WaitState {
		t.Helper()
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0]; err != nil {
			t.Fatal(err)
		}
		w, _, err := l.Lookup(t.Context(), tx.Hash)
		if err != nil {
			t.Fatal(err)
		}
		return w.State
	}
	held := 0
	for i := range byte(100) {
		if stands(call(i, 1_000_000)) == WaitExecutable {
			held++
		}
	}
	if held < 38 || held > 42 {
		t.Errorf("%d messages with limits of a block's cycles fill the places before an actor, want about 40", held)
	}
	l = small(t, params, wealthy().withActors(1), 1_000)
	l.uses.learn([]*chain.VerifiedTx{lesson}, []chain.Receipt{{TxHash: lesson.Hash, CyclesUsed: 25_000}})
	for i := range byte(10) {
		stands(call(i, 1_000_000))
	}
	ready := 0
	for i := range byte(50) {
		if stands(call(100+i, 100_000)) == WaitExecutable {
			ready++
		}
	}
	if ready != 50 {
		t.Errorf("%d of 50 messages of others stand in tiers beside ten with large limits", ready)
	}
}

// TestMessagesThatTakeNothing: messages whose limits leave their handlers no cycles come
// and go like others, alone and beside others.
func TestMessagesThatTakeNothing(t *testing.T) {
	params := params.Default()
	l := small(t, params, wealthy().withActors(1), 1_000)
	var m maker
	to := chain.Address{0xac, 1, 0}
	var sent []*chain.VerifiedTx
	for i, limit := range []chain.Cycles{21_000, 100_000, 21_000, 21_000, 50_000} {
		tx := m.transfer(byte(i), 0, 1, limit)
		tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = &to, message("go"), 100
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0]; err != nil {
			t.Fatal(err)
		}
		sent = append(sent, tx)
	}
	for _, i := range []int{1, 4, 0, 2, 3} {
		if err := l.Discard(t.Context(), sent[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if s := l.Stats().Lanes[chain.LaneUser]; s.Txs != 0 {
		t.Errorf("%d are left", s.Txs)
	}
}

// TestNothingWaitsForEver: what has waited for three hours goes, whatever it waits for.
func TestNothingWaitsForEver(t *testing.T) {
	params, view := params.Default(), wealthy()
	l := small(t, params, view, 1_000)
	var m maker
	at := func(h chain.Height, millis uint64) {
		t.Helper()
		if err := l.Finalized(t.Context(), FinalizedHead{Height: h, Millis: millis, View: view, BaseFees: evenFees(1)}); err != nil {
			t.Fatal(err)
		}
	}
	const start, limit = 1_800_000_000_000, 3 * 3_600_000
	at(1, start)
	for i := range byte(100) {
		tx := m.transfer(i, uint64(i%2), 1, 21_000) // every other one waits for a nonce
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0]; err != nil {
			t.Fatal(err)
		}
	}
	h := chain.Height(2)
	for ; h < 100; h++ {
		at(h, start+limit)
	}
	if got := l.Stats().Lanes[chain.LaneUser].Txs; got != 100 {
		t.Errorf("%d of 100 left at the limit", got)
	}
	for ; h < 200; h++ { // a shard at each head
		at(h, start+limit+1)
	}
	if s := l.Stats(); s.Lanes[chain.LaneUser].Txs != 0 || s.Aged != 100 {
		t.Errorf("%d of 100 left beyond the limit, %d counted", s.Lanes[chain.LaneUser].Txs, s.Aged)
	}
}

// TestBarredIsNoAnswerToAFullLane: what cannot run now is told so.
func TestBarredIsNoAnswerToAFullLane(t *testing.T) {
	params, view := params.Default(), wealthy().withActors(1)
	l := small(t, params, view, 5)
	var m maker
	to := chain.Address{0xac, 1, 0}
	var err error
	for i := range byte(6) {
		tx := m.transfer(i, 0, 1, 2_000_000)
		tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = &to, message("go"), 100
		err = l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0]
	}
	var full *LaneFullError
	if !errors.As(err, &full) || full.Tier >= 0 {
		t.Errorf("the sixth: %v, want a full lane and that it cannot run", err)
	}
}

// TestReconsider: a target that got code after a payment to it was admitted makes it a
// message, with a call of its actor; what is one already stands behind what can run for
// some heads, and then where it stood.
func TestReconsider(t *testing.T) {
	params := params.Default()
	before, after := wealthy(), wealthy().withActors(1)
	l := small(t, params, before, 10)
	var m maker
	to := chain.Address{0xac, 1, 0}
	pay := func(sender byte) *chain.VerifiedTx {
		tx := m.transfer(sender, 0, 1, 100_000)
		tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = &to, message("go"), 100
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0]; err != nil {
			t.Fatal(err)
		}
		return tx
	}
	first := pay(1)
	if err := l.Finalized(t.Context(), FinalizedHead{Height: 1, View: after, BaseFees: evenFees(1)}); err != nil {
		t.Fatal(err)
	}
	second := pay(2)
	was, _ := l.pool.lookup(second.Hash)
	if err := l.Reconsider(t.Context(), []*chain.VerifiedTx{first, second}); err != nil {
		t.Fatal(err)
	}
	if p, ok := l.pool.lookup(first.Hash); !ok || !p.calls {
		t.Errorf("the payment is still one: %+v, %v", p, ok)
	}
	for h := chain.Height(2); h < 12; h++ {
		is, _ := l.pool.lookup(second.Hash)
		if barred := h < 10; (is.State == WaitBarred) != barred || !barred && is != was {
			t.Errorf("at head %d the message stands at %+v, first at %+v", h-1, is, was)
		}
		if err := l.Finalized(t.Context(), FinalizedHead{Height: h, View: after, BaseFees: evenFees(1)}); err != nil {
			t.Fatal(err)
		}
	}
}

// deploymentPayload is that of a deployment which has the form of one.
func deploymentPayload() []byte {
	b := cbor.AppendBytes(cbor.AppendBytes(cbor.AppendArray(nil, 4), []byte("x")), []byte{1})
	return cbor.AppendNull(cbor.AppendArray(b, 0))
}
