package lanes

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// long has the random walks of this package go a million operations and more: make
// soak-lanes. Without it they go a fifth as far, as every run of the tests does.
var long = flag.Bool("long", false, "go a million operations")

// TestPoolMatchesModel drives the pool and the model with the same random
// operations and compares every queue. Rerun one case with
// -run 'TestPoolMatchesModel/seed=3'.
func TestPoolMatchesModel(t *testing.T) {
	const seeds = 8
	operations, least := 25_000, 10
	if *long {
		operations, least = 125_000, 50 // a million in all
	} else if testing.Short() {
		operations, least = 16_000, 6
	}
	// These do not happen often, and how often hangs on the shards of the senders, which
	// are others in each process: all walks together have to meet them.
	var tight, overcommitted atomic.Int64
	t.Cleanup(func() {
		t.Logf("tight %d times, overcommitted %d times", tight.Load(), overcommitted.Load())
		if few := int64(least); !t.Failed() && (tight.Load() < few || overcommitted.Load() < few) {
			t.Errorf("tight %d times, overcommitted %d times: the walks do not test it", tight.Load(), overcommitted.Load())
		}
	})
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			w := newWalk(seed)
			for i := range operations {
				w.step(t)
				if t.Failed() {
					t.Fatalf("operation %d", i)
				}
				if w.next != nil && i%64 == 32 {
					w.model.compare(t, w.pool)
					w.seen["between"]++
				}
				if i%64 == 0 {
					for w.next != nil { // nothing is picked while a head comes in
						w.stepHead()
					}
					w.model.compare(t, w.pool)
					w.comparePick(t)
				}
			}
			for w.next != nil {
				w.stepHead()
			}
			w.model.compare(t, w.pool)
			tight.Add(int64(w.seen["tight"]))
			overcommitted.Add(int64(w.seen["overcommitted"]))
			for _, k := range []string{
				"<nil>", "*errors.errorString", "*lanes.NonceTooLowError", "*lanes.NonceGapError", "*fees.FundsError", "*lanes.BalanceError",
				"*lanes.ReplaceError", "*lanes.SenderFullError", "*lanes.LaneFullError", "replaced", "evicted", "moved", "starved", "picked", "ahead", "late", "barred", "postponed", "risky", "short", "loose", "between",
			} {
				if k == "barred" && seed%4 == 1 {
					continue // no bound there
				}
				if w.seen[k] < least {
					t.Errorf("outcome %s seen %d times: the walk does not test it", k, w.seen[k])
				}
			}
		})
	}
}

// walk is one random history.
type walk struct {
	rng     *rand.Rand
	pool    *bare
	model   *model
	head    map[chain.Address]account
	senders []chain.Address
	recent  []*chain.VerifiedTx
	serial  uint64
	seen    map[string]int

	next  *basis // of the head that comes in; nil: none does
	shard int    // to which it comes next
}

func newWalk(seed uint64) *walk {
	cfg := validatorConfig()
	cfg.SenderTxs, cfg.NonceGap, cfg.PackMisses = 8, 3, 1<<30
	cfg.LaneTxs = [chain.NumLanes]int{chain.LaneSystem: 6, chain.LaneRunner: 12, chain.LaneUser: 30}
	cfg.LaneBytes = [chain.NumLanes]int{chain.LaneSystem: 2_000, chain.LaneRunner: 4_000, chain.LaneUser: 11_000}
	if seed%3 == 0 {
		cfg.SenderBytes = 2_000
	}
	if seed%2 == 0 {
		cfg.actorRefill, cfg.actorMost = 30_000, 70_000
	}
	if seed%3 == 1 {
		cfg.SmallBytes = 150
	}
	if seed%4 > 1 {
		cfg.unsureBlocks = 2
		for lane := range cfg.laneRoom {
			cfg.laneRoom[lane] = chain.Usage{Cycles: 500_000, Cells: 4_000}
		}
	}
	w := &walk{
		rng:   rand.New(rand.NewPCG(seed, 17)),
		pool:  newBare(cfg, 20),
		model: &model{cfg: cfg, weight: 20, accounts: map[chain.Address]account{}},
		head:  map[chain.Address]account{},
		seen:  map[string]int{},
	}
	for i := range 14 {
		a := chain.Address{byte(i + 1)}
		w.senders = append(w.senders, a)
		w.head[a] = account{Spendable: 40_000}
	}
	return w
}

func (w *walk) tx() *chain.VerifiedTx {
	a := w.senders[w.rng.IntN(len(w.senders))]
	at := w.head[a]
	nonce := at.Nonce + uint64(w.rng.IntN(9))
	if w.rng.IntN(10) == 0 && nonce > 0 {
		nonce = at.Nonce - min(at.Nonce, 1)
	} else if w.rng.IntN(3) > 0 {
		if next, ok := w.pool.pendingNonce(a); ok {
			nonce = next
		}
	}
	price := func(max int) chain.Wei { return chain.Wei(w.rng.IntN(max)) }
	w.serial++
	tx := &chain.VerifiedTx{
		Tx: &chain.Tx{
			Nonce: nonce, CyclesLimit: chain.Cycles(w.rng.IntN(50_000)), CellsLimit: chain.Cells(w.rng.IntN(400)),
			MaxFeePerCycle: 90 + price(60), MaxFeePerCell: 90 + price(60), TipPerCycle: price(100), TipPerCell: price(100),
		},
		Body:   make([]byte, 100+w.rng.IntN(400)),
		Sender: a,
		Lane:   []chain.LaneID{chain.LaneSystem, chain.LaneRunner, chain.LaneUser, chain.LaneUser, chain.LaneUser}[w.rng.IntN(5)],
	}
	if tx.Lane == chain.LaneUser && w.rng.IntN(2) == 0 {
		tx.Tx.To = &chain.Address{0xac, byte(w.rng.IntN(3))}
		if w.rng.IntN(8) == 0 {
			tx.Tx.CyclesLimit = 0 // nothing but its intrinsic cost, which these limits do not hold
		}
	}
	binary.BigEndian.PutUint64(tx.Hash[:], w.serial)
	if len(w.model.queue) > 0 && w.rng.IntN(8) == 0 {
		w.outbid(tx)
	}
	return tx
}

