package simplex

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// self is the validator under test, other the rest of the world.
const (
	self  beacon.Participant = 0
	other beacon.Participant = 1
)

type fakeSigner struct{}

func (fakeSigner) Sign(k Kind, p Proposal) Vote {
	if k == Nullify {
		p = Proposal{Round: p.Round}
	}
	return Vote{Kind: k, Proposal: p, Signer: self, Signature: bls.Signature{byte(k)}, Seed: seedOf(p.Round.View)}
}

// fakeElector always draws one validator, and redraws another.
type fakeElector struct{ leader, past beacon.Participant }

func (e fakeElector) Leader(chain.Hash) beacon.Participant                 { return e.leader }
func (e fakeElector) LeaderPast(chain.Hash, chain.Hash) beacon.Participant { return e.past }

func seedOf(v chain.View) bls.Signature { return bls.Signature{0xee, byte(v)} }

// prop is the proposal of block b for view v on the block of view parent.
func prop(v, parent chain.View, b byte) Proposal {
	return Proposal{Round: beacon.Round{View: v}, Parent: parent, Payload: chain.Hash{b}}
}

func cert(k Kind, p Proposal) CertificateReceived {
	if k == Nullify {
		p = Proposal{Round: p.Round}
	}
	return CertificateReceived{Certificate{Kind: k, Proposal: p, Signature: bls.Signature{0xcc}, Seed: seedOf(p.Round.View)}}
}

func null(v chain.View) CertificateReceived { return cert(Nullify, prop(v, 0, 0)) }

func from(who beacon.Participant, p Proposal) ProposalReceived { return ProposalReceived{who, p} }

func timer(v chain.View, t Timer) TimerFired { return TimerFired{v, t} }

func verified(p Proposal) Verified   { return Verified{p.Round.View, p.Payload, true} }
func certified(p Proposal) Certified { return Certified{p.Round.View, p.Payload, true} }

// follower is a machine whose leader is always the other one.
func follower() *Machine { return New(testConfig(fakeElector{other, other})) }

// leader is a machine that always leads.
func leader() *Machine { return New(testConfig(fakeElector{self, self})) }

func testConfig(e Elector) Config {
	return Config{Self: self, Signer: fakeSigner{}, Elector: e, GenesisBeacon: chain.Hash{9}, Retention: 4}
}

// trace writes effects the way a person tells them.
func trace(effects []Effect) string {
	var lines []string
	for _, e := range effects {
		lines = append(lines, say(e))
	}
	return strings.Join(lines, "; ")
}

func say(e Effect) string {
	subject := func(k Kind, p Proposal) string {
		if k == Nullify {
			return fmt.Sprintf("%v %d", k, p.Round.View)
		}
		return fmt.Sprintf("%v %d:%d", k, p.Round.View, p.Payload[0])
	}
	switch e := e.(type) {
	case Persist:
		switch r := e.Record.(type) {
		case Vote:
			return "keep " + subject(r.Kind, r.Proposal)
		case Certificate:
			return "keep cert " + subject(r.Kind, r.Proposal)
		case Certification:
			return fmt.Sprintf("keep verdict %d:%d %v", r.Round.View, r.Payload[0], r.OK)
		}
	case Broadcast:
		return "send " + subject(e.Vote.Kind, e.Vote.Proposal)
	case BroadcastCertificate:
		return "send cert " + subject(e.Certificate.Kind, e.Certificate.Proposal)
	case RequestProposal:
		return fmt.Sprintf("build %d on %d", e.Round.View, e.Parent.Round.View)
	case RequestVerify:
		return fmt.Sprintf("verify %d:%d on %d", e.Proposal.Round.View, e.Proposal.Payload[0], e.Parent.Round.View)
	case RequestCertify:
		again := ""
		if e.Again {
			again = " again"
		}
		return fmt.Sprintf("certify %d:%d%s", e.Proposal.Round.View, e.Proposal.Payload[0], again)
	case EnterView:
		return fmt.Sprintf("enter %d", e.Round.View)
	case ArmTimer:
		return fmt.Sprintf("arm %s %d", []string{"leader", "certification", "retry", "skip"}[e.Timer], e.View)
	case Fetch:
		return fmt.Sprintf("fetch %d", e.View)
	case Finalized:
		var views []string
		for _, f := range e.Chain {
			views = append(views, fmt.Sprint(f.Proposal.Round.View))
		}
		return "final " + strings.Join(views, ",")
	case Equivocation:
		return fmt.Sprintf("equivocation of %d", e.From)
	case Halt:
		return "halt"
	}
	return fmt.Sprintf("%T", e)
}

