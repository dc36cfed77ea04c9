package wire

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// Preview is a message: the round, the view of the parent, and bytes that only the
// application reads.
type Preview struct {
	Round  beacon.Round
	Parent chain.View
	Bytes  []byte
}

func appendPreview(dst []byte, d Preview) []byte {
	at := beacon.Round{Epoch: d.Round.Epoch, View: d.Parent}
	return append(at.Append(d.Round.Append(dst)), d.Bytes...)
}

func decodePreview(b []byte, l Limits) (Preview, error) {
	round, rest, err := attest.ReadRound(b)
	if err != nil {
		return Preview{}, fmt.Errorf("preview: %w", err)
	}
	parent, rest, err := attest.ReadRound(rest)
	switch {
	case err != nil:
		return Preview{}, fmt.Errorf("preview: %w", err)
	case parent.Epoch != round.Epoch || parent.View >= round.View:
		return Preview{}, ErrPreview
	case len(rest) == 0 || len(rest) > l.BlockBytesMax:
		return Preview{}, ErrBlock
	}
	return Preview{round, parent.View, rest}, nil
}
