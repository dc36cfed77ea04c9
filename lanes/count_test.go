package lanes

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// TestCountsKeepTheirPromise picks from pools in which only guesses say what most
// transactions use, and runs what was picked in random orders. When nobody uses more
// than was counted, everything finds room for its limits at its place, but for those
// that got no promise: they are the only ones of their senders. Rerun one case with
// -run 'TestCountsKeepTheirPromise/seed=3'.
func TestCountsKeepTheirPromise(t *testing.T) {
	var narrow, guessed, late int
	seeds := uint64(200)
	if testing.Short() {
		seeds = 50
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 41))
			params := params.Default()
			p, known := newBare(validatorConfig(), 20), map[uint64]chain.Usage{}
			for key := range uint64(6) {
				known[key+1] = chain.Usage{Cycles: chain.Cycles(rng.IntN(200_000)), Cells: chain.Cells(rng.IntN(5_000))}
			}
			crowd(t, p, rng)
			req := &PackRequest{
				Params: &params, Height: 1, MaxBytes: 1 << 20,
				account: func(chain.Address) (account, error) { return account{Spendable: 1 << 60}, nil },
				expect:  func(key uint64) (chain.Usage, bool) { u, ok := known[key]; return u, ok },
			}
			picked, err := p.pick(req)
			if err != nil {
				t.Fatal(err)
			}
			of := map[chain.Address]int{}
			for _, tx := range picked.Txs {
				of[tx.Sender]++
				if e := p.entry(tx.Hash); e.key > 6 {
					guessed++
				}
			}
			for range 3 {
				budget := fees.NewBudget(&params)
				room := part(budget.Left(chain.LaneUser).Usage, narrowPart)
				for _, i := range inOrder(rng, picked.Txs) {
					tx := picked.Txs[i]
					limits := chain.Usage{Cycles: tx.Tx.CyclesLimit, Cells: tx.Tx.CellsLimit}
					unused := chain.Usage{Cycles: limits.Cycles - picked.Counts[i].Cycles, Cells: limits.Cells - picked.Counts[i].Cells}
					if !budget.Fits(tx.Lane, fees.Space{Usage: limits, Bytes: fees.TxBytes(tx)}) {
						if !exceeds(unused, room) || of[tx.Sender] != 1 {
							t.Fatalf("%+v of %d transactions of its sender finds no room: counted %+v, left %+v", limits, of[tx.Sender], picked.Counts[i], budget.Left(tx.Lane))
						}
						late++
						continue
					}
					if exceeds(unused, room) {
						narrow++
					}
					budget.Take(tx.Lane, fees.Space{Usage: picked.Counts[i], Bytes: fees.TxBytes(tx)})
				}
			}
		})
	}
	t.Logf("%d with large unused limits ran, %d did not, %d of which nothing was known", narrow, late, guessed)
	if narrow == 0 || late == 0 || guessed == 0 {
		t.Error("not all kinds were met")
	}
}

// crowd fills the user lane with transactions of every kind.
func crowd(t *testing.T, p *bare, rng *rand.Rand) {
	t.Helper()
	large := rng.IntN(4) * 10 // percent that have limits of half a block
	for n := range uint64(200 + rng.IntN(400)) {
		tx := &chain.VerifiedTx{
			Tx: &chain.Tx{
				CyclesLimit: 21_000 + chain.Cycles(rng.IntN(400_000)), CellsLimit: chain.Cells(rng.IntN(10_000)),
				MaxFeePerCycle: 100, MaxFeePerCell: 100, TipPerCycle: chain.Wei(rng.IntN(100)),
			},
			Body: make([]byte, 100+rng.IntN(200)), Sender: chain.Address{1, byte(rng.IntN(100))}, Lane: chain.LaneUser,
		}
		if rng.IntN(100) < large {
			tx.Tx.CyclesLimit = 10_000_000
		}
		tx.Tx.Nonce = p.shardOf(tx.Sender).pendingNonce(tx.Sender)
		binary.BigEndian.PutUint64(tx.Hash[:], n+1)
		o := offer{Tx: tx, Cost: 1, Key: uint64(rng.IntN(10))}
		if o.Key == 0 {
			o.Unused = chain.Usage{Cycles: tx.Tx.CyclesLimit - 21_000, Cells: tx.Tx.CellsLimit}
		}
		h := p.shardOf(tx.Sender)
		if _, err := h.add(&o, account{Spendable: 1 << 60}, false); err != nil {
			t.Fatal(err)
		}
	}
}

// inOrder shuffles transactions of one lane and puts each sender's in nonce order.
func inOrder(rng *rand.Rand, txs []*chain.VerifiedTx) []int {
	next, out := map[chain.Address][]int{}, []int{}
	for i, tx := range txs { // picked in nonce order
		next[tx.Sender] = append(next[tx.Sender], i)
	}
	for _, i := range rng.Perm(len(txs)) {
		mine := next[txs[i].Sender]
		out = append(out, mine[0])
		next[txs[i].Sender] = mine[1:]
	}
	return out
}
