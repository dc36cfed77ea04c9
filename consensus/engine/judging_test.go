package engine

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

func newJudging(t *testing.T) (*judging, *fakeMachine) {
	t.Helper()
	cfg, stats := partOf(t)
	m := &fakeMachine{view: 5, final: map[chain.View]bool{}}
	kept := &blocks{shareMax: 1 << 20, max: 1 << 24}
	pieces := newSharding(cfg, stats, m, kept)
	return &judging{cfg: cfg, stats: stats, machine: m, blocks: kept, shards: &pieces, backlog: func() int { return 0 }}, m
}

// The way of a proposal: its bytes come, the application judges it once, the machine
// learns the verdict, and a notarization finds it known.
func TestJudgingAProposal(t *testing.T) {
	j, _ := newJudging(t)
	p := view(5, 1)
	expect(t, "the leader's bytes", j.offered(2, p, []byte("block"), true), sighted{2, p, true})
	x := simplex.RequestVerify{Proposal: p, Parent: simplex.Parent{Round: beacon.Round{View: 4}}, Leader: 2}
	b := j.blocks.byDigest(5, p.Payload)
	expect(t, "the machine asks", j.verify(x), verify{b, VerifyRequest{
		Round: p.Round, Digest: p.Payload, Block: []byte("block"),
		Parent: ParentRef{Round: beacon.Round{View: 4}}, Leader: j.cfg.Set.At(2).PeerKey,
	}, false})
	expect(t, "and again", j.verifyOnce(b))
	out, err := j.judged(b, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "valid", out, step{simplex.Verified{View: 5, Payload: p.Payload, OK: true}})
	out, known := j.answerCertify(simplex.RequestCertify{Proposal: p})
	if !known {
		t.Error("the verdict is forgotten")
	}
	expect(t, "notarized", out, step{simplex.Certified{View: 5, Payload: p.Payload, OK: true}})
}

// Verdicts of the application and what follows.
func TestJudgingVerdicts(t *testing.T) {
	p := view(5, 1)
	certify := simplex.RequestCertify{Proposal: p, Leader: 2, Known: true}
	said := func(ok bool) step { return step{simplex.Verified{View: 5, Payload: p.Payload, OK: ok}} }
	took := func(ok bool) step { return step{simplex.Certified{View: 5, Payload: p.Payload, OK: ok}} }
	fault := errors.New("disk")
	tests := []struct {
		name      string
		notarized bool
		final     bool
		ok        bool
		err       error
		want      []effect
	}{
		{name: "valid", ok: true, want: []effect{said(true)}},
		{name: "invalid", want: []effect{said(false)}},
		{name: "invalid and notarized", notarized: true, want: []effect{said(false), took(false)}},
		{name: "what is final is valid", notarized: true, final: true, want: []effect{said(false), took(true)}},
		{name: "early: no vote", err: ErrEarly, want: []effect{said(false)}},
		{name: "early and notarized: again, without the clock", notarized: true, err: ErrEarly, want: []effect{said(false), redo{certify}}},
		{name: "wrong bytes of the leader", err: ErrWrongBlock, want: []effect{ban{2}, said(false)}},
		{name: "and notarized: fetched", notarized: true, err: ErrWrongBlock, want: []effect{ban{2}, said(false), redo{certify}}},
		{name: "a fault", err: fault},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j, m := newJudging(t)
			m.final[5] = tt.final
			j.offered(2, p, []byte("block"), true)
			j.verify(simplex.RequestVerify{Proposal: p, Leader: 2})
			b := j.blocks.byDigest(5, p.Payload)
			if tt.notarized {
				if _, known := j.answerCertify(certify); known {
					t.Fatal("a verdict that is not there")
				}
			}
			out, err := j.judged(b, tt.ok, tt.err)
			if !errors.Is(err, fault) && err != nil || (tt.err == fault) != (err != nil) {
				t.Fatalf("error %v", err)
			}
			expect(t, "verdict", out, tt.want...)
		})
	}
}