// outbid turns tx into a replacement that mostly raises enough.
func (w *walk) outbid(tx *chain.VerifiedTx) {
	old := w.model.queue[w.rng.IntN(len(w.model.queue))].tx
	raise := func(p chain.Wei) chain.Wei { return (p*110+99)/100 - min(p, chain.Wei(w.rng.IntN(12)/11)) }
	body := *old.Tx
	body.MaxFeePerCycle, body.MaxFeePerCell = raise(body.MaxFeePerCycle), raise(body.MaxFeePerCell)
	body.TipPerCycle, body.TipPerCell = raise(body.TipPerCycle), raise(body.TipPerCell)
	tx.Tx, tx.Sender = &body, old.Sender
	if w.rng.IntN(4) > 0 {
		tx.Lane = old.Lane
	}
}

func (w *walk) step(t *testing.T) {
	k := w.rng.IntN(100)
	if w.next != nil && w.rng.IntN(3) == 0 {
		k = 97
	}
	switch {
	case k < 84:
		w.stepAdd(t)
	case k < 86:
		w.stepRemove()
	case k < 97 && w.next == nil:
		w.stepRefresh()
	case w.next != nil || k == 97:
		w.stepHead()
	default:
		base := w.fees()
		w.seen["moved"] += w.pool.reprice(base)
		w.model.reprice(base)
	}
}

func (w *walk) fees() (base [chain.NumLanes]chain.FeePair) {
	for i := range base {
		base[i] = chain.FeePair{PerCycle: chain.Wei(85 + w.rng.IntN(30)), PerCell: chain.Wei(85 + w.rng.IntN(30))}
	}
	return base
}

// stepHead has a head of fees and accounts begin to come in, or come to the next shard, or
// end: other operations find the pool between two heads.
func (w *walk) stepHead() {
	if w.next == nil {
		base := w.fees()
		w.next, w.shard = w.pool.basis.after(head{BaseFees: base}), 0
		w.model.comes(base, w.senders)
		return
	}
	for {
		var accounts []moved
		var senders []chain.Address
		for _, a := range w.senders {
			if w.pool.shardNumber(a) != uint64(w.shard) {
				continue
			}
			if senders = append(senders, a); w.rng.IntN(3) == 0 {
				accounts = append(accounts, moved{addr: a, at: w.changed(a), read: true})
			}
		}
		if err := w.pool.shards[w.shard].moveTo(w.next, accounts); err != nil {
			panic(err) // accounts are read
		}
		w.model.reaches(senders)
		for _, m := range accounts {
			w.model.refresh(m.addr, m.at)
		}
		w.model.relevel(senders)
		if w.shard++; w.shard == numShards {
			w.pool.basis, w.next = w.next, nil
			w.pool.promote()
			w.model.promote()
			return
		}
		if len(senders) > 0 {
			return
		}
	}
}

func (w *walk) stepAdd(t *testing.T) {
	tx := w.tx()
	if len(w.recent) > 0 && w.rng.IntN(20) == 0 {
		tx = w.recent[w.rng.IntN(len(w.recent))]
	}
	cost := chain.Wei(2_000 + w.rng.IntN(6_000))
	did, err := w.pool.add(tx, cost, w.head[tx.Sender])
	wantErr := w.model.add(tx, cost, w.head[tx.Sender])
	if verdict(err) != verdict(wantErr) {
		t.Errorf("add %s: got %v, model %v", names([]*chain.VerifiedTx{tx}), err, verdict(wantErr))
	}
	w.seen[verdict(err)]++
	w.seen["evicted"] += did.evicted
	if did.replaced {
		w.seen["replaced"]++
	}
	if e := w.pool.entry(tx.Hash); e != nil && e.level == levelBarred {
		w.seen["barred"]++
	}
	w.recent = append(w.recent, tx)
	if len(w.recent) > 64 {
		w.recent = w.recent[1:]
	}
}

func (w *walk) stepRemove() {
	if len(w.model.queue) == 0 {
		return
	}
	t := w.model.queue[w.rng.IntN(len(w.model.queue))]
	w.pool.remove(w.pool.entry(t.tx.Hash))
	w.model.remove(t)
}

// stepRefresh is a new head for one sender: the nonce advances, not always to
// something the pool knows, and the balance changes.
func (w *walk) stepRefresh() {
	a := w.senders[w.rng.IntN(len(w.senders))]
	at := w.changed(a)
	left, used := w.pool.refresh(a, at)
	w.seen["starved"] += len(left) - used
	w.model.refresh(a, at)
}

// changed gives a sender another account.
func (w *walk) changed(a chain.Address) account {
	at := w.head[a]
	at.Nonce += uint64(w.rng.IntN(5))
	at.Spendable = chain.Wei(6_000 + w.rng.IntN(40_000))
	at.Height++
	w.head[a] = at
	return at
}
