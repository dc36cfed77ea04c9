package lanes

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/state"
)

// FinalizedHead is a finalized block, as far as waiting transactions are
// concerned.
type FinalizedHead struct {
	Height   chain.Height
	View     state.View                    // state after the block; read until the next head is given
	BaseFees [chain.NumLanes]chain.FeePair // in force in the next block
	Txs      []*chain.VerifiedTx           // the block's transactions
	Touched  []chain.Address               // other accounts whose nonce or balance the block changed
}

// Lanes owns the pool of waiting transactions.
type Lanes struct {
	cfg     Config
	params  *chain.Params
	chainID uint64
	inbox   chan func() // requests of submitters and readers
	ledger  chan func() // requests of the ledger, served first
	done    chan struct{}
	counts  counters

	// Owned by Run.
	pool *pool
	head FinalizedHead
}

// New returns lanes that admit against the given head.
func New(cfg Config, params *chain.Params, chainID uint64, head FinalizedHead) (*Lanes, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("lanes: %w", err)
	}
	l := &Lanes{
		cfg:     cfg,
		params:  params,
		chainID: chainID,
		inbox:   make(chan func(), cfg.InboxRequests),
		ledger:  make(chan func(), 2), // a proposal and a finalization
		done:    make(chan struct{}),
		pool:    newPool(cfg, cellWeight(params)),
		head:    head,
	}
	l.head.Txs, l.head.Touched = nil, nil
	l.pool.reprice(head.BaseFees)
	return l, nil
}

// cellWeight is how many cycles a cell counts for when tips are compared: the
// ratio of the two meters' targets.
func cellWeight(p *chain.Params) uint64 {
	return uint64(p.CyclesTarget) / max(1, uint64(p.CellsTarget))
}

// Run serves requests until ctx ends and returns its error. The caller owns the
// goroutine that calls it. It is called once.
func (l *Lanes) Run(ctx context.Context) error {
	defer close(l.done)
	pprof.Do(ctx, pprof.Labels("stage", "lanes"), l.serve)
	return ctx.Err()
}

func (l *Lanes) serve(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case do := <-l.ledger:
			do()
			continue
		default:
		}
		select {
		case <-ctx.Done():
		case do := <-l.ledger:
			do()
		case do := <-l.inbox:
			do()
		}
	}
}

// ask has the owner run do and waits for its answer. A request whose caller
// gives up is still served; the answer is then dropped.
func ask[T any](ctx context.Context, l *Lanes, queue chan<- func(), do func() T) (T, error) {
	var none T
	reply := make(chan T, 1)
	select {
	case queue <- func() { reply <- do() }:
	case <-ctx.Done():
		return none, ctx.Err()
	case <-l.done:
		return none, ErrStopped
	}
	select {
	case answer := <-reply:
		return answer, nil
	case <-ctx.Done():
		return none, ctx.Err()
	case <-l.done:
	}
	select {
	case answer := <-reply: // served just before the end
		return answer, nil
	default:
		return none, ErrStopped
	}
}

// Admit offers verified transactions to the pool, in order, and returns one
// answer for each: nil, or the refusal that the sender should see. A
// *ReadError is not a refusal but a fault of this node. If the context ends or
// the lanes have stopped, every answer says so; the transactions may have been
// admitted nevertheless. The slice must not be changed afterwards.
func (l *Lanes) Admit(ctx context.Context, txs []*chain.VerifiedTx) []error {
	answers, err := ask(ctx, l, l.inbox, func() []error { return l.admitAll(txs) })
	if err != nil {
		answers = make([]error, len(txs))
		for i := range answers {
			answers[i] = err
		}
	}
	return answers
}

func (l *Lanes) admitAll(txs []*chain.VerifiedTx) []error {
	answers := make([]error, len(txs))
	for i, tx := range txs {
		answers[i] = l.admit(tx)
	}
	l.publish()
	return answers
}

func (l *Lanes) admit(tx *chain.VerifiedTx) error {
	if l.pool.byHash[tx.Hash] != nil {
		l.counts.known.Add(1)
		return ErrKnown
	}
	did, err := l.tryAdmit(tx)
	switch {
	case err == nil:
		l.counts.admitted.Add(1)
	case errors.As(err, new(*LaneFullError)):
		l.counts.full.Add(1)
	default:
		l.counts.refused.Add(1)
	}
	if did.replaced {
		l.counts.replaced.Add(1)
	}
	l.counts.evicted.Add(uint64(did.evicted))
	return err
}

func (l *Lanes) tryAdmit(tx *chain.VerifiedTx) (added, error) {
	at, err := l.account(tx.Sender)
	if err != nil {
		return added{}, err
	}
	if tx.Tx.Nonce < at.nonce {
		return added{}, &NonceTooLowError{Got: tx.Tx.Nonce, Want: at.nonce}
	}
	if err := l.validate(tx, at); err != nil {
		return added{}, err
	}
	cost, err := fees.MaxCost(tx.Tx)
	if err != nil {
		return added{}, err
	}
	return l.pool.add(tx, cost, at)
}

