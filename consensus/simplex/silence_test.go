package simplex

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// skipper is one of four, with validator 1 always in the lead, that takes two
// periods of silence as a sign.
func skipper() *Machine {
	cfg := testConfig(fakeElector{other, other})
	cfg.Skip = Skip{After: 2, Members: 4, Quorum: 3}
	return New(cfg)
}

// through returns the events of views 1 to n in which votes of the given came in.
func through(n chain.View, who ...beacon.Participant) []Event {
	events := []Event{Resumed{}}
	for v := chain.View(1); v <= n; v++ {
		for _, p := range who {
			events = append(events, VoteSeen{p, v, Nullify})
		}
		events = append(events, null(v))
	}
	return events
}

// A leader of whom nothing came for a number of views in which a quorum was
// heard is not waited for (consensus.md §1.2, skip timeout).
func TestSkip(t *testing.T) {
	with := func(before []Event, more ...Event) []Event { return append(before, more...) }
	p3 := prop(3, 0, 3)
	for _, c := range []struct {
		rule   string
		events []Event
		armed  bool   // the skip timer is, on entry to the last view entered
		then   string // what it leads to
	}{
		{"silent for two views: skipped", through(2, 2, 3), true, "keep nullify 3; send nullify 3; arm retry 3"},
		{"silent for one: waited for", through(1, 2, 3), false, ""},
		{"heard in each: waited for", through(2, 1, 2, 3), false, ""},
		{"heard in the last: waited for", with(through(1, 2, 3), VoteSeen{1, 2, Finalize}, VoteSeen{2, 2, Nullify}, VoteSeen{3, 2, Nullify}, null(2)), false, ""},
		{"without a quorum nobody is silent: it may be us", through(9, 2), false, ""},
		{"nor when we hear nobody", through(9), false, ""},
		{"a period lasts until a quorum was heard", with(through(1, 2, 3), VoteSeen{2, 2, Nullify}, null(2), VoteSeen{3, 3, Nullify}, null(3)), true, "keep nullify 4; send nullify 4; arm retry 4"},
		{"views jumped over are no silence", with(through(1, 2, 3), null(8)), false, ""},
		{"a vote ends the silence", with(through(2, 2, 3), VoteSeen{1, 3, Notarize}), true, ""},
		{"of the next view too", with(through(2, 2, 3), VoteSeen{1, 4, Notarize}), true, ""},
		{"an old vote does not", with(through(9, 2, 3), VoteSeen{1, 7, Notarize}), true, "keep nullify 10; send nullify 10; arm retry 10"},
		{"nor a stranger's", with(through(2, 2, 3), VoteSeen{77, 3, Notarize}), true, "keep nullify 3; send nullify 3; arm retry 3"},
		{"a proposal is looked at before the timer", with(through(2, 2, 3), from(other, p3)), true, ""},
		{"even when it is notarized", with(through(2, 2, 3), from(other, p3), verified(p3)), true, ""},
	} {
		m := skipper()
		armed := false
		for _, e := range c.events {
			for _, effect := range m.Step(e) {
				switch x := effect.(type) {
				case EnterView:
					armed = false
				case ArmTimer:
					armed = armed || x.Timer == TimerSkip && x.View == m.View()
				}
			}
		}
		if armed != c.armed {
			t.Errorf("%s: armed %v in view %d", c.rule, armed, m.View())
		}
		if got := trace(m.Step(timer(m.View(), TimerSkip))); got != c.then {
			t.Errorf("%s: the timer leads to %q, want %q", c.rule, got, c.then)
		}
	}
}

// Without the parameter, without a voice, and for ourselves there is no skip
// timer.
func TestNoSkip(t *testing.T) {
	never, follows, own := testConfig(fakeElector{other, other}), testConfig(fakeElector{other, other}), testConfig(fakeElector{self, self})
	never.Skip = Skip{Members: 4, Quorum: 3}
	follows.Skip = Skip{After: 1, Members: 4, Quorum: 3}
	follows.Signer = nil
	own.Skip = follows.Skip
	for name, cfg := range map[string]Config{"never": never, "a follower": follows, "ourselves": own} {
		m := New(cfg)
		for _, e := range append(through(30, 2, 3), timer(31, TimerSkip)) {
			if got := trace(m.Step(e)); strings.Contains(got, "skip") || e == timer(31, TimerSkip) && got != "" {
				t.Fatalf("%s: %q", name, got)
			}
		}
	}
}
