package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// restingFee is the base fee of an idle chain in these tests, which a block above
// its target raises by an eighth at most.
const restingFee = 1_000

// dear makes base fees that move within a few blocks.
func dear(p *params.Params) {
	p.CyclesTarget = 2_000_000
	p.InitialBaseFee = chain.FeePair{PerCycle: restingFee, PerCell: restingFee}
	p.MinBaseFee = restingFee
}

// TestFeesOnDevnet holds what transactions cost to their estimates, to balances
// and to the base fees of the headers.
func TestFeesOnDevnet(t *testing.T) { // whitepaper §4, §17.2; resolutions 2.6, 11.22, 11.26
	l := newLiveWith(t, dear)
	list := []string{}
	for i := range 4 {
		list = append(list, l.deploy("testdata/spender.py", append(grants("storage.kv"), "--salt", fmt.Sprintf("0x%02x", i+1), "--no-init")...))
	}
	t.Run("estimates", func(t *testing.T) { l.on(t).estimates(list[0]) })
	t.Run("base fees", func(t *testing.T) { l.on(t).baseFees(list[1:]) })
	t.Run("bucket", func(t *testing.T) { l.on(t).bucket(list[0]) })
}

// spend is a message that uses so many cycles and a few.
func spend(t *testing.T, at string, cycles uint64) *chain.Tx {
	t.Helper()
	to := chain.Address(mustUnhex(t, at))
	return &chain.Tx{
		To: &to, Payload: actor.AppendMessage(nil, "spend", cbor.AppendUint(nil, cycles)),
		CyclesLimit: chain.Cycles(cycles) + 60_000, CellsLimit: 1_000, MaxFeePerCycle: 100_000, MaxFeePerCell: 100_000,
	}
}

