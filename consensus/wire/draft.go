package wire

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// Draft is a message: the round, the view of the parent, and bytes that only the
// application reads.
type Draft struct {
	Round  beacon.Round
	Parent chain.View
	Bytes  []byte
}

func appendDraft(dst []byte, d Draft) []byte {
	at := beacon.Round{Epoch: d.Round.Epoch, View: d.Parent}
	return append(at.Append(d.Round.Append(dst)), d.Bytes...)
}

func decodeDraft(b []byte, l Limits) (Draft, error) {
	round, rest, err := attest.ReadRound(b)
	if err != nil {
		return Draft{}, fmt.Errorf("draft: %w", err)
	}
	parent, rest, err := attest.ReadRound(rest)
	switch {
	case err != nil:
		return Draft{}, fmt.Errorf("draft: %w", err)
	case parent.Epoch != round.Epoch || parent.View >= round.View:
		return Draft{}, ErrDraft
	case len(rest) == 0 || len(rest) > l.BlockBytesMax:
		return Draft{}, ErrBlock
	}
	return Draft{round, parent.View, rest}, nil
}
