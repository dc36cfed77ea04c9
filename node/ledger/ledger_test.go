package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// A block is valid in one place. A leader who offers one of an earlier view
// again gets the same answer from those who have executed it as from the others.
func TestBlockOfferedAgainIsRefused(t *testing.T) {
	f := newFixture(t)
	proposer, knows := f.ledger(t, &pool{}), f.ledger(t, &pool{})
	p := f.propose(t, proposer)
	first := engine.VerifyRequest{Round: firstRound(), Parent: f.genesisParent(), Leader: testPeer, Digest: p.Digest, Block: p.Block}
	for _, tt := range []struct {
		name   string
		change func(*engine.VerifyRequest)
	}{
		{"in a later view", func(r *engine.VerifyRequest) { r.Round.View++ }},
		{"on another parent", func(r *engine.VerifyRequest) { r.Parent = engine.ParentRef{Round: r.Round, Digest: p.Digest} }},
		{"by another leader", func(r *engine.VerifyRequest) { r.Leader[0]++ }},
	} {
		if ok, err := knows.Verify(t.Context(), first); !ok || err != nil {
			t.Fatalf("in its place: %v, %v", ok, err)
		}
		again := first
		tt.change(&again)
		for who, l := range map[string]*Ledger{"its proposer": proposer, "who knows it": knows, "who does not": f.ledger(t, &pool{})} {
			if ok, err := l.Verify(t.Context(), again); ok || err != nil {
				t.Errorf("%s, asked of %s: %v, %v, want a refusal", tt.name, who, ok, err)
			}
		}
	}
}

func TestProposedBlockVerifiesElsewhere(t *testing.T) {
	f := newFixture(t)
	proposer := f.ledger(t, &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0), f.transfer(t, 1), f.transfer(t, 2)}})
	verifier := f.ledger(t, &pool{})
	p := f.propose(t, proposer)
	req := engine.VerifyRequest{Round: firstRound(), Parent: f.genesisParent(), Digest: p.Digest, Block: p.Block}
	if ok, err := verifier.Verify(t.Context(), req); !ok || err != nil {
		t.Fatalf("verify: %v, %v", ok, err)
	}
	for _, l := range []*Ledger{proposer, verifier} {
		if err := l.Finalized(t.Context(), engine.Finalization{Round: firstRound(), Digest: p.Digest, Certificate: []byte("c")}); err != nil {
			t.Fatal(err)
		}
		event := <-l.Events()
		if len(event.Txs) != 3 || event.Digest != p.Digest || l.Head().Height() != 1 {
			t.Errorf("finalized %+v", event)
		}
	}
	if a, b := proposer.Head().State.Root(), verifier.Head().State.Root(); a != b {
		t.Errorf("state roots differ: %s, %s", a, b)
	}
}

