package engine

import (
	"bytes"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// pieces is the sharding part of validator 0, and the messages of leader 2 and of the
// others about a block of view 5.
type pieces struct {
	sharding
	proposal simplex.Proposal
	block    []byte
	offer    wire.ShardOffer // to us
	relays   map[beacon.Participant]wire.ShardRelay
}

// newPieces makes it, and with a mess a codeword that is none.
func newPieces(t *testing.T, mess bool) *pieces {
	t.Helper()
	cfg, stats := partOf(t)
	code := shardConfig(t, cfg)
	app := newChainApp(t, chain.Hash{})
	app.code = code
	p := &pieces{relays: map[beacon.Participant]wire.ShardRelay{}}
	p.block = app.block(beacon.Round{View: 5}, ParentRef{}, 1)
	p.proposal = view(5, 0)
	p.proposal.Payload = app.digest(p.block)
	kept := &blocks{shareMax: 1 << 20, max: 1 << 24}
	p.sharding = newSharding(cfg, stats, &fakeMachine{view: 5, floor: 1}, kept)
	word, err := p.encode(p.block)
	if err != nil || word == nil {
		t.Fatalf("the block goes whole: %v", err)
	}
	head := p.block[:headBytes]
	if mess {
		if word, err = code.EncodeLie(p.block[headBytes:], bytes.Repeat([]byte{1}, len(p.block)-headBytes)); err != nil {
			t.Fatal(err)
		}
		root := word.Root
		head = append(bytes.Clone(head[:len(head)-len(root)]), root[:]...)
		p.proposal.Payload = digestOf(head)
	}
	p.offer = wire.ShardOffer{Vote: simplex.Vote{Kind: simplex.Notarize, Proposal: p.proposal, Signer: 2}, Parcel: word.Parcel(head, 0)}
	for i := range 4 {
		p.relays[beacon.Participant(i)] = wire.ShardRelay{Round: p.proposal.Round, Digest: p.proposal.Payload, Parcel: word.Parcel(head, i)}
	}
	return p
}

// hear takes a relay through the check.
func (p *pieces) hear(from beacon.Participant) []effect {
	out := p.relayed(from, p.relays[from], simplex.Vote{})
	for p.checks.due() {
		batch := p.checks.dequeue()
		for _, x := range batch {
			x.err = p.pool.Check(x.relay.Digest, x.relay.Parcel)
			out = append(out, p.checked(x, simplex.Vote{})...)
		}
		p.checks.running--
	}
	return out
}

// From our own shard to the block: it is enough to vote, goes to the others once, and
// with theirs makes the block that is judged.
func TestShardingMakesABlock(t *testing.T) {
	p := newPieces(t, false)
	expect(t, "our shard", p.offered(2, p.offer, true), sighted{2, p.proposal, true})
	out, answered := p.glance(simplex.RequestVerify{Proposal: p.proposal, Leader: 2})
	if !answered {
		t.Fatal("no vote on our shard")
	}
	expect(t, "a look at the head", out, step{simplex.Verified{View: 5, Payload: p.proposal.Payload, OK: true}})
	if rec := p.shardRecord(p.proposal); len(rec) == 0 || rec[0] != tagOwnShard {
		t.Error("no record of the shard that the vote relies on")
	}
	own := wire.ShardRelay{Round: p.proposal.Round, Digest: p.proposal.Payload, Parcel: p.offer.Parcel}
	expect(t, "after the vote", p.relay(p.proposal), broadcast{own})
	expect(t, "and once", p.relay(p.proposal))
	for from := beacon.Participant(1); from < 4; from++ {
		expect(t, "a shard", p.hear(from))
	}
	next := p.dequeueDue()
	if len(next) != 1 {
		t.Fatalf("%d blocks are to be rebuilt", len(next))
	}
	block, err := p.pool.Rebuilder(next[0])()
	if err != nil || !bytes.Equal(block, p.block) {
		t.Fatalf("rebuilt with %v", err)
	}
	b := p.blocks.byDigest(5, p.proposal.Payload)
	expect(t, "rebuilt", p.rebuilt(next[0], block, nil), judge{b})
	if !b.sure() || !b.rebuilt || b.rebuilding {
		t.Errorf("the block is %+v", b)
	}
	expect(t, "rebuilt again", p.rebuilt(next[0], block, nil))
}

// Shards that are no codeword condemn the block, and its leader.
func TestShardingRefusesAMess(t *testing.T) {
	p := newPieces(t, true)
	p.offered(2, p.offer, true)
	p.glance(simplex.RequestVerify{Proposal: p.proposal, Leader: 2})
	for from := beacon.Participant(1); from < 4; from++ {
		p.hear(from)
	}
	a := p.dequeueDue()[0]
	block, err := p.pool.Rebuilder(a)()
	b := p.blocks.byDigest(5, p.proposal.Payload)
	expect(t, "no codeword", p.rebuilt(a, block, err), ban{2}, report{b})
	if b.verdict != invalid || p.stats.Shards.NotCodeword.Load() != 1 {
		t.Errorf("verdict %d, %v", b.verdict, err)
	}
}

func TestShardingRefusals(t *testing.T) {
	other := simplex.Vote{Kind: simplex.Notarize, Proposal: view(5, 9)}
	tests := []struct {
		name  string
		relay func(r wire.ShardRelay, p *pieces) wire.ShardRelay
		word  simplex.Vote
		bans  bool
		waits bool
	}{
		{name: "good", waits: true},
		{name: "of another epoch", relay: func(r wire.ShardRelay, _ *pieces) wire.ShardRelay { r.Round.Epoch++; return r }, bans: true},
		{name: "of a view to come", relay: func(r wire.ShardRelay, _ *pieces) wire.ShardRelay { r.Round.View = 7; return r }},
		{name: "of a view that is final", relay: func(r wire.ShardRelay, _ *pieces) wire.ShardRelay { r.Round.View = 1; return r }},
		{name: "another's shard", relay: func(_ wire.ShardRelay, p *pieces) wire.ShardRelay { return p.relays[3] }, bans: true},
		{name: "it votes for another block", word: other, relay: func(_ wire.ShardRelay, p *pieces) wire.ShardRelay { return p.relays[3] }, bans: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPieces(t, false)
			r := p.relays[1]
			if tt.relay != nil {
				r = tt.relay(r, p)
			}
			out := p.relayed(1, r, tt.word)
			if got := len(of[ban](out)) == 1; got != tt.bans || len(out) > 1 {
				t.Errorf("effects %+v", out)
			}
			if got := len(p.checks.waiting) > 0; got != tt.waits {
				t.Errorf("waits for the check: %v", got)
			}
		})
	}
	p := newPieces(t, false)
	expect(t, "a bad shard, off the loop", p.checked(relayCheck{from: 1, relay: p.relays[1], err: shards.ErrMixed}, simplex.Vote{}), ban{1})
	if n := p.stats.Shards.Refused.Load(); n != 1 {
		t.Errorf("%d refusals", n)
	}
	for range 3 * checksOfOne {
		p.relayed(1, p.relays[1], simplex.Vote{})
	}
	if n := len(p.checks.waiting); n != checksOfOne {
		t.Errorf("%d shards of one validator wait", n)
	}
}

