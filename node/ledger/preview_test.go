package ledger

import (
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
)

// A block whose execution is expected to take long is handed out before it is
// executed; who executed the preview does not execute the proposal.
func TestPreviewIsExecutedAhead(t *testing.T) {
	f := newFixture(t)
	txs := []*chain.VerifiedTx{f.transfer(t, 0), f.transfer(t, 1)}
	leader, follower := f.ledger(t, &pool{txs: txs}), f.ledger(t, &pool{})
	req := engine.ProposeRequest{Round: firstRound(), Parent: f.genesisParent()}
	var sent []byte
	req.Preview = func(b []byte) { sent = b }
	if _, err := leader.Propose(t.Context(), req); err != nil || sent != nil {
		t.Fatalf("a cheap block was previewed: %d bytes, %v", len(sent), err)
	}
	leader.ahead.perTx = time.Second
	p, err := leader.Propose(t.Context(), req)
	if err != nil || sent == nil {
		t.Fatalf("a dear block was not previewed: %v", err)
	}
	if err := follower.Prepare(t.Context(), engine.PrepareRequest{Round: firstRound(), Preview: sent}); err != nil {
		t.Fatal(err)
	}
	if n := follower.Stats.Prepared.Load(); n != 1 {
		t.Fatalf("%d previews executed, want 1", n)
	}
	ok, err := follower.Verify(t.Context(), engine.VerifyRequest{Round: firstRound(), Parent: f.genesisParent(), Digest: p.Digest, Block: p.Block})
	if !ok || err != nil || follower.Stats.PreviewsUsed.Load() != 1 {
		t.Errorf("valid %v, %v; %d proposals foretold, want 1", ok, err, follower.Stats.PreviewsUsed.Load())
	}
}

// A preview is no verdict: whatever it holds, the proposal is judged by itself.
func TestPreviewDecidesNothing(t *testing.T) {
	rich := person(t, 0)
	f := newFixtureOf(t, func(*params.Params) {}, genesis.Allocation{Name: "other", Address: rich.PublicKey().Address(), Amount: chain.WeiPerCBY})
	other := signedBy(t, rich, &chain.Tx{
		ChainID: f.genesis.ChainID, To: &chain.Address{0xaa}, CyclesLimit: 21_000, MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: 1,
	})
	leader, follower := f.ledger(t, &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0), other}}), f.ledger(t, &pool{})
	p := f.propose(t, leader)
	block, err := chain.DecodeBlock(p.Block, len(p.Block))
	if err != nil {
		t.Fatal(err)
	}
	alter := func(change func(*chain.Block)) []byte {
		b := &chain.Block{Header: block.Header, Txs: block.Txs}
		change(b)
		return b.Encode()
	}
	for _, tt := range []struct {
		name string
		raw  []byte
	}{
		{"garbage", []byte("garbage")},
		{"of another round", alter(func(b *chain.Block) { b.Header.View = 2 })},
		{"on an unknown parent", alter(func(b *chain.Block) { b.Header.Parent[0]++ })},
		{"of another height", alter(func(b *chain.Block) { b.Header.Height++ })},
		{"with a bad transaction", alter(func(b *chain.Block) { b.Txs = [][]byte{{1, 2, 3}} })},
		{"of a proposer that is no validator", alter(func(b *chain.Block) { b.Header.Proposer[0]++ })},
		{"with another's proof of its order", alter(func(b *chain.Block) { b.Header.OrderProof[40]++ })},
		{"out of order", alter(func(b *chain.Block) { b.Txs = [][]byte{b.Txs[1], b.Txs[0]} })},
		{"with a gap in nonces", alter(func(b *chain.Block) { b.Txs = [][]byte{f.transfer(t, 9).Body} })},
	} {
		if err := follower.Prepare(t.Context(), engine.PrepareRequest{Round: firstRound(), Preview: tt.raw}); err != nil {
			t.Errorf("%s: %v, but a preview is nobody's fault here", tt.name, err)
		}
	}
	if n := follower.Stats.Prepared.Load(); n != 0 {
		t.Errorf("%d of them were executed", n)
	}
	later := alter(func(b *chain.Block) { b.Header.TimestampMillis++ })
	if err := follower.Prepare(t.Context(), engine.PrepareRequest{Round: firstRound(), Preview: later}); err != nil {
		t.Fatal(err)
	}
	if ok, err := f.verify(t, follower, block); !ok || err != nil || follower.Stats.PreviewsUsed.Load() != 0 {
		t.Errorf("the proposal after another preview: %v, %v, foretold %d", ok, err, follower.Stats.PreviewsUsed.Load())
	}
}

// A preview that no honest leader sends, as the block would travel as shards, is not
// executed, at any length above that of whole blocks.
func TestLargePreviewsAreLeftAlone(t *testing.T) {
	f := newFixture(t)
	txs := []*chain.VerifiedTx{f.transfer(t, 0), f.transfer(t, 1)}
	size := len(txs[0].Body) + len(txs[1].Body)
	leader, follower := f.ledger(t, &pool{txs: txs}), f.ledger(t, &pool{})
	leader.ahead.perTx = time.Second
	var sent []byte
	req := engine.ProposeRequest{Round: firstRound(), Parent: f.genesisParent(), Preview: func(b []byte) { sent = b }}
	if _, err := leader.Propose(t.Context(), req); err != nil || sent == nil {
		t.Fatalf("no preview: %v", err)
	}
	for _, tt := range []struct{ most, executed int }{{size - 1, 0}, {size, 1}} {
		follower.cfg.Genesis.Params.MaxWholeBytes = uint64(tt.most)
		if err := follower.Prepare(t.Context(), engine.PrepareRequest{Round: firstRound(), Preview: sent}); err != nil {
			t.Fatal(err)
		}
		if n := follower.Stats.Prepared.Load(); n != uint64(tt.executed) {
			t.Errorf("%d of a preview of %d bytes are executed where %d travel whole, want %d", n, size, tt.most, tt.executed)
		}
	}
}

// Executed previews that never become proposals do not pile up.
func TestPreviewsAreBounded(t *testing.T) {
	var d previews
	for i := range byte(10) {
		d.put(&Executed{Digest: chain.Hash{i}, Round: beacon.Round{View: chain.View(i)}})
	}
	if len(d.done) != previewsKept || d.pop(chain.Hash{9}) == nil || d.pop(chain.Hash{9}) != nil || d.pop(chain.Hash{1}) != nil {
		t.Errorf("%d previews kept, want the newest %d, each once", len(d.done), previewsKept)
	}
}
