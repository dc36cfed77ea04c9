package engine

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/simtest"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
	"github.com/cowboy-foundation/cowboy/crypto/erasure"
)

// headBytes is the length of a test block's head: its place and the root of its
// body.
const headBytes = 5 + 32 + 48 + 8 + 8 + 32

// splitFormat cuts test blocks behind their head.
var splitFormat = simtest.HeadFormat{Bytes: headBytes}

// block returns the only valid block of a place.
func (a *chainApp) block(r beacon.Round, parent ParentRef, height uint64) []byte {
	b := encodeBlock(r, parent, height)
	if a.code == nil {
		return append(b, make([]byte, a.pad)...)
	}
	body := bytes.Repeat([]byte(fmt.Sprintf("body %d ", height)), 40)
	if height%4 == 0 {
		body = body[:20] // travels whole
	}
	root, err := a.code.Root(body)
	if err != nil {
		a.t.Fatal(err)
	}
	return append(append(b, root[:]...), body...)
}

func (a *chainApp) digest(block []byte) chain.Hash {
	if a.code == nil || len(block) < headBytes {
		return digestOf(block)
	}
	return digestOf(block[:headBytes])
}

// shardConfig makes blocks above 64 bytes go as shards.
func shardConfig(t testing.TB, cfg *Config) *shards.Code {
	t.Helper()
	code, err := shards.NewCode(cfg.Set.Len(), shards.Limits{WholeMax: 64, BodyMax: 1 << 16, HeadMax: 1024}, erasure.NewDigester(cpu.Features{}))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Shards = &Sharding{Code: code, Format: splitFormat, Glance: func(req VerifyRequest) bool {
		return len(req.Block) == headBytes
	}}
	return code
}

// cluster runs four validators until each has want blocks. drop says which
// messages get lost.
func cluster(t *testing.T, want int, drop func(from, to beacon.Participant, msg []byte) bool) ([]*Engine, []*chainApp) {
	t.Helper()
	return clusterOf(t, 0, true, want, drop)
}

// clusterOf is cluster with leaders in one of several orders, and with archives or
// without.
func clusterOf(t *testing.T, order int, archive bool, want int, drop func(from, to beacon.Participant, msg []byte) bool) ([]*Engine, []*chainApp) {
	t.Helper()
	set, dealt, g := committeeDrawn(t, 4, order)
	var engines []*Engine
	var apps []*chainApp
	synctest.Test(t, func(t *testing.T) {
		network := &lossy{drop: drop}
		var stops []func() error
		var reached []<-chan struct{}
		for i := range 4 {
			app := newChainApp(t, g.Hash())
			app.blockTime = 100 * time.Millisecond
			cfg := testConfig(t, set, dealt[i], g.Hash())
			app.code = shardConfig(t, &cfg)
			if archive {
				cfg.Archive = app
			}
			e, err := New(cfg, app, lossyPort{network, beacon.Participant(i)}, new(diskJournal))
			if err != nil {
				t.Fatal(err)
			}
			engines, apps = append(engines, e), append(apps, app)
			reached = append(reached, app.want(want))
		}
		network.engines = engines
		for _, e := range engines {
			stop, _ := run(t, e)
			stops = append(stops, stop)
		}
		late := time.After(time.Duration(want) * time.Second) // a block takes a tenth of it
		for i, done := range reached {
			select {
			case <-done:
			case <-late:
				t.Errorf("validator %d has %d blocks", i, len(apps[i].final))
			}
		}
		for _, stop := range stops {
			_ = stop()
		}
	})
	for i, app := range apps {
		for h := range min(len(app.final), len(apps[0].final)) {
			if app.final[h].Digest != apps[0].final[h].Digest {
				t.Fatalf("validator %d disagrees at height %d", i, h+1)
			}
		}
	}
	return engines, apps
}

// lossy is a mesh that loses chosen messages, or alters them.
type lossy struct {
	engines []*Engine
	drop    func(from, to beacon.Participant, msg []byte) bool   // nil: none
	alter   func(from, to beacon.Participant, msg []byte) []byte // nil: none
}

type lossyPort struct {
	net  *lossy
	self beacon.Participant
}

