package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

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

// tagOwnShard is the tag of the journal record of our own shard.
const tagOwnShard = 'S'

// decode reads a message of a peer.
func (e *Engine) decode(b []byte) (wire.Message, error) {
	return wire.Decode(b, wire.Limits{BlockBytesMax: e.cfg.MaxBlockBytes, Code: e.sharding.code})
}

// relayFunc is [shards.Pool.Relay] or its like.
type relayFunc func(beacon.Participant, beacon.Round, chain.Hash, *shards.Parcel) (*shards.Assembly, error)

// sharding is the engine's part in it, owned by Run.
type sharding struct {
	code     *shards.Code // nil: every block goes whole
	format   shards.Format
	pool     *shards.Pool
	rebuilds []*shards.Assembly // to be started after the sync
	checks   checks             // of relayed shards
	starved  bool               // the last block that was waited for did not come as shards: none is waited for
}

func newSharding(cfg *Config) sharding {
	if cfg.Shards == nil || cfg.Share == nil {
		return sharding{}
	}
	s := cfg.Shards
	return sharding{code: s.Code, format: s.Format, pool: shards.NewPool(s.Code, s.Format, cfg.Self)}
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

// receiveShardOffer takes our own shard from a leader, which is enough to vote.
func (e *Engine) receiveShardOffer(from beacon.Participant, o wire.ShardOffer) {
	if !e.receiveVote(from, o.Vote) {
		return
	}
	p := o.Vote.Proposal
	who, known := e.machine.LeaderOf(p.Round.View, p.Parent)
	if known && who != from {
		return // as with whole blocks
	}
	a, err := e.sharding.pool.Offer(from, p.Round, p.Payload, o.Parcel)
	if e.refused(from, err) || a == nil {
		return
	}
	e.Stats.Shards.Received.Add(1)
	e.step(simplex.ProposalReceived{From: from, Proposal: p})
	e.proposedIn(p.Round.View)
	if known {
		e.seen.see(p.Round.View)
	}
	e.rebuild(a)
}

// receiveShardRelay lines another validator's shard up to be checked, unless that is
// not needed to know what becomes of it.
func (e *Engine) receiveShardRelay(from beacon.Participant, r wire.ShardRelay) {
	if r.Round.Epoch != e.cfg.Set.Epoch() {
		e.ban(from)
		return
	}
	v := r.Round.View
	if v <= e.machine.Floor().View || v > e.machine.View()+1 {
		return
	}
	a := e.sharding.pool.Find(v, r.Digest)
	if r.Parcel.Shard.Index != int(from) || a != nil && !a.Wants(r.Parcel.Shard.Index) {
		e.takeShardRelay(from, r, e.sharding.pool.Relay)
	} else if !e.sharding.checks.lineUp(relayCheck{from: from, relay: r}) {
		e.Stats.Dropped.Add(1)
	}
}

// takeShardRelay takes the shard into the pool, in one of its ways.
func (e *Engine) takeShardRelay(from beacon.Participant, r wire.ShardRelay, take relayFunc) {
	v := r.Round.View
	if v <= e.machine.Floor().View || v > e.machine.View()+1 {
		return
	}
	if last := e.peers[from].words[simplex.Notarize]; last.Kind == simplex.Notarize && last.Proposal.Round.View == v && last.Proposal.Payload != r.Digest {
		e.refused(from, shards.ErrMixed) // it votes for another
		return
	}
	if b := e.blocks.find(v, r.Digest); b != nil && b.sure() {
		return // late, and of no use; bytes that may be wrong are no reason to drop a good shard
	}
	a, err := take(from, r.Round, r.Digest, r.Parcel)
	if e.refused(from, err) || a == nil {
		return
	}
	e.Stats.Shards.Received.Add(1)
	e.rebuild(a)
}

// refused bans the sender of a parcel that no honest validator sends.
func (e *Engine) refused(from beacon.Participant, err error) bool {
	if err == nil {
		return false
	}
	e.Stats.Shards.Refused.Add(1)
	e.ban(from)
	return true
}

// glance votes on a proposal of which we have our shard, before its body is
// here. It reports whether x is answered.
func (e *Engine) glance(x simplex.RequestVerify) bool {
	p := x.Proposal
	b := e.blocks.find(p.Round.View, p.Payload)
	if e.sharding.pool == nil || b != nil && b.bytes != nil && (b.sure() || b.verdict != unknown || b.supplier == x.Leader || e.ownShard(b) == nil) {
		return false
	}
	ok := false
	a := e.sharding.pool.Find(p.Round.View, p.Payload)
	if a != nil && a.Own != nil && (b == nil || b.verdict != invalid) {
		ok = e.cfg.Shards.Glance(VerifyRequest{
			Round: p.Round, Parent: parentRef(x.Parent), Leader: e.cfg.Set.At(x.Leader).PeerKey,
			Digest: p.Payload, Block: a.Head,
		})
	}
	if ok {
		e.blocks.put(p).verifying = &x // and once more when it is executed
		e.rebuild(a)
	}
	e.step(simplex.Verified{View: p.Round.View, Payload: p.Payload, OK: ok})
	return true
}

// rebuild puts a block in line for being rebuilt, if its shards suffice and
// somebody waits for it.
func (e *Engine) rebuild(a *shards.Assembly) {
	b := e.blocks.find(a.Round.View, a.Digest)
	if b == nil || b.sure() || b.rebuilding || b.verdict != unknown || !e.sharding.pool.Ready(a) {
		return
	}
	if b.verifying == nil && b.certify == nil {
		return
	}
	b.rebuilding = true
	e.sharding.rebuilds = append(e.sharding.rebuilds, a)
}

// ownShard returns our shard of a block, or nil.
func (e *Engine) ownShard(b *block) *shards.Parcel {
	if e.sharding.pool == nil {
		return nil
	}
	if a := e.sharding.pool.Find(b.round.View, b.digest); a != nil {
		return a.Own
	}
	return nil
}

// rebuildAll starts what is in line.
func (e *Engine) rebuildAll(ctx context.Context) {
	for _, a := range e.sharding.rebuilds {
		work := e.sharding.pool.Rebuilder(a)
		e.call(ctx, "rebuild", func(context.Context) reply {
			start := time.Now()
			block, err := work()
			return rebuilt{a, block, err, time.Since(start)}
		})
	}
	e.sharding.rebuilds = nil
}

// awaitShards reports whether the bytes of a notarized block are on their way
// as shards. If they do not come in time, the block is fetched whole, and so is each
// after it at once, until one comes as shards: who waits for every block falls behind
// what others keep.
func (e *Engine) awaitShards(b *block) bool {
	if e.sharding.pool == nil {
		return false
	}
	a := e.sharding.pool.Find(b.round.View, b.digest)
	if a == nil || a.Closed() {
		return false
	}
	e.rebuild(a)
	if !b.rebuilding {
		if e.sharding.starved {
			return false
		}
		e.fetchLater(b.round.View)
	}
	return true
}

type rebuilt struct {
	assembly *shards.Assembly
	block    []byte
	err      error
	took     time.Duration
}

func (r rebuilt) apply(ctx context.Context, e *Engine) error {
	e.Stats.Stages[StageRebuild].add(r.took)
	b := e.blocks.find(r.assembly.Round.View, r.assembly.Digest)
	if b == nil || b.sure() || b.round.View <= e.machine.Floor().View {
		e.sharding.pool.Close(r.assembly)
		return nil // it came whole, or is over
	}
	b.rebuilding = false
	if b.verdict != unknown {
		return nil // bytes that came whole are being judged; if they are wrong, it is rebuilt again
	}
	switch {
	case errors.Is(r.err, shards.ErrNotCodeword):
		e.sharding.pool.Close(r.assembly)
		e.refuseCodeword(b)
		return nil
	case r.err != nil: // shards were displaced meanwhile
		if b.certify != nil {
			e.outgoing = append(e.outgoing, *b.certify)
		}
		return nil
	}
	e.sharding.pool.Close(r.assembly)
	e.Stats.Shards.BlocksRebuilt.Add(1)
	b.rebuilt, e.sharding.starved = true, false
	e.blocks.makeRoom(len(r.block))
	e.blocks.settle(b, r.block)
	if b.verifying != nil || b.certify != nil {
		e.judge(ctx, b)
	}
	return nil
}

// refuseCodeword judges a block whose shards cannot be those of any body. Every
// honest validator comes to the same verdict, from any of the shards.
func (e *Engine) refuseCodeword(b *block) {
	e.Stats.Shards.NotCodeword.Add(1)
	e.Stats.BlocksRejected.Add(1)
	if x := b.verifying; x != nil {
		e.ban(x.Leader)
	} else if x := b.certify; x != nil && x.Known {
		e.ban(x.Leader)
	}
	b.verdict = invalid
	e.report(b)
}

// persistShard keeps our own shard of a block that we vote for before its body
// is here.
func (e *Engine) persistShard(p simplex.Proposal) error {
	if e.sharding.pool == nil {
		return nil
	}
	a := e.sharding.pool.Find(p.Round.View, p.Payload)
	if a == nil || a.Own == nil {
		return nil
	}
	return e.append(appendOwnShard(make([]byte, 0, 64+a.Own.Size()), wire.ShardRelay{Round: p.Round, Digest: p.Payload, Parcel: a.Own}))
}

// appendOwnShard writes the journal record: what a relay has, under another tag.
func appendOwnShard(dst []byte, r wire.ShardRelay) []byte {
	return wire.AppendShardRelay(append(dst, tagOwnShard), r)
}

// replayShard takes our own shard out of the journal.
func (e *Engine) replayShard(rec []byte) error {
	if e.sharding.pool == nil {
		return nil // we are a full node now
	}
	r, err := wire.DecodeShardRelay(append([]byte(nil), rec[1:]...), wire.Limits{Code: e.sharding.code}) // the journal may reuse rec
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if r.Round.Epoch != e.cfg.Set.Epoch() || r.Round.View <= e.delivered {
		return nil
	}
	if err := e.sharding.pool.Keep(r.Round, r.Digest, r.Parcel); err != nil {
		return fmt.Errorf("own shard of view %d: %w", r.Round.View, err)
	}
	return nil
}

// broadcastShards sends a block of our own, each validator its shard beside our
// vote, and to all the shard that is ours. It reports whether the block goes so.
func (e *Engine) broadcastShards(v simplex.Vote, b *block) bool {
	if e.sharding.code == nil {
		return false
	}
	if b.codeword == nil {
		// Out of the journal. It was encoded before, so that it cannot fail.
		b.codeword, _ = e.sharding.encode(b.bytes)
	}
	if b.codeword == nil {
		return false
	}
	head, _, err := e.sharding.format.Split(b.bytes)
	if err != nil {
		return false
	}
	for i := range e.cfg.Set.Len() {
		if to := beacon.Participant(i); to != e.cfg.Self {
			e.net.Send(to, wire.Append(nil, wire.ShardOffer{Vote: v, Parcel: b.codeword.Parcel(head, i)}))
		}
	}
	own := wire.ShardRelay{Round: v.Proposal.Round, Digest: v.Proposal.Payload, Parcel: b.codeword.Parcel(head, int(e.cfg.Self))}
	e.net.Broadcast(wire.Append(nil, own))
	e.Stats.Shards.BlocksSent.Add(1)
	return true
}

// relayShard gives our shard of a block that we voted for to the others, once.
func (e *Engine) relayShard(p simplex.Proposal) {
	if e.sharding.pool == nil {
		return
	}
	a := e.sharding.pool.Find(p.Round.View, p.Payload)
	if a == nil {
		return
	}
	if own := a.Relay(); own != nil {
		e.Stats.Shards.Relayed.Add(1)
		e.net.Broadcast(wire.Append(nil, wire.ShardRelay{Round: p.Round, Digest: p.Payload, Parcel: own}))
	}
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
