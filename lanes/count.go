package lanes

import (
	"github.com/cowboy-foundation/cowboy/chain"
)

// count is what a pick reckons a transaction with.
type count struct {
	uses   chain.Usage // what it takes of its lane
	unused chain.Usage // the rest of its limits, for which room is promised
	guess  bool        // nothing says what it uses, or whether it runs
	risky  bool        // its sender may be left without what it needs; see risky. Set by include
}

// countOf reckons with what the transaction is known to use: its own execution, then
// what was learned of what it runs, unless that is in doubt, then its limits.
func (k *picker) countOf(e *entry) count {
	if e.pays() {
		return count{uses: e.uses, unused: e.unused}
	}
	if u, ok := k.req.Used[e.tx.Hash]; ok {
		return e.expecting(u)
	}
	if e.ran != (chain.Usage{}) {
		return e.expecting(e.ran)
	}
	if e.mayCall {
		return count{uses: e.uses, unused: e.unused, guess: true}
	}
	if k.req.expect == nil {
		return count{uses: e.uses, unused: e.unused}
	}
	if u, ok := k.req.expect(e.key); ok && !k.req.Doubt {
		return e.expecting(u)
	}
	return count{uses: e.uses, unused: e.unused, guess: true}
}

// expecting cuts an expected use at the limits.
func (e *entry) expecting(u chain.Usage) count {
	limits := sum(e.uses, e.unused)
	u = chain.Usage{Cycles: min(u.Cycles, limits.Cycles), Cells: min(u.Cells, limits.Cells)}
	return count{uses: u, unused: chain.Usage{Cycles: limits.Cycles - u.Cycles, Cells: limits.Cells - u.Cells}}
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
func (s *pool) believe(ran []*chain.VerifiedTx, used map[chain.Hash]chain.Usage) {
	for _, tx := range ran {
		if e := s.shardOf(tx.Sender).byHash[tx.Hash]; e != nil {
			e.ran = used[tx.Hash]
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
func (k *picker) loose(c *count) bool { return k.narrow && exceeds(c.unused, k.unusedMost) }

// promise is what must stay free for the limits of the transactions taken, c's included.
func (k *picker) promise(c *count) chain.Usage {
	if k.loose(c) {
		return k.unused
	}
	return larger(k.unused, c.unused)
}

// fits reports whether the block has room for e and its bytes. A transaction
// starts only if its limits fit what those before it left (resolution 11.14),
// and the order is not known yet: so what all of them use, and the largest unused
// on top, must fit. Then each finds room for its limits wherever it stands. Its bytes
// are known.
func (k *picker) fits(e *entry, c *count) bool {
	need := sum(c.uses, k.promise(c))
	if !exceeds(need, k.left.Usage) && e.space() <= k.left.Bytes {
		return true
	}
	k.cut[e.lane] = true
	k.cramped = k.cramped || exceeds(larger(k.unused, c.unused), k.unusedMost)
	return false
}

// large reports whether something asks for so much of the lane that it says nothing about
// others when it finds no room: a crowd of such must not end a lane in which there is
// room for all others.
func (k *picker) large(u chain.Usage, e *entry) bool {
	return exceeds(u, k.unusedMost) || e.space() > k.bytesMost
}

// largeMisses: so many times as many large ones are looked at in vain as in a row of
// others, before the rest of the large ones costs no more than a glance at its limits.
const largeMisses = 16

// miss notes that something found no room.
func (k *picker) miss(e *entry, c *count) {
	if k.large(c.uses, e) {
		k.larges++
	} else {
		k.misses++
	}
}

// postpone reports whether what may come to nothing must wait until the rest of the lane
// is served: a guess, which may use next to nothing of its limits, and who has no promise
// (see loose), which may find no room for them. The first of a block need not: it may be
// the one that teaches. When a block is packed again, for the room that such left, nothing
// takes it that did not run before, but payments with a promise: those run wherever they
// stand. A block that is packed anew has no such room: what ran before has no better right
// to it than who pays more and found none because of that.
func (k *picker) postpone(e *entry, c *count) bool {
	if c.risky && k.postponeRisky(e, c) {
		return true
	}
	if k.last {
		return false
	}
	unsure := c.guess || k.loose(c)
	again := k.req.Used != nil && !k.req.Anew && !k.ran(e) && (unsure || !e.pays())
	if !again && !unsure {
		return false
	}
	full := again || k.guessed != (chain.Usage{}) && exceeds(sum(k.guessed, c.uses), k.guessMost)
	if !full && !k.guessesMuch(e, c) {
		return false
	}
	k.later.add(e, c, k.all.basis.prices[e.lane].cellWeight, k.loose(c))
	k.cut[e.lane] = k.cut[e.lane] || full // else it is room of its actor that it wants
	return true
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