func (p lossyPort) Broadcast(msg []byte) {
	for i := range p.net.engines {
		if to := beacon.Participant(i); to != p.self {
			p.Send(to, msg)
		}
	}
}

func (p lossyPort) Send(to beacon.Participant, msg []byte) {
	if p.net.alter != nil {
		msg = p.net.alter(p.self, to, msg)
	}
	if p.net.drop == nil || !p.net.drop(p.self, to, msg) {
		_ = p.net.engines[to].Deliver(p.self, msg)
	}
}

// Large blocks reach everybody in pieces, small ones whole, and nobody fetches
// or bans (consensus design §5).
func TestLargeBlocksTravelAsShards(t *testing.T) {
	engines, _ := cluster(t, 30, func(_, _ beacon.Participant, msg []byte) bool {
		if msg[0] == wire.TagOffer && len(msg) > 600 {
			t.Errorf("a block of %d bytes goes whole", len(msg))
		}
		return false
	})
	for i, e := range engines {
		s := &e.Stats
		// It does not rebuild its own blocks: how many those are follows from the genesis.
		least := uint64(20) - min(20, s.ProposalsMade.Load())
		if s.Shards.BlocksRebuilt.Load() < least || s.Shards.Relayed.Load() < least || s.FetchesSent.Load() != 0 || s.Bans.Load() != 0 || s.BlocksRejected.Load() != 0 {
			t.Errorf("validator %d: %d rebuilt, %d relayed, %d fetches, %d bans, %d rejected", i, s.Shards.BlocksRebuilt.Load(),
				s.Shards.Relayed.Load(), s.FetchesSent.Load(), s.Bans.Load(), s.BlocksRejected.Load())
		}
	}
}

// A validator that no relays reach fetches blocks whole and goes on with the
// others; one that gets no shard of its own rebuilds blocks all the same, once
// they are notarized.
func TestMissingShards(t *testing.T) {
	t.Run("of the others", func(t *testing.T) {
		engines, _ := cluster(t, 8, func(_, to beacon.Participant, msg []byte) bool { return to == 3 && msg[0] == wire.TagShardRelay })
		if s := &engines[3].Stats; s.FetchesSent.Load() == 0 || s.Shards.BlocksRebuilt.Load() != 0 || s.Bans.Load() != 0 {
			t.Errorf("%d fetches, %d rebuilt, %d bans", s.FetchesSent.Load(), s.Shards.BlocksRebuilt.Load(), s.Bans.Load())
		}
	})
	for order := range 12 {
		t.Run(fmt.Sprintf("of the others, without archives, leaders in order %d", order), func(t *testing.T) {
			clusterOf(t, order, false, 30, func(_, to beacon.Participant, msg []byte) bool { return to == 3 && msg[0] == wire.TagShardRelay })
		})
	}
	t.Run("of its own", func(t *testing.T) {
		engines, _ := cluster(t, 8, func(_, to beacon.Participant, msg []byte) bool { return to == 3 && msg[0] == wire.TagShardOffer })
		if s := &engines[3].Stats; s.Shards.BlocksRebuilt.Load() == 0 || s.Bans.Load() != 0 {
			t.Errorf("%d rebuilt, %d bans", s.Shards.BlocksRebuilt.Load(), s.Bans.Load())
		}
	})
}

// shardScene is a scene whose validator 1 leads view 1 with a block of which the
// body goes as shards.
type shardScene struct {
	*scene
	code     *shards.Code
	codeword *shards.Codeword
	head     []byte
	block    []byte
	proposal simplex.Proposal
}

// playShards runs f; body alters what the leader commits to.
func playShards(t *testing.T, change func(*Config), f func(s *shardScene)) {
	t.Helper()
	var code *shards.Code
	playWith(t, func(cfg *Config) {
		code = shardConfig(t, cfg)
		change(cfg)
	}, func(base *scene) {
		s := &shardScene{scene: base, code: code}
		s.app.code = code
		s.commit(s.app.block(beacon.Round{View: 1}, s.parent, 1))
		f(s)
	})
}

