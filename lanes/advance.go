package lanes

import "github.com/cowboy-foundation/cowboy/chain"

// moved is an account that a block touched.
type moved struct {
	addr chain.Address
	txs  []*chain.VerifiedTx // that it sent in the block
	at   account             // at the new head
	read bool                // at says so
}

// advance moves the pool to a new head. The block's transactions leave it, with
// every other one of their nonces; so do, for the senders of the block and the
// accounts in touched, the last transactions that the balance no longer covers.
// No other transaction is looked at, except where a base fee crosses an edge of
// fee tiers. The error is the head's account's.
//
// Who is concerned is found, and read, before anything stands still: each account
// once, however often the block names it.
func (s *pool) advance(head head, txs []*chain.VerifiedTx, touched []chain.Address) error {
	accounts := s.movedBy(head, txs, touched)
	s.holdAll()
	defer s.releaseAll()
	s.head = head
	s.heads++
	weighsAnew := head.measures != nil && s.adopt(*head.measures)
	err := s.refreshAll(accounts)
	// Prices last, so that what leaves is not moved first.
	s.shards[0].counts.moved.Add(uint64(s.reprice(head.BaseFees, weighsAnew)))
	s.retire()
	return err
}

// movedBy returns the accounts that a block touched, in the order in which it names them.
func (s *pool) movedBy(head head, txs []*chain.VerifiedTx, touched []chain.Address) []moved {
	list, places := make([]moved, 0, len(txs)/8), make(map[chain.Address]int32, len(txs)/8)
	place := func(addr chain.Address) *moved {
		at, ok := places[addr]
		if !ok {
			at = int32(len(list))
			places[addr] = at
			list = append(list, moved{addr: addr})
		}
		return &list[at]
	}
	for _, tx := range txs {
		m := place(tx.Sender)
		m.txs = append(m.txs, tx)
	}
	for _, addr := range touched {
		place(addr)
	}
	for i := range list {
		m, h := &list[i], s.shardOf(list[i].addr)
		h.mu.Lock()
		known := h.senders[m.addr] != nil
		h.mu.Unlock()
		if !known {
			continue
		}
		var err error
		m.at, err = head.account(m.addr)
		m.read = err == nil // else it is read again when all shards are held
	}
	return list
}

// refreshAll holds what waits against the new head. All shards are held.
func (s *pool) refreshAll(accounts []moved) error {
	for i := range accounts {
		m := &accounts[i]
		h := s.shardOf(m.addr)
		from := h.senders[m.addr]
		if from == nil {
			continue
		}
		for _, tx := range m.txs {
			if at, ok := from.indexOf(tx.Tx.Nonce); ok && from.waiting[at].tx.Hash == tx.Hash {
				from.waiting[at].final = true
			}
		}
		if m.read {
			if from.account != m.at {
				h.countRefreshed(h.refresh(m.addr, m.at))
			}
			continue
		}
		if _, err := h.accountNow(m.addr); err != nil {
			return err
		}
	}
	return nil
}
