package engine

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// Sharding is how large blocks travel.
type Sharding struct {
	Code   *shards.Code
	Format shards.Format
	// Glance reports whether the head of a block, which stands in the request in
	// place of the block, is one to vote for before the body is here. It must
	// not block. What only the clock can refute must be refuted here: a block
	// that is rebuilt later goes to [Application.Recover].
	Glance func(VerifyRequest) bool
}

// ShardStats counts what came and went piece by piece.
type ShardStats struct {
	BlocksSent    atomic.Uint64 // own blocks that left as shards
	Relayed       atomic.Uint64 // own shards given to the others
	Received      atomic.Uint64 // shards that passed
	Refused       atomic.Uint64 // parcels that did not; their senders are banned
	BlocksRebuilt atomic.Uint64
	NotCodeword   atomic.Uint64 // proposals whose shards were no codeword
}

// check reports the first part that is missing.
func (s *Sharding) check(n int) error {
	switch {
	case s == nil:
		return nil
	case s.Code == nil || s.Format == nil || s.Glance == nil:
		return errors.New("sharding is incomplete")
	case s.Code.Total() != n:
		return fmt.Errorf("shards for %d validators in a set of %d", s.Code.Total(), n)
	}
	return nil
}

// tagOwnShard is the tag of the journal record of our own shard.
const tagOwnShard = 'S'

// relayFunc is [shards.Pool.Relay] or its like.
type relayFunc func(beacon.Participant, beacon.Round, chain.Hash, *shards.Parcel) (*shards.Assembly, error)

// sharding is the part that sends and takes blocks piece by piece. Events are shards of
// peers, the machine's wishes for a block, and what came of putting one together; effects
// are messages, bans, and a block that is ready to be judged.
type sharding struct {
	cfg      *Config
	stats    *Stats
	machine  window
	blocks   *blocks
	code     *shards.Code // nil: every block goes whole
	format   shards.Format
	pool     *shards.Pool
	rebuilds []*shards.Assembly // to be started after the sync
	checks   checks             // of relayed shards
	starved  bool               // the last block that was waited for did not come as shards: none is waited for
}

// window is which views are the machine's matter.
type window interface {
	View() chain.View
	Floor() simplex.Floor
}

func newSharding(cfg *Config, stats *Stats, machine window, blocks *blocks) sharding {
	out := sharding{cfg: cfg, stats: stats, machine: machine, blocks: blocks}
	if cfg.Shards != nil && cfg.Share != nil {
		s := cfg.Shards
		out.code, out.format, out.pool = s.Code, s.Format, shards.NewPool(s.Code, s.Format, cfg.Self)
	}
	return out
}

// limits are what messages are decoded by.
func (s *sharding) limits() wire.Limits {
	return wire.Limits{BlockBytesMax: s.cfg.MaxBlockBytes, Code: s.code}
}

// encode returns the codeword of a block of our own, or nil if it goes whole.
func (s *sharding) encode(block []byte) (*shards.Codeword, error) {
	if s.code == nil {
		return nil, nil
	}
	_, body, err := s.format.Split(block)
	if err != nil || s.code.Whole(len(body)) {
		return nil, err
	}
	return s.code.Encode(body)
}

// offered takes our own shard from a leader, which is enough to vote. known says that it
// is the leader; else nobody knows yet who that is.
func (s *sharding) offered(from beacon.Participant, o wire.ShardOffer, known bool) []effect {
	p := o.Vote.Proposal
	a, err := s.pool.Offer(from, p.Round, p.Payload, o.Parcel)
	if err != nil {
		return s.banSender(from)
	}
	if a == nil {
		return nil
	}
	s.stats.Shards.Received.Add(1)
	s.rebuild(a)
	return []effect{sighted{from, p, known}}
}

// relayed lines another validator's shard up to be checked, unless that is not needed to
// know what becomes of it. word is the newest notarize vote of the sender.
func (s *sharding) relayed(from beacon.Participant, r wire.ShardRelay, word simplex.Vote) []effect {
	if r.Round.Epoch != s.cfg.Set.Epoch() {
		return []effect{ban{from}}
	}
	if !s.current(r.Round.View) {
		return nil
	}
	a := s.pool.Find(r.Round.View, r.Digest)
	if r.Parcel.Shard.Index != int(from) || a != nil && !a.Wants(r.Parcel.Shard.Index) {
		return s.addShard(from, r, word, s.pool.Relay)
	}
	if !s.checks.lineUp(relayCheck{from: from, relay: r}) {
		s.stats.Dropped.Add(1)
	}
	return nil
}