// commit makes block the one that the leader offers.
func (s *shardScene) commit(block []byte) {
	s.t.Helper()
	var body []byte
	var err error
	s.block = block
	if s.head, body, err = splitFormat.Split(block); err == nil {
		s.codeword, err = s.code.Encode(body)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.proposal = simplex.Proposal{Round: beacon.Round{View: 1}, Payload: digestOf(s.head)}
}

func (s *shardScene) offer(to int) []byte {
	return wire.Append(nil, wire.ShardOffer{Vote: s.voice[1].Sign(simplex.Notarize, s.proposal), Parcel: s.codeword.Parcel(s.head, to)})
}

func (s *shardScene) relay(of int) []byte {
	return wire.Append(nil, wire.ShardRelay{Round: s.proposal.Round, Digest: s.proposal.Payload, Parcel: s.codeword.Parcel(s.head, of)})
}

// said counts what the engine broadcast under a tag.
func (s *shardScene) said(tag byte) int {
	n := 0
	for _, msg := range s.net.broadcast {
		if msg[0] == tag {
			n++
		}
	}
	return n
}

// The vote follows the own shard, the relay follows the vote, once; the body is
// executed when enough shards are here, and the verdict comes in certify.
func TestVoteOnOwnShard(t *testing.T) {
	playShards(t, func(*Config) {}, func(s *shardScene) {
		s.hear(1, s.offer(0))
		if votes := ownVotes(s.net.broadcast); len(votes) != 1 || votes[0].Proposal != s.proposal || s.said(wire.TagShardRelay) != 1 {
			t.Fatalf("after the own shard: %d votes, %d relays", len(votes), s.said(wire.TagShardRelay))
		}
		if s.app.executed[s.proposal.Payload] != 0 {
			t.Fatal("executed without the body")
		}
		s.hear(1, s.offer(0))
		s.hear(2, s.relay(2))
		if s.app.executed[s.proposal.Payload] != 1 || s.engine.Stats.Shards.BlocksRebuilt.Load() != 1 {
			t.Fatal("not executed when enough shards are here")
		}
		s.hear(3, s.relay(3))
		s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Notarize, s.proposal)))
		if votes := ownVotes(s.net.broadcast); len(votes) != 2 || votes[1].Kind != simplex.Finalize || s.said(wire.TagShardRelay) != 1 {
			t.Errorf("after the notarization: %v, %d relays", votes, s.said(wire.TagShardRelay))
		}
		if n := s.engine.Stats.Bans.Load(); n != 0 {
			t.Errorf("%d bans", n)
		}
	})
}

// A head that cannot be voted for is nullified at once.
func TestGlanceRefuses(t *testing.T) {
	playShards(t, func(cfg *Config) { cfg.Shards.Glance = func(VerifyRequest) bool { return false } }, func(s *shardScene) {
		s.hear(1, s.offer(0))
		if votes := ownVotes(s.net.broadcast); len(votes) != 1 || votes[0].Kind != simplex.Nullify || s.said(wire.TagShardRelay) != 0 {
			t.Errorf("%v, %d relays", votes, s.said(wire.TagShardRelay))
		}
	})
}

// A leader whose shards are no codeword loses its view on every validator,
// whichever shards that has, and is banned (consensus design §5: re-encode and
// compare the whole root).
func TestBadCodewordLeader(t *testing.T) {
	for _, pair := range [][]int{{2}, {3}, {2, 3}} {
		playShards(t, func(*Config) {}, func(s *shardScene) {
			s.spoil()
			s.hear(1, s.offer(0))
			s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Notarize, s.proposal)))
			for _, of := range pair {
				s.hear(beacon.Participant(of), s.relay(of))
			}
			votes := ownVotes(s.net.broadcast)
			if last := votes[len(votes)-1]; last.Kind != simplex.Nullify || s.engine.Stats.Shards.NotCodeword.Load() != 1 {
				t.Errorf("shards of %v: last vote %s, %d refused codewords", pair, last.Kind, s.engine.Stats.Shards.NotCodeword.Load())
			}
			if s.engine.Stats.Bans.Load() != 1 || s.engine.Stats.Peers[1].BlockedUntilUnix.Load() == 0 {
				t.Errorf("shards of %v: the leader is not banned", pair)
			}
		})
	}
}