// A notarized block whose bytes are not here is fetched; it is judged without the clock.
func TestJudgingANotarizedBlock(t *testing.T) {
	j, _ := newJudging(t)
	p := view(5, 1)
	x := simplex.RequestCertify{Proposal: p, Leader: 3, Known: true}
	if _, known := j.answerCertify(x); known {
		t.Fatal("a verdict on nothing")
	}
	expect(t, "no bytes", j.certify(x), fetch{simplex.Fetch{View: 5}})
	c := simplex.Certificate{Kind: simplex.Notarize, Proposal: p}
	a := arrival{1, c, []byte("block")}
	j.backfill(a)
	j.backfill(a)
	if next := j.dequeueDue(); len(next) != 1 || j.blocks.fitting != len(a.block) {
		t.Fatalf("%d blocks are hashed, %d bytes", len(next), j.blocks.fitting)
	}
	expect(t, "while it is hashed", j.certify(x))
	expect(t, "its bytes", j.fitted(a, true), redo{x})
	b := j.blocks.byDigest(5, p.Payload)
	expect(t, "judged", j.certify(x), verify{b, VerifyRequest{Round: p.Round, Digest: p.Payload, Block: a.block, Leader: j.cfg.Set.At(3).PeerKey, Fits: true}, true})
	// Other bytes of the block were compared with nothing, whoever sends them.
	expect(t, "and wrong all the same", j.wrongBytes(b), redo{x})
	j.offered(3, p, []byte("other"), true)
	expect(t, "others", j.certify(x), verify{b, VerifyRequest{Round: p.Round, Digest: p.Payload, Block: []byte("other"), Leader: j.cfg.Set.At(3).PeerKey}, true})
	if j.blocks.fitting != 0 {
		t.Errorf("%d bytes are still being hashed", j.blocks.fitting)
	}
}

func TestJudgingALie(t *testing.T) {
	j, _ := newJudging(t)
	p := view(5, 1)
	x := simplex.RequestCertify{Proposal: p}
	j.answerCertify(x)
	a := arrival{1, simplex.Certificate{Kind: simplex.Notarize, Proposal: p}, []byte("rubbish")}
	j.backfill(a)
	expect(t, "not the block", j.fitted(a, false), ban{1}, redo{simplex.Fetch{View: 5}}, lied{1})
	if j.blocks.bytes != 0 || j.blocks.fitting != 0 {
		t.Errorf("%d bytes are kept", j.blocks.bytes)
	}
}

// Blocks that come faster than they are hashed or executed are put off, by a bound in
// bytes and one in blocks.
func TestJudgingBackfillsAreBounded(t *testing.T) {
	j, _ := newJudging(t)
	j.cfg.PendingBytesMax = 1000
	come := func(v chain.View) {
		j.backfill(arrival{1, simplex.Certificate{Kind: simplex.Notarize, Proposal: view(v, 1)}, make([]byte, 300)})
	}
	come(1)
	come(2)
	if len(j.fits) != 1 || j.blocks.fitting > j.cfg.PendingBytesMax/2 || j.stats.BackfillsPutOff.Load() != 1 {
		t.Errorf("%d bytes are hashed at a time", j.blocks.fitting)
	}
	j.fitted(j.dequeueDue()[0], true)
	j.backlog = func() int { return 2 * backlogMax }
	if come(3); len(j.fits) != 0 {
		t.Error("a block is taken behind a full backlog")
	}
	j.answerCertify(simplex.RequestCertify{Proposal: view(3, 1)})
	if come(3); len(j.fits) != 1 {
		t.Error("the block that the machine waits for is not taken")
	}
}

// TestAFaultInFitIsNobodysLie: what keeps this node from holding a block against its digest
// ends Run, and bans nobody.
func TestAFaultInFitIsNobodysLie(t *testing.T) {
	a := arrival{1, simplex.Certificate{Kind: simplex.Notarize, Proposal: view(5, 1)}, []byte("block")}
	broken := errors.New("no room for the shards")
	for _, ok := range []bool{false, true} {
		if err := (fitted{a, ok, broken}).apply(t.Context(), new(Engine)); !errors.Is(err, broken) { // it has no part that could ban
			t.Errorf("fits %v with a fault: %v", ok, err)
		}
	}
}
