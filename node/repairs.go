package node

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// sayRepaired logs what the parts mended by themselves at the start, with what was
// lost: a crash leaves some of it, and damage all of it.
func (n *Node) sayRepaired() {
	if cut := n.votes.Repaired(); cut > 0 {
		n.log.Warn("votes.journal did not end with a whole record: its last bytes were cut off, as a crash leaves them", "bytes", cut)
	}
	if n.guard == nil {
		return
	}
	if n.guard.Torn() {
		n.log.Warn("one of the two records in votes.watermark is torn or damaged: the other one was taken, and votes.journal adds to it")
	}
	known, kept := newestVote(n.guard.Watermark()), newestVote(n.recall.votes)
	switch {
	case kept > known:
		n.log.Warn("votes.watermark was behind votes.journal and is brought up to it: it is an older copy, or a crash came between two syncs",
			"watermark_view", known, "journal_view", kept)
	case kept < known:
		n.log.Warn("votes.journal lost its end, or is new: votes.watermark knows of later votes, and the key stays closed for their views",
			"journal_view", kept, "watermark_view", known)
	}
}

// newestVote is the view of the newest vote of any kind, 0 for none.
func newestVote(w simplex.Watermark) (v chain.View) {
	for _, mark := range w {
		v = max(v, mark.Proposal.Round.View)
	}
	return v
}