// TestAlteredBlocksAreRefused changes one thing at a time in a valid block:
// every field of the header is a rule.
func TestAlteredBlocksAreRefused(t *testing.T) {
	f := newFixture(t)
	proposer := f.ledger(t, &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0), f.transfer(t, 1), f.transfer(t, 2)}})
	verifier := f.ledger(t, &pool{})
	p := f.propose(t, proposer)
	alter := func(name string, change func(b *chain.Block)) {
		late := name == "timestamp in the future"
		t.Run(name, func(t *testing.T) {
			block, err := chain.DecodeBlock(p.Block, len(p.Block))
			if err != nil {
				t.Fatal(err)
			}
			change(block)
			want := error(nil)
			if block.Header.TxRoot != tree.ListRoot(block.Txs) {
				want = engine.ErrWrongBlock // not the transactions of this header
			} else if late {
				want = engine.ErrEarly
			}
			if ok, err := f.verify(t, verifier, block); ok || !errors.Is(err, want) {
				t.Errorf("verdict %v, %v: want a refusal, %v", ok, err, want)
			}
		})
		if name == "transaction root" {
			return
		}
		t.Run(name+" under a root of its own", func(t *testing.T) {
			block, err := chain.DecodeBlock(p.Block, len(p.Block))
			if err != nil {
				t.Fatal(err)
			}
			change(block)
			block.Header.TxRoot = tree.ListRoot(block.Txs)
			want := error(nil)
			if late {
				want = engine.ErrEarly
			}
			if ok, err := f.verify(t, verifier, block); ok || !errors.Is(err, want) {
				t.Errorf("verdict %v, %v: want a refusal, %v", ok, err, want)
			}
		})
	}
	alter("parent", func(b *chain.Block) { b.Header.Parent[0]++ })
	alter("height", func(b *chain.Block) { b.Header.Height++ })
	alter("epoch", func(b *chain.Block) { b.Header.Epoch++ })
	alter("view", func(b *chain.Block) { b.Header.View++ })
	alter("parent view", func(b *chain.Block) { b.Header.ParentView++ })
	alter("parent epoch", func(b *chain.Block) { b.Header.ParentEpoch++ })
	alter("parent seed", func(b *chain.Block) { b.Header.ParentSeed[0]++ })
	alter("timestamp of the parent", func(b *chain.Block) { b.Header.TimestampMillis = f.genesis.TimestampMillis })
	alter("timestamp in the future", func(b *chain.Block) { b.Header.TimestampMillis += 10 * 60 * 1000 })
	alter("unknown proposer", func(b *chain.Block) { b.Header.Proposer[0]++ })
	alter("transaction root", func(b *chain.Block) { b.Header.TxRoot[0]++ })
	alter("receipts root", func(b *chain.Block) { b.Header.ReceiptsRoot[0]++ })
	alter("state root", func(b *chain.Block) { b.Header.StateRoot[0]++ })
	alter("base fee", func(b *chain.Block) { b.Header.BaseFees[chain.LaneUser].PerCycle++ })
	alter("used meters", func(b *chain.Block) { b.Header.Used[chain.LaneUser].Cycles++ })
	alter("consumed seeds without a job", func(b *chain.Block) {
		b.Header.ConsumedSeeds = chain.EncodeConsumedSeeds([]chain.ConsumedSeed{{Epoch: 0, View: 1}})
	})
	alter("presence input of a large registry", func(b *chain.Block) { b.Header.PresenceInput = make([]byte, 1_025) })
	alter("order proof", func(b *chain.Block) { b.Header.OrderProof[5]++ })
	alter("order of transactions", func(b *chain.Block) { b.Txs[0], b.Txs[1] = b.Txs[1], b.Txs[0] })
	alter("missing transaction", func(b *chain.Block) { b.Txs = b.Txs[:2] })
	alter("repeated transaction", func(b *chain.Block) { b.Txs = append(b.Txs, b.Txs[2]) })
	alter("foreign signature", func(b *chain.Block) {
		tx, err := chain.DecodeTx(b.Txs[0])
		if err != nil {
			t.Fatal(err)
		}
		tx.Signature.YParity ^= 1
		b.Txs[0] = tx.Encode()
	})
	alter("unsigned transaction", func(b *chain.Block) {
		tx, err := chain.DecodeTx(b.Txs[0])
		if err != nil {
			t.Fatal(err)
		}
		tx.Signature = nil
		b.Txs[0] = tx.Encode()
	})

	// The order proof of another validator for the same height and parent may be
	// known from a block that did not make it: nobody may propose in its name.
	if ok, err := verifier.Verify(t.Context(), engine.VerifyRequest{
		Round: firstRound(), Parent: f.genesisParent(), Leader: chain.PeerKey{9}, Digest: p.Digest, Block: p.Block,
	}); ok || err != nil {
		t.Errorf("a block in another validator's name: %v, %v", ok, err)
	}
	if ok, err := verifier.Verify(t.Context(), engine.VerifyRequest{
		Round: firstRound(), Parent: f.genesisParent(), Leader: testPeer, Digest: p.Digest, Block: p.Block,
	}); !ok || err != nil {
		t.Errorf("the unaltered block is refused after the altered ones: %v, %v", ok, err)
	}
	if refused := verifier.Stats.Refused.Load(); refused < 20 {
		t.Errorf("%d refusals counted", refused)
	}
}

// TestProposerMustLeadTheRound: a block is its leader's (resolution 11.16);
// where consensus does not know the leader, a quorum vouched for it.
func TestProposerMustLeadTheRound(t *testing.T) {
	f := newFixture(t)
	p := f.propose(t, f.ledger(t, &pool{}))
	for leader, want := range map[chain.PeerKey]bool{testPeer: true, {}: true, {9}: false} {
		req := engine.VerifyRequest{Round: firstRound(), Parent: f.genesisParent(), Leader: leader, Digest: p.Digest, Block: p.Block}
		if ok, err := f.ledger(t, &pool{}).Verify(t.Context(), req); ok != want || err != nil {
			t.Errorf("leader %v: verdict %v, %v, want %v", leader, ok, err, want)
		}
	}
}