// checked takes a shard that was held against the root of its block.
func (s *sharding) checked(x relayCheck, word simplex.Vote) []effect {
	if x.err != nil {
		return s.banSender(x.from)
	}
	return s.addShard(x.from, x.relay, word, s.pool.RelayChecked)
}

// current reports whether the shards of view v are taken.
func (s *sharding) current(v chain.View) bool {
	return v > s.machine.Floor().View && v <= s.machine.View()+1
}

// addShard takes a shard into the pool, in one of its ways.
func (s *sharding) addShard(from beacon.Participant, r wire.ShardRelay, word simplex.Vote, take relayFunc) []effect {
	v := r.Round.View
	if !s.current(v) {
		return nil
	}
	if word.Kind == simplex.Notarize && word.Proposal.Round.View == v && word.Proposal.Payload != r.Digest {
		return s.banSender(from) // it votes for another
	}
	if b := s.blocks.byDigest(v, r.Digest); b != nil && b.sure() {
		return nil // late, and of no use; bytes that may be wrong are no reason to drop a good shard
	}
	a, err := take(from, r.Round, r.Digest, r.Parcel)
	if err != nil {
		return s.banSender(from)
	}
	if a == nil {
		return nil
	}
	s.stats.Shards.Received.Add(1)
	s.rebuild(a)
	return nil
}

// banSender bans the sender of a parcel that no honest validator sends.
func (s *sharding) banSender(from beacon.Participant) []effect {
	s.stats.Shards.Refused.Add(1)
	return []effect{ban{from}}
}

// glance votes on a proposal of which we have our shard, before its body is
// here. It reports whether x is answered.
func (s *sharding) glance(x simplex.RequestVerify) (effects []effect, answered bool) {
	p := x.Proposal
	b := s.blocks.byDigest(p.Round.View, p.Payload)
	if s.pool == nil || b != nil && b.bytes != nil && (b.sure() || b.verdict != unknown || b.supplier == x.Leader || s.own(b) == nil) {
		return nil, false
	}
	ok := false
	a := s.pool.Find(p.Round.View, p.Payload)
	if a != nil && a.Own != nil && (b == nil || b.verdict != invalid) {
		ok = s.cfg.Shards.Glance(VerifyRequest{
			Round: p.Round, Parent: parentRef(x.Parent), Leader: s.cfg.Set.At(x.Leader).PeerKey,
			Digest: p.Payload, Block: a.Head,
		})
	}
	if ok {
		s.blocks.put(p).verifying = &x // and once more when it is executed
		s.rebuild(a)
	}
	return []effect{step{simplex.Verified{View: p.Round.View, Payload: p.Payload, OK: ok}}}, true
}

// rebuild puts a block in line for being rebuilt, if its shards suffice and
// somebody waits for it.
func (s *sharding) rebuild(a *shards.Assembly) {
	b := s.blocks.byDigest(a.Round.View, a.Digest)
	if b == nil || b.sure() || b.rebuilding || b.verdict != unknown || !s.pool.Ready(a) {
		return
	}
	if b.verifying == nil && b.certify == nil {
		return
	}
	b.rebuilding = true
	s.rebuilds = append(s.rebuilds, a)
}

// own returns our shard of a block, or nil.
func (s *sharding) own(b *block) *shards.Parcel {
	if s.pool == nil {
		return nil
	}
	if a := s.pool.Find(b.round.View, b.digest); a != nil {
		return a.Own
	}
	return nil
}

// dequeueDue returns the blocks that are to be put together now.
func (s *sharding) dequeueDue() []*shards.Assembly {
	next := s.rebuilds
	s.rebuilds = nil
	return next
}

// await reports whether the bytes of a notarized block are on their way as shards. If
// they do not come in time, the block is fetched whole, and so is each after it at once,
// until one comes as shards: who waits for every block falls behind what others keep.
func (s *sharding) await(b *block) (effects []effect, coming bool) {
	if s.pool == nil {
		return nil, false
	}
	a := s.pool.Find(b.round.View, b.digest)
	if a == nil || a.Closed() {
		return nil, false
	}
	s.rebuild(a)
	if b.rebuilding {
		return nil, true
	}
	if s.starved {
		return nil, false
	}
	return []effect{fetchLater{b.round.View}}, true
}

