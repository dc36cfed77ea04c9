package lanes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// FinalizedHead is a finalized block, as far as waiting transactions are
// concerned.
type FinalizedHead struct {
	Height   chain.Height
	Epoch    chain.Epoch                   // of the next block
	Millis   uint64                        // its time; 0: nothing grows old
	View     state.View                    // state after the block; read by several goroutines, maybe just beyond the next head
	BaseFees [chain.NumLanes]chain.FeePair // in force in the next block
	Params   *params.Params                // likewise; nil: as before
	Txs      []*chain.VerifiedTx           // the block's transactions
	Touched  []chain.Address               // other accounts whose nonce or balance the block changed
	Receipts []chain.Receipt               // of Txs, in their order, and maybe others behind them; nil: nothing is learned
}

// Lanes are the pool of waiting transactions, held against the chain.
type Lanes struct {
	params  atomic.Pointer[params.Params] // in force in the next block
	chainID uint64
	cfg     Config
	view    atomic.Pointer[state.View] // of the last head
	pool    *pool
	uses    *uses
	shunned shunned
	height  atomic.Uint64 // of the last head
	epoch   atomic.Uint64 // likewise
	ended   atomic.Bool
	judged  *params.Params        // under which all that waits was judged last; of who calls Finalized
	rooms   atomic.Pointer[rooms] // under the parameters that were asked for last
	offers  sync.Pool             // of *[]offer, for who admits

	arrangers sync.Pool // of *order.Arranger, for who packs
}

// New returns lanes that admit against the given head.
func New(cfg Config, params *params.Params, chainID uint64, head FinalizedHead) (*Lanes, error) {
	pool, err := newPool(cfg, head.inPool(cfg.measures(params)))
	if err != nil {
		return nil, fmt.Errorf("lanes: %w", err)
	}
	l := &Lanes{chainID: chainID, cfg: cfg, pool: pool, uses: newUses()}
	l.params.Store(params)
	l.judged = params
	l.view.Store(&head.View)
	l.epoch.Store(uint64(head.Epoch))
	return l, nil
}

// validators are those of the epoch of the head.
func (l *Lanes) validators() []chain.Validator {
	if l.cfg.Epochs == nil {
		return nil
	}
	r, err := l.cfg.Epochs.At(chain.Epoch(l.epoch.Load()))
	if err != nil {
		return nil // nobody's word is better than that of another epoch
	}
	return r.Validators
}

// inPool is the head as the pool sees it, with the measures that hold from it on.
func (h *FinalizedHead) inPool(m *measures) head {
	return head{Height: h.Height, Millis: h.Millis, BaseFees: h.BaseFees, measures: m, account: accountsAt(h.View, h.Height)}
}

// Run keeps the lanes open until ctx ends and returns its error; requests that
// come later are answered with ErrStopped. The work is done on the goroutines
// of those who ask: there is no owner to wait for.
func (l *Lanes) Run(ctx context.Context) error {
	<-ctx.Done()
	l.ended.Store(true)
	return ctx.Err()
}

// open returns why a request may not be served.
func (l *Lanes) open(ctx context.Context) error {
	if l.ended.Load() {
		return ErrStopped
	}
	return ctx.Err()
}

// Admit offers verified transactions to the pool, in order, and returns one
// answer for each: nil, or the refusal that the sender should see. A
// *ReadError is not a refusal but a fault of this node. If the context has
// ended or the lanes have stopped, every answer says so and nothing was
// admitted. Any number of goroutines may admit at once.
func (l *Lanes) Admit(ctx context.Context, txs []*chain.VerifiedTx) []error {
	answers := make([]error, len(txs))
	if err := l.open(ctx); err != nil {
		for i := range answers {
			answers[i] = err
		}
		return answers
	}
	offers, _ := l.offers.Get().(*[]offer)
	if offers == nil {
		offers = new([]offer)
	}
	for _, tx := range txs {
		*offers = append(*offers, l.offer(tx))
	}
	l.pool.admit(*offers, answers)
	clear(*offers)
	*offers = (*offers)[:0]
	l.offers.Put(offers)
	return answers
}

// Finalized moves the pool to a new head. The block's transactions leave it,
// with every other one of their nonces; so do, for the senders of the block and
// the accounts in Touched, the last transactions that the balance no longer
// covers. No other transaction is looked at, except where a base fee crosses
// the edge of a fee tier, or where parameters change: then all are judged anew. An error
// is a *ReadError or ctx's.
//
// Whoever admits meanwhile is judged by the head that its sender's shard has, and what is
// packed by the head that all have: see the package's documentation.
//
// Heads are given in order of height, no two at a time. After an error the lanes are at
// the new head, but accounts that could not be read were not looked at: the caller gives
// the head again, with a view that can be read, or ends.
func (l *Lanes) Finalized(ctx context.Context, head FinalizedHead) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	var m *measures // nil: as before
	if head.Params != nil {
		l.params.Store(head.Params)
		m = l.cfg.measures(head.Params)
	}
	l.view.Store(&head.View)
	l.uses.learn(head.Txs, head.Receipts)
	l.height.Store(uint64(head.Height))
	l.epoch.Store(uint64(head.Epoch))
	l.shunned.at(head.Height)
	err := l.pool.advance(head.inPool(m), head.Txs, head.Touched)
	if err == nil {
		err = l.dropLeavers(head.Txs)
	}
	if now := l.params.Load(); err == nil && now != l.judged {
		l.rejudge(l.judged, now)
		l.judged = now
	}
	return err
}

