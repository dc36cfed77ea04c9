package node

import (
	"context"
	"errors"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
)

// aloneMax is how long transactions of an earlier run wait at the start for somebody
// to tell them to.
const aloneMax = 10 * time.Second

// submissions is the node as the journal of what clients submitted sees it. Its
// methods are the owner's of the journal.
type submissions struct {
	node  *Node
	since time.Time // when it was first asked
}

// Ready implements submitted.Chain: the blocks that the journal of consensus brings
// back come first, since they may hold what would be offered again.
func (s *submissions) Ready() bool {
	if s.since.IsZero() {
		s.since = time.Now()
	}
	n := s.node
	return n.level() && (n.mesh.heard() || time.Since(s.since) > aloneMax)
}

// Final implements submitted.Chain. A block that cannot be read is for others to
// report: admission refuses what has used its nonce.
func (s *submissions) Final(hash chain.Hash) bool {
	_, _, ok, err := s.node.store.ReceiptLocation(hash)
	return ok && err == nil
}

// EachWaiting implements submitted.Chain. Lanes that have ended no longer tell.
func (s *submissions) EachWaiting(f func(hash chain.Hash)) bool {
	return s.node.lanes.EachWaiting(context.Background(), f) == nil
}

// Admit implements submitted.Chain.
func (s *submissions) Admit(bodies [][]byte, answered func(refused int)) error {
	return s.node.sigverify.Submit(bodies, func(v []sigverify.Verdict) {
		s.node.mesh.flood(-1, v)
		refused := 0
		for i := range v {
			if v[i].Err != nil && !errors.Is(v[i].Err, lanes.ErrKnown) {
				refused++
			}
		}
		answered(refused)
	})
}

func (n *Node) submittedMetrics(counter counterFunc, gauge gaugeFunc) {
	s := &n.submitted.Stats
	counter("submitted_written_total", "Transactions of this node's clients put into the file that survives a restart.", s.Written.Load)
	counter("submitted_synced_total", "Of them, those made durable.", s.Synced.Load)
	counter("submitted_dropped_total", "Transactions of this node's clients not kept, for want of room or of a disk that works.", s.Dropped.Load)
	counter("submitted_again_total", "Transactions of an earlier run that were offered to the pool again.", s.Again.Load)
	counter("submitted_refused_total", "Of them, those that it did not take.", s.Refused.Load)
	counter("submitted_outdated_total", "Transactions of an earlier run that were final or too old at the start.", s.Outdated.Load)
	counter("submitted_failures_total", "1 once that file was given up until the next start: see the log.", s.Failures.Load)
	gauge("submitted_bytes", "Size of that file.", func() float64 { return float64(s.Bytes.Load()) })
}
