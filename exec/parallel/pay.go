package parallel

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
)

// A payment ([exec.IsPayment]) takes a third of the time that it takes to run a transaction
// on an overlay of its own, validate it and take its writes over. So the holder of the
// commit role executes it in its place, on the committed state itself, and no worker
// speculates on it (ADR 188).

// payments marks the transactions that may be payments, and counts them.
func payments(txs []*chain.VerifiedTx) (pays []bool, n int) {
	pays = make([]bool, len(txs))
	for i, tx := range txs {
		if pays[i] = exec.IsPayment(tx); pays[i] {
			n++
		}
	}
	return pays, n
}

// pay executes and commits the transaction at the commit index if it is a payment that
// succeeds. Otherwise it has written nothing. The caller has the commit role.
func (w *worker) pay(i int) (done bool) {
	r := w.run
	if r.shake != nil {
		r.shake()
	}
	tx := r.txs[i]
	to := payee{committed: r.committed, mark: uint32(i) + 1}
	to.lock(&tx.Sender, tx.Tx.To)
	defer to.unlock()
	if r.builder == nil {
		done, r.err = r.steps.Pay(tx, &to)
		return done
	}
	done, r.err = r.builder.Pay(i, &to)
	r.late = r.builder.IsCut()
	return done
}

// payee is the committed state for the accounts of one payment. It implements
// [exec.Accounts] for the holder of the commit role.
//
// The locks of both shards are held from the first look to the last write: a reader that
// comes between would have the overlay keep what it has read, beside what is held. Nobody
// else holds two shards at a time, so nobody waits for one of them with the other.
type payee struct {
	*committed
	mark   uint32
	shards [2]*sync.Mutex // held; the second may be nil
}

func (p *payee) lock(from, to *chain.Address) {
	a, b := p.shardOf(from), p.shardOf(to)
	a.mu.Lock()
	p.shards[0] = &a.mu
	if a != b {
		b.mu.Lock()
		p.shards[1] = &b.mu
	}
}

func (p *payee) unlock() {
	for _, mu := range p.shards {
		if mu != nil {
			mu.Unlock()
		}
	}
}

// Hold implements [exec.Accounts].
func (p *payee) Hold(addr chain.Address) (state.Held, bool) { return p.shardOf(&addr).over.Hold(addr) }

// Drop implements [exec.Accounts].
func (p *payee) Drop(h *state.Held) { p.shardOf(h.Address()).over.Drop(h) }

// SetHeld implements [exec.Accounts]. Code and metadata stay, so their version does.
func (p *payee) SetHeld(h *state.Held, nonce uint64, balance chain.Wei) {
	addr := h.Address()
	p.written.addAccount(*addr)
	sh := p.shardOf(addr)
	sh.versionsOf(*addr).account = p.mark
	sh.over.SetHeld(h, nonce, balance)
}
