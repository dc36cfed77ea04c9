package lanes

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// moved is an account that a block touched.
type moved struct {
	addr chain.Address
	txs  []*chain.VerifiedTx // that it sent in the block
	at   account             // at the new head
	read bool                // at says so, or err why not
	err  error
}

// advance moves the pool to a new head. The block's transactions leave it, with
// every other one of their nonces; so do, for the senders of the block and the
// accounts in touched, the last transactions that the balance no longer covers.
// No other transaction is looked at, except where a base fee crosses an edge of
// fee tiers. The error is the first of the head's account's.
//
// Who is concerned is found, and read, before anything stands still: each account
// once, however often the block names it. Then the shards move one after the other, each
// under its own lock, so that whoever admits waits for one shard and not for the block.
// Until the last has moved, and what is barred has its turn, nothing is picked
// (docs/adr/0195).
func (s *pool) advance(head head, txs []*chain.VerifiedTx, touched []chain.Address) error {
	accounts := s.movedBy(head, txs, touched)
	s.coming.Lock()
	defer s.coming.Unlock()
	s.yields = 0
	next := s.basis.after(head)
	s.adopt(limitsIn(next.measures))
	var first error
	for i := range s.shards {
		if err := s.shards[i].moveTo(next, accounts[i]); err != nil && first == nil {
			first = err
		}
		if i%shardsAtOnce == shardsAtOnce-1 {
			s.yield()
		}
		s.letOthers(&s.shards[i])
	}
	s.basis = next
	s.shards[0].counts.moved.Add(uint64(s.promote()))
	return first
}

// shardsAtOnce is after how many shards a head lets others run, whoever they are. Go would
// have them wait ten milliseconds before it takes the core away, as long as a large block
// takes.
const shardsAtOnce = 8

// yieldsMost is how often, beyond that, a head lets those run who waited for a shard. Each
// time it stands behind all that others have to do, and the next pick waits for the head.
const yieldsMost = 8

// letOthers lets those run who waited for a shard that has been given free. Unlocking wakes
// them, but they stand behind the caller in the queue of its core then, and the other cores
// may be busy.
func (s *pool) letOthers(h *shard) {
	if h.wanted.Load() > 0 && s.yields < yieldsMost {
		s.yields++
		s.yield()
	}
	if s.shake != nil {
		s.shake()
	}
}

// yield gives the core away, unless a pick waits for the head: a proposal has no time for
// whoever admits.
func (s *pool) yield() {
	if s.picksWait.Load() == 0 {
		runtime.Gosched()
	}
}

// movedBy returns the accounts that a block touched and that have anything waiting, by
// shard.
func (s *pool) movedBy(head head, txs []*chain.VerifiedTx, touched []chain.Address) (by [numShards][]moved) {
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
		m, n := &list[i], s.shardNumber(list[i].addr)
		if m.read = s.shards[n].knows(m.addr); m.read {
			m.at, m.err = head.account(m.addr)
		}
		by[n] = append(by[n], *m) // unknown ones too: they may come until the shard moves
	}
	return by
}

// adopt takes in limits that governance has changed, at one instant in all shards.
func (s *pool) adopt(now limits) {
	if s.targets.limits == now {
		return
	}
	s.holdAll()
	defer s.releaseAll()
	s.targets.adopt(now)
	for i := range s.shards {
		for _, e := range s.shards[i].byHash {
			s.targets.joinTarget(e) // in any order: sums
		}
	}
}

// moveTo moves a shard to the next basis.
func (h *shard) moveTo(next *basis, accounts []moved) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counted > 0 {
		h.all.targets.mu.Lock()
		defer h.all.targets.mu.Unlock()
	}
	for lane := range h.lanes {
		h.lanes[lane].leaveMany()
	}
	was := h.basis
	h.basis, h.placed = next, 0
	err := h.refreshAll(accounts)
	h.reprice(&was.prices) // last, so that what leaves is not moved first
	if next.count%numShards == uint64(h.number) {
		h.retire()
	}
	for lane := range h.lanes {
		h.lanes[lane].haveLeft()
	}
	return err
}

// refreshAll holds what waits against the shard's new basis. It goes on behind an account
// that could not be read, whose error it returns if it is the first: what that one sends or
// may be packed is judged by what is read then.
func (h *shard) refreshAll(accounts []moved) (first error) {
	for i := range accounts {
		m := &accounts[i]
		from := h.senders[m.addr]
		if from == nil {
			continue
		}
		for _, tx := range m.txs {
			if at, ok := from.indexOf(tx.Tx.Nonce); ok && from.waiting[at].tx.Hash == tx.Hash {
				from.waiting[at].final = true
			}
		}
		err := m.err
		switch {
		case !m.read: // it came meanwhile
			_, err = h.accountNow(m.addr)
		case err == nil && from.account != m.at:
			h.countRefreshed(h.refresh(m.addr, m.at))
		}
		if err != nil && first == nil {
			first = err
		}
	}
	return first
}

// reprice gives what waits the levels that it has under the shard's new prices. Only
// lanes whose prices changed are touched, in them only lists for which the change matters,
// and in those only transactions that cross a tier's edge move; all are looked at if cells
// weigh otherwise.
func (h *shard) reprice(was *[chain.NumLanes]pricing) {
	for lane := range h.lanes {
		now, q := &h.basis.prices[lane], &h.lanes[lane]
		if was[lane].version == now.version {
			continue
		}
		if was[lane].cellWeight != now.cellWeight {
			for l := range q.fifos {
				q.fifos[l].still = noFee
			}
		}
		h.movers[lane] = q.relevel(now)
		for _, e := range h.movers[lane] {
			h.all.lanes[lane].lower(e.level)
		}
		h.counts.moved.Add(uint64(len(h.movers[lane])))
	}
	h.settleMovers()
}

// retire drops what has grown old, of one shard at each head: looking at all of the pool
// takes long.
func (h *shard) retire() {
	now, most := h.basis.Millis, h.all.cfg.AgeMillis
	if now == 0 || most == 0 {
		return
	}
	var old []*entry
	for _, e := range h.byHash {
		if e.born == 0 || e.born > now {
			e.born = now
		} else if now-e.born > most {
			old = append(old, e)
		}
	}
	slices.SortFunc(old, func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) }) // not the map's order
	h.all.lanes[chain.LaneUser].narrow(usersAmong(old))
	for _, e := range old {
		h.remove(e)
	}
	h.counts.aged.Add(uint64(len(old)))
}