// A notarized block is waited for in pieces once; after a time that was in vain, no more.
func TestShardingWaits(t *testing.T) {
	p := newPieces(t, false)
	b := p.blocks.put(p.proposal)
	if out, coming := p.await(b); coming || out != nil {
		t.Error("a block of which no shard is here is waited for")
	}
	p.offered(2, p.offer, false)
	out, coming := p.await(b)
	if expect(t, "one shard", out, fetchLater{5}); !coming {
		t.Error("the block is not waited for")
	}
	p.starved = true
	if _, coming := p.await(b); coming {
		t.Error("a block is waited for after one that did not come")
	}
}

// A block of our own goes to each other validator as its shard, and to all as ours.
func TestShardingSendsABlock(t *testing.T) {
	p := newPieces(t, false)
	b := p.blocks.put(p.proposal)
	p.blocks.set(b, p.block)
	vote := p.offer.Vote
	out := p.sharding.offer(vote, b)
	if len(out) != 4 {
		t.Fatalf("%d messages", len(out))
	}
	for i, x := range out[:3] {
		s := x.(send)
		if o := s.msg.(wire.ShardOffer); s.to != beacon.Participant(i+1) || o.Parcel.Shard.Index != i+1 || o.Vote != vote {
			t.Errorf("message %d goes to %d with shard %d", i, s.to, o.Parcel.Shard.Index)
		}
	}
	if own := out[3].(broadcast).msg.(wire.ShardRelay); own.Parcel.Shard.Index != 0 {
		t.Errorf("all get shard %d", own.Parcel.Shard.Index)
	}
	p.blocks.set(b, p.block[:headBytes+20])
	b.codeword = nil
	expect(t, "a short block goes whole", p.sharding.offer(vote, b))
}
