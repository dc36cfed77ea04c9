package parallel

import "github.com/cowboy-foundation/cowboy/chain"

// blames remembers whose transactions had to run again, or made a block one chain:
// they run alone, at their turn, for a while, and nobody else does. So code that is
// hot or hostile makes itself sequential and not its block (ADR 73). Nothing depends
// on it but time.
//
// Whom a transaction is put down to is [culprit]. What one must pay for a new
// culprit, an actor or an account, is more than the one execution that it spoils.
//
// Owner: the executor, between blocks; while a block runs it is only read, by planning.
// Terms back off exponentially, 1, 3, 7 … 63 blocks, so a culprit that does not change costs
// at most one trial in 64 blocks, and one that does is free after its term.
type blames struct {
	block uint64 // blocks begun so far
	terms map[chain.Address]term
}

// term is how long a culprit runs alone.
type term struct {
	until  uint64 // the last block
	blocks uint64 // how many they were
}

const (
	// mostBlamed bounds the table, which starts anew when it is full: what that
	// costs is an execution for each that was in it.
	mostBlamed = 4096
	// mostAlone bounds for how many blocks a culprit runs alone before it is tried
	// again. It starts with one and doubles as long as the trials fail.
	mostAlone = 63
)

func newBlames() *blames { return &blames{terms: map[chain.Address]term{}} }

// alone reports whether a culprit serves a term.
func (b *blames) alone(who chain.Address) bool { return b.terms[who].until >= b.block && b.block > 0 }

// blame lets a culprit run alone from the next block on, longer than the last time.
func (b *blames) blame(who chain.Address) {
	t, known := b.terms[who]
	if !known && len(b.terms) == mostBlamed {
		clear(b.terms)
	}
	t.blocks = min(2*t.blocks+1, mostAlone)
	t.until = b.block + t.blocks
	b.terms[who] = t
}

// culprit is to whom a transaction's conflicts are put down: a message's to its
// target, which is what runs, and all others' to their sender. Not to the code, of
// which anybody may have an actor of their own.
func culprit(tx *chain.VerifiedTx) chain.Address {
	if to := tx.Tx.To; to != nil && !to.IsSystem() && len(tx.Tx.Payload) > 0 {
		return *to
	}
	return tx.Sender
}

// tally counts, for one block and culprit, transactions committed since the first that
// was re-executed, with it, and those that were re-executed.
type tally struct{ executed, reexecuted int }

// noteConflict notes at the commit index whether a transaction that was executed
// speculatively had to be executed again. Whoever conflicts at least twice and in most of
// its transactions is barred: runs alone for the rest of the block.
func (r *run) noteConflict(i int, again bool) {
	if !again && len(r.tallies) == 0 || r.mode != Planned {
		return
	}
	who := culprit(r.txs[i])
	t := r.tallies[who]
	if t == nil {
		if !again {
			return
		}
		if r.tallies == nil {
			r.tallies = map[chain.Address]*tally{}
		}
		t = &tally{}
		r.tallies[who] = t
	}
	t.executed++
	if again {
		t.reexecuted++
		if t.reexecuted > 1 && 2*t.reexecuted > t.executed {
			r.toBar = append(r.toBar, who)
		}
	}
}

// bar bars those whom [run.noteConflict] found. The caller holds the lock.
func (r *run) bar() {
	for _, who := range r.toBar {
		if r.barred == nil {
			r.barred = map[chain.Address]struct{}{}
		}
		r.barred[who] = struct{}{}
	}
	r.toBar = r.toBar[:0]
}

// isBarred reports whether a transaction is to run alone. The caller holds the lock.
func (r *run) isBarred(i int) bool {
	if len(r.barred) == 0 {
		return false
	}
	_, ok := r.barred[culprit(r.txs[i])]
	return ok
}

// updateCulprits draws the lesson of a block: blamed are culprits of whose executions more than
// a quarter were in vain, and those that made nearly all of it wait for one another.
// Those who served their term and did well are forgotten.
func (b *blames) updateCulprits(r *run) {
	blamed, tries := map[chain.Address]bool{}, map[chain.Address]int{}
	for i := range r.commitIndex {
		if !r.alone[i] && (len(r.tallies) > 0 || len(b.terms) > 0) {
			tries[culprit(r.txs[i])]++
		}
	}
	for who, t := range r.tallies {
		blamed[who] = 4*t.reexecuted > tries[who]
	}
	if r.serial() {
		for i := r.deepestAt; i != none; i = int(r.waitsFor[i]) {
			if !r.alone[i] {
				blamed[culprit(r.txs[i])] = true
			}
		}
	}
	for who := range tries {
		if !blamed[who] {
			delete(b.terms, who)
		}
	}
	for who, yes := range blamed {
		if yes {
			b.blame(who)
		}
	}
}
