package simplex

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

func replayed(r Record) Replayed { return Replayed{Record: r} }

func own(k Kind, p Proposal) Replayed { return replayed(fakeSigner{}.Sign(k, p)) }

func kept(k Kind, p Proposal) Replayed { return replayed(cert(k, p).Certificate) }

func verdictOn(p Proposal, ok bool) Replayed {
	return replayed(Certification{Round: p.Round, Payload: p.Payload, OK: ok})
}

// A restart begins where the journal ends (consensus.md §1.5).
func TestReplay(t *testing.T) {
	play(t, follower, []scenario{
		{
			"our notarize is sent again, and the view not voted in anew",
			[]Event{own(Notarize, p1), Resumed{}},
			enter(1) + "; send notarize 1:1",
		},
		{
			"another proposal gets no second vote",
			[]Event{own(Notarize, p1), Resumed{}, from(other, p1b)},
			"",
		},
		{
			"our nullify is sent again, or a cluster that crashed at once waits for ever",
			[]Event{own(Nullify, p1), Resumed{}},
			enter(1) + "; send nullify 1; arm retry 1",
		},
		{"after it we do not notarize", []Event{own(Nullify, p1), Resumed{}, from(other, p1)}, ""},
		{
			"after it we do not finalize",
			[]Event{own(Nullify, p1), Resumed{}, cert(Notarize, p1), certified(p1)},
			"keep verdict 1:1 true; " + enter(2),
		},
		{"a nullification leads into the next view", []Event{kept(Nullify, p1), Resumed{}}, enter(2)},
		{
			"an uncertified notarization does not; certification starts over",
			[]Event{kept(Notarize, p1), Resumed{}},
			enter(1) + "; certify 1:1",
		},
		{
			"a certified one does; the application takes the block in again, and the vote that was lost is made",
			[]Event{kept(Notarize, p1), verdictOn(p1, true), Resumed{}},
			enter(2) + "; keep finalize 1:1; send finalize 1:1; certify 1:1 again",
		},
		{
			"our finalize is sent again, not made again",
			[]Event{own(Notarize, p1), kept(Notarize, p1), verdictOn(p1, true), own(Finalize, p1), Resumed{}},
			enter(2) + "; send finalize 1:1; certify 1:1 again",
		},
		{
			"the recovered block is not certified twice",
			[]Event{own(Notarize, p1), kept(Notarize, p1), verdictOn(p1, true), own(Finalize, p1), Resumed{}, certified(p1)},
			"",
		},
		{
			"a block rejected before stays rejected",
			[]Event{kept(Notarize, p1), verdictOn(p1, false), Resumed{}},
			enter(1),
		},
		{
			"unless it became final all the same",
			[]Event{kept(Notarize, p1), verdictOn(p1, false), kept(Finalize, p1), Resumed{}},
			enter(2) + "; certify 1:1",
		},
		{
			"in whatever order the journal says so",
			[]Event{kept(Finalize, p1), verdictOn(p1, false), Resumed{}},
			enter(2) + "; certify 1:1",
		},
		{
			"and it is delivered once the application has it",
			[]Event{kept(Notarize, p1), verdictOn(p1, false), kept(Finalize, p1), Resumed{}, certified(p1)},
			"final 1",
		},
		{
			"a verdict that changes stops the validator",
			[]Event{kept(Notarize, p1), verdictOn(p1, true), Resumed{}, Certified{1, p1.Payload, false}},
			"halt",
		},
		{
			"a finalization that was not delivered is delivered once the block is back",
			[]Event{kept(Notarize, p1), verdictOn(p1, true), kept(Finalize, p1), Resumed{}, certified(p1)},
			"final 1",
		},
		{
			"the vote of another validator is not our journal",
			[]Event{replayed(Vote{Kind: Nullify, Signer: other, Proposal: Proposal{Round: p1.Round}})},
			"halt",
		},
		{"nor are two votes of one kind", []Event{own(Notarize, p1), own(Notarize, p1b)}, "halt"},
		{
			"records of another epoch are ignored",
			[]Event{replayed(Vote{Kind: Nullify, Proposal: Proposal{Round: beacon.Round{Epoch: 1, View: 3}}}), Resumed{}},
			enter(1),
		},
		{"a second start is ignored", []Event{Resumed{}, Resumed{}}, ""},
	})
}

// The leader of a view does not propose twice over a restart.
func TestReplayOfALeader(t *testing.T) {
	play(t, leader, []scenario{
		{"after its vote", []Event{own(Notarize, p1), Resumed{}}, enter(1) + "; send notarize 1:1"},
		{"before it, it may", []Event{Resumed{}}, enter(1) + "; build 1 on 0"},
		{
			"on a block that is not back yet it waits",
			[]Event{kept(Notarize, p1), verdictOn(p1, true), own(Finalize, p1), Resumed{}},
			enter(2) + "; send finalize 1:1; certify 1:1 again",
		},
		{"then it builds", []Event{kept(Notarize, p1), verdictOn(p1, true), own(Finalize, p1), Resumed{}, certified(p1)}, "build 2 on 1"},
	})
}

// What the application has durably is final: records at or below are history.
func TestReplayAboveTheFloor(t *testing.T) {
	atFloor := func(seed bool) func() *Machine {
		return func() *Machine {
			cfg := testConfig(fakeElector{self, self})
			cfg.Floor = Floor{View: 2, Payload: p2.Payload}
			if seed {
				cfg.Floor.Seed = seedOf(2)
			}
			return New(cfg)
		}
	}
	play(t, atFloor(true), []scenario{
		{"it starts in the view after the floor", []Event{Resumed{}}, enter(3) + "; build 3 on 2"},
		{
			"older records mean nothing",
			[]Event{own(Nullify, p1), kept(Notarize, p1), kept(Finalize, p2), own(Finalize, p2), Resumed{}},
			enter(3) + "; build 3 on 2",
		},
		{"newer ones do", []Event{own(Nullify, prop(3, 0, 0)), Resumed{}}, enter(3) + "; send nullify 3; arm retry 3"},
	})
	play(t, atFloor(false), []scenario{
		{"without the floor's seed nobody leads", []Event{Resumed{}}, enter(3)},
		{"its certificate in the journal has it", []Event{kept(Notarize, p2), Resumed{}}, enter(3) + "; build 3 on 2"},
		{"or a peer's", []Event{Resumed{}, cert(Notarize, p2)}, "build 3 on 2"},
	})
}

// Memory does not grow with the chain.
func TestViewsArePruned(t *testing.T) {
	m := follower()
	m.Step(Resumed{})
	for v := chain.View(1); v <= 100; v++ {
		p := prop(v, v-1, byte(v))
		for _, e := range []Event{cert(Notarize, p), certified(p), cert(Finalize, p)} {
			m.Step(e)
		}
	}
	if m.Floor().View != 100 {
		t.Fatalf("floor %d, want 100", m.Floor().View)
	}
	if n := len(m.views); n > 8 {
		t.Errorf("%d views kept, want the retention of 4 and the current ones", n)
	}
}
