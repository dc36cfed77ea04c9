package lanes

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// dropLeavers takes out what only runners may send of those that a block took out of the
// registry. The role is judged when a transaction comes; without this, hundreds that no
// block takes any more would stand before what honest runners send, paid by nobody. The
// error is a *ReadError.
func (l *Lanes) dropLeavers(txs []*chain.VerifiedTx) error {
	for _, tx := range txs {
		if tx.Tx.To == nil || *tx.Tx.To != chain.AddrRunnerRegistry {
			continue
		}
		if ins, err := tx.Tx.Classify(); err != nil || ins.Opcode != chain.OpRunnerDeregister {
			continue
		}
		is, err := (*admission)(l).IsRunner(tx.Sender)
		if err != nil {
			return err
		}
		if !is {
			l.pool.dropOf(tx.Sender, isRunners)
		}
	}
	return nil
}

// isRunners reports whether only a runner may send a transaction.
func isRunners(tx *chain.VerifiedTx) bool {
	ins, err := tx.Tx.Classify()
	return err == nil && (ins.Sender == chain.SenderRunner || ins.Sender == chain.SenderAssignedRunner)
}

// dropOf takes out what waits of a sender and is gone.
func (s *pool) dropOf(sender chain.Address, gone func(*chain.VerifiedTx) bool) {
	h := s.shardOf(sender)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counted > 0 {
		s.targets.mu.Lock()
		defer s.targets.mu.Unlock()
	}
	from := h.senders[sender]
	if from == nil {
		return
	}
	waiting := slices.Clone(from.waiting)
	for _, e := range slices.Backward(waiting) { // the last first, so that none is moved before it goes
		if gone(e.tx) {
			h.remove(e)
			h.counts.discarded.Add(1)
		}
	}
}
