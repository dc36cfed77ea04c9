package sched

import "github.com/cowboy-foundation/cowboy/chain"

// count is what a pick reckons a transaction with.
type count struct {
	uses  chain.Usage // what it takes of its lane
	spare chain.Usage // the rest of its limits, for which room is promised
	guess bool        // nothing says what it uses, or whether it runs
}

// countOf reckons with what the transaction is known to use: its own execution, then
// what was learned of what it runs, unless that is in doubt, then its limits.
func (k *picker) countOf(e *entry) count {
	if e.pays() {
		return count{uses: e.uses, spare: e.spare}
	}
	if u, ok := k.req.Used[e.tx.Hash]; ok {
		return e.expecting(u)
	}
	if e.ran != (chain.Usage{}) {
		return e.expecting(e.ran)
	}
	if e.mayCall {
		return count{uses: e.uses, spare: e.spare, guess: true}
	}
	if k.req.Expect == nil {
		return count{uses: e.uses, spare: e.spare}
	}
	if u, ok := k.req.Expect(e.key); ok && !k.req.Doubt {
		return e.expecting(u)
	}
	return count{uses: e.uses, spare: e.spare, guess: true}
}

// expecting cuts an expected use at the limits.
func (e *entry) expecting(u chain.Usage) count {
	limits := sum(e.uses, e.spare)
	u = chain.Usage{Cycles: min(u.Cycles, limits.Cycles), Cells: min(u.Cells, limits.Cells)}
	return count{uses: u, spare: chain.Usage{Cycles: limits.Cycles - u.Cycles, Cells: limits.Cells - u.Cells}}
}

// Of a lane's room, one transaction's unused limits keep free no more than a part in
// narrowPart where others wait for it, and what may come to nothing takes no more than
// a part in guessPart before the rest is served.
const (
	narrowPart = 16
	guessPart  = 4
)

// believe notes of transactions what an execution of theirs used: the next picks need not
// find out again that they are not like others that run the same. All shards are held.
func (s *Scheduler) believe(used map[chain.Hash]chain.Usage) {
	for hash, u := range used {
		for i := range s.shards {
			if e := s.shards[i].byHash[hash]; e != nil {
				e.ran = u
				break
			}
		}
	}
}

// part is the n-th part of what a lane has.
func part(of chain.Usage, n uint64) chain.Usage {
	return chain.Usage{Cycles: of.Cycles / chain.Cycles(n), Cells: of.Cells / chain.Cells(n)}
}

// exceeds reports whether u is above most in either meter.
func exceeds(u, most chain.Usage) bool { return u.Cycles > most.Cycles || u.Cells > most.Cells }

func larger(a, b chain.Usage) chain.Usage {
	return chain.Usage{Cycles: max(a.Cycles, b.Cycles), Cells: max(a.Cells, b.Cells)}
}

func sum(a, b chain.Usage) chain.Usage {
	return chain.Usage{Cycles: a.Cycles + b.Cycles, Cells: a.Cells + b.Cells}
}

// loose reports whether a transaction gets no promise for what it will not use: in a
// narrow pick, one with so much of it that others would stay out for it. It runs if its
// place in the order still has the room for its limits, so it is the only one of its
// sender: to leave it out then moves nobody.
func (k *picker) loose(c *count) bool { return k.narrow && exceeds(c.spare, k.spareMost) }

// promise is what must stay free for the limits of the transactions taken, c's included.
func (k *picker) promise(c *count) chain.Usage {
	if k.loose(c) {
		return k.spare
	}
	return larger(k.spare, c.spare)
}

// fits reports whether the block has room for e and its bytes. A transaction
// starts only if its limits fit what those before it left (resolution 11.14),
// and the order is not known yet: so what all of them use, and the largest spare
// on top, must fit. Then each finds room for its limits wherever it stands. Its bytes
// are known.
func (k *picker) fits(e *entry, c *count) bool {
	need := sum(c.uses, k.promise(c))
	if !exceeds(need, k.left.Usage) && e.space() <= k.left.Bytes {
		return true
	}
	k.cut = true
	k.cramped = k.cramped || exceeds(larger(k.spare, c.spare), k.spareMost)
	return false
}

// postpone reports whether what may come to nothing must wait until the rest of the lane
// is served: a guess, which may use next to nothing of its limits, and who has no promise
// (see loose), which may find no room for them. The first of a block need not: it may be
// the one that teaches. When a block is packed again, for the room that such left, nothing
// takes it that did not run before, but payments with a promise: those run wherever they
// stand.
func (k *picker) postpone(e *entry, c *count, loose bool) bool {
	if k.last {
		return false
	}
	unsure := c.guess || loose
	again := k.req.Used != nil && !k.ran(e) && (unsure || !e.pays())
	if !again && !unsure {
		return false
	}
	if again || k.guessed != (chain.Usage{}) && exceeds(sum(k.guessed, c.uses), k.guessMost) {
		k.later = append(k.later, e)
		k.cut = true
		return true
	}
	return false
}

// ran reports whether an execution on the parent of the block has kept it.
func (k *picker) ran(e *entry) bool {
	_, ran := k.req.Used[e.tx.Hash]
	return ran
}

// pays reports whether it runs nothing, now and later: it is known what it uses, and that
// nobody else's transaction keeps it from running.
func (e *entry) pays() bool { return e.key == 0 && !e.mayCall }

// busy reports whether it may be a message to an actor that had no cycles left for another
// in an execution on the parent of the block.
func (k *picker) busy(e *entry) bool {
	if len(k.req.Busy) == 0 || e.pays() || e.tx.Tx.To == nil || k.ran(e) {
		return false
	}
	_, busy := k.req.Busy[*e.tx.Tx.To]
	return busy
}

// takePostponed gives what is left of a lane to the guesses that had to wait, each
// followed by those of its sender that came to their turns for nothing meanwhile.
func (k *picker) takePostponed() error {
	later := k.later
	k.later, k.last, k.misses = nil, true, 0
	for _, e := range later {
		if err := k.meet(e); err != nil || k.misses >= k.all.cfg.PackMisses {
			return err
		}
		s := e.of
		for i := s.pick.nonce - s.Nonce; s.pick.nonce > e.nonce && i < uint64(len(s.waiting)); i++ {
			if next := s.waiting[i]; next.lane != e.lane || next.level < levelBarred || !k.take(s, next) {
				break
			}
		}
		if !k.onHead { // its next one may be a later lane's and have no turn there
			k.queueAhead(s, s.pick.nonce)
		}
	}
	return nil
}
