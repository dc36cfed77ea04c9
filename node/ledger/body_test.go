package ledger

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/crypto/erasure"
)

// sharded is a fixture whose ledgers commit to bodies above 256 bytes.
func sharded(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	limits := shards.Limits{WholeMax: 256, BodyMax: 1 << 20, HeadMax: shards.HeadMax}
	var err error
	if f.shards, err = shards.NewCode(4, limits, erasure.NewDigester(cpu.Features{})); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestHeadersCommitToLargeBodies: a block with a large body is built with its
// root and passes elsewhere and in a replay; a small one has none.
func TestHeadersCommitToLargeBodies(t *testing.T) {
	f := sharded(t)
	verifier := f.ledger(t, &pool{})
	for _, n := range []int{0, 1, 5} {
		var txs []*chain.VerifiedTx
		for nonce := range n {
			txs = append(txs, f.transfer(t, uint64(nonce)))
		}
		p := f.propose(t, f.ledger(t, &pool{txs: txs}))
		block, err := chain.DecodeBlock(p.Block, len(p.Block))
		if err != nil {
			t.Fatal(err)
		}
		_, body, err := chain.SplitBlock(p.Block)
		if err != nil {
			t.Fatal(err)
		}
		root, err := f.shards.Root(body)
		if err != nil || root != block.Header.BodyRoot || (root == chain.Hash{}) != (len(body) <= 256) {
			t.Errorf("body of %d bytes: root %v in the header, %v, %v", len(body), block.Header.BodyRoot, root, err)
		}
		if ok, err := f.verify(t, verifier, block); !ok || err != nil {
			t.Errorf("%d transactions: %v, %v", n, ok, err)
		}
	}
	if err := f.replayed(t, func(*chain.Header) {}); err != nil {
		t.Errorf("replay: %v", err)
	}
}

// TestBodiesAreHeldToTheirRoot tells bytes that are not the block's, which say
// nothing about it, from a block that is wrong whoever brings it.
func TestBodiesAreHeldToTheirRoot(t *testing.T) {
	f := sharded(t)
	var txs []*chain.VerifiedTx
	for nonce := range 5 {
		txs = append(txs, f.transfer(t, uint64(nonce)))
	}
	p := f.propose(t, f.ledger(t, &pool{txs: txs}))
	verifier := f.ledger(t, &pool{})
	head, body, err := chain.SplitBlock(p.Block)
	if err != nil {
		t.Fatal(err)
	}
	good, err := chain.DecodeHeader(head)
	if err != nil {
		t.Fatal(err)
	}
	check := func(rule string, h chain.Header, body []byte, rebuilt bool, want error) {
		t.Helper()
		req := engine.VerifyRequest{
			Round: firstRound(), Parent: f.genesisParent(), Leader: testPeer, Digest: h.Digest(),
			Block: chain.JoinBlock(chain.EncodeHeader(&h), body), Rebuilt: rebuilt,
		}
		// What was held against the digest before is judged alike.
		for _, req.Fits = range []bool{false, true} {
			if fits, err := verifier.Fits(req.Digest, req.Block); err != nil {
				t.Fatal(err)
			} else if req.Fits && (rebuilt || !fits) {
				continue
			}
			ok, err := verifier.Verify(t.Context(), req)
			if ok || !errors.Is(err, want) {
				t.Errorf("%s, fits %t: %v, %v, want a refusal, %v", rule, req.Fits, ok, err, want)
			}
		}
	}
	committed := func(body []byte) chain.Header {
		h := *good
		if h.BodyRoot, err = f.shards.Root(body); err != nil {
			t.Fatal(err)
		}
		return h
	}
	other := append([]byte(nil), body...)
	other[len(other)-1] ^= 1
	empty := cbor.AppendArray(nil, 0)
	check("another body", *good, other, false, engine.ErrWrongBlock)
	check("a short body under a root", *good, empty, false, engine.ErrWrongBlock)
	check("a body above the limit of blocks", *good, make([]byte, f.genesis.Params.MaxBlockBytes), false, engine.ErrWrongBlock)
	wrong := *good
	wrong.BodyRoot[0]++
	check("a root of nothing", wrong, body, false, engine.ErrWrongBlock)
	none := *good
	none.BodyRoot = chain.Hash{}
	check("a large body without a root", none, body, false, nil)
	check("a committed body of other transactions", committed(other), other, false, nil)
	noise := make([]byte, 1000)
	check("a committed body that is none", committed(noise), noise, false, nil)
	check("a rebuilt body above the limit of blocks", *good, make([]byte, f.genesis.Params.MaxBlockBytes), true, nil)
	check("a rebuilt body that is none", committed(noise), noise, true, nil)
	wrongList := *good
	wrongList.TxRoot[0]++
	check("a committed body under another root of transactions", wrongList, body, false, nil)
}

// TestBlocksOfOthersAreKeptAsTheyCame: what was executed is the request's block, whether
// it came whole, was fetched, or was put together from shards, and its bytes are not
// encoded anew.
func TestBlocksOfOthersAreKeptAsTheyCame(t *testing.T) {
	f := sharded(t)
	var txs []*chain.VerifiedTx
	for nonce := range 5 {
		txs = append(txs, f.transfer(t, uint64(nonce)))
	}
	p := f.propose(t, f.ledger(t, &pool{txs: txs}))
	for _, req := range []engine.VerifyRequest{{}, {Fits: true}, {Rebuilt: true}} {
		l := f.ledger(t, &pool{})
		req.Round, req.Parent, req.Leader, req.Digest, req.Block = firstRound(), f.genesisParent(), testPeer, p.Digest, p.Block
		if fits, err := l.Fits(p.Digest, p.Block); !fits || err != nil {
			t.Fatalf("the block fits its own digest: %v, %v", fits, err)
		}
		if ok, err := l.Verify(t.Context(), req); !ok || err != nil {
			t.Fatalf("verify: %v, %v", ok, err)
		}
		e, err := call(t.Context(), l, func(context.Context) (*Executed, error) { return l.tree.get(p.Digest), nil })
		if err != nil || e == nil {
			t.Fatalf("executed: %v, %v", e, err)
		}
		if !bytes.Equal(e.Block.Encode(), p.Block) || &e.Encoded[0] != &p.Block[0] || len(e.Encoded) != len(p.Block) {
			t.Errorf("fits %t, rebuilt %t: the block is not kept as it came", req.Fits, req.Rebuilt)
		}
		if least := 2 * len(p.Block); e.bytes < least {
			t.Errorf("the block weighs %d bytes, want %d at least", e.bytes, least)
		}
	}
}

// TestGlance: the header alone must be of the round, of the leader, on the
// parent and not from the future.
func TestGlance(t *testing.T) {
	f := sharded(t)
	l := f.ledger(t, &pool{})
	p := f.propose(t, l)
	head, _, err := chain.SplitBlock(p.Block)
	if err != nil {
		t.Fatal(err)
	}
	check := func(rule string, want bool, change func(h *chain.Header, req *engine.VerifyRequest)) {
		t.Helper()
		h, err := chain.DecodeHeader(head)
		if err != nil {
			t.Fatal(err)
		}
		req := engine.VerifyRequest{Round: firstRound(), Parent: f.genesisParent(), Leader: testPeer}
		change(h, &req)
		if req.Digest == (chain.Hash{}) {
			req.Digest = h.Digest()
		}
		if req.Block == nil {
			req.Block = chain.EncodeHeader(h)
		}
		if got := l.Glance(req); got != want {
			t.Errorf("%s: %v, want %v", rule, got, want)
		}
	}
	check("good", true, func(*chain.Header, *engine.VerifyRequest) {})
	check("digest", false, func(_ *chain.Header, req *engine.VerifyRequest) { req.Digest = chain.Hash{1} })
	check("no header", false, func(_ *chain.Header, req *engine.VerifyRequest) { req.Block = []byte{1} })
	check("round", false, func(h *chain.Header, _ *engine.VerifyRequest) { h.View++ })
	check("leader", false, func(h *chain.Header, _ *engine.VerifyRequest) { h.Proposer[0]++ })
	check("parent", false, func(h *chain.Header, _ *engine.VerifyRequest) { h.Parent[0]++ })
	check("parent view", false, func(h *chain.Header, _ *engine.VerifyRequest) { h.ParentView++ })
	check("parent seed", false, func(h *chain.Header, _ *engine.VerifyRequest) { h.ParentSeed[0]++ })
	check("presence input of the most bytes", true, func(h *chain.Header, _ *engine.VerifyRequest) { h.PresenceInput = make([]byte, 1_024) })
	check("presence input above it", false, func(h *chain.Header, _ *engine.VerifyRequest) { h.PresenceInput = make([]byte, 1_025) })
	check("consumed seeds", false, func(h *chain.Header, _ *engine.VerifyRequest) {
		h.ConsumedSeeds = make([]byte, chain.MaxConsumedSeedsBytes)
	})
	check("future", false, func(h *chain.Header, _ *engine.VerifyRequest) { h.TimestampMillis += 600_000 })
}

// TestFitsSaysWhenItCannotTell: where this node cannot compute the root of a body, the bytes
// neither fit nor are another block's.
func TestFitsSaysWhenItCannotTell(t *testing.T) {
	f := sharded(t)
	p := f.propose(t, f.ledger(t, &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0), f.transfer(t, 1), f.transfer(t, 2)}}))
	head, _, err := chain.SplitBlock(p.Block)
	if err != nil {
		t.Fatal(err)
	}
	l := f.ledger(t, &pool{})
	l.cfg.Genesis.Params.MaxBlockBytes = 2 * erasure.BlockMax // which no validator's genesis has
	fits, err := l.Fits(p.Digest, chain.JoinBlock(head, make([]byte, erasure.BlockMax+1)))
	if fits || !isFault(err) || !errors.Is(err, erasure.ErrBlockLength) || errors.Is(err, engine.ErrWrongBlock) {
		t.Errorf("fits %v, %v, want a fault", fits, err)
	}
}
