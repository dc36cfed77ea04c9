package lanes

import (
	"encoding/binary"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// crowdRequest asks for a block on the head, with the accounts read counted.
func crowdRequest(params *params.Params, reads *int) *PackRequest {
	return &PackRequest{
		Params: params, Height: 2, MaxBytes: 1 << 20, // the parent is not the head
		account: func(chain.Address) (account, error) { *reads++; return rich, nil },
		expect:  func(uint64) (chain.Usage, bool) { return chain.Usage{}, false },
	}
}

// offerOf makes n offers of as many senders.
func offerOf(p *bare, first, n int, key uint64, tx chain.Tx) {
	for i := first; i < first+n; i++ {
		v := &chain.VerifiedTx{Body: make([]byte, 120), Sender: chain.Address{2, byte(i), byte(i >> 8), byte(i >> 16)}, Lane: chain.LaneUser}
		body := tx
		body.MaxFeePerCycle, body.MaxFeePerCell, v.Tx = 1_000, 1_000, &body
		binary.BigEndian.PutUint64(v.Hash[:], uint64(i)+1)
		o := offer{Tx: v, Cost: 1, Key: key}
		if key == 0 {
			o.Unused = chain.Usage{Cycles: tx.CyclesLimit - 21_000, Cells: tx.CellsLimit}
		}
		if _, err := p.shardOf(v.Sender).add(&o, rich, false); err != nil {
			panic(err)
		}
	}
}

// TestLargeOnesEndNoLane (ADR 132): a crowd whose limits are those of half a block's cells,
// and finds no room, keeps nobody out who takes none.
func TestLargeOnesEndNoLane(t *testing.T) {
	for _, crowd := range []int{300, 10_000} {
		p, params, reads := newBare(validatorConfig(), 20), params.Default(), 0
		offerOf(p, 0, 1, 7, chain.Tx{CyclesLimit: 30_000, CellsLimit: 600, TipPerCycle: 900})
		offerOf(p, 1, crowd, 7, chain.Tx{CyclesLimit: 30_000, CellsLimit: 500_000, TipPerCycle: 100, TipPerCell: 100})
		offerOf(p, 1+crowd, 100, 0, chain.Tx{CyclesLimit: 21_000, TipPerCycle: 1})
		got, err := p.pick(crowdRequest(&params, &reads))
		if err != nil {
			t.Fatal(err)
		}
		payments := 0
		for _, tx := range got.Txs {
			if tx.Tx.CellsLimit == 0 {
				payments++
			}
		}
		if payments != 100 {
			t.Errorf("a crowd of %d: %d payments of 100 in the block", crowd, payments)
		}
	}
}

// TestLeastAsksFirst (ADR 132): where a block is packed again, messages that look as if they
// used much stand behind those that use little, whatever they pay on what they do not use;
// and what waits costs no reads of accounts.
func TestLeastAsksFirst(t *testing.T) {
	const crowd = 5_000
	p, params, reads := newBare(validatorConfig(), 20), params.Default(), 0
	offerOf(p, 0, crowd, 7, chain.Tx{CyclesLimit: 30_000, CellsLimit: 300_000, TipPerCycle: 100, TipPerCell: 100})
	offerOf(p, crowd, 20, 8, chain.Tx{CyclesLimit: 100_000, CellsLimit: 5_000, TipPerCycle: 1})
	req := crowdRequest(&params, &reads)
	req.expect = func(key uint64) (chain.Usage, bool) {
		return chain.Usage{Cycles: 30_000, Cells: map[uint64]chain.Cells{7: 300_000, 8: 3_000}[key]}, true
	}
	req.Used = map[chain.Hash]chain.Usage{{0: 0xff}: {Cycles: 1}}
	got, err := p.pick(req)
	if err != nil {
		t.Fatal(err)
	}
	small := 0
	for _, tx := range got.Txs {
		if tx.Tx.CellsLimit == 5_000 {
			small++
		}
	}
	if small != 20 || len(got.Txs) <= small {
		t.Errorf("%d of 20 small messages among %d in the block", small, len(got.Txs))
	}
	if reads > 100 {
		t.Errorf("%d accounts were read for %d transactions", reads, len(got.Txs))
	}
}

// TestWhoPaysMoreIsFirstAnew (ADR 142): where a selection used so much more than was expected
// that it is made again, what ran of it has no better right to the block than a message that
// pays more and found no room for it.
func TestWhoPaysMoreIsFirstAnew(t *testing.T) {
	const turned, honest = 25, 4
	p, params, reads := newBare(validatorConfig(), 20), params.Default(), 0
	offerOf(p, 0, turned, 7, chain.Tx{CyclesLimit: 1_000_000, CellsLimit: 1_000})
	offerOf(p, turned, honest, 8, chain.Tx{CyclesLimit: 400_000, CellsLimit: 1_000, TipPerCycle: 1})
	req := crowdRequest(&params, &reads)
	req.Used, req.Doubt, req.Anew = map[chain.Hash]chain.Usage{}, true, true
	for i := range turned { // all of these ran, and took the block
		var hash chain.Hash
		binary.BigEndian.PutUint64(hash[:], uint64(i)+1)
		req.Used[hash] = chain.Usage{Cycles: 1_000_000, Cells: 10}
	}
	got, err := p.pick(req)
	if err != nil {
		t.Fatal(err)
	}
	in := 0
	for _, tx := range got.Txs {
		if tx.Tx.TipPerCycle > 0 {
			in++
		}
	}
	if in != honest || len(got.Txs) == in {
		t.Errorf("%d of %d messages that pay more among %d in the block", in, honest, len(got.Txs))
	}
}

// TestPostponedAreBounded: more than a block could take do not wait for the rest of it.
func TestPostponedAreBounded(t *testing.T) {
	var later postponed
	for range 3 * postponedMost {
		later.add(&entry{}, &count{uses: chain.Usage{Cycles: 30_000, Cells: 1}}, 20, false)
		later.add(&entry{}, &count{uses: chain.Usage{Cells: 1 << 63}}, 20, true)
	}
	for size, list := range later {
		if want := map[int]int{15: postponedMost, 2*sizes - 1: postponedMost}[size]; len(list) != want {
			t.Errorf("%d of size %d wait, want %d", len(list), size, want)
		}
	}
}

// TestTipsOnWhatIsUsed (ADR 132): a tip on cells that are maybe not used ranks a message no
// higher than its tip on what it uses in any case.
func TestTipsOnWhatIsUsed(t *testing.T) {
	p := &pricing{cellWeight: 20}
	e := func(tips chain.FeePair, least chain.Usage) level {
		tx := &chain.Tx{MaxFeePerCycle: 1_000, MaxFeePerCell: 1_000, TipPerCycle: tips.PerCycle, TipPerCell: tips.PerCell}
		return p.levelOfEntry(&entry{tx: &chain.VerifiedTx{Tx: tx}, expected: chain.Usage{Cycles: 30_000, Cells: 400_000}, least: least})
	}
	least := chain.Usage{Cycles: 21_000, Cells: 10}
	honest := p.levelOf(&chain.Tx{MaxFeePerCycle: 1_000, MaxFeePerCell: 1_000, TipPerCycle: 1}, chain.Usage{Cycles: 21_000})
	if got := e(chain.FeePair{PerCell: 900}, least); got >= honest {
		t.Errorf("a tip on cells that nobody uses: level %d, a payment with a tip of 1 stands at %d", got, honest)
	}
	if got, was := e(chain.FeePair{PerCycle: 45, PerCell: 900}, least), e(chain.FeePair{PerCycle: 45, PerCell: 900}, chain.Usage{}); got != was {
		t.Errorf("who pays as much for what is used: level %d, want %d", got, was)
	}
}

// TestReservedBuckets (ADR 133): messages with limits of most that an actor has, which use
// next to nothing of it, known or not, leave the actor to others that pay less.
func TestReservedBuckets(t *testing.T) {
	actor := chain.Address{0xac}
	for _, known := range []bool{true, false} {
		p, params, reads := newBare(validatorConfig(), 20), params.Default(), 0
		call := func(n int, key uint64, limit chain.Cycles, tip chain.Wei) {
			v := &chain.VerifiedTx{Body: make([]byte, 120), Sender: chain.Address{3, byte(n)}, Lane: chain.LaneUser, Hash: chain.Hash{byte(n), 1}}
			v.Tx = &chain.Tx{To: &actor, MaxFeePerCycle: 1_000, MaxFeePerCell: 1_000, TipPerCycle: tip, CyclesLimit: limit}
			o := offer{Tx: v, Cost: 1, Key: key, Calls: call{Actor: &actor, Most: limit - 21_000}, Least: chain.Usage{Cycles: 21_000}}
			if _, err := p.shardOf(v.Sender).add(&o, rich, false); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 3 {
			call(n, 1, 900_000, 100)
		}
		for n := range 8 {
			call(10+n, 2, 400_000, 1)
		}
		req := crowdRequest(&params, &reads)
		req.Left = func(chain.Address) (chain.Cycles, error) { return params.Actor.BlockCyclesBurst, nil }
		req.expect = func(key uint64) (chain.Usage, bool) {
			return chain.Usage{Cycles: 22_000 * chain.Cycles(key)}, known || key == 2
		}
		got, err := p.pick(req)
		if err != nil {
			t.Fatal(err)
		}
		small := 0
		for _, tx := range got.Txs {
			if tx.Tx.CyclesLimit == 400_000 {
				small++
			}
		}
		if small != 8 {
			t.Errorf("known %v: %d of 8 messages with usual limits are counted on, %d in all, %d overcommitted", known, small, len(got.Txs), len(got.Overcommitted))
		}
	}
}
