package lanes

import "github.com/cowboy-foundation/cowboy/chain"

// room finds what must leave so that e fits its lane, or reports that nothing
// there is worth less. Only transactions of e's lane and of other senders make
// room, cheapest level first and the newest of a level first, so that those who
// wait longest keep their turn. A transaction's successors in the lane leave
// before it does: they cannot run before it, so they are worth no more, and
// what stays of the chain still runs.
//
// The victims returned are marked and still in the pool; on error none is.
func (p *pool) room(s *sender, i int, e, old *entry) ([]*entry, error) {
	q := &p.lanes[e.tx.Lane]
	txs := q.txs + 1 - p.cfg.LaneTxs[e.tx.Lane]
	bytes := q.bytes + len(e.tx.Body) - p.cfg.LaneBytes[e.tx.Lane]
	if old != nil && old.tx.Lane == e.tx.Lane {
		txs--
		bytes -= len(old.tx.Body)
	}
	if txs <= 0 && bytes <= 0 {
		return nil, nil
	}
	worth := s.worth(i, e)
	var victims []*entry
	for l, ok := q.above(levelParked); ok && l < worth; l, ok = q.above(l + 1) {
		for v := q.fifos[l].tail; v != nil; v = v.prev {
			if v.mark || v.of == s {
				continue
			}
			chained := v.of.waiting
			for j := len(chained) - 1; !v.mark; j-- {
				w := chained[j]
				if w.mark || w.tx.Lane != e.tx.Lane {
					continue
				}
				w.mark = true
				victims = append(victims, w)
				txs--
				bytes -= len(w.tx.Body)
				if txs <= 0 && bytes <= 0 {
					return victims, nil
				}
			}
		}
	}
	for _, v := range victims {
		v.mark = false
	}
	return nil, &LaneFullError{Lane: e.tx.Lane, Txs: q.txs, Bytes: q.bytes, Tier: int(worth) - int(levelTier0)}
}

// worth is the level that counts when e, at place i of its sender, competes for
// room: no better than that of the transactions it must wait for. In another
// lane a predecessor's tier says nothing about when it runs, so there it only
// counts if it cannot run at all.
func (s *sender) worth(i int, e *entry) level {
	if e.level == levelParked {
		return levelParked
	}
	least := e.level
	for _, before := range s.waiting[:i] {
		if before.tx.Lane == e.tx.Lane || before.level < levelTier0 {
			least = min(least, before.level)
		}
	}
	return least
}

// pendingNonce returns the first nonce that neither the chain nor the runnable
// transactions of a sender use, or false for a sender without transactions.
func (p *pool) pendingNonce(addr chain.Address) (uint64, bool) {
	s := p.senders[addr]
	if s == nil {
		return 0, false
	}
	return s.nonce + uint64(s.runnable()), true
}
