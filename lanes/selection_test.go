package lanes

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// TestPackIsAcceptedByTheVerifier packs random pools on random parents and
// holds every block against the rules as a verifier applies them: the order,
// then each transaction by itself, with random use of its limits. It also
// compares the selection with the rule written plainly. Rerun one case with
// -run 'TestPackIsAcceptedByTheVerifier/seed=3'.
func TestPackIsAcceptedByTheVerifier(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 16
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			packsRight(t, seed)
		})
	}
}

// FuzzPackIsAcceptedByTheVerifier is the same for any seed.
func FuzzPackIsAcceptedByTheVerifier(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(packsRight)
}

func packsRight(t *testing.T, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	params := params.Default()
	if seed%2 == 0 { // the lanes' shares of bytes bind, too
		params.MaxBlockBytes = chain.MaxHeaderBytes + 10_000 + rng.Uint64N(60_000)
	}
	view := accounts{}
	for i := range 40 {
		view = view.with(chain.Address{byte(i)}, uint64(rng.IntN(3)), chain.Wei(1_000_000+rng.IntN(400_000_000)))
	}
	l := idle(t, params, view)
	var m maker
	var known []*chain.VerifiedTx
	for range 700 {
		tx := randomTx(rng, &m, l)
		admit := admitUnclassified
		if tx.Lane == chain.LaneUser { // whose use is known to the pool
			admit = func(l *Lanes, tx *chain.VerifiedTx) error { return l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0] }
		}
		if admit(l, tx) == nil {
			known = append(known, tx)
		}
	}
	parent := view
	for i := range 40 { // an unfinalized block lies between
		a := chain.Address{byte(i)}
		parent = parent.with(a, view.of[a].Nonce+uint64(rng.IntN(3)), view.of[a].Balance-chain.Wei(rng.IntN(500_000)))
	}
	req := request(&params, parent)
	var ahead []*chain.VerifiedTx
	for range 3 {
		for _, i := range rng.Perm(40) {
			if a := (chain.Address{byte(i)}); parent.of[a].Nonce != view.of[a].Nonce {
				ahead = append(ahead, &chain.VerifiedTx{Sender: a})
			}
		}
	}
	req.Height, req.Before = 2, [][]*chain.VerifiedTx{ahead}
	if seed%4 == 0 { // or the parent is the head
		parent, req.Parent, req.Height = view, view, 1
	}
	binary.BigEndian.PutUint64(req.VRFOut[:], seed)
	for i := range req.BaseFees {
		req.BaseFees[i] = chain.FeePair{PerCycle: chain.Wei(1 + rng.IntN(12)), PerCell: chain.Wei(1 + rng.IntN(12))}
	}
	req.MaxBytes = 2_000 + rng.IntN(60_000)
	txs := mustPack(t, l, req)
	recheck(t, rng, req, txs)

	want := plainSelection(t, l, req, known)
	got := map[chain.Hash]bool{}
	for _, tx := range txs {
		got[tx.Hash] = true
	}
	for _, tx := range want {
		if !got[tx.Hash] {
			t.Errorf("%s should have been selected", names([]*chain.VerifiedTx{tx}))
		}
	}
	if len(want) != len(txs) {
		t.Errorf("selected %d, want %d", len(txs), len(want))
	}
	if seed == 0 {
		t.Logf("%d known, %d packed", len(known), len(txs))
	}
}

func randomTx(rng *rand.Rand, m *maker, l *Lanes) *chain.VerifiedTx {
	sender := byte(rng.IntN(40))
	nonce := uint64(rng.IntN(8))
	if next, err := l.pool.pendingNonce(chain.Address{sender}); err == nil && rng.IntN(3) > 0 {
		nonce = next
	}
	tx := m.transfer(sender, nonce, chain.Wei(rng.IntN(20)), chain.Cycles(25_000+rng.IntN(300_000)))
	tx.Lane = txLanes[min(rng.IntN(5), 2)]
	tx.Tx.CellsLimit = chain.Cells(rng.IntN(2) * rng.IntN(40_000))
	tx.Tx.TipPerCell = chain.Wei(rng.IntN(10))
	tx.Tx.Value = chain.Wei(rng.IntN(1_000))
	tx.Body = make([]byte, 90+rng.IntN(900))
	return tx
}

