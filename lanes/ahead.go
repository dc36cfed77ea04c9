package lanes

import "github.com/cowboy-foundation/cowboy/chain"

// heads holds one entry for each sender with transactions in the blocks between the pool's
// head and the parent: its first with a nonce that the parent has not used, the best on
// top. The sender's own turns cannot be used: they begin with nonces that are used.
//
// It is a heap that has its keys in itself: to order entries it reads none of them.
type heads []ranked

// ranked is an arrival with its level.
type ranked struct {
	level level
	arrival
}

// before reports whether a pick comes to p first.
func (p *ranked) before(o *ranked) bool {
	return p.level > o.level || p.level == o.level && p.seq < o.seq
}

func (h *heads) push(e *entry) {
	*h = append(*h, ranked{e.level, arrival{e.seq, e}})
	list := *h
	for i := len(list) - 1; i > 0; {
		up := (i - 1) / 2
		if !list[i].before(&list[up]) {
			return
		}
		list[i], list[up] = list[up], list[i]
		i = up
	}
}

// replaceTop takes the best away and, unless it is nil, puts another into its place.
func (h *heads) replaceTop(e *entry) {
	list := *h
	if e != nil {
		list[0] = ranked{e.level, arrival{e.seq, e}}
	} else {
		last := len(list) - 1
		list[0] = list[last]
		list[last] = ranked{}
		list = list[:last]
		*h = list
	}
	for i := 0; ; {
		best := i
		for down := 2*i + 1; down <= 2*i+2 && down < len(list); down++ {
			if list[down].before(&list[best]) {
				best = down
			}
		}
		if best == i {
			return
		}
		list[i], list[best] = list[best], list[i]
		i = best
	}
}

// early is a sender with transactions in the blocks between the pool's head and the parent,
// and what the parent has of it.
type early struct {
	addr chain.Address
	at   account
}

// readAhead returns the senders whose nonces the blocks above the pool's head have used, of
// whom anything waits, each once. It reads their accounts before anything stands still. Who
// calls holds coming, so that the head stays.
func (s *pool) readAhead(req *PackRequest) (list []early, err error) {
	seen := map[chain.Address]struct{}{}
	for i, txs := range req.Before {
		if req.Height-1-chain.Height(i) <= s.basis.Height {
			break
		}
		for _, tx := range txs {
			if _, ok := seen[tx.Sender]; ok {
				continue
			}
			seen[tx.Sender] = struct{}{}
			if !s.shardOf(tx.Sender).knows(tx.Sender) {
				continue
			}
			at, err := req.account(tx.Sender)
			if err != nil {
				return nil, err
			}
			list = append(list, early{tx.Sender, at})
		}
	}
	return list, nil
}

// knows reports whether anything of a sender waits.
func (h *shard) knows(sender chain.Address) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.senders[sender] != nil
}

// lookAhead prepares the heads of those senders. A pick meets each of their transactions at
// its turn, too; by then it has been taken, or it never will be.
func (k *picker) lookAhead(list []early) {
	for i := range list {
		s := k.all.shardOf(list[i].addr).senders[list[i].addr]
		if s == nil {
			continue
		}
		k.open(s, list[i].at)
		if s.pick.nonce > s.Nonce {
			k.queueAhead(s)
		}
	}
}

// queueAhead puts a sender's next transaction among the heads if it can run.
func (k *picker) queueAhead(s *sender) {
	if e := s.upcoming(); e != nil {
		k.ahead[e.lane].push(e)
	}
}

// upcoming is what follows, of a sender's transactions, those that are picked, if it can run.
func (s *sender) upcoming() *entry {
	i := s.pick.nonce - s.Nonce
	if i >= uint64(len(s.waiting)) || s.waiting[i].nonce != s.pick.nonce || s.waiting[i].level < levelBarred {
		return nil
	}
	return s.waiting[i]
}

// takeAhead takes the heads of a lane that come before a turn, each followed by
// the next of its sender.
func (k *picker) takeAhead(lane chain.LaneID, l level, seq uint64) {
	h := &k.ahead[lane]
	for len(*h) > 0 && k.misses < k.all.cfg.PackMisses {
		if top := &(*h)[0]; top.level < l || top.level == l && top.seq > seq {
			return
		}
		e := (*h)[0].e
		var next *entry
		k.looked++
		c := k.countOf(e)
		switch {
		case !k.fits(e, &c):
			k.miss(e, &c)
		case k.include(e.of, e):
			next = e.of.upcoming()
		}
		if next != nil && next.lane != lane { // one of an earlier lane is queued there and never met
			k.ahead[next.lane].push(next)
			next = nil
		}
		h.replaceTop(next)
	}
}
