package wire

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// ShardOffer is a leader's notarize vote with the receiver's shard.
type ShardOffer struct {
	Vote   simplex.Vote
	Parcel *shards.Parcel
}

// ShardRelay is the sender's shard of a proposal.
type ShardRelay struct {
	Round  beacon.Round
	Digest chain.Hash
	Parcel *shards.Parcel
}

func appendShardOffer(dst []byte, o ShardOffer) []byte {
	return o.Parcel.Append(simplex.AppendVote(dst, o.Vote))
}

// AppendShardRelay writes what follows the tag, as the journal keeps it as well.
func AppendShardRelay(dst []byte, r ShardRelay) []byte {
	dst = r.Round.Append(dst)
	return r.Parcel.Append(append(dst, r.Digest[:]...))
}

// decodeShardOffer reads the whole of b, which follows the tag.
func decodeShardOffer(b []byte, l Limits) (ShardOffer, error) {
	if l.Code == nil {
		return ShardOffer{}, ErrMessage
	}
	v, rest, err := readNotarize(b)
	if err != nil {
		return ShardOffer{}, fmt.Errorf("offer of a shard: %w", err)
	}
	p, err := l.Code.DecodeParcel(rest)
	if err != nil {
		return ShardOffer{}, fmt.Errorf("offer of a shard: %w", err)
	}
	return ShardOffer{v, p}, nil
}

// DecodeShardRelay reads the whole of b, which follows the tag. The parcel shares its memory.
func DecodeShardRelay(b []byte, l Limits) (ShardRelay, error) {
	if l.Code == nil {
		return ShardRelay{}, ErrMessage
	}
	var r ShardRelay
	var err error
	if r.Round, b, err = attest.ReadRound(b); err != nil {
		return ShardRelay{}, fmt.Errorf("shard: %w", err)
	}
	if len(b) < len(r.Digest) {
		return ShardRelay{}, attest.ErrTruncated
	}
	b = b[copy(r.Digest[:], b):]
	if r.Parcel, err = l.Code.DecodeParcel(b); err != nil {
		return ShardRelay{}, fmt.Errorf("shard: %w", err)
	}
	return r, nil
}
