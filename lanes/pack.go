package lanes

import (
	"context"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/state"
)

// bodyFrameBytes is the most that a block spends on a body besides its bytes:
// the head of a CBOR byte string of at most 128 KiB.
const bodyFrameBytes = 5

// PackRequest describes the block to be packed.
type PackRequest struct {
	Parent   state.View // state of the parent, which need not be finalized
	Params   *chain.Params
	BaseFees [chain.NumLanes]chain.FeePair // of the new block
	Height   chain.Height                  // of the new block
	VRFOut   chain.Hash                    // proposer's VRF output (resolution 11.41)
	MaxBytes int                           // for all bodies with their frames
	Exclude  []chain.Hash                  // transactions to leave out
}

// Pack selects transactions for a block on top of the given parent and returns
// them in the order of execution. They stay in the pool until a finalized head
// includes them, so a proposal that comes to nothing costs nothing. The error
// is a *ReadError or ctx's.
//
// Transactions of an unfinalized parent are still in the pool; their nonces are
// below the parent's and they are passed over.
func (l *Lanes) Pack(ctx context.Context, req PackRequest) ([]*chain.VerifiedTx, error) {
	type answer struct {
		txs []*chain.VerifiedTx
		err error
	}
	a, err := ask(ctx, l, l.ledger, func() answer {
		txs, err := l.pack(&req)
		return answer{txs, err}
	})
	return a.txs, errors.Join(err, a.err)
}

func (l *Lanes) pack(req *PackRequest) ([]*chain.VerifiedTx, error) {
	k := &packer{
		req:     req,
		pool:    l.pool,
		budget:  fees.NewBudget(req.Params),
		bytes:   req.MaxBytes,
		onHead:  req.Height == l.head.Height+1,
		exclude: make(map[chain.Hash]struct{}, len(req.Exclude)),
		senders: map[chain.Address]*packSender{},
	}
	for _, hash := range req.Exclude {
		k.exclude[hash] = struct{}{}
	}
	for lane := range chain.NumLanes {
		if err := k.lane(lane); err != nil {
			return nil, err
		}
	}
	l.counts.packs.Add(1)
	l.counts.packed.Add(uint64(len(k.picked)))
	return order.Arrange(req.VRFOut, k.picked), nil
}

// packer is the state of one Pack. At every step it takes the best transaction
// that can run: the highest tier first, in a tier the first to arrive, and only
// when the nonce before it is in the parent's state or taken already.
type packer struct {
	req     *PackRequest
	pool    *pool
	budget  *fees.Budget
	bytes   int  // left in the block
	onHead  bool // the parent is the finalized head, so the pool knows the nonces
	exclude map[chain.Hash]struct{}
	senders map[chain.Address]*packSender
	picked  []*chain.VerifiedTx
}

// packSender is a sender's account after the transactions picked so far, in the
// worst case: each at its highest cost, nothing received.
type packSender struct {
	nonce     uint64
	spendable chain.Wei
}

// lane fills the lane's share of the block. It ends when the lane has nothing
// more, or when so many transactions in a row did not fit that the rest is not
// worth the time.
func (k *packer) lane(lane chain.LaneID) error {
	q := &k.pool.lanes[lane]
	misses := 0
	for l, ok := q.below(level(numLevels)); ok && l >= levelTier0; l, ok = q.below(l) {
		for e := q.fifos[l].head; e != nil; e = e.next {
			if !k.fits(e) {
				if misses++; misses >= k.pool.cfg.PackMisses {
					return nil
				}
				continue
			}
			taken, err := k.takeFrom(e)
			if err != nil {
				return err
			}
			if taken {
				misses = 0
			}
		}
	}
	return nil
}

// fits reports whether the block has room for e's limits and bytes.
func (k *packer) fits(e *entry) bool {
	limits := chain.Usage{Cycles: e.tx.Tx.CyclesLimit, Cells: e.tx.Tx.CellsLimit}
	return len(e.tx.Body)+bodyFrameBytes <= k.bytes && k.budget.Fits(e.tx.Lane, limits)
}

// takeFrom takes e if it can run, and then those successors of e that come
// before e in the lane: they were passed over when e was still missing, and are
// worth more than whatever follows e.
func (k *packer) takeFrom(e *entry) (taken bool, err error) {
	s := k.senders[e.tx.Sender]
	if s == nil {
		if k.onHead && e.nonce() != e.of.nonce {
			return false, nil // its predecessor is neither in the state nor taken: no need to read
		}
		if s, err = k.sender(e.tx.Sender); err != nil {
			return false, err
		}
	}
	for next := e; next != nil && k.take(s, next); next = k.passedOver(next, e) {
		taken = true
	}
	return taken, nil
}

// take adds e to the block if the rules that the verifier applies let it. Lanes
// come in block order, so a predecessor that was taken stands in the same or an
// earlier segment (resolution 11.15).
func (k *packer) take(s *packSender, e *entry) bool {
	if e.nonce() != s.nonce || !k.fits(e) { // fits: for successors, which the walk did not ask about
		return false
	}
	if _, out := k.exclude[e.tx.Hash]; out {
		return false
	}
	// What cannot change about a transaction was judged at admission.
	if err := fees.CheckSender(e.tx.Tx, k.req.BaseFees[e.tx.Lane], s.nonce, s.spendable); err != nil {
		return false
	}
	k.budget.Take(e.tx.Lane, chain.Usage{Cycles: e.tx.Tx.CyclesLimit, Cells: e.tx.Tx.CellsLimit})
	k.bytes -= len(e.tx.Body) + bodyFrameBytes
	s.nonce++
	s.spendable -= e.cost // CheckSender found it covered
	k.picked = append(k.picked, e.tx)
	return true
}

// passedOver returns the successor of e if the walk has gone past it, standing
// at cursor.
func (k *packer) passedOver(e, cursor *entry) *entry {
	i, ok := e.of.find(e.nonce() + 1)
	if !ok {
		return nil
	}
	next := e.of.waiting[i]
	before := next.level > cursor.level || next.level == cursor.level && next.seq < cursor.seq
	if next.tx.Lane != cursor.tx.Lane || next.level < levelTier0 || !before {
		return nil
	}
	return next
}

// sender starts the running account of a sender, as the parent has it.
func (k *packer) sender(addr chain.Address) (*packSender, error) {
	at, err := readAccount(k.req.Parent, addr, k.req.Height-1)
	if err != nil {
		return nil, err
	}
	s := &packSender{nonce: at.nonce, spendable: at.spendable}
	k.senders[addr] = s
	return s, nil
}
