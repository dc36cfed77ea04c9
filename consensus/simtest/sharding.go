package simtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/erasure"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// A block is its place and, when bodies travel as shards, the root of its body
// and the body.
const (
	placeBytes = 1 + 32 + 48 + 8 + 8 + 8
	headBytes  = placeBytes + 32
)

// format cuts such blocks.
var format = HeadFormat{Bytes: headBytes}

// HeadFormat is the [shards.Format] of blocks whose head has a fixed length, ends
// with the root of the body, and is what the digest is over.
type HeadFormat struct{ Bytes int } // of the head

// Split cuts a block behind its head.
func (f HeadFormat) Split(block []byte) (head, body []byte, err error) {
	if len(block) < f.Bytes {
		return nil, nil, errors.New("block has no body")
	}
	return block[:f.Bytes:f.Bytes], block[f.Bytes:], nil
}

// Root reads the root of the body from a head, or returns [shards.ErrHead].
func (f HeadFormat) Root(digest chain.Hash, head []byte) (chain.Hash, error) {
	if len(head) != f.Bytes || chain.Hash(keccak.Sum256(head)) != digest {
		return chain.Hash{}, shards.ErrHead
	}
	return chain.Hash(head[f.Bytes-len(digest):]), nil
}

// Join puts a block together again.
func (HeadFormat) Join(head, body []byte) []byte { return append(bytes.Clone(head), body...) }

// newCode returns the code of a run, or nil if its blocks travel whole.
func newCode(cfg Config) (*shards.Code, error) {
	if !cfg.Sharded {
		return nil, nil
	}
	limits := shards.Limits{WholeMax: 16, BodyMax: 1024, HeadMax: headBytes}
	return shards.NewCode(cfg.Validators, limits, erasure.NewDigester(cpu.Features{}))
}

// bodyOf returns the one body that belongs to a place.
func bodyOf(place []byte) []byte {
	return bytes.Repeat(binary.BigEndian.AppendUint64([]byte{place[0]}, uint64(len(place))+uint64(place[len(place)-1])), 12)
}

// withBody adds root and body to a place.
func (a *application) withBody(place []byte) []byte {
	if a.code == nil {
		return place
	}
	w, err := a.code.Encode(bodyOf(place))
	if err != nil {
		panic(err) // bodies here are short
	}
	return append(append(place, w.Root[:]...), bodyOf(place)...)
}

// fits reports whether bytes are the block of a digest, body included.
func (a *application) fits(digest chain.Hash, block []byte) bool {
	if len(block) == 0 || digestOf(block) != digest {
		return false
	}
	if a.code == nil {
		return true
	}
	head, body, err := format.Split(block)
	if err != nil {
		return false
	}
	root, err := a.code.Root(body)
	return err == nil && bytes.Equal(head[placeBytes:], root[:])
}

// lie turns a block into one whose root is over shards of no body, and returns
// them.
func (a *application) lie(block []byte) ([]byte, *shards.Codeword) {
	_, body, err := format.Split(block)
	if err != nil {
		panic(err)
	}
	w, err := a.code.EncodeLie(body, bytes.Repeat([]byte{0xee}, len(body)))
	if err != nil {
		panic(err)
	}
	block = bytes.Clone(block)
	copy(block[placeBytes:], w.Root[:])
	return block, w
}

// codeword returns the shards of a block of our own, or nil if it goes whole.
func (v *validator) codeword(b *block) *shards.Codeword {
	if b.codeword == nil && v.app.code != nil {
		_, body, err := format.Split(b.bytes)
		if err == nil {
			b.codeword, err = v.app.code.Encode(body)
		}
		if err != nil {
			v.net.recordBreach("validator %d: encode own block: %w", v.id, err)
		}
	}
	return b.codeword
}

// offerShards sends a block of our own, as package engine does: to each its
// shard beside the vote, and to all ours.
func (v *validator) offerShards(vote simplex.Vote, b *block, w *shards.Codeword) {
	head := b.bytes[:headBytes]
	for _, to := range v.net.validators {
		if to.id != v.id && !to.observes() {
			v.sendTo(to, message{vote: &vote, parcel: w.Parcel(head, int(to.id))})
		}
	}
	v.broadcast(message{relay: &vote.Proposal, parcel: w.Parcel(head, int(v.id))})
}

// relayShard gives our shard of a block that we voted for to the others, once.
func (v *validator) relayShard(p simplex.Proposal) {
	if v.pool == nil {
		return
	}
	if a := v.pool.Find(p.Round.View, p.Payload); a != nil {
		if own := a.Relay(); own != nil {
			v.broadcast(message{relay: &p, parcel: own})
		}
	}
}

// receiveOwnShard takes the shard that a leader has for us.
func (v *validator) receiveOwnShard(from beacon.Participant, p simplex.Proposal, parcel *shards.Parcel) {
	if v.pool == nil {
		return
	}
	a, err := v.pool.Offer(from, p.Round, p.Payload, parcel)
	if err != nil {
		v.banSender(from)
		return
	}
	if a != nil {
		v.queueEvent(simplex.ProposalReceived{From: from, Proposal: p})
		v.rebuild(a)
	}
}

