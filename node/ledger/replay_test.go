package ledger

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// replayed stores the first block of a chain, changed, as final, and re-executes
// the chain.
func (f *fixture) replayed(t *testing.T, change func(*chain.Header)) error {
	t.Helper()
	l := f.ledger(t, &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0)}})
	p := f.propose(t, l)
	e := *l.tree.get(p.Digest) // nothing else asks the ledger
	block := *e.Block
	change(&block.Header)
	e.Block, e.Encoded, e.Digest = &block, block.Encode(), block.Header.Digest()
	if err := l.cfg.Store.Commit(e.State, new(recordRoom).of(&e, []byte("c"))); err != nil {
		t.Fatal(err)
	}
	sets, err := beacon.NewSets(epoch.Of(f.genesis))
	if err != nil {
		t.Fatal(err)
	}
	scratch := f.ledger(t, &pool{})
	r := &Replay{
		Genesis: f.genesis, Sets: sets, Proposers: l.cfg.Proposers, Source: l.cfg.Store, Scratch: scratch.cfg.Store, Shards: f.shards,
		Signatures: l.cfg.Signatures, Progress: func(_, _ chain.Height) {},
	}
	_, err = r.Run(t.Context())
	return err
}

func TestReplayHoldsEveryHeaderToTheRules(t *testing.T) {
	f := newFixture(t)
	if err := f.replayed(t, func(*chain.Header) {}); err != nil {
		t.Fatalf("a good block: %v", err)
	}
	for rule, change := range map[string]func(*chain.Header){
		"body root":                        func(h *chain.Header) { h.BodyRoot[0]++ },
		"parent round":                     func(h *chain.Header) { h.ParentView++ },
		"parent seed":                      func(h *chain.Header) { h.ParentSeed[0]++ },
		"round not above the parent's":     func(h *chain.Header) { h.View = 0 },
		"timestamp not above the parent's": func(h *chain.Header) { h.TimestampMillis = f.genesis.TimestampMillis },
		"base fees":                        func(h *chain.Header) { h.BaseFees[chain.LaneUser].PerCell++ },
		"consumed seeds":                   func(h *chain.Header) { h.ConsumedSeeds = chain.EncodeConsumedSeeds([]chain.ConsumedSeed{{View: 1}}) },
		"presence input":                   func(h *chain.Header) { h.PresenceInput = make([]byte, 1_025) },
		"order proof":                      func(h *chain.Header) { h.OrderProof[5]++ },
		"state root":                       func(h *chain.Header) { h.StateRoot[0]++ },
		"used meters":                      func(h *chain.Header) { h.Used[chain.LaneUser].Cells++ },
	} {
		var verdict *Verdict
		if err := f.replayed(t, change); !errors.As(err, &verdict) || verdict.Rule != rule {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
