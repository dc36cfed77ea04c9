package lanes

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// tx returns a user-lane transfer of 100 bytes that pays the given tip per cycle.
func (m *maker) tx(sender byte, nonce uint64, tip chain.Wei) *chain.VerifiedTx {
	m.serial++
	tx := &chain.VerifiedTx{
		Tx:     &chain.Tx{Nonce: nonce, CyclesLimit: 21_000, MaxFeePerCycle: 1_000_000, MaxFeePerCell: 1_000_000, TipPerCycle: tip},
		Body:   make([]byte, 100),
		Sender: chain.Address{sender},
		Lane:   chain.LaneUser,
	}
	binary.BigEndian.PutUint64(tx.Hash[:], m.serial)
	return tx
}

func testPool() *bare {
	cfg := validatorConfig()
	cfg.SenderTxs, cfg.NonceGap = 4, 2
	cfg.LaneTxs[chain.LaneUser] = 4
	cfg.LaneBytes[chain.LaneUser] = 1_000
	return newBare(cfg, 20)
}

var rich = account{Spendable: math.MaxUint64}

// mustAdd admits transactions that cost nothing.
func mustAdd(t *testing.T, p *bare, txs ...*chain.VerifiedTx) {
	t.Helper()
	for _, tx := range txs {
		if _, err := p.add(tx, 0, rich); err != nil {
			t.Fatalf("add %s: %v", names([]*chain.VerifiedTx{tx}), err)
		}
	}
}

// queued lists a lane from the first to be picked to the last, queued ones at
// the end.
func queued(p *bare, lane chain.LaneID) string {
	var out []*chain.VerifiedTx
	for l, ok := highestBelow(p.filled(lane), level(numLevels)); ok; l, ok = highestBelow(p.filled(lane), l) {
		for _, e := range p.at(lane, l) {
			out = append(out, e.tx)
		}
	}
	return names(out)
}

func TestRefusalsCarryTheirNumbers(t *testing.T) {
	var m maker
	at := account{Nonce: 5, Spendable: 100}
	waiting := func() *bare { // nonces 5 and 6, at 30 each
		p := testPool()
		for n := uint64(5); n < 7; n++ {
			if _, err := p.add(m.tx(1, n, 100), 30, at); err != nil {
				t.Fatal(err)
			}
		}
		return p
	}
	tests := []struct {
		name  string
		nonce uint64
		cost  chain.Wei
		tip   chain.Wei
		want  error
	}{
		{"used nonce", 4, 0, 1, &NonceTooLowError{Got: 4, Want: 5}},
		{"next nonce", 7, 40, 1, nil},
		{"largest gap", 9, 40, 1, nil},
		{"beyond the gap", 10, 0, 1, &NonceGapError{Got: 10, Next: 7, GapMax: 2}},
		{"gap that would overflow", math.MaxUint64, 0, 1, &NonceGapError{Got: math.MaxUint64, Next: 7, GapMax: 2}},
		{"one unit too dear", 7, 41, 1, &BalanceError{Spendable: 100, Waiting: 60, Cost: 41}},
		{"alone above the balance", 7, 101, 1, &fees.FundsError{Need: 101, Spendable: 100}},
		{"cost that would overflow", 7, math.MaxUint64, 1, &fees.FundsError{Need: math.MaxUint64, Spendable: 100}},
		{"replacement counts its predecessor's cost as free", 6, 70, 1_000, nil},
		{"replacement beyond the balance", 6, 71, 1_000, &BalanceError{Spendable: 100, Waiting: 30, Cost: 71}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := waiting()
			tx := m.tx(1, tt.nonce, tt.tip)
			tx.Tx.MaxFeePerCycle, tx.Tx.MaxFeePerCell = 2_000_000, 2_000_000
			_, err := p.add(tx, tt.cost, at)
			if !reflect.DeepEqual(err, tt.want) && (err != nil || tt.want != nil) {
				t.Errorf("got %v (%T), want %v", err, err, tt.want)
			}
			if txs, _ := p.sizes(); err != nil && txs != 2 {
				t.Errorf("refused, and the pool has %d transactions", txs)
			}
		})
	}
	p := waiting()
	known := p.shardOf(chain.Address{1}).senders[chain.Address{1}].waiting[0].tx
	if _, err := p.add(known, 0, at); !errors.Is(err, ErrKnown) {
		t.Errorf("same transaction: %v, want ErrKnown", err)
	}
}

