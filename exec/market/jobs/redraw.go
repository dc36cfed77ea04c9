//spec:implements CIP-2 6

package jobs

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

const (
	// RetryLookahead is among how many times job.retries_per_block of the jobs that wait
	// longest those are looked for that are drawn for.
	RetryLookahead = 8
	// ShareOfDraws is the part of a block's draws that a submitter gets while others wait.
	ShareOfDraws = 4
	// RedrawCandidates is how many candidates a block puts together again for retries. [Memo]
	// keeps as many, so that none of a block's retries drives out another's.
	RedrawCandidates = snapshotsRoom
	// RedrawPapers is how many bytes of what jobs ask for a block reads for retries, but for the
	// first job: some hundred microseconds each for the longest.
	RedrawPapers = 1 << 20
)

// retry is a job that waits for another committee.
type retry struct {
	row state.StorageKey
	id  chain.Hash
	job *Job
}

// longestWaiting returns the jobs that have waited longest for another committee.
func (b *Book) longestWaiting(most int) (all []retry, err error) {
	rows, err := b.State.Scan(chain.AddrJobDispatcher, state.Span{Prefix: key(TableRetry), Entries: most, Bytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	// Bounded: by job.retries_per_block, times RetryLookahead.
	for i := range rows {
		_, id, ok := SplitAt(TableRetry, rows[i].Key)
		if !ok || len(rows[i].Value) != 1 {
			return nil, ErrRecord
		}
		j, err := Read(b.State, id)
		if err != nil {
			return nil, err
		}
		if j == nil || !j.waits(rows[i].Value[0]) { // left by an attempt that is over
			b.set(rows[i].Key, nil)
			continue
		}
		all = append(all, retry{rows[i].Key, id, j})
	}
	return all, nil
}

// shareOut returns for which jobs a block draws, in this order: of each submitter those that
// have waited longest, up to its share of the draws; then others, if draws are left.
func shareOut(waiting []retry, most int) (drawn []retry) {
	var rest []retry
	share, got := max(1, most/ShareOfDraws), map[chain.Address]int{}
	// Bounded: by job.retries_per_block, times RetryLookahead.
	for _, w := range waiting {
		if got[w.job.Submitter] == share {
			rest = append(rest, w)
			continue
		}
		got[w.job.Submitter]++
		drawn = append(drawn, w)
	}
	drawn = append(drawn, rest...)
	return drawn[:min(most, len(drawn))]
}

// redraws is what a block may still put together for retries. It counts what a machine does
// that remembers nothing, so that all come to the same.
type redraws struct {
	left   int
	papers uint64
	made   map[chain.Hash]bool // candidates, by their roots
}

// takes reports whether the candidates of a job have room. The first of a block always have.
func (r *redraws) takes(b *Book, w retry) (bool, error) {
	papers := uint64(w.job.Papers)
	if papers > r.papers && len(r.made) > 0 {
		return false, nil
	}
	r.papers -= min(papers, r.papers)
	if r.made[w.job.CandidatesRoot] {
		return true, nil
	}
	eligible, err := b.State.Storage(chain.AddrJobDispatcher, EligibleKey(w.id))
	if err != nil {
		return false, err
	}
	candidates := 0
	// Paid: job.candidate_cycles for each registered runner (resolution 12.21).
	for _, eight := range eligible {
		candidates += bits.OnesCount8(eight)
	}
	n := roomOf(candidates)
	if n > r.left && len(r.made) > 0 {
		return false, nil
	}
	r.left -= min(n, r.left)
	r.made[w.job.CandidatesRoot] = true
	return true, nil
}

// roomOf is what so many candidates count as in a [Memo]: none are something too.
func roomOf(candidates int) int { return candidates + 1 }