// rejudge holds everything that waits against changed parameters. What no block takes any
// more leaves, and what uses other limits than before is offered anew, at the tail of its
// tier: else a pool full of what was signed before the change would be packed and refused
// for dozens of blocks, and nobody of it would pay.
func (l *Lanes) rejudge(was, now *params.Params) {
	var moved []*chain.VerifiedTx
	var again []offer
	for _, tx := range l.pool.waiting() {
		before, o := l.offerUnder(tx, was), l.offerUnder(tx, now)
		switch {
		case errors.As(o.Err, new(*ReadError)) || errors.Is(o.Err, ErrShunned):
			continue // the one says nothing of it, the other is on its way out
		case o.Err == nil && before.Unused == o.Unused && before.Least == o.Least && before.Calls.Most == o.Calls.Most:
			continue
		case o.Err == nil:
			again = append(again, o)
		}
		moved = append(moved, tx)
	}
	if len(moved) == 0 {
		return
	}
	l.pool.discard(moved)
	l.pool.admit(again, make([]error, len(again))) // or it is refused, and its sender's to send again
}

// Discard removes transactions from the pool, for instance those that a
// proposer found it could not execute. Unknown ones are ignored.
func (l *Lanes) Discard(ctx context.Context, txs []*chain.VerifiedTx) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	l.pool.discard(txs)
	return nil
}

// Shun removes transactions as Discard does and refuses them for a while.
func (l *Lanes) Shun(ctx context.Context, txs []*chain.VerifiedTx) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	hashes := make([]chain.Hash, len(txs))
	for i, tx := range txs {
		hashes[i] = tx.Hash
	}
	l.shunned.add(hashes, chain.Height(l.height.Load())+shunnedBlocks)
	l.pool.discard(txs)
	return nil
}

// Reconsider judges anew what execution found to be a message to an actor that has no
// cycles for it. One that admission took for a payment, as its target had no code then,
// becomes a message: counted as a payment, it would be packed again and again. Another
// stands behind what can run for a while (see pool.bar).
func (l *Lanes) Reconsider(ctx context.Context, txs []*chain.VerifiedTx) error {
	var busy []*chain.VerifiedTx
	for _, tx := range txs {
		w, ok := l.pool.shardOf(tx.Sender).lookup(tx.Hash)
		switch {
		case !ok:
			continue
		case w.calls:
			busy = append(busy, tx)
			continue
		case l.offer(tx).Calls.Actor == nil:
			continue
		}
		if err := l.Discard(ctx, []*chain.VerifiedTx{tx}); err != nil {
			return err
		}
		l.Admit(ctx, []*chain.VerifiedTx{tx}) // or it is refused, and its sender's to send again
	}
	if len(busy) > 0 {
		l.pool.bar(busy)
	}
	return l.open(ctx)
}

// Waiting is a transaction in the pool and where it stands.
type Waiting struct {
	Tx    *chain.VerifiedTx
	State WaitState
	Tier  int    // 0..Tiers-1 if State is WaitExecutable
	seq   uint64 // in the order of arrival at its tier
	calls bool   // it was judged as a message
}

// WaitState says what a waiting transaction waits for.
type WaitState uint8

const (
	WaitExecutable  WaitState = iota // for room in a block
	WaitUnderpriced                  // for the base fee to fall to its fee caps
	WaitQueued                       // for a transaction with an earlier nonce
	WaitBarred                       // for an actor before which enough others wait
)

// String returns the state as RPC spells it.
func (s WaitState) String() string {
	switch s {
	case WaitExecutable:
		return "ready"
	case WaitUnderpriced:
		return "underpriced"
	case WaitQueued:
		return "parked"
	case WaitBarred:
		return "barred"
	default:
		return "unknown"
	}
}

// Lookup finds a waiting transaction by its hash; ok is false if there is none.
func (l *Lanes) Lookup(ctx context.Context, hash chain.Hash) (w Waiting, ok bool, err error) {
	if err := l.open(ctx); err != nil {
		return Waiting{}, false, err
	}
	w, ok = l.pool.lookup(hash)
	return w, ok, nil
}

// EachWaiting calls f with the hash of every waiting transaction, in any order. Others
// may come and leave meanwhile: one that waits from the beginning to the end is named.
func (l *Lanes) EachWaiting(ctx context.Context, f func(hash chain.Hash)) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	l.pool.eachHash(f)
	return nil
}

// PendingNonce returns the nonce that a sender's next transaction should carry:
// the first that neither the chain nor a waiting transaction uses.
func (l *Lanes) PendingNonce(ctx context.Context, sender chain.Address) (uint64, error) {
	if err := l.open(ctx); err != nil {
		return 0, err
	}
	return l.pool.pendingNonce(sender)
}