// TestCostsThatOverflowTogether: two that the balance covers one by one, and whose sum has no
// 64 bits.
func TestCostsThatOverflowTogether(t *testing.T) {
	var m maker
	p := testPool()
	if _, err := p.add(m.tx(1, 0, 1), 60, rich); err != nil {
		t.Fatal(err)
	}
	_, err := p.add(m.tx(1, 1, 1), math.MaxUint64-59, rich)
	if want := (&BalanceError{Spendable: math.MaxUint64, Waiting: 60, Cost: math.MaxUint64 - 59}); !reflect.DeepEqual(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestSenderCap(t *testing.T) {
	var m maker
	p := testPool()
	mustAdd(t, p, m.tx(1, 0, 1), m.tx(1, 1, 1), m.tx(1, 2, 1), m.tx(1, 3, 1))
	_, err := p.add(m.tx(1, 4, 1), 0, rich)
	if want := (&SenderFullError{Waiting: 4, Max: 4}); !reflect.DeepEqual(err, want) {
		t.Errorf("fifth transaction: %v, want %v", err, want)
	}
	dear := m.tx(1, 3, 2)
	dear.Tx.MaxFeePerCycle, dear.Tx.MaxFeePerCell = 2_000_000, 2_000_000
	mustAdd(t, p, dear) // a replacement is not one more
}

// TestSenderBytes: what a sender may have spread before he pays his balance away is
// bounded in bytes, whatever is replaced, used or dropped meanwhile.
func TestSenderBytes(t *testing.T) {
	var m maker
	p := testPool()
	p.cfg.SenderBytes = 400
	large := func(nonce uint64, tip chain.Wei, bytes int) *chain.VerifiedTx {
		tx := m.tx(1, nonce, tip)
		tx.Body = make([]byte, bytes)
		tx.Tx.MaxFeePerCycle, tx.Tx.MaxFeePerCell = 1_000_000*tip, 1_000_000*tip
		return tx
	}
	refused := func(tx *chain.VerifiedTx, bytes int) {
		t.Helper()
		_, err := p.add(tx, 0, rich)
		if e := new(SenderFullError); !errors.As(err, &e) || e.Bytes != bytes || e.MaxBytes != 400 {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
	mustAdd(t, p, large(0, 1, 200), large(1, 1, 200))
	refused(large(2, 1, 1), 401)
	refused(large(1, 2, 201), 401)
	mustAdd(t, p, large(1, 2, 100), large(2, 1, 100))
	if _, used := p.refresh(chain.Address{1}, account{Nonce: 1, Spendable: math.MaxUint64}); used != 1 {
		t.Fatal(used)
	}
	mustAdd(t, p, large(3, 1, 200))
	refused(large(4, 1, 1), 401)
}

// TestReplacementNeedsTenPercent: every price must rise by ten percent, exactly.
func TestReplacementNeedsTenPercent(t *testing.T) {
	old := chain.Tx{Nonce: 3, MaxFeePerCycle: 100, MaxFeePerCell: 1, TipPerCycle: 0, TipPerCell: 15}
	f := func(name string, cycle, cell, tipCycle, tipCell chain.Wei, want error) {
		t.Helper()
		tx := chain.Tx{Nonce: 3, MaxFeePerCycle: cycle, MaxFeePerCell: cell, TipPerCycle: tipCycle, TipPerCell: tipCell}
		if err := checkReplace(&old, &tx, 10); !reflect.DeepEqual(err, want) && (err != nil || want != nil) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	f("exactly ten percent", 110, 2, 0, 17, nil)
	f("more", 1_000, 1_000, 1_000, 1_000, nil)
	f("9 percent on a fee cap", 109, 2, 0, 17, &ReplaceError{3, "max_fee_per_cycle", 109, 110})
	f("a price of 1 must become 2", 110, 1, 0, 17, &ReplaceError{3, "max_fee_per_cell", 1, 2})
	f("16.5 rounds up", 110, 2, 0, 16, &ReplaceError{3, "tip_per_cell", 16, 17})
	f("the same again", 100, 1, 0, 15, &ReplaceError{3, "max_fee_per_cycle", 100, 110})

	old = chain.Tx{Nonce: 3}
	f("nothing for nothing", 0, 0, 0, 0, &ReplaceError{3, "max_fee_per_cycle", 0, 1})
	f("a first price", 0, 0, 1, 0, nil)

	old = chain.Tx{Nonce: 3, TipPerCycle: math.MaxUint64}
	f("no price is high enough", 0, 0, math.MaxUint64, 0, &ReplaceError{3, "max_fee_per_cycle", 0, 1})
	old = chain.Tx{Nonce: 3, MaxFeePerCycle: 1 << 63, TipPerCycle: math.MaxUint64 / 11 * 10}
	f("a raise that needs 128 bits", 10_145_709_240_540_253_389, 0, math.MaxUint64/11*11, 0, nil)
}

// TestReplacementsAreBounded: one nonce does not have all nodes verify hundreds of
// transactions of which one is paid: 440 at ten percent each.
func TestReplacementsAreBounded(t *testing.T) {
	p, tx, n := newBare(validatorConfig(), 20), chain.Tx{MaxFeePerCycle: 1}, 0
	for ; ; n++ {
		v := &chain.VerifiedTx{Tx: new(chain.Tx), Sender: chain.Address{1}, Lane: chain.LaneUser, Hash: chain.Hash{byte(n), byte(n >> 8), 1}}
		*v.Tx = tx
		_, err := p.shardOf(v.Sender).add(&offer{Tx: v}, account{}, false)
		var refused *ReplaceError
		if errors.As(err, &refused) && refused.Needed > tx.MaxFeePerCycle {
			tx.MaxFeePerCycle = refused.Needed // who asks is told
			n--
			continue
		}
		if err != nil {
			break
		}
	}
	if n > 80 || n < 60 {
		t.Errorf("%d replacements of one nonce, want 8 and some 60 doublings", n)
	}
}

func TestReplacementKeepsItsTurn(t *testing.T) {
	var m maker
	p := testPool()
	first, second, third := m.tx(1, 0, 100), m.tx(2, 0, 100), m.tx(3, 0, 100)
	mustAdd(t, p, first, second, third)
	raise := func(sender byte, tip chain.Wei, fee chain.Wei) *chain.VerifiedTx {
		tx := m.tx(sender, 0, tip)
		tx.Tx.MaxFeePerCycle, tx.Tx.MaxFeePerCell = fee, fee
		return tx
	}
	mustAdd(t, p, raise(1, 110, 2_000_000))
	if got := queued(p, chain.LaneUser); got != "[01/0 02/0 03/0]" {
		t.Errorf("same tier: %s, want the replacement in the old place", got)
	}
	mustAdd(t, p, raise(3, 10_000, 2_000_000))
	if got := queued(p, chain.LaneUser); got != "[03/0 01/0 02/0]" {
		t.Errorf("higher tier: %s, want the replacement first", got)
	}
	if txs, _ := p.sizes(); p.entry(first.Hash) != nil || p.entry(third.Hash) != nil || txs != 3 {
		t.Error("a replaced transaction is still known")
	}
}

func TestFirstInFirstOutWithinTiers(t *testing.T) {
	var m maker
	p := testPool()
	p.lanes[chain.LaneUser].setCap(100, 100)
	p.lanes[chain.LaneUser].bytesMax = 1 << 20
	mustAdd(t, p,
		m.tx(1, 0, 100), m.tx(2, 0, 70), // the tier 64..127 starts with 1, 2
		m.tx(3, 0, 128), m.tx(4, 0, 255), // the tier above
		m.tx(5, 0, 127), m.tx(6, 0, 0),
		m.tx(7, 1, 4_000), // queued
		m.tx(8, 0, 64),
	)
	if got, want := queued(p, chain.LaneUser), "[03/0 04/0 01/0 02/0 05/0 08/0 06/0 07/1]"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	mustAdd(t, p, m.tx(7, 0, 65)) // unparks 07/1, which joins its tier
	if got, want := queued(p, chain.LaneUser), "[07/1 03/0 04/0 01/0 02/0 05/0 08/0 07/0 06/0]"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestFullLaneEvictsTheCheapest(t *testing.T) {
	var m maker
	other := m.tx(9, 0, 0)
	other.Lane = chain.LaneRunner
	chained := m.tx(1, 1, 900)
	large := m.tx(5, 0, 5_000)
	large.Body = make([]byte, 750)
	huge := m.tx(5, 0, 5_000)
	huge.Body = make([]byte, 951)
	tests := []struct {
		name string
		have []*chain.VerifiedTx // with a runner-lane one of no value before it
		add  *chain.VerifiedTx
		want string // the user lane afterwards, or "full"
	}{
		{"newest of the lowest tier leaves", []*chain.VerifiedTx{m.tx(1, 0, 1), m.tx(2, 0, 9), m.tx(3, 0, 1), m.tx(4, 0, 9)}, m.tx(5, 0, 9), "[02/0 04/0 05/0 01/0]"},
		{"the same tier waits outside", []*chain.VerifiedTx{m.tx(1, 0, 8), m.tx(2, 0, 9), m.tx(3, 0, 10), m.tx(4, 0, 11)}, m.tx(5, 0, 15), "full"},
		{"queued ones leave first", []*chain.VerifiedTx{m.tx(1, 0, 1), m.tx(2, 1, 900), m.tx(3, 0, 1), m.tx(4, 0, 1)}, m.tx(5, 0, 1), "[01/0 03/0 04/0 05/0]"},
		{"a queued one pushes nobody out", []*chain.VerifiedTx{m.tx(1, 0, 1), m.tx(2, 0, 1), m.tx(3, 0, 1), m.tx(4, 1, 1)}, m.tx(5, 1, 900), "full"},
		{"the end of the cheapest chain leaves", []*chain.VerifiedTx{m.tx(1, 0, 1), chained, m.tx(3, 0, 9), m.tx(4, 0, 9)}, m.tx(5, 0, 9), "[03/0 04/0 05/0 01/0]"},
		{"a rich successor of a poor one is poor", []*chain.VerifiedTx{m.tx(1, 0, 1), m.tx(2, 0, 9), m.tx(3, 0, 9), m.tx(4, 0, 1)}, m.tx(1, 1, 900), "full"},
		{"bytes count too", []*chain.VerifiedTx{m.tx(1, 0, 1), m.tx(2, 0, 9), m.tx(3, 0, 90)}, large, "[05/0 03/0 02/0]"},
		{"several leave for a large one", []*chain.VerifiedTx{m.tx(1, 0, 1), m.tx(2, 0, 9), m.tx(3, 0, 90)}, huge, "[05/0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := testPool()
			mustAdd(t, p, other)
			mustAdd(t, p, tt.have...)
			before := queued(p, chain.LaneUser)
			_, err := p.add(tt.add, 0, rich)
			var full *LaneFullError
			switch {
			case tt.want == "full" && !errors.As(err, &full):
				t.Fatalf("error %v, want a full lane", err)
			case tt.want == "full":
				tt.want = before
				if full.Lane != chain.LaneUser || full.Txs != len(tt.have) {
					t.Errorf("error %+v, want the user lane's numbers", full)
				}
			case err != nil:
				t.Fatal(err)
			}
			if got := queued(p, chain.LaneUser); got != tt.want {
				t.Errorf("lane %s, want %s", got, tt.want)
			}
			if queued(p, chain.LaneRunner) != "[09/0]" {
				t.Error("another lane lost a transaction")
			}
		})
	}
	p := testPool()
	timer := m.tx(1, 0, 100)
	timer.Lane = chain.LaneTimer
	if _, err := p.add(timer, 0, rich); err == nil {
		t.Error("the timer lane took a transaction")
	}
}

// FuzzBoundsHold: while the base fee stays within an entry's bounds, its level
// is what it was. They may be narrower than the truth; that they are of use is
// TestRepriceLooksOnlyWhereAnEdgeIsCrossed.
func FuzzBoundsHold(f *testing.F) {
	f.Add(uint64(100), uint64(90), uint64(30), uint64(5), uint64(60), uint64(60), uint64(70), uint64(70))
	f.Add(uint64(100), uint64(90), uint64(30), uint64(5), uint64(101), uint64(1), uint64(100), uint64(1))
	f.Add(uint64(0), uint64(math.MaxUint64), uint64(math.MaxUint64), uint64(0), uint64(0), uint64(0), uint64(0), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, capCycle, capCell, tipCycle, tipCell, baseCycle, baseCell, nextCycle, nextCell uint64) {
		tx := &chain.VerifiedTx{Tx: &chain.Tx{
			CyclesLimit: 30_000, CellsLimit: 500, MaxFeePerCycle: chain.Wei(capCycle), MaxFeePerCell: chain.Wei(capCell),
			TipPerCycle: chain.Wei(tipCycle), TipPerCell: chain.Wei(tipCell),
		}}
		p := pricing{base: chain.FeePair{PerCycle: chain.Wei(baseCycle), PerCell: chain.Wei(baseCell)}, cellWeight: 20}
		e := newEntry(&offer{Tx: tx}, nil)
		e.level = p.levelOf(tx.Tx, limitsOf(tx.Tx))
		b := p.boundsOf(e)
		if !b.hold(p.base) {
			t.Fatalf("bounds %+v do not hold the base fee %+v they were made at", b, p.base)
		}
		p.base = chain.FeePair{PerCycle: chain.Wei(nextCycle), PerCell: chain.Wei(nextCell)}
		if b.hold(p.base) && p.levelOf(tx.Tx, limitsOf(tx.Tx)) != e.level {
			t.Fatalf("level %d became %d at %+v within %+v", e.level, p.levelOf(tx.Tx, limitsOf(tx.Tx)), p.base, b)
		}
	})
}

// TestFullLaneRefusesWithoutALook: once a look at all shards has found the
// lowest level of a full lane, who is worth no more is refused by its own shard.
func TestFullLaneRefusesWithoutALook(t *testing.T) {
	var m maker
	p := testPool()
	for sender := range byte(4) {
		mustAdd(t, p, m.tx(sender, 0, 64))
	}
	offer := func(sender byte, tip chain.Wei) outcome {
		tx := m.tx(sender, 0, tip)
		did, err := p.shardOf(tx.Sender).add(&offer{Tx: tx}, rich, false)
		if !did.needsAll && !errors.As(err, new(*LaneFullError)) {
			t.Fatalf("into a full lane: %+v, %v", did, err)
		}
		return did
	}
	if _, err := p.add(m.tx(9, 0, 1), 0, rich); !errors.As(err, new(*LaneFullError)) {
		t.Fatalf("a cheap one: %v, want a refusal", err)
	}
	if offer(10, 1).needsAll || offer(11, 64).needsAll {
		t.Error("what is worth no more than the lowest needed a look at all shards")
	}
	if !offer(12, 128).needsAll {
		t.Error("what is worth more was refused")
	}
	p.remove(p.at(chain.LaneUser, p.levelOfTip(64))[0])
	mustAdd(t, p, m.tx(13, 0, 1)) // the lowest now
	if !offer(14, 64).needsAll {
		t.Error("a cheaper one has come, and the better one was refused")
	}
	p.checkShards(t)
}

// TestPricedOutIsNotRead: a crowd that could pay at the head, and cannot on a parent above
// it, is passed over without a look at the accounts of its senders.
func TestPricedOutIsNotRead(t *testing.T) {
	var m maker
	cfg := validatorConfig()
	p := newBare(cfg, 10)
	for i := range 200 {
		tx := m.tx(byte(i), 0, 0)
		if tx.Tx.MaxFeePerCycle = 100; i%20 == 0 {
			tx.Tx.MaxFeePerCycle = 101
		}
		mustAdd(t, p, tx)
	}
	params := params.Default()
	read := 0
	req := &PackRequest{Params: &params, Height: 2, MaxBytes: 1 << 20, account: func(chain.Address) (account, error) {
		read++
		return account{Spendable: 1 << 40}, nil
	}}
	req.BaseFees[chain.LaneUser].PerCycle = 101
	picked, err := p.pick(req)
	if err != nil || len(picked.Txs) != 10 || read != 10 {
		t.Errorf("%d picked, %d accounts read, %v; want 10 of each", len(picked.Txs), read, err)
	}
}
