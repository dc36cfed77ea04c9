package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/state/journal"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// recall is what the journal of consensus knows beyond the store, looked up
// before an engine runs on it. A store that lost blocks, or was put back to an
// earlier day, gets them again out of the journal; until it has them the API
// says so, and shows no height below one that it has shown before.
type recall struct {
	votes  simplex.Watermark // the newest votes in it
	oldest chain.View        // of all records; 0 for none

	view   chain.View   // of the block to reach before the API answers; 0 for none
	height chain.Height // of that block
	linked bool         // it can be reached from the store's head with the journal alone
}

// recallJournal reads a journal beside the head of a store.
func recallJournal(j *journal.Journal, s *store.Store, g *genesis.Genesis) (*recall, error) {
	head, err := ledger.HeadHeader(s, g)
	if err != nil {
		return nil, err
	}
	known, err := datadir.ReadJournal(j)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", datadir.JournalFile, err)
	}
	r := &recall{votes: known.Votes, oldest: known.Oldest}
	height, digest := s.HeadInfo()
	r.aim(known, datadir.JournaledBlock{Parent: digest, Height: height, View: head.View})
	return r, nil
}

// aim finds the block that the store's head has to reach: the highest final one
// whose ancestors are in the journal down to the head. Where the journal begins
// above the head, and so had been pruned at a higher one, it is the lowest final
// block that the journal still has, which others must help to. The head's digest is
// in the place of a parent.
func (r *recall) aim(known datadir.Journaled, head datadir.JournaledBlock) {
	finals, blocks := known.Finals, known.Blocks
	views := make([]chain.View, 0, len(finals))
	for v := range finals {
		if v > head.View {
			views = append(views, v)
		}
	}
	slices.Sort(views)
	seen := map[chain.Hash]bool{} // not linked
	for _, v := range slices.Backward(views) {
		for at := finals[v]; !seen[at]; {
			seen[at] = true
			b, there := blocks[at]
			if there && b.Parent == head.Parent {
				r.view, r.height, r.linked = v, blocks[finals[v]].Height, true
				return
			}
			at = b.Parent
		}
	}
	if r.oldest <= head.View {
		return
	}
	for _, v := range views {
		if b, there := blocks[finals[v]]; there {
			r.view, r.height = v, b.Height
			return
		}
	}
}

// level reports whether the ledger has what the journal and the store had between
// them before this start.
func (n *Node) level() bool {
	if n.leveled.Load() {
		return true
	}
	if !n.engine.Stats.Resumed.Load() || n.ledger.Head().Block.Header.View < n.recall.view {
		return false
	}
	n.leveled.Store(true)
	return true
}

// starting says why the API does not answer yet; empty once it does.
func (n *Node) starting() string {
	switch {
	case n.recall.view == 0 || n.level():
		return ""
	case n.recall.linked:
		return fmt.Sprintf("starting: the journal of consensus is being replayed, block %d of %d is done", n.ledger.Head().Height(), n.recall.height)
	}
	return fmt.Sprintf("starting: this node had block %d and has block %d: the blocks between come from other nodes", n.recall.height, n.ledger.Head().Height())
}

// sayRecalled logs what the journal has and the store has not, unless it is what
// an ordinary end leaves.
func (n *Node) sayRecalled() {
	r := n.recall
	height, _ := n.store.HeadInfo()
	if r.view == 0 || r.short(height) {
		return
	}
	done := "its blocks are executed again out of the journal"
	if !r.linked {
		done = "the journal begins above it: its blocks are fetched from other nodes (docs/damage.md)"
	}
	n.log.Warn("the store was behind votes.journal: it lost blocks, or is of an earlier day", "store", height, "journal", r.height, "done", done)
}

// short reports whether no more is to be replayed than an ordinary end leaves.
func (r *recall) short(height chain.Height) bool {
	return r.linked && r.height <= height+replayedQuietly
}

// awaitReplay lets the clients of the first moment wait instead of refusing them,
// where little is to be replayed.
func (n *Node) awaitReplay(ctx context.Context) {
	height, _ := n.store.HeadInfo()
	if !n.recall.short(height) {
		return
	}
	for end := time.Now().Add(replayPatience); n.starting() != "" && time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(time.Millisecond)
	}
}

// replayPatience is how long clients wait for the few blocks of a short replay.
const replayPatience = 2 * time.Second

// replayedQuietly is how many blocks the journal may be ahead of the store after a
// kill: those that were final and not yet committed (engine.Config.UndeliveredMax).
const replayedQuietly = 8