// A proposal that was found to be no codeword before the own shard came, by the
// shards of others, gets no notarize vote.
func TestOwnShardOfBadCodeword(t *testing.T) {
	playShards(t, func(*Config) {}, func(s *shardScene) {
		s.spoil()
		s.hear(2, s.relay(2))
		s.hear(3, s.relay(3))
		s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Notarize, s.proposal)))
		s.hear(1, s.offer(0)) // from a leader that is banned by now
		for _, v := range ownVotes(s.net.broadcast) {
			if v.Kind != simplex.Nullify {
				t.Errorf("%s vote for a bad codeword", v.Kind)
			}
		}
		if s.engine.Stats.Shards.NotCodeword.Load() != 1 {
			t.Error("not found out")
		}
	})
}

// spoil commits to shards that are no codeword: the parity of another body.
func (s *shardScene) spoil() {
	s.t.Helper()
	_, body, _ := splitFormat.Split(s.block)
	other := bytes.Repeat([]byte{9}, len(body))
	codeword, err := s.code.EncodeLie(body, other)
	if err != nil {
		s.t.Fatal(err)
	}
	s.codeword = codeword
	copy(s.head[headBytes-32:], codeword.Root[:])
	s.proposal.Payload = digestOf(s.head)
}

// What no honest validator sends as a shard gets its sender banned at receipt,
// for a bounded time (consensus design §5).
func TestShardRefusals(t *testing.T) {
	other := func(s *shardScene) *shardScene {
		o := *s
		block := bytes.Clone(s.block)
		block[len(block)-1] ^= 1
		root, err := s.code.Root(block[headBytes:])
		if err != nil {
			t.Fatal(err)
		}
		copy(block[headBytes-32:], root[:])
		o.commit(block)
		return &o
	}
	tests := []struct {
		rule string
		say  func(s *shardScene) [][]byte // by validator 1
		bans uint64
	}{
		{"good offer and relay", func(s *shardScene) [][]byte { return [][]byte{s.offer(0), s.relay(1)} }, 0},
		{"repeated", func(s *shardScene) [][]byte { return [][]byte{s.offer(0), s.relay(1), s.offer(0), s.relay(1)} }, 0},
		{"offer of another's shard", func(s *shardScene) [][]byte { return [][]byte{s.offer(2)} }, 1},
		{"wrong-index relay", func(s *shardScene) [][]byte { return [][]byte{s.relay(2)} }, 1},
		{"shard equivocation in relays", func(s *shardScene) [][]byte { return [][]byte{s.relay(1), other(s).relay(1)} }, 1},
		{"proposal equivocation in offers", func(s *shardScene) [][]byte { return [][]byte{s.offer(0), other(s).offer(0)} }, 1},
		{"vote for one, relay of another", func(s *shardScene) [][]byte { return [][]byte{s.offer(0), other(s).relay(1)} }, 1},
		{"wrong proof", func(s *shardScene) [][]byte {
			p := s.codeword.Parcel(s.head, 1)
			p.Shard.Proof[0][0] ^= 1
			return [][]byte{wire.Append(nil, wire.ShardRelay{Round: s.proposal.Round, Digest: s.proposal.Payload, Parcel: p})}
		}, 1},
		{"wrong width", func(s *shardScene) [][]byte { m := s.relay(1); return [][]byte{m[:len(m)-1]} }, 1},
		{"length beyond the limit", func(s *shardScene) [][]byte {
			p := s.codeword.Parcel(s.head, 1)
			p.Opening.Length = 1<<32 - 1
			return [][]byte{wire.Append(nil, wire.ShardRelay{Round: s.proposal.Round, Digest: s.proposal.Payload, Parcel: p})}
		}, 1},
		{"digest of another head", func(s *shardScene) [][]byte {
			return [][]byte{wire.Append(nil, wire.ShardRelay{Round: s.proposal.Round, Digest: chain.Hash{9}, Parcel: s.codeword.Parcel(s.head, 1)})}
		}, 1},
		{"another epoch", func(s *shardScene) [][]byte {
			return [][]byte{wire.Append(nil, wire.ShardRelay{Round: beacon.Round{Epoch: 1, View: 1}, Digest: s.proposal.Payload, Parcel: s.codeword.Parcel(s.head, 1)})}
		}, 1},
		{"a far view is ignored", func(s *shardScene) [][]byte {
			return [][]byte{wire.Append(nil, wire.ShardRelay{Round: beacon.Round{View: 9}, Digest: s.proposal.Payload, Parcel: s.codeword.Parcel(s.head, 1)})}
		}, 0},
		{"vote beside a shard is no notarize", func(s *shardScene) [][]byte {
			return [][]byte{wire.Append(nil, wire.ShardOffer{Vote: s.voice[1].Sign(simplex.Finalize, s.proposal), Parcel: s.codeword.Parcel(s.head, 0)})}
		}, 1},
		{"vote of another beside a shard", func(s *shardScene) [][]byte {
			return [][]byte{wire.Append(nil, wire.ShardOffer{Vote: s.voice[2].Sign(simplex.Notarize, s.proposal), Parcel: s.codeword.Parcel(s.head, 0)})}
		}, 1},
		{"cut short", func(s *shardScene) [][]byte { return [][]byte{s.relay(1)[:50]} }, 1},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			playShards(t, func(cfg *Config) { cfg.BlockPeerFor = time.Second }, func(s *shardScene) {
				for _, msg := range test.say(s) {
					s.hear(1, msg)
				}
				if n := s.engine.Stats.Bans.Load(); n != test.bans {
					t.Errorf("%d bans, want %d", n, test.bans)
				}
				s.wait(2 * time.Second)
				before := s.engine.Stats.Dropped.Load()
				s.hear(1, s.vote(1, simplex.Nullify, view(s.engine.machine.View(), 0)))
				if s.engine.Stats.Dropped.Load() != before {
					t.Error("the ban does not end")
				}
			})
		})
	}
}