// estimates compares what a trial says with what the block does, with limits that
// are just enough and with larger ones, which cost nothing.
func (l *live) estimates(at string) {
	t := l.t
	source, err := os.ReadFile("testdata/spender.py")
	if err != nil {
		t.Fatal(err)
	}
	manifest := cbor.AppendArray(cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements"), 0)
	deployment := actor.Deployment{Source: source, Salt: []byte{9}, Manifest: manifest}
	nobody := chain.Address{0xab, 0xcd}
	l.advance(24) // heights of one more byte, of which an estimate a block before knows nothing
	for _, tt := range []struct {
		name string
		tx   *chain.Tx
	}{
		{"transfer", &chain.Tx{To: &nobody, Value: 5}},
		{"memo", &chain.Tx{To: &nobody, Payload: []byte("for lunch")}},
		{"message", spend(t, at, 10_000)},
		{"deploy", &chain.Tx{Payload: actor.AppendPayload(nil, &deployment)}},
		{"token", tokenTx(chain.OpTokenCreate, cbor.AppendText(nil, "Gold"), cbor.AppendText(nil, "GLD"), cbor.AppendUint(nil, 2),
			cbor.AppendUint(nil, 5), cbor.AppendNull(nil), cbor.AppendNull(nil))},
		{"too little", &chain.Tx{To: spend(t, at, 0).To, Payload: spend(t, at, 10_000).Payload, CyclesLimit: 31_000, CellsLimit: 1_000}},
	} {
		tx := tt.tx
		tx.TipPerCycle, tx.MaxFeePerCycle, tx.MaxFeePerCell = 3, 100_000, 100_000
		wide := tx.CyclesLimit > 0
		said, err := l.api().Estimate(t.Context(), setup.DevAccounts()[1].Address, tx)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if !wide {
			tx.CyclesLimit, tx.CellsLimit = chain.Cycles(said.CyclesLimit), chain.Cells(said.CellsLimit)
		}
		before := l.balance(dev(1))
		r := l.submit(1, tx)
		if r.Status != said.Status || r.Code != said.Code || r.CyclesUsed != said.CyclesUsed || r.CellsUsed != said.CellsUsed || r.Fee != said.Fee || r.Lane != said.Lane {
			t.Errorf("%s: the estimate said %+v, the block did %+v", tt.name, said, r)
		}
		if want := chain.Wei(r.CyclesUsed)*(said.Cycle+3) + chain.Wei(r.CellsUsed)*said.Cell; r.Fee != want || l.balance(dev(1)) != before-r.Fee-tx.Value {
			t.Errorf("%s: fee %d, want %d; the balance fell by %d", tt.name, r.Fee, want, before-l.balance(dev(1)))
		}
	}
}

// together sends transactions of accounts 1, 2, … in one submission.
func (l *live) together(txs []*chain.Tx) (out []rpc.ReceiptReply) {
	l.t.Helper()
	var wire []byte
	for i, tx := range txs {
		tx.ChainID, tx.Nonce = genesis.ChainIDDevnet, l.nonce(1+i)
		wire = append(wire, client.SignTx(setup.DevAccounts()[1+i].Key, tx).Wire...)
	}
	out = l.settled(wire)
	for _, r := range out {
		if r.Status != "success" {
			l.t.Fatalf("%+v", r)
		}
	}
	return out
}

// baseFees fills the user lane, and computes the base fees of all blocks again,
// lane by lane, from what the blocks before used.
func (l *live) baseFees(list []string) {
	t := l.t
	var txs []*chain.Tx
	for _, at := range list {
		txs = append(txs, spend(t, at, 1_000_000))
	}
	receipts := l.together(txs)
	last := l.advance(3)
	p := params.Default()
	dear(&p)
	next := func(base chain.Wei, used, target uint64) chain.Wei {
		step := base * chain.Wei(max(used, target)-min(used, target)) / chain.Wei(target) / chain.Wei(p.BaseFeeAlpha)
		step = min(step, base/chain.Wei(p.BaseFeeAlpha))
		if used > target {
			return base + max(step, 1)
		}
		return max(base-step, restingFee)
	}
	highest := map[string]chain.Wei{}
	before := l.block(1)
	for h := uint64(2); h <= last; h++ {
		b := l.block(h)
		for id := range chain.NumLanes {
			lane := chain.LaneID(id).String()
			fee, was, used, share := b.BaseFees[lane], before.BaseFees[lane], before.Used[lane], p.LaneShareBasisPoints[id]
			cycles := next(was.Cycle, used.Cycles, uint64(p.CyclesTarget)*share/params.BasisPoints)
			cells := next(was.Cell, used.Cells, uint64(p.CellsTarget)*share/params.BasisPoints)
			if fee.Cycle != cycles || fee.Cell != cells {
				t.Errorf("block %d, lane %s: %+v after %+v with %+v used, want %d and %d", h, lane, fee, was, used, cycles, cells)
			}
			highest[lane] = max(highest[lane], fee.Cycle)
		}
		before = b
	}
	if highest["user"] <= restingFee || highest["timer"] != restingFee || highest["runner"] != restingFee {
		t.Errorf("highest base fees %v of %d cycles in block %d", highest, receipts[0].CyclesUsed, receipts[0].BlockHeight)
	}
}

// bucket has many send an actor more than it may use in a block: what does not
// fit waits in the pool for the blocks after (resolution 11.22).
func (l *live) bucket(at string) {
	t := l.t
	l.advance(3)
	if left := l.actor(at).CyclesLeft; left != 2_000_000 {
		t.Errorf("rested, the actor may use %d cycles", left)
	}
	var txs []*chain.Tx
	for range 9 {
		txs = append(txs, spend(t, at, 1_400_000))
	}
	used := map[uint64]uint64{}
	for _, r := range l.together(txs) {
		used[r.BlockHeight] += r.CyclesUsed
	}
	if len(used) != len(txs) { // 2,000,000 at first, and 1,000,000 more a block
		t.Errorf("%d messages of 1,400,000 cycles in %d blocks: %v", len(txs), len(used), used)
	}
	tx := spend(t, at, 2_000_000)
	tx.Nonce, tx.ChainID, tx.CyclesLimit = l.nonce(5), genesis.ChainIDDevnet, 2_021_001 // a message's own 21,000, and one more than there can be
	reply, err := l.api().Submit(t.Context(), client.SignTx(setup.DevAccounts()[5].Key, tx).Wire)
	if err != nil || reply.Results[0].Accepted || reply.Results[0].Code != rpc.CodeLimitTooHigh {
		t.Errorf("a limit that no block admits: %+v, %v", reply, err)
	}
	tx.CyclesLimit, tx.Payload = 2_021_000, spend(t, at, 1_900_000).Payload
	l.advance(3)
	if r := l.submit(5, tx); r.Status != "success" {
		t.Errorf("all that there can be: %+v", r)
	}
}