// receiveShardRelay takes another validator's shard.
func (v *validator) receiveShardRelay(from beacon.Participant, p simplex.Proposal, parcel *shards.Parcel) {
	view := p.Round.View
	if v.pool == nil || view <= v.machine.Floor().View || view > v.machine.View()+1 {
		return
	}
	if b := v.blocks[blockKey{view, p.Payload}]; b != nil && b.bytes != nil {
		return
	}
	a, err := v.pool.Relay(from, p.Round, p.Payload, parcel)
	if err != nil {
		v.banSender(from)
		return
	}
	if a != nil {
		v.rebuild(a)
	}
}

// banSender bans the sender of a shard that no honest validator sends.
func (v *validator) banSender(from beacon.Participant) {
	v.net.report.ShardsRefused++
	v.ban(from)
}

// glance votes by our own shard. It reports whether x is answered.
func (v *validator) glance(x simplex.RequestVerify) bool {
	b := v.at(x.Proposal)
	if v.pool == nil || b.bytes != nil {
		return false
	}
	a := v.pool.Find(x.Proposal.Round.View, x.Proposal.Payload)
	ok := a != nil && a.Own != nil && !b.judged && !v.early(a.Head) // the last time that we look at the clock
	if ok {
		b.verifying = &x
		v.rebuild(a)
	}
	v.queueEvent(simplex.Verified{View: x.Proposal.Round.View, Payload: x.Proposal.Payload, OK: ok})
	return true
}

// awaitShards waits a while for the shards of a notarized block, before it is
// fetched whole.
func (v *validator) awaitShards(p simplex.Proposal, b *block) bool {
	if v.pool == nil {
		return false
	}
	a := v.pool.Find(p.Round.View, p.Payload)
	if a == nil || a.Closed() {
		return false
	}
	v.rebuild(a)
	v.later(fetchTimeout, func() {
		if b.bytes == nil && !b.judged && b.certify != nil {
			v.net.report.BlocksFetched++
			v.fetch(p.Round.View, 0)
		}
	})
	return true
}

// rebuild puts a block together when its shards suffice and it is waited for.
func (v *validator) rebuild(a *shards.Assembly) {
	b := v.blocks[blockKey{a.Round.View, a.Digest}]
	if b == nil || b.bytes != nil || b.judged || b.rebuilding || !v.pool.Ready(a) || b.verifying == nil && b.certify == nil {
		return
	}
	b.rebuilding = true
	work := v.pool.Rebuilder(a)
	v.later(v.net.between(time.Millisecond, 20*time.Millisecond), func() {
		v.pool.Close(a)
		if b.bytes != nil {
			return
		}
		block, err := work()
		p, parent := v.awaited(b)
		switch {
		case errors.Is(err, shards.ErrNotCodeword):
			v.net.report.NotCodeword++
			v.net.ledger.codeword(v, a.Digest, false)
			b.judged, b.valid = true, false
			v.reportVerdict(p, b)
		case err != nil:
			v.net.recordBreach("validator %d: rebuild: %w", v.id, err)
		default:
			v.net.report.BlocksRebuilt++
			v.net.ledger.codeword(v, a.Digest, true)
			b.bytes, b.rebuilt = block, true
			v.verifyOnce(p, parent, b)
		}
		v.turn()
	})
}

// awaited returns what the machine wants to know of b.
func (v *validator) awaited(b *block) (simplex.Proposal, simplex.Parent) {
	if b.certify != nil {
		return b.certify.Proposal, b.certify.Parent
	}
	return b.verifying.Proposal, b.verifying.Parent
}

// keepShard writes our own shard of a block that we vote for without its body.
func (v *validator) keepShard(r beacon.Round, digest chain.Hash) {
	if v.pool == nil {
		return
	}
	if a := v.pool.Find(r.View, digest); a != nil && a.Own != nil {
		rec := r.Append([]byte{'S', 0})
		v.disk.buffered = append(v.disk.buffered, a.Own.Append(append(rec, digest[:]...)))
	}
}

func (v *validator) replayShard(rec []byte) {
	var digest chain.Hash
	round, rest, err := attest.ReadRound(rec[2:])
	if err == nil {
		rest = rest[copy(digest[:], rest):]
		var parcel *shards.Parcel
		if parcel, err = v.app.code.DecodeParcel(rest); err == nil {
			err = v.pool.Keep(round, digest, parcel)
		}
	}
	if err != nil {
		v.net.recordBreach("validator %d: replay shard: %w", v.id, err)
	}
}

// codeword holds the findings of honest validators about shards against each
// other: all of them must come to the same.
func (a *auditor) codeword(v *validator, digest chain.Hash, good bool) {
	if v.player != nil {
		return
	}
	if before, ok := a.codewords[digest]; ok && before != good {
		a.net.recordBreach("validator %d finds the shards of %v a codeword: %v; another did not agree", v.id, digest, good)
	}
	a.codewords[digest] = good
}