// A stranger's shards neither move us nor keep us from the leader's.
func TestStrangersShards(t *testing.T) {
	playShards(t, func(*Config) {}, func(s *shardScene) {
		mine := wire.Append(nil, wire.ShardOffer{Vote: s.voice[2].Sign(simplex.Notarize, s.proposal), Parcel: s.codeword.Parcel(s.head, 0)})
		s.hear(2, mine)
		if votes := ownVotes(s.net.broadcast); len(votes) != 0 {
			t.Fatalf("voted for a stranger's offer: %v", votes)
		}
		s.hear(1, s.offer(0))
		if votes := ownVotes(s.net.broadcast); len(votes) != 1 {
			t.Errorf("%d votes after the leader's offer", len(votes))
		}
	})
}

// Without sharding the messages of it are unknown.
func TestShardsWithoutSharding(t *testing.T) {
	play(t, func(s *scene) {
		s.hear(1, []byte{wire.TagShardRelay, 0, 1})
		if s.engine.Stats.Bans.Load() != 1 {
			t.Error("not banned")
		}
	})
}

// After a crash the own shard is in the journal beside the vote: the validator
// does not vote again for another block, gives its shard to the others again,
// and takes the block in from theirs.
func TestCrashAfterVoteOnShard(t *testing.T) {
	set, dealt, g := committee(t, 4)
	synctest.Test(t, func(t *testing.T) {
		s := &shardScene{scene: &scene{t: t, app: newChainApp(t, g.Hash()), net: new(witness), parent: ParentRef{Digest: g.Hash()}}}
		s.app.blockTime = time.Hour
		for i := range s.voice {
			s.voice[i] = voiceOf(t, set, dealt, i)
		}
		cfg := testConfig(t, set, dealt[0], g.Hash())
		s.code = shardConfig(t, &cfg)
		s.app.code = s.code
		s.commit(s.app.block(beacon.Round{View: 1}, s.parent, 1))
		journal := new(diskJournal)
		start := func() (stop func() error) {
			var err error
			if s.engine, err = New(cfg, s.app, s.net, journal); err != nil {
				t.Fatal(err)
			}
			stop, _ = run(t, s.engine)
			synctest.Wait()
			return stop
		}
		stop := start()
		s.hear(1, s.offer(0))
		if s.said(wire.TagShardRelay) != 1 || !bytes.Equal(journal.durable[0][:1], []byte{tagOwnShard}) {
			t.Fatalf("%d relays, first record %q", s.said(wire.TagShardRelay), journal.durable[0][0])
		}
		_ = stop()
		journal, s.net.broadcast = journal.crash(), nil
		s.app.restart()
		stop = start()
		time.Sleep(cfg.CertificationTimeout + cfg.RetryInterval)
		synctest.Wait()
		if s.said(wire.TagShardRelay) != 1 {
			t.Errorf("%d relays after the restart", s.said(wire.TagShardRelay))
		}
		s.hear(2, s.relay(2))
		s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Notarize, s.proposal)))
		if s.app.executed[s.proposal.Payload] != 1 {
			t.Error("block not rebuilt after the restart")
		}
		_ = stop()
		checkVotes(t, s.net.broadcast)
		blocks := 0
		for _, rec := range append(journal.durable, journal.buffered...) {
			if v, err := recordView(rec); err != nil || v != 1 {
				t.Errorf("record %q is of view %d, %v", rec[0], v, err)
			}
			if rec[0] == tagBlock {
				blocks++
			}
		}
		if blocks != 1 {
			t.Errorf("%d blocks in the journal, want the one that was certified", blocks)
		}
	})
}