// enter is what entering a view looks like.
func enter(v chain.View) string {
	return fmt.Sprintf("enter %d; arm leader %d; arm certification %d", v, v, v)
}

type scenario struct {
	rule   string
	events []Event
	want   string // effects of the last event
}

func play(t *testing.T, make func() *Machine, tests []scenario) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			m := make()
			var last []Effect
			for _, e := range tt.events {
				last = m.Step(e)
			}
			if got := trace(last); got != tt.want {
				t.Errorf("last effects:\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

var (
	p1  = prop(1, 0, 1)
	p1b = prop(1, 0, 0xb)
	p2  = prop(2, 1, 2)
	p3  = prop(3, 2, 3)
)

// A validator votes notarize for at most one digest per view (safety 2).
func TestNotarize(t *testing.T) {
	play(t, follower, []scenario{
		{"a new chain starts in view 1", []Event{Resumed{}}, enter(1)},
		{"the leader's proposal is verified", []Event{Resumed{}, from(other, p1)}, "verify 1:1 on 0"},
		{"a valid one gets our vote, kept before it is sent", []Event{Resumed{}, from(other, p1), verified(p1)}, "keep notarize 1:1; send notarize 1:1"},
		{"an invalid one gets nullify", []Event{Resumed{}, from(other, p1), Verified{1, p1.Payload, false}}, "keep nullify 1; send nullify 1; arm retry 1"},
		{"a proposal of a validator that does not lead is ignored", []Event{Resumed{}, from(2, p1)}, ""},
		{"a second proposal of the leader is reported", []Event{Resumed{}, from(other, p1), from(other, p1b)}, "equivocation of 1"},
		{"and only once", []Event{Resumed{}, from(other, p1), from(other, p1b), from(other, p1b)}, ""},
		{"a verdict on another block is ignored", []Event{Resumed{}, from(other, p1), verified(p1b)}, ""},
		{"a verdict counts once", []Event{Resumed{}, from(other, p1), verified(p1), verified(p1)}, ""},
		{"no notarize after nullify", []Event{Resumed{}, from(other, p1), timer(1, TimerCertification), verified(p1)}, ""},
		{"a proposal after nullify is not verified", []Event{Resumed{}, timer(1, TimerLeader), from(other, p1)}, ""},
		{"a proposal of another epoch is ignored", []Event{Resumed{}, from(other, Proposal{Round: beacon.Round{Epoch: 1, View: 1}})}, ""},
		{"a proposal for the view after the next is ignored", []Event{Resumed{}, from(other, prop(3, 0, 1))}, ""},
		{
			"a proposal that comes a view early waits",
			[]Event{Resumed{}, from(other, prop(2, 0, 2)), null(1)},
			"keep cert nullify 1; send cert nullify 1; " + enter(2) + "; verify 2:2 on 0",
		},
		{"nothing happens before the journal is replayed", []Event{from(other, p1)}, ""},
	})
}

// The leader builds on a certified parent, with every view between nullified.
func TestPropose(t *testing.T) {
	play(t, leader, []scenario{
		{"the leader asks for a block on genesis", []Event{Resumed{}}, enter(1) + "; build 1 on 0"},
		{"and votes for it unverified", []Event{Resumed{}, ProposalReady{1, chain.Hash{1}}}, "keep notarize 1:1; send notarize 1:1"},
		{"once", []Event{Resumed{}, ProposalReady{1, chain.Hash{1}}, ProposalReady{1, chain.Hash{2}}}, ""},
		{"without a block it gives the view up", []Event{Resumed{}, ProposalFailed{1}}, "keep nullify 1; send nullify 1; arm retry 1"},
		{"a block that comes after nullify is dropped", []Event{Resumed{}, timer(1, TimerLeader), ProposalReady{1, chain.Hash{1}}}, ""},
		{"a block for an older view is dropped", []Event{Resumed{}, null(1), ProposalReady{1, chain.Hash{1}}}, ""},
		{
			"past a nullified view it builds on the block before",
			[]Event{Resumed{}, null(1)},
			"keep cert nullify 1; send cert nullify 1; " + enter(2) + "; build 2 on 0",
		},
		{
			"on a notarized block only once it is certified",
			[]Event{Resumed{}, cert(Notarize, p1)},
			"keep cert notarize 1:1; send cert notarize 1:1; certify 1:1",
		},
		{
			"then it does",
			[]Event{Resumed{}, cert(Notarize, p1), certified(p1)},
			"keep verdict 1:1 true; keep finalize 1:1; send finalize 1:1; " + enter(2) + "; build 2 on 1",
		},
		{
			"after a jump it asks for what lies between",
			[]Event{Resumed{}, null(5)},
			"keep cert nullify 5; send cert nullify 5; " + enter(6) + "; fetch 4",
		},
	})
}

// View exits: certified notarization, nullification, finalization.
func TestViewExits(t *testing.T) {
	play(t, follower, []scenario{
		{"a nullification ends the view", []Event{Resumed{}, null(1)}, "keep cert nullify 1; send cert nullify 1; " + enter(2)},
		{"a notarization alone does not", []Event{Resumed{}, cert(Notarize, p1)}, "keep cert notarize 1:1; send cert notarize 1:1; certify 1:1"},
		{
			"a certified one does, with our vote to finalize",
			[]Event{Resumed{}, cert(Notarize, p1), certified(p1)},
			"keep verdict 1:1 true; keep finalize 1:1; send finalize 1:1; " + enter(2),
		},
		{
			"a block that cannot be certified is nullified",
			[]Event{Resumed{}, cert(Notarize, p1), Certified{1, p1.Payload, false}},
			"keep verdict 1:1 false; keep nullify 1; send nullify 1; arm retry 1",
		},
		{
			"a finalization ends the view at once",
			[]Event{Resumed{}, cert(Finalize, p1)},
			"keep cert finalize 1:1; send cert finalize 1:1; " + enter(2) + "; certify 1:1",
		},
		{"a certificate of a later view jumps there", []Event{Resumed{}, null(7)}, "keep cert nullify 7; send cert nullify 7; " + enter(8) + "; fetch 6"},
		{"a certificate seen before is no news", []Event{Resumed{}, null(1), null(1)}, ""},
		{"a certificate of another epoch is ignored", []Event{Resumed{}, cert(Notarize, Proposal{Round: beacon.Round{Epoch: 1, View: 1}})}, ""},
		{"an old certificate is kept but not sent on", []Event{Resumed{}, null(7), null(3)}, "keep cert nullify 3"},
		{
			"a late notarization after a nullification still certifies, without a vote to finalize",
			[]Event{Resumed{}, timer(1, TimerLeader), null(1), cert(Notarize, p1), certified(p1)},
			"keep verdict 1:1 true",
		},
	})
}

// No validator votes both nullify and finalize in a view (safety 4), nor
// notarize and finalize for different blocks (resolution 11.2).
func TestFinalizeVote(t *testing.T) {
	end := "keep verdict 1:1 true; " + enter(2)
	play(t, follower, []scenario{
		{"no finalize after nullify", []Event{Resumed{}, timer(1, TimerLeader), cert(Notarize, p1), certified(p1)}, end},
		{
			"no finalize of a block other than the one we notarized",
			[]Event{Resumed{}, from(other, p1b), verified(p1b), cert(Notarize, p1), certified(p1)},
			end,
		},
		{
			"no finalize when its leader showed two faces",
			[]Event{Resumed{}, from(other, p1), from(other, p1b), cert(Notarize, p1), certified(p1)},
			end,
		},
		{
			"another validator's two faces do not matter",
			[]Event{Resumed{}, from(2, p1), from(2, p1b), cert(Notarize, p1), certified(p1)},
			"keep verdict 1:1 true; keep finalize 1:1; send finalize 1:1; " + enter(2),
		},
		{
			"no nullify after finalize, for the view is over",
			[]Event{Resumed{}, cert(Notarize, p1), certified(p1), timer(1, TimerCertification)},
			"",
		},
		{"a verdict counts once", []Event{Resumed{}, cert(Notarize, p1), certified(p1), certified(p1)}, ""},
		{"a verdict on another block is ignored", []Event{Resumed{}, cert(Notarize, p1), certified(p1b)}, ""},
	})
}

func TestTimers(t *testing.T) {
	nullify := "keep nullify 1; send nullify 1; arm retry 1"
	play(t, follower, []scenario{
		{"no proposal in time: nullify", []Event{Resumed{}, timer(1, TimerLeader)}, nullify},
		{"the leader timer is over once there is a proposal", []Event{Resumed{}, from(other, p1), timer(1, TimerLeader)}, ""},
		{"an inadmissible proposal does not count", []Event{Resumed{}, from(2, p1), timer(1, TimerLeader)}, nullify},
		{"the certification timer is not", []Event{Resumed{}, from(other, p1), verified(p1), timer(1, TimerCertification)}, nullify},
		{"nullify is said once", []Event{Resumed{}, timer(1, TimerLeader), timer(1, TimerCertification)}, ""},
		{"a timer of an older view is void", []Event{Resumed{}, null(1), timer(1, TimerCertification)}, ""},
		{
			"the retry timer repeats our votes and asks for help",
			[]Event{Resumed{}, timer(1, TimerLeader), timer(1, TimerRetry)},
			"send nullify 1; fetch 1; arm retry 1",
		},
		{
			"with the certificate that admits the view",
			[]Event{Resumed{}, null(1), timer(2, TimerLeader), timer(2, TimerRetry)},
			"send nullify 2; send cert nullify 1; fetch 2; arm retry 2",
		},
		{"a leader that gives up is followed", []Event{Resumed{}, VoteSeen{other, 1, Nullify}}, nullify},
		{"others are not", []Event{Resumed{}, VoteSeen{2, 1, Nullify}}, ""},
		{"nor the leader when we have notarized", []Event{Resumed{}, from(other, p1), verified(p1), VoteSeen{other, 1, Nullify}}, ""},
	})
}

// The parent rule (safety 6): the parent is certified, and every view between
// is nullified. What is missing is fetched.
func TestParentRule(t *testing.T) {
	start := []Event{Resumed{}, cert(Notarize, p1), certified(p1), null(2)} // in view 3
	with := func(more ...Event) []Event { return append(slices.Clone(start), more...) }
	play(t, follower, []scenario{
		{"over a nullified view", with(from(other, prop(3, 1, 3))), "verify 3:3 on 1"},
		{"over a view that is not nullified: fetch it", with(from(other, prop(3, 0, 3))), "fetch 1"},
		{"then it may go on", with(from(other, prop(3, 0, 3)), null(1)), "keep cert nullify 1; verify 3:3 on 0"},
		{"on a view whose block we do not know: fetch it", with(from(other, prop(3, 2, 3))), "fetch 2"},
		{
			"on a notarized block only once it is certified",
			with(from(other, prop(3, 2, 3)), cert(Notarize, p2)), "keep cert notarize 2:2; send cert notarize 2:2; certify 2:2",
		},
		{
			"then it may go on",
			with(from(other, prop(3, 2, 3)), cert(Notarize, p2), certified(p2)),
			"keep verdict 2:2 true; keep finalize 2:2; send finalize 2:2; verify 3:3 on 2",
		},
		{
			"not below the last final block",
			with(cert(Finalize, p1), null(1), from(other, prop(3, 0, 3))), "",
		},
	})
}

// leader(v) depends on how v-1 ended (resolution 11.16); the parent that a
// proposal names says which way.
func TestLeaderDependsOnHowTheViewBeforeEnded(t *testing.T) {
	make := func() *Machine { return New(testConfig(fakeElector{leader: 1, past: 2})) }
	both := []Event{Resumed{}, null(1), cert(Notarize, p1), certified(p1)} // in view 2, by either way
	with := func(more ...Event) []Event { return append(slices.Clone(both), more...) }
	play(t, make, []scenario{
		{"after a block, the drawn one leads", with(from(1, prop(2, 1, 2))), "verify 2:2 on 1"},
		{"past a nullified view, the redrawn one", with(from(2, prop(2, 0, 2))), "verify 2:2 on 0"},
		{"not the other way round", with(from(1, prop(2, 0, 2)), from(2, prop(2, 1, 2))), ""},
	})
}

// Finalized blocks are reported with all their ancestors, parents first, and
// only when the application has executed them.
func TestFinality(t *testing.T) {
	chain3 := []Event{
		Resumed{}, cert(Notarize, p1), certified(p1), cert(Notarize, p2), certified(p2), cert(Notarize, p3), certified(p3),
	}
	with := func(more ...Event) []Event { return append(slices.Clone(chain3), more...) }
	play(t, follower, []scenario{
		{"ancestors come with it", with(cert(Finalize, p3)), "keep cert finalize 3:3; send cert finalize 3:3; final 1,2,3"},
		{"not twice", with(cert(Finalize, p2), cert(Finalize, p3)), "keep cert finalize 3:3; send cert finalize 3:3; final 3"},
		{"an old finalization is no news", with(cert(Finalize, p3), cert(Finalize, p1)), ""},
		{"a block is executed first", []Event{Resumed{}, cert(Finalize, p1), certified(p1)}, "keep verdict 1:1 true; final 1"},
		{
			"an unknown ancestor is fetched",
			[]Event{Resumed{}, cert(Finalize, p2)},
			"keep cert finalize 2:2; send cert finalize 2:2; " + enter(3) + "; fetch 1",
		},
		{
			"and executed before",
			[]Event{Resumed{}, cert(Finalize, p2), cert(Notarize, p1)},
			"keep cert notarize 1:1; certify 1:1",
		},
		{
			"parents first",
			[]Event{Resumed{}, cert(Finalize, p2), cert(Notarize, p1), certified(p1)},
			"keep verdict 1:1 true; keep finalize 1:1; send finalize 1:1; certify 2:2",
		},
		{
			"then all is final",
			[]Event{Resumed{}, cert(Finalize, p2), cert(Notarize, p1), certified(p1), certified(p2)},
			"keep verdict 2:2 true; final 1,2",
		},
		{
			"an answer that was lost is asked for again in the next view",
			[]Event{Resumed{}, cert(Finalize, p2), null(3)},
			"keep cert nullify 3; send cert nullify 3; " + enter(4) + "; fetch 1",
		},
	})
}

// Certificates that cannot both exist stop the validator (safety 3 and 5).
func TestHaltOnConflict(t *testing.T) {
	play(t, follower, []scenario{
		{"two notarizations of a view", []Event{Resumed{}, cert(Notarize, p1), cert(Notarize, p1b)}, "halt"},
		{"notarization and finalization of different blocks", []Event{Resumed{}, cert(Notarize, p1), cert(Finalize, p1b)}, "halt"},
		{"nullification of a finalized view", []Event{Resumed{}, cert(Finalize, p1), null(1)}, "halt"},
		{"finalization of a nullified view", []Event{Resumed{}, null(1), cert(Finalize, p1)}, "halt"},
		{
			"a final block that does not extend the last one",
			[]Event{Resumed{}, cert(Finalize, p1), certified(p1), null(2), cert(Finalize, prop(3, 0, 3))},
			"halt",
		},
		{"the application rejects a finalized block", []Event{Resumed{}, cert(Finalize, p1), Certified{1, p1.Payload, false}}, "halt"},
		{"and nothing moves any more", []Event{Resumed{}, cert(Notarize, p1), cert(Notarize, p1b), null(1)}, ""},
	})
	m := follower()
	m.Step(Resumed{})
	m.Step(cert(Notarize, p1))
	out := m.Step(cert(Notarize, p1b))
	if halt := out[0].(Halt); !errors.Is(halt.Err, ErrConflict) {
		t.Errorf("halt with %v, want ErrConflict", halt.Err)
	}
}

// An observer follows certificates and never votes.
func TestObserverNeverVotes(t *testing.T) {
	m := New(Config{Elector: fakeElector{self, self}, GenesisBeacon: chain.Hash{9}})
	events := []Event{
		Resumed{},
		from(self, p1), verified(p1), timer(1, TimerLeader), timer(1, TimerRetry),
		cert(Notarize, p1), certified(p1), cert(Finalize, p1),
	}
	var final bool
	for _, e := range events {
		for _, effect := range m.Step(e) {
			switch effect.(type) {
			case Broadcast, RequestProposal:
				t.Errorf("observer: %s", say(effect))
			case Finalized:
				final = true
			}
		}
	}
	if !final {
		t.Error("the observer missed the finalization")
	}
}

// Peers get the certificates of the views they ask for and, first, those that
// admit our own view.
func TestCertificatesForPeers(t *testing.T) {
	m := follower()
	for _, e := range []Event{Resumed{}, null(1), null(2), null(3), null(4)} {
		m.Step(e)
	}
	views := func(from chain.View, limit int) string {
		var out []string
		for _, c := range m.Certificates(from, limit) {
			out = append(out, fmt.Sprint(c.Proposal.Round.View))
		}
		return strings.Join(out, ",")
	}
	for _, tt := range []struct {
		from  chain.View
		limit int
		want  string
	}{{1, 16, "4,1,2,3"}, {3, 16, "4,3"}, {5, 16, ""}, {9, 16, ""}, {1, 2, "4,1"}} {
		if got := views(tt.from, tt.limit); got != tt.want {
			t.Errorf("Certificates(%d, %d) = views %s, want %s", tt.from, tt.limit, got, tt.want)
		}
	}
}

// A validator asks for the oldest view that it lacks below an unknown block, and
// never for what it has: in an answer of bounded length that would leave no room
// for the block (consensus.md §1.6).
func TestMissingFrom(t *testing.T) {
	for _, c := range []struct {
		name string
		have []CertificateReceived
		p    chain.View
		want chain.View
	}{
		{"nothing known: after the floor", nil, 30, 1},
		{"after the highest block that is named", []CertificateReceived{cert(Notarize, prop(4, 3, 4)), cert(Notarize, prop(40, 39, 9))}, 30, 5},
		{"not the views that are nullified", []CertificateReceived{cert(Notarize, prop(4, 3, 4)), null(5), null(6)}, 30, 7},
		{"nor those behind one that is not", []CertificateReceived{null(1), null(2), null(4)}, 30, 3},
		{"the block itself when all is here", []CertificateReceived{null(1), null(2), null(3)}, 4, 4},
		{"the block itself though its view is nullified", []CertificateReceived{null(1), null(2)}, 2, 2},
	} {
		m := follower()
		m.Step(Resumed{})
		for _, e := range c.have {
			m.Step(e)
		}
		if got := m.MissingFrom(c.p); got != c.want {
			t.Errorf("%s: view %d, want %d", c.name, got, c.want)
		}
	}
}
