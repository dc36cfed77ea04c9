package engine

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Recalled is one record of a journal, for those who look into it before an
// engine takes it up.
type Recalled struct {
	View   chain.View
	Record simplex.Record // of the machine; nil for a block, and for a shard of one
	Digest chain.Hash     // of a block
	Block  []byte         // valid during the call only
}

// Recall calls f with each record of a journal, oldest first, and ends with the
// first error.
func Recall(j Journal, f func(Recalled)) error {
	err := j.Replay(func(rec []byte) error {
		r, err := recalled(rec)
		if err == nil {
			f(r)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	return nil
}

func recalled(rec []byte) (Recalled, error) {
	switch {
	case len(rec) > 0 && rec[0] == tagBlock:
		b, err := decodeBlock(rec)
		if err != nil {
			return Recalled{}, err
		}
		return Recalled{View: b.round.View, Digest: b.digest, Block: b.bytes}, nil
	case len(rec) > 0 && rec[0] == tagOwnShard:
		r, _, err := attest.ReadRound(rec[1:])
		return Recalled{View: r.View}, err
	}
	r, err := simplex.DecodeRecord(rec)
	if err != nil {
		return Recalled{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	switch r := r.(type) {
	case simplex.Vote:
		return Recalled{View: r.Proposal.Round.View, Record: r}, nil
	case simplex.Certificate:
		return Recalled{View: r.Proposal.Round.View, Record: r}, nil
	case simplex.Certification:
		return Recalled{View: r.Round.View, Record: r}, nil
	}
	return Recalled{}, ErrRecord
}
