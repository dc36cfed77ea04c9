package datadir

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/state/journal"
)

// Journaled is what a vote journal says of the chain.
type Journaled struct {
	Votes  simplex.Watermark // the newest votes of the key in it
	Oldest chain.View        // of all records; 0 for none
	Finals map[chain.View]chain.Hash
	Blocks map[chain.Hash]JournaledBlock
}

// JournaledBlock is what the journal says of a block.
type JournaledBlock struct {
	Parent chain.Hash
	Height chain.Height
	View   chain.View
}

// ReadJournal collects the newest votes, the final blocks by view, and the headers
// of all blocks.
func ReadJournal(j *journal.Journal) (Journaled, error) {
	known := Journaled{Finals: map[chain.View]chain.Hash{}, Blocks: map[chain.Hash]JournaledBlock{}}
	err := engine.Recall(j, func(rec engine.Recalled) {
		if known.Oldest == 0 || rec.View < known.Oldest {
			known.Oldest = rec.View
		}
		switch x := rec.Record.(type) {
		case simplex.Vote:
			known.Votes.Note(x.Kind, x.Proposal)
		case simplex.Certificate:
			if x.Kind == simplex.Finalize {
				known.Finals[rec.View] = x.Proposal.Payload
			}
		case nil:
			if h, err := headerOf(rec.Block); err == nil {
				known.Blocks[rec.Digest] = JournaledBlock{h.Parent, h.Height, h.View}
			}
		}
	})
	return known, err
}

func headerOf(block []byte) (*chain.Header, error) {
	head, _, err := chain.SplitBlock(block)
	if err != nil {
		return nil, err
	}
	return chain.DecodeHeader(head)
}