// account returns a sender's account at the head. What is known of a sender
// with waiting transactions is read again at the first use under a new head,
// since a balance can also become spendable by the passing of blocks.
func (l *Lanes) account(addr chain.Address) (account, error) {
	if s := l.pool.senders[addr]; s != nil && s.height == l.head.Height {
		return s.account, nil
	}
	at, err := readAccount(l.head.View, addr, l.head.Height)
	if err != nil {
		return account{}, err
	}
	l.leave(l.pool.refresh(addr, at))
	return at, nil
}

// leave counts what refresh removed.
func (l *Lanes) leave(left []*entry, used int) {
	for _, e := range left[:used] {
		if e.final {
			l.counts.included.Add(1)
		} else {
			l.counts.outdated.Add(1)
		}
	}
	l.counts.starved.Add(uint64(len(left) - used))
}

// Finalized moves the pool to a new head. The block's transactions leave it,
// with every other one of their nonces; so do, for the senders of the block and
// the accounts in Touched, the last transactions that the balance no longer
// covers. No other transaction is looked at, except to move those that cross
// the edge of a fee tier. An error is a *ReadError or ctx's.
func (l *Lanes) Finalized(ctx context.Context, head FinalizedHead) error {
	failed, err := ask(ctx, l, l.ledger, func() error { return l.finalized(head) })
	return errors.Join(err, failed)
}

func (l *Lanes) finalized(head FinalizedHead) error {
	l.head = head
	l.head.Txs, l.head.Touched = nil, nil
	for _, tx := range head.Txs {
		if e := l.pool.byHash[tx.Hash]; e != nil {
			e.final = true
		}
	}
	err := l.refreshAll(head)
	// Prices last, so that what leaves is not moved first.
	l.counts.moved.Add(uint64(l.pool.reprice(head.BaseFees)))
	l.publish()
	return err
}

func (l *Lanes) refreshAll(head FinalizedHead) error {
	for _, tx := range head.Txs {
		if err := l.refresh(tx.Sender); err != nil {
			return err
		}
	}
	for _, addr := range head.Touched {
		if err := l.refresh(addr); err != nil {
			return err
		}
	}
	return nil
}

// refresh reads a sender again unless that was done under this head.
func (l *Lanes) refresh(addr chain.Address) error {
	if l.pool.senders[addr] == nil {
		return nil
	}
	_, err := l.account(addr)
	return err
}

// Discard removes transactions from the pool, for instance those that a
// proposer found it could not execute. Unknown ones are ignored.
func (l *Lanes) Discard(ctx context.Context, hashes []chain.Hash) error {
	_, err := ask(ctx, l, l.ledger, func() struct{} {
		for _, hash := range hashes {
			if e := l.pool.byHash[hash]; e != nil {
				l.pool.remove(e)
				l.counts.discarded.Add(1)
			}
		}
		l.publish()
		return struct{}{}
	})
	return err
}

// Waiting is a transaction in the pool and where it stands.
type Waiting struct {
	Tx    *chain.VerifiedTx
	State WaitState
	Tier  int // 0..Tiers-1 if State is WaitReady
}

// WaitState says what a waiting transaction waits for.
type WaitState uint8

const (
	WaitReady       WaitState = iota // for room in a block
	WaitUnderpriced                  // for the base fee to fall to its fee caps
	WaitParked                       // for a transaction with an earlier nonce
)

// String returns the state as RPC spells it.
func (s WaitState) String() string {
	switch s {
	case WaitReady:
		return "ready"
	case WaitUnderpriced:
		return "underpriced"
	case WaitParked:
		return "parked"
	default:
		return "unknown"
	}
}

// Lookup finds a waiting transaction by its hash; ok is false if there is none.
func (l *Lanes) Lookup(ctx context.Context, hash chain.Hash) (w Waiting, ok bool, err error) {
	found, err := ask(ctx, l, l.inbox, func() *Waiting {
		e := l.pool.byHash[hash]
		if e == nil {
			return nil
		}
		switch e.level {
		case levelParked:
			return &Waiting{Tx: e.tx, State: WaitParked}
		case levelUnderpriced:
			return &Waiting{Tx: e.tx, State: WaitUnderpriced}
		default:
			return &Waiting{Tx: e.tx, State: WaitReady, Tier: int(e.level - levelTier0)}
		}
	})
	if err != nil || found == nil {
		return Waiting{}, false, err
	}
	return *found, true, nil
}

// PendingNonce returns the nonce that a sender's next transaction should carry:
// the first that neither the chain nor a waiting transaction uses.
func (l *Lanes) PendingNonce(ctx context.Context, sender chain.Address) (uint64, error) {
	type answer struct {
		nonce uint64
		err   error
	}
	a, err := ask(ctx, l, l.inbox, func() answer {
		at, err := l.account(sender)
		if err != nil {
			return answer{err: err}
		}
		if nonce, ok := l.pool.pendingNonce(sender); ok {
			return answer{nonce: nonce}
		}
		return answer{nonce: at.nonce}
	})
	return a.nonce, errors.Join(err, a.err)
}