// rebuilt takes the block that was put together from shards, or the reason why it could
// not be.
func (s *sharding) rebuilt(a *shards.Assembly, bytes []byte, err error) []effect {
	b := s.blocks.byDigest(a.Round.View, a.Digest)
	if b == nil || b.sure() || b.round.View <= s.machine.Floor().View {
		s.pool.Close(a)
		return nil // it came whole, or is over
	}
	b.rebuilding = false
	if b.verdict != unknown {
		return nil // bytes that came whole are being judged; if they are wrong, it is rebuilt again
	}
	switch {
	case errors.Is(err, shards.ErrNotCodeword):
		s.pool.Close(a)
		return s.refuseCodeword(b)
	case err != nil: // shards were displaced meanwhile
		if b.certify != nil {
			return []effect{redo{*b.certify}}
		}
		return nil
	}
	s.pool.Close(a)
	s.stats.Shards.BlocksRebuilt.Add(1)
	b.rebuilt, s.starved = true, false
	s.blocks.makeRoom(len(bytes))
	s.blocks.assignBytes(b, bytes)
	if b.verifying != nil || b.certify != nil {
		return []effect{judge{b}}
	}
	return nil
}

// refuseCodeword judges a block whose shards cannot be those of any body. Every
// honest validator comes to the same verdict, from any of the shards.
func (s *sharding) refuseCodeword(b *block) (out []effect) {
	s.stats.Shards.NotCodeword.Add(1)
	s.stats.BlocksRejected.Add(1)
	if x := b.verifying; x != nil {
		out = append(out, ban{x.Leader})
	} else if x := b.certify; x != nil && x.Known {
		out = append(out, ban{x.Leader})
	}
	b.verdict = invalid
	return append(out, report{b})
}

// shardRecord is the journal record of our own shard of a block, which goes before the vote
// for it when its body is not here; nil if we have none.
func (s *sharding) shardRecord(p simplex.Proposal) []byte {
	if s.pool == nil {
		return nil
	}
	a := s.pool.Find(p.Round.View, p.Payload)
	if a == nil || a.Own == nil {
		return nil
	}
	return appendOwnShard(make([]byte, 0, 64+a.Own.Size()), wire.ShardRelay{Round: p.Round, Digest: p.Payload, Parcel: a.Own})
}

// appendOwnShard writes the journal record: what a relay has, under another tag.
func appendOwnShard(dst []byte, r wire.ShardRelay) []byte {
	return wire.AppendShardRelay(append(dst, tagOwnShard), r)
}

// replay takes our own shard out of the journal, unless its view is durable.
func (s *sharding) replay(rec []byte, durable chain.View) error {
	if s.pool == nil {
		return nil // we are a full node now
	}
	r, err := wire.DecodeShardRelay(append([]byte(nil), rec[1:]...), wire.Limits{Code: s.code}) // the journal may reuse rec
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if r.Round.Epoch != s.cfg.Set.Epoch() || r.Round.View <= durable {
		return nil
	}
	if err := s.pool.Keep(r.Round, r.Digest, r.Parcel); err != nil {
		return fmt.Errorf("own shard of view %d: %w", r.Round.View, err)
	}
	return nil
}

// offer sends a block of our own, each validator its shard beside our vote, and to all
// the shard that is ours. It returns nothing if the block goes whole.
func (s *sharding) offer(v simplex.Vote, b *block) (out []effect) {
	if s.code == nil {
		return nil
	}
	if b.codeword == nil {
		// Out of the journal. It was encoded before, so that it cannot fail.
		b.codeword, _ = s.encode(b.bytes)
	}
	if b.codeword == nil {
		return nil
	}
	head, _, err := s.format.Split(b.bytes)
	if err != nil {
		return nil
	}
	for i := range s.cfg.Set.Len() {
		if to := beacon.Participant(i); to != s.cfg.Self {
			out = append(out, send{to, wire.ShardOffer{Vote: v, Parcel: b.codeword.Parcel(head, i)}})
		}
	}
	own := wire.ShardRelay{Round: v.Proposal.Round, Digest: v.Proposal.Payload, Parcel: b.codeword.Parcel(head, int(s.cfg.Self))}
	s.stats.Shards.BlocksSent.Add(1)
	return append(out, broadcast{own})
}

// relay gives our shard of a block that we voted for to the others, once.
func (s *sharding) relay(p simplex.Proposal) []effect {
	if s.pool == nil {
		return nil
	}
	a := s.pool.Find(p.Round.View, p.Payload)
	if a == nil {
		return nil
	}
	own := a.Relay()
	if own == nil {
		return nil
	}
	s.stats.Shards.Relayed.Add(1)
	return []effect{broadcast{wire.ShardRelay{Round: p.Round, Digest: p.Payload, Parcel: own}}}
}
