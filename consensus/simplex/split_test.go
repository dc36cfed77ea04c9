package simplex

import (
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// What rests on our own vote waits for the disk with it; what others said goes
// at once.
func TestSplit(t *testing.T) {
	own := func(k Kind, p Proposal) Effect { return Broadcast{Vote: fakeSigner{}.Sign(k, p)} }
	of := func(k Kind, p Proposal) Effect { return BroadcastCertificate{cert(k, p).Certificate} }
	branch := func(n int) Effect { return Finalized{Chain: make([]Certificate, n)} }
	for _, tt := range []struct {
		rule        string
		effects     []Effect
		free, bound string
	}{
		{"a vote waits", []Effect{own(Notarize, p1)}, "", "send notarize 1:1"},
		{"a request does not", []Effect{own(Nullify, p1), Fetch{View: 3}}, "fetch 3", "send nullify 1"},
		{
			"a certificate that our vote may have completed waits with it",
			[]Effect{own(Nullify, p1), of(Nullify, p1)},
			"", "send nullify 1; send cert nullify 1",
		},
		{
			"so does one of several",
			[]Effect{own(Notarize, p1), of(Notarize, p1), own(Finalize, p1), of(Finalize, p1)},
			"", "send notarize 1:1; send cert notarize 1:1; send finalize 1:1; send cert finalize 1:1",
		},
		{"a certificate without us does not", []Effect{of(Notarize, p1)}, "send cert notarize 1:1", ""},
		{"nor one from before our vote", []Effect{of(Notarize, p1), own(Notarize, p1)}, "send cert notarize 1:1", "send notarize 1:1"},
		{"nor one of another kind", []Effect{own(Nullify, p1), of(Notarize, p1)}, "send cert notarize 1:1", "send nullify 1"},
		{"nor one of another view", []Effect{own(Nullify, p2), of(Nullify, p1)}, "send cert nullify 1", "send nullify 2"},
		{"nor one of another block", []Effect{own(Notarize, p1b), of(Notarize, p1)}, "send cert notarize 1:1", "send notarize 1:11"},
		{"a block with a finalization of its own does not", []Effect{branch(1)}, "final 0", ""},
		{"a block that is final by a descendant does", []Effect{branch(2)}, "", "final 0,0"},
	} {
		free, bound := Split(tt.effects)
		if got := trace(free); got != tt.free {
			t.Errorf("%s: free: %q, want %q", tt.rule, got, tt.free)
		}
		if got := trace(bound); got != tt.bound {
			t.Errorf("%s: bound: %q, want %q", tt.rule, got, tt.bound)
		}
	}
}

// TestSplitKeepsFinalityInOrder: blocks become final in the order of the effects, also
// where the earlier ones wait for the disk and a later one alone would not.
func TestSplitKeepsFinalityInOrder(t *testing.T) {
	final := func(views ...chain.View) Effect {
		var f Finalized
		for _, v := range views {
			var c Certificate
			c.Proposal.Round.View = v
			f.Chain = append(f.Chain, c)
		}
		return f
	}
	for _, effects := range [][]Effect{
		{final(1), final(2), final(3)},
		{final(1, 2), final(3)},
		{final(1), final(2, 3), ArmTimer{}, final(4), final(5, 6), final(7)},
	} {
		free, bound := Split(effects)
		var order []chain.View
		for _, e := range slices.Concat(free, bound) {
			if f, ok := e.(Finalized); ok {
				for _, c := range f.Chain {
					order = append(order, c.Proposal.Round.View)
				}
			}
		}
		if !slices.IsSorted(order) {
			t.Errorf("blocks become final in the order %v", order)
		}
	}
}