// recheck is a verifier that knows only the block, the parent and the rules.
func recheck(t *testing.T, rng *rand.Rand, req *PackRequest, txs []*chain.VerifiedTx) {
	t.Helper()
	if err := order.Check(req.VRFOut, txs); err != nil {
		t.Errorf("order: %v", err)
	}
	bodies := make([][]byte, len(txs))
	budget := fees.NewBudget(req.Params)
	now := map[chain.Address]*account{}
	for i, tx := range txs {
		bodies[i] = tx.Body
		s := now[tx.Sender]
		if s == nil {
			s = accountNow(t, req, tx.Sender)
			now[tx.Sender] = s
		}
		check := func(tx *chain.VerifiedTx) error {
			return fees.CheckSender(tx.Tx, req.BaseFees[tx.Lane], s.Nonce, s.Spendable)
		}
		if tx.Lane == chain.LaneUser { // the rest of the rule knows that a transfer is a user's
			check = func(tx *chain.VerifiedTx) error {
				if _, err := fees.CheckStatic(tx, req.Params, testChain); err != nil {
					return err
				}
				return fees.CheckSender(tx.Tx, req.BaseFees[tx.Lane], s.Nonce, s.Spendable)
			}
		}
		if err := check(tx); err != nil {
			t.Errorf("transaction %d: %v", i, err)
		}
		limits := chain.Usage{Cycles: tx.Tx.CyclesLimit, Cells: tx.Tx.CellsLimit}
		if !budget.Fits(tx.Lane, fees.Space{Usage: limits, Bytes: fees.TxBytes(tx)}) {
			t.Errorf("transaction %d: limits %+v and %d bytes do not fit the %s lane", i, limits, len(tx.Body), tx.Lane)
		}
		used := chain.Usage{Cycles: chain.Cycles(rng.Uint64N(uint64(limits.Cycles) + 1)), Cells: chain.Cells(rng.Uint64N(uint64(limits.Cells) + 1))}
		if tx.Lane == chain.LaneUser { // a transfer, whose use is known
			used = usesOf(t, req.Params, tx)
		}
		budget.Take(tx.Lane, fees.Space{Usage: used, Bytes: fees.TxBytes(tx)})
		s.Nonce++
		s.Spendable -= tx.Tx.Value + chain.Wei(used.Cycles)*tx.Tx.MaxFeePerCycle + chain.Wei(used.Cells)*tx.Tx.MaxFeePerCell
	}
	block := chain.Block{Txs: bodies}
	empty := chain.Block{}
	if size := len(block.Encode()) - len(empty.Encode()); size > req.MaxBytes+4 { // the list's own head may grow by 4
		t.Errorf("bodies take %d bytes, at most %d were allowed", size, req.MaxBytes)
	}
}

// usesOf is the most that a transaction of these tests uses: a user's is a
// transfer, of the others only the limits are known.
func usesOf(t *testing.T, params *params.Params, tx *chain.VerifiedTx) chain.Usage {
	t.Helper()
	if tx.Lane != chain.LaneUser {
		return chain.Usage{Cycles: tx.Tx.CyclesLimit, Cells: tx.Tx.CellsLimit}
	}
	ins, err := tx.Tx.Classify()
	if err != nil {
		t.Fatal(err)
	}
	return params.Intrinsic.Of(ins)
}

// accountNow is a sender as the parent has it.
func accountNow(t *testing.T, req *PackRequest, addr chain.Address) *account {
	t.Helper()
	at, err := accountsAt(req.Parent, req.Height-1)(addr)
	if err != nil {
		t.Fatal(err)
	}
	return &at
}

// plainSelection is the selection rule without any index: as long as possible,
// of all that can run and fits, take the highest tier and in it the oldest.
func plainSelection(t *testing.T, l *Lanes, req *PackRequest, known []*chain.VerifiedTx) (out []*chain.VerifiedTx) {
	t.Helper()
	budget, bytes := fees.NewBudget(req.Params), req.MaxBytes
	now := map[chain.Address]*account{}
	gone := map[chain.Hash]bool{}
	for _, lane := range txLanes {
		var unused chain.Usage // largest unused limits of those taken for the lane
		for {
			var best Waiting
			for _, tx := range known {
				p, ok := l.pool.lookup(tx.Hash)
				uses := usesOf(t, req.Params, tx)
				needs := fees.Space{Usage: chain.Usage{
					Cycles: uses.Cycles + max(unused.Cycles, tx.Tx.CyclesLimit-uses.Cycles),
					Cells:  uses.Cells + max(unused.Cells, tx.Tx.CellsLimit-uses.Cells),
				}, Bytes: fees.TxBytes(tx)}
				if !ok || gone[tx.Hash] || tx.Lane != lane || p.State != WaitExecutable || !budget.Fits(lane, needs) || len(tx.Body)+5 > bytes {
					continue
				}
				s := now[tx.Sender]
				if s == nil {
					s = accountNow(t, req, tx.Sender)
					now[tx.Sender] = s
				}
				if fees.CheckSender(tx.Tx, req.BaseFees[lane], s.Nonce, s.Spendable) != nil {
					continue
				}
				if best.Tx == nil || p.Tier > best.Tier || p.Tier == best.Tier && p.seq < best.seq {
					best = p
				}
			}
			if best.Tx == nil {
				break
			}
			cost, err := fees.MaxCost(best.Tx.Tx)
			if err != nil {
				t.Fatal(err)
			}
			gone[best.Tx.Hash] = true
			uses := usesOf(t, req.Params, best.Tx)
			budget.Take(lane, fees.Space{Usage: uses, Bytes: fees.TxBytes(best.Tx)})
			unused.Cycles = max(unused.Cycles, best.Tx.Tx.CyclesLimit-uses.Cycles)
			unused.Cells = max(unused.Cells, best.Tx.Tx.CellsLimit-uses.Cells)
			bytes -= len(best.Tx.Body) + 5
			now[best.Tx.Sender].Nonce++
			now[best.Tx.Sender].Spendable -= cost
			out = append(out, best.Tx)
		}
	}
	return out
}