// TestWrongBytesAreNotAVerdict: bytes that are not the block of the digest say
// nothing about that block.
func TestWrongBytesAreNotAVerdict(t *testing.T) {
	f := newFixture(t)
	p := f.propose(t, f.ledger(t, &pool{}))
	verifier := f.ledger(t, &pool{})
	for name, raw := range map[string][]byte{
		"truncated": p.Block[:len(p.Block)-1], "garbage": bytes.Repeat([]byte{0x9f}, 400), "empty": {},
	} {
		_, err := verifier.Verify(t.Context(), engine.VerifyRequest{Round: firstRound(), Parent: f.genesisParent(), Digest: p.Digest, Block: raw})
		if !errors.Is(err, engine.ErrWrongBlock) {
			t.Errorf("%s: got %v, want %v", name, err, engine.ErrWrongBlock)
		}
		if fits, err := verifier.Fits(p.Digest, raw); fits || err != nil {
			t.Errorf("%s fits the digest: %v, %v", name, fits, err)
		}
	}
	for _, digest := range []chain.Hash{p.Digest, {1}} {
		if fits, err := verifier.Fits(digest, p.Block); fits != (digest == p.Digest) || err != nil {
			t.Errorf("fits %v: %v, %v: a block fits its digest and no other", digest, fits, err)
		}
	}
}

// TestProposerLeavesOutWhatExecutionRefuses: a transaction that packing
// misjudged must not cost the proposer its slot.
func TestProposerLeavesOutWhatExecutionRefuses(t *testing.T) {
	f := newFixture(t)
	gap := f.transfer(t, 5) // nonces 1 to 4 are missing
	l := f.ledger(t, &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0), gap}})
	block, err := chain.DecodeBlock(f.propose(t, l).Block, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if len(block.Txs) != 1 {
		t.Errorf("block of %d transactions, want the one that is valid", len(block.Txs))
	}
}

// TestPackingHearsOfTheBlocksBefore: the pool learns of final blocks later than
// the ledger, and of others not at all.
func TestPackingHearsOfTheBlocksBefore(t *testing.T) {
	f := newFixture(t)
	p := &pool{}
	l := f.ledger(t, p)
	parent, first := f.genesisParent(), engine.ParentRef{}
	var nonces []string
	for height := range uint64(4) {
		p.txs = []*chain.VerifiedTx{f.transfer(t, height)}
		round := beacon.Round{View: chain.View(height + 1)}
		made, err := l.Propose(t.Context(), engine.ProposeRequest{Round: round, Parent: parent})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, txs := range p.before {
			got += "["
			for _, tx := range txs {
				got += fmt.Sprint(tx.Tx.Nonce)
			}
			got += "]"
		}
		nonces = append(nonces, got)
		if height == 2 { // the first block becomes the head
			if err := l.Finalized(t.Context(), engine.Finalization{Round: first.Round, Digest: first.Digest, Certificate: []byte("c")}); err != nil {
				t.Fatal(err)
			}
			<-l.Events()
		}
		parent = engine.ParentRef{Round: round, Digest: made.Digest}
		if height == 0 {
			first = parent
		}
		f.now = f.now.Add(time.Minute) // so that the next one is due
	}
	if got, want := fmt.Sprint(nonces), "[[] [0][] [1][0][] [2][1][0]]"; got != want {
		t.Errorf("blocks before: %s, want %s", got, want)
	}
}

// A parent that is not executed here costs the slot and not the node: the log says
// so once, and the engine passes.
func TestUnknownParentPasses(t *testing.T) {
	f := newFixture(t)
	l := f.ledger(t, &pool{})
	var said bytes.Buffer
	l.cfg.Log = slog.New(slog.NewTextHandler(&said, nil))
	_, err := l.Propose(t.Context(), engine.ProposeRequest{Round: firstRound(), Parent: engine.ParentRef{Digest: chain.Hash{1}}})
	if !errors.Is(err, engine.ErrNoProposal) || errors.Is(err, ErrUnknownParent) {
		t.Errorf("got %v, want to pass without a reason", err)
	}
	if n := strings.Count(said.String(), ErrUnknownParent.Error()); n != 1 {
		t.Errorf("the log names the reason %d times: %s", n, said.String())
	}
}
