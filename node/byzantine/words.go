package byzantine

import (
	"crypto/rand"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// word is a message that holds a vote, taken apart: the tag, the vote, and the
// block or parcel behind it.
type word struct {
	tag  byte
	vote simplex.Vote
	rest []byte
}

// parse reads a message. It reports false for one without a vote.
func parse(msg []byte) (word, bool) {
	var err error
	w := word{tag: msg[0]}
	switch w.tag {
	case wire.TagVote:
		w.vote, w.rest, err = simplex.ReadVote(msg)
	case wire.TagOffer, wire.TagShardOffer:
		w.vote, w.rest, err = simplex.ReadVote(msg[1:])
	default:
		return word{}, false
	}
	return w, err == nil
}

func (w word) encode() []byte {
	if w.tag == wire.TagVote {
		return simplex.AppendVote(nil, w.vote)
	}
	return append(simplex.AppendVote([]byte{w.tag}, w.vote), w.rest...)
}

// alone is the vote without what it is for.
func (w word) alone() []byte { return simplex.AppendVote(nil, w.vote) }

func one(msg []byte) [][]byte { return [][]byte{msg} }

// withVote rewrites the vote of every message that has one.
func withVote(msg []byte, change func(v *simplex.Vote)) [][]byte {
	w, ok := parse(msg)
	if !ok {
		return one(msg)
	}
	change(&w.vote)
	return one(w.encode())
}

// equivocate shows every second validator another block, a millisecond younger,
// and then its vote for the first.
func equivocate(l *Liar, to beacon.Participant, msg []byte) [][]byte {
	w, ok := parse(msg)
	if !ok || w.tag == wire.TagVote || to%2 == 0 {
		return one(msg)
	}
	other := w
	var digest chain.Hash
	switch w.tag {
	case wire.TagOffer:
		b, err := chain.DecodeBlock(w.rest, len(w.rest))
		if err != nil {
			return one(msg)
		}
		b.Header.TimestampMillis++
		other.rest, digest = b.Encode(), b.Header.Digest()
	case wire.TagShardOffer:
		p, err := l.cfg.Shards.DecodeParcel(w.rest)
		if err != nil {
			return one(msg)
		}
		h, err := chain.DecodeHeader(p.Head)
		if err != nil {
			return one(msg)
		}
		h.TimestampMillis++
		p.Head, digest = chain.EncodeHeader(h), h.Digest()
		other.rest = p.Append(nil)
	}
	p := w.vote.Proposal
	p.Payload = digest
	other.vote = l.scheme.Sign(simplex.Notarize, p)
	return [][]byte{other.encode(), w.alone()}
}

// conflict votes for a block that does not exist before each vote.
func conflict(l *Liar, to beacon.Participant, msg []byte) [][]byte {
	w, ok := parse(msg)
	if !ok || w.tag != wire.TagVote || w.vote.Kind == simplex.Nullify || to%2 == 0 {
		return one(msg)
	}
	p := w.vote.Proposal
	p.Payload[0] ^= 1
	w.vote = l.scheme.Sign(w.vote.Kind, p)
	return [][]byte{w.encode(), msg}
}

// nullify says of each view that it may end without the block that it finalizes.
func nullify(l *Liar, _ beacon.Participant, msg []byte) [][]byte {
	w, ok := parse(msg)
	if !ok || w.tag != wire.TagVote || w.vote.Kind != simplex.Finalize {
		return one(msg)
	}
	w.vote = l.scheme.Sign(simplex.Nullify, w.vote.Proposal)
	return [][]byte{w.encode(), msg}
}

// silence keeps every proposal.
func silence(_ *Liar, _ beacon.Participant, msg []byte) [][]byte {
	if msg[0] == wire.TagOffer || msg[0] == wire.TagShardOffer {
		return nil
	}
	return one(msg)
}

// unfinal keeps its finalize votes for blocks at even heights, and the certificates that
// its own tally makes with them, so that blocks at the multiples where checkpoints are
// made have none of their own once an honest validator is away.
func unfinal(l *Liar, _ beacon.Participant, msg []byte) [][]byte {
	var kind simplex.Kind
	var digest chain.Hash
	if c, err := simplex.DecodeCertificate(msg); err == nil {
		kind, digest = c.Kind, c.Proposal.Payload
	} else if w, ok := parse(msg); ok && w.tag == wire.TagVote {
		kind, digest = w.vote.Kind, w.vote.Proposal.Payload
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if h, ok := l.heights[digest]; kind == simplex.Finalize && ok && h%2 == 0 {
		return nil
	}
	return one(msg)
}

// withhold gives its neighbour the vote without the block.
func withhold(l *Liar, to beacon.Participant, msg []byte) [][]byte {
	if int(to) != (int(l.cfg.Self)+1)%l.cfg.Set.Len() {
		return one(msg)
	}
	w, ok := parse(msg)
	switch {
	case msg[0] == wire.TagShardRelay:
		return nil
	case ok && w.tag != wire.TagVote:
		return one(w.alone())
	}
	return one(msg)
}

// oversize pads a block beyond what any may have.
func oversize(l *Liar, _ beacon.Participant, msg []byte) [][]byte {
	w, ok := parse(msg)
	if !ok || w.tag != wire.TagOffer {
		return one(msg)
	}
	padded := make([]byte, l.cfg.Params.MaxBlockBytes+1)
	copy(padded, w.rest)
	w.rest = padded
	return one(w.encode())
}

// spoilSignature makes votes that only a full verification tells from good ones.
func spoilSignature(l *Liar, _ beacon.Participant, msg []byte) [][]byte {
	return withVote(msg, func(v *simplex.Vote) { v.Signature = l.elsewhere(*v).Signature })
}

// spoilSeed does the same to the seed's half of the vote.
func spoilSeed(l *Liar, _ beacon.Participant, msg []byte) [][]byte {
	return withVote(msg, func(v *simplex.Vote) { v.Seed = l.elsewhere(*v).Seed })
}

// elsewhere is the same vote in the next view: good signatures of another message.
func (l *Liar) elsewhere(v simplex.Vote) simplex.Vote {
	v.Proposal.Round.View++
	return l.scheme.Sign(v.Kind, v.Proposal)
}

// spoilIndividual leaves out the signature that would convict it.
func spoilIndividual(_ *Liar, _ beacon.Participant, msg []byte) [][]byte {
	return withVote(msg, func(v *simplex.Vote) { v.Individual = simplex.Individual{} })
}

// impersonate votes in the name of its neighbour.
func impersonate(l *Liar, _ beacon.Participant, msg []byte) [][]byte {
	return withVote(msg, func(v *simplex.Vote) { v.Signer = (v.Signer + 1) % beacon.Participant(l.cfg.Set.Len()) })
}

// nextEpoch votes in an epoch that has no validators yet.
func nextEpoch(l *Liar, _ beacon.Participant, msg []byte) [][]byte {
	return withVote(msg, func(v *simplex.Vote) {
		v.Proposal.Round.Epoch++
		*v = l.scheme.Sign(v.Kind, v.Proposal)
	})
}

// spoilShards alters a bit of each shard that it hands out.
func spoilShards(l *Liar, _ beacon.Participant, msg []byte) [][]byte {
	w, ok := parse(msg)
	if !ok || w.tag != wire.TagShardOffer {
		return one(msg)
	}
	p, err := l.cfg.Shards.DecodeParcel(w.rest)
	if err != nil {
		return one(msg)
	}
	p.Shard = shards.Shard{Index: p.Shard.Index, Proof: p.Shard.Proof, Bytes: append([]byte{p.Shard.Bytes[0] ^ 1}, p.Shard.Bytes[1:]...)}
	w.rest = p.Append(nil)
	return one(w.encode())
}

// babble keeps the tag, so that the noise reaches the decoder of its kind.
func babble(_ *Liar, _ beacon.Participant, msg []byte) [][]byte {
	noise := make([]byte, len(msg))
	_, _ = rand.Read(noise)
	noise[0] = msg[0]
	return one(noise)
}