// FuzzShardMessage: what decodes is written in its one form.
func FuzzShardMessage(f *testing.F) {
	set, dealt, g := committee(f, 4)
	cfg := testConfig(f, set, dealt[0], g.Hash())
	code := shardConfig(f, &cfg)
	app := newChainApp(f, g.Hash())
	app.code = code
	head, body, err := splitFormat.Split(app.block(beacon.Round{View: 1}, ParentRef{Digest: g.Hash()}, 1))
	if err != nil {
		f.Fatal(err)
	}
	w, err := code.Encode(body)
	if err != nil {
		f.Fatal(err)
	}
	p := simplex.Proposal{Round: beacon.Round{View: 1}, Payload: digestOf(head)}
	relay := wire.ShardRelay{Round: p.Round, Digest: p.Payload, Parcel: w.Parcel(head, 1)}
	f.Add(wire.Append(nil, wire.ShardOffer{Vote: voiceOf(f, set, dealt, 1).Sign(simplex.Notarize, p), Parcel: w.Parcel(head, 0)}))
	f.Add(wire.Append(nil, relay))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := wire.Decode(b, wire.Limits{BlockBytesMax: 1 << 20, Code: code})
		if err != nil {
			return
		}
		again := wire.Append(nil, m)
		if !bytes.Equal(again, b) {
			t.Fatalf("%x decodes to %x", b, again)
		}
	})
}

// What a Byzantine leader sends whole to one validator, garbage under the digest of
// a block that the others have as shards, costs that validator nothing but its
// vote: the shards of the others are kept, and make the block.
func TestGarbageBytesDropNoShards(t *testing.T) {
	playShards(t, func(*Config) {}, func(s *shardScene) {
		garbage := append(bytes.Clone(s.head), "anything"...)
		deliver := func(from beacon.Participant, msg []byte) {
			if err := s.engine.Deliver(from, msg); err != nil {
				t.Fatal(err)
			}
		}
		deliver(1, wire.Append(nil, wire.Offer{Vote: s.voice[1].Sign(simplex.Notarize, s.proposal), Block: garbage}))
		deliver(2, s.relay(2)) // before anybody has looked at the garbage
		s.hear(3, s.relay(3))
		if s.engine.Stats.Peers[1].BlockedUntilUnix.Load() == 0 {
			t.Error("the leader is not banned")
		}
		s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Notarize, s.proposal)))
		if n := s.engine.Stats.Shards.BlocksRebuilt.Load(); n != 1 || s.engine.Stats.FetchesSent.Load() != 0 {
			t.Errorf("%d blocks rebuilt, %d fetches; want 1 and none", n, s.engine.Stats.FetchesSent.Load())
		}
		if v := s.engine.Stats.View.Load(); v != 2 {
			t.Errorf("view %d, want 2", v)
		}
	})
}

