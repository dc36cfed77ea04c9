package node

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/wire"

	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/p2p"
)

// TestNoiseOnEveryClass lets a member with a good key send wrong bytes on every
// class of streams to three validators that run: noise behind each tag, and real
// messages cut short or with a bit turned over. The transport has taken each to be
// well framed (node/p2p has the tests below that). The chain goes on, no honest
// validator is blamed, and none ends.
func TestNoiseOnEveryClass(t *testing.T) {
	nodes := committeeOf(t, "")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 3)
	for _, n := range nodes[:3] {
		if err := n.Listen(); err != nil {
			t.Fatal(err)
		}
		go func() { ended <- n.Run(ctx) }()
	}
	defer func() {
		cancel()
		for range 3 {
			if err := <-ended; err != nil {
				t.Errorf("an honest validator ended with %v", err)
			}
		}
		for _, n := range nodes {
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	reach(t, nodes[:3], 3)
	rng := rand.New(rand.NewPCG(42, 0))
	real := realMessages(t, nodes)
	sent, refused := 0, 0
	say := func(class p2p.Class, msg []byte) {
		for _, n := range nodes[:3] {
			sent++
			if err := n.mesh.Deliver(3, class, msg); err != nil && !errors.Is(err, p2p.ErrBusy) {
				refused++ // the transport would hang up
			}
		}
	}
	for class := p2p.Votes; class < p2p.NumClasses; class++ {
		if class == p2p.Transactions {
			for range 200 {
				_, _ = nodes[rng.IntN(3)].mesh.Transactions(3, [][]byte{noise(rng, 1+rng.IntN(500))})
			}
			continue
		}
		for tag := range 256 {
			for _, length := range []int{1, 2, 90, 400, 5000} {
				msg := noise(rng, length)
				msg[0] = byte(tag)
				say(class, msg)
			}
		}
		for _, msg := range real {
			for range 60 {
				broken := append([]byte(nil), msg...)
				if rng.IntN(2) == 0 {
					broken = broken[:1+rng.IntN(len(broken))]
				}
				broken[rng.IntN(len(broken))] ^= 1 << rng.IntN(8)
				say(class, broken)
			}
		}
	}
	from := nodes[0].ledger.Head().Height()
	reach(t, nodes[:3], uint64(from)+5)
	equalBlocks(t, nodes[:3])
	for i, n := range nodes[:3] {
		for j := range 3 {
			if n.engine.Stats.Peers[j].BlockedUntilUnix.Load() != 0 {
				t.Errorf("validator %d blames the honest validator %d", i, j)
			}
		}
		if n.engine.Stats.Peers[3].BlockedUntilUnix.Load() == 0 {
			t.Errorf("validator %d does not blame the noisy one", i)
		}
	}
	t.Logf("%d messages, %d refused at once", sent, refused)
}

// reach waits until all nodes have the height.
func reach(t *testing.T, nodes []*Node, want uint64) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		lowest := uint64(nodes[0].ledger.Head().Height())
		for _, n := range nodes {
			lowest = min(lowest, uint64(n.ledger.Head().Height()))
		}
		if lowest >= want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("height %d, want %d", lowest, want)
		}
	}
}

func noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// realMessages are what the fourth validator might send: a vote and an offer under
// its own signature, and a certificate with its block.
func realMessages(t *testing.T, nodes []*Node) [][]byte {
	t.Helper()
	rec, ok, err := nodes[0].store.BlockByHeight(1)
	if err != nil || !ok {
		t.Fatalf("block 1: %v, %v", ok, err)
	}
	c, _, err := simplex.ReadCertificate(rec.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	n := nodes[3]
	scheme, err := simplex.NewThreshold(n.set, 3, simplex.Keys{Share: n.keys.Share.Key, Peer: n.keys.Peer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	vote := scheme.Sign(simplex.Notarize, c.Proposal)
	return [][]byte{
		simplex.AppendVote(nil, vote),
		append(simplex.AppendVote([]byte{wire.TagOffer}, vote), rec.Block...),
		append(simplex.AppendVote([]byte{wire.TagShardOffer}, vote), rec.Block...),
		simplex.AppendCertificate(nil, c),
		append(simplex.AppendCertificate([]byte{wire.TagBackfill}, c), rec.Block...),
		c.Proposal.Round.Append([]byte{wire.TagRequest}),
		append(c.Proposal.Round.Append([]byte{wire.TagShardRelay}), noise(rand.New(rand.NewPCG(1, 1)), 300)...),
	}
}