// Garbage that somebody else sends whole, before it can be known who leads, does
// not keep a validator from voting on its shard.
func TestGarbageOfOthersCostsNoVote(t *testing.T) {
	var leader beacon.Participant
	last := chain.View(1) // after it another validator leads
	over := func(s *shardScene, v chain.View) {
		s.hear(3, simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, simplex.Proposal{Round: beacon.Round{View: v}})))
	}
	playShards(t, func(*Config) {}, func(s *shardScene) {
		for ; ; last++ {
			over(s, last)
			var known bool
			if leader, known = s.engine.machine.LeaderOf(last+1, 0); known && leader != 0 {
				return
			}
		}
	})
	liar := 1 + leader%3
	playShards(t, func(*Config) {}, func(s *shardScene) {
		for v := chain.View(1); v < last; v++ {
			over(s, v)
		}
		s.commit(s.app.block(beacon.Round{View: last + 1}, s.parent, 1))
		s.proposal.Round.View = last + 1
		garbage := append(bytes.Clone(s.head), "anything"...)
		s.hear(liar, wire.Append(nil, wire.Offer{Vote: s.voice[liar].Sign(simplex.Notarize, s.proposal), Block: garbage}))
		s.hear(leader, wire.Append(nil, wire.ShardOffer{Vote: s.voice[leader].Sign(simplex.Notarize, s.proposal), Parcel: s.codeword.Parcel(s.head, 0)}))
		over(s, last)
		votes := ownVotes(s.net.broadcast)
		if len(votes) == 0 || votes[len(votes)-1].Kind != simplex.Notarize || votes[len(votes)-1].Proposal != s.proposal {
			t.Fatalf("votes %v, want a notarize at last", votes)
		}
		for i := range 4 {
			if who := beacon.Participant(i); i != 0 && who != liar {
				s.hear(who, s.relay(i))
			}
		}
		if n := s.engine.Stats.Shards.BlocksRebuilt.Load(); n != 1 {
			t.Errorf("%d blocks rebuilt, want 1", n)
		}
	})
}

// gatedFormat is a format whose check of a head takes as long as gate is closed.
type gatedFormat struct {
	shards.Format
	gate chan struct{}
}

func (f *gatedFormat) Root(digest chain.Hash, head []byte) (chain.Hash, error) {
	if f.gate != nil {
		<-f.gate
	}
	return f.Format.Root(digest, head)
}

// The loop goes on while shards are checked, and what waits has a bound for each
// sender; verdicts are what they were.
func TestShardsAreCheckedOffTheLoop(t *testing.T) {
	format := &gatedFormat{Format: splitFormat}
	playShards(t, func(cfg *Config) { cfg.Shards.Format = format }, func(s *shardScene) {
		s.hear(1, s.offer(0))
		gate := make(chan struct{})
		format.gate = gate
		for range 10 {
			s.hear(2, s.relay(2))
		}
		bad := s.codeword.Parcel(s.head, 3)
		bad.Shard.Bytes = bytes.Repeat([]byte{1}, len(bad.Shard.Bytes))
		s.hear(3, wire.Append(nil, wire.ShardRelay{Round: s.proposal.Round, Digest: s.proposal.Payload, Parcel: bad}))
		s.hear(1, []byte{'?'})
		if n := s.engine.Stats.Bans.Load(); n != 1 {
			t.Errorf("%d bans while shards are checked, want that of validator 1 alone", n)
		}
		if n := s.engine.Stats.Dropped.Load(); n != 10-checksOfOne-checksRunning {
			t.Errorf("%d relays of one validator were dropped, want all but %d in line and %d under way", n, checksOfOne, checksRunning)
		}
		close(gate)
		s.wait(time.Millisecond)
		if s.engine.Stats.Peers[3].BlockedUntilUnix.Load() == 0 || s.engine.Stats.Bans.Load() != 2 {
			t.Error("a bad shard is not blamed on its sender")
		}
		if n := s.engine.Stats.Shards.BlocksRebuilt.Load(); n != 1 || s.app.executed[s.proposal.Payload] != 1 {
			t.Errorf("%d blocks rebuilt, want 1", n)
		}
	})
}
