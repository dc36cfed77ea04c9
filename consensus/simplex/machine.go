package simplex

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// Reasons of a Halt.
var (
	// ErrConflict means two certificates that cannot both exist while at most
	// a third of the validators lie.
	ErrConflict = errors.New("certificates conflict")
	// ErrVerdictChanged means that the application rejects a block that it
	// accepted before, or that a quorum finalized.
	ErrVerdictChanged = errors.New("application contradicts an earlier verdict")
	// ErrForeignVote means that the journal holds the vote of another
	// validator, or two votes that one validator must not give.
	ErrForeignVote = errors.New("journal is not a journal of this validator")
)

// Elector names leaders. [beacon.ValidatorSet] is the one of the protocol.
type Elector interface {
	// Leader draws on the beacon of the view before.
	Leader(prev chain.Hash) beacon.Participant
	// LeaderPast draws on prev past whom before would draw.
	LeaderPast(prev, before chain.Hash) beacon.Participant
}

// Config is what a machine is made from.
type Config struct {
	Epoch  chain.Epoch // all its rounds are in this epoch
	Self   beacon.Participant
	Signer Signer // nil: follows the certificates and never votes
	// Permit is asked before each vote; without its leave the vote is not made.
	// It may depend on nothing but what it was asked before and what the driver
	// told it between steps. Nil: always.
	Permit        func(k Kind, p Proposal) bool
	Skip          Skip
	Elector       Elector
	GenesisBeacon chain.Hash // stands for the beacon of view 0
	Floor         Floor
	Retention     chain.View // views below the floor whose certificates are kept for peers
}

// Floor is the last finalized block that the application has made durable. The
// machine never goes back to its view or an older one. For a new chain it is
// genesis: view 0, the genesis hash and a zero seed.
type Floor struct {
	View    chain.View
	Payload chain.Hash
	Seed    bls.Signature // zero when not known; then the journal must know it
}

// Machine is the state of one validator in one epoch. It is a pure value
// changed only by [Machine.Step]; it is not safe for concurrent use.
type Machine struct {
	cfg         Config
	floor       Floor
	view        chain.View              // the current view; 0 until Resumed
	views       map[chain.View]*attempt // never ranged over
	low, top    chain.View              // bounds of the keys of views
	uncertified []chain.View            // ascending: notarized, not yet taken in
	named       []chain.View            // ascending: with a block named by a certificate, above the floor
	finals      []chain.View            // ascending: finalized, not yet delivered
	silence     silence
	halted      bool
	out         []Effect // of the Step in progress
}

// attempt is what is known about one view.
type attempt struct {
	offers    []offer                    // one per sender
	building  *Parent                    // RequestProposal is out, on this parent
	verifying *Proposal                  // RequestVerify is out for this proposal, or was
	votes     [Finalize + 1]*Vote        // ours, by kind
	certs     [Finalize + 1]*Certificate // by kind
	certify   verdict
	asked     bool // RequestCertify is out
	loaded    bool // the application holds the executed block
	fetched   bool // Fetch is out
	retrying  bool // the retry timer runs
}

// offer is a proposal that came in, from its leader or not.
type offer struct {
	ProposalReceived
	twoFaced bool // the sender made another one
}

type verdict uint8

const (
	pending verdict = iota
	accepted
	rejected
)

// New returns a machine that waits for its journal and Resumed.
func New(cfg Config) *Machine {
	return &Machine{
		cfg: cfg, floor: cfg.Floor, silence: newSilence(cfg.Skip),
		views: make(map[chain.View]*attempt),
		low:   cfg.Floor.View + 1, top: cfg.Floor.View,
	}
}

// View returns the current view.
func (m *Machine) View() chain.View { return m.view }

// Floor returns the last block reported by Finalized, or the one it started
// from.
func (m *Machine) Floor() Floor { return m.floor }

// TakesVotes reports whether votes of view v are of use: those of finished views are not,
// and of views after the next one neither, since certificates help a validator that is
// behind and votes do not.
func (m *Machine) TakesVotes(v chain.View) bool { return v > m.floor.View && v <= m.view+1 }

// Step applies e and returns the effects it causes. An event of another view
// than the current one has no effect where it comes too late: late messages
// are normal, not an error.
func (m *Machine) Step(e Event) []Effect {
	m.out = nil
	if _, journal := e.(Replayed); m.halted || m.view == 0 && !journal && e != (Resumed{}) {
		return nil
	}
	switch e := e.(type) {
	case Replayed:
		m.replay(e.Record)
	case Resumed:
		m.resume()
	case ProposalReceived:
		m.offered(e)
	case ProposalReady:
		m.proposed(e)
	case ProposalFailed:
		if e.View == m.view {
			m.nullify()
		}
	case Verified:
		m.verified(e)
	case Certified:
		m.certified(e)
	case CertificateReceived:
		m.certificate(e.Certificate)
	case VoteSeen:
		m.seen(e)
	case TimerFired:
		m.timer(e)
	default:
		panic("simplex: unknown event")
	}
	return m.out
}

// Knows reports whether a certificate of kind k for view v would be no news.
func (m *Machine) Knows(v chain.View, k Kind) bool {
	if v < m.floor.View || v == m.floor.View && m.floor.Seed != (bls.Signature{}) {
		return true
	}
	s := m.views[v]
	return s != nil && s.certs[k] != nil
}

// Certificate returns the certificate of kind k for view v, if it is here.
func (m *Machine) Certificate(v chain.View, k Kind) (Certificate, bool) {
	if s := m.views[v]; s != nil && s.certs[k] != nil {
		return *s.certs[k], true
	}
	return Certificate{}, false
}

// LeaderOf returns who may propose a block for view v on a parent of view p,
// if the seeds that decide it are here.
func (m *Machine) LeaderOf(v, p chain.View) (beacon.Participant, bool) {
	if v == 0 || p >= v {
		return 0, false
	}
	return m.leader(v, p)
}

// Certificates returns up to limit certificates that help a peer who is in
// view from: those of the views from there on and, in any case, those by which
// we entered our own view. Notarizations and finalizations name blocks that
// the peer may need with them.
func (m *Machine) Certificates(from chain.View, limit int) []Certificate {
	var out []Certificate
	add := func(v chain.View) {
		for k := Finalize; k >= Notarize; k-- {
			if s := m.views[v]; s != nil && s.certs[k] != nil && len(out) < limit {
				out = append(out, *s.certs[k])
			}
		}
	}
	if m.view > 0 && from < m.view {
		add(m.view - 1)
	}
	for v := max(from, m.low); v+1 < m.view && len(out) < limit; v++ {
		add(v)
	}
	return out
}

func (m *Machine) emit(e ...Effect) {
	if !m.halted {
		m.out = append(m.out, e...)
	}
}

// halt takes back what this step was about to do: nothing may leave any more.
func (m *Machine) halt(err error) {
	m.out = []Effect{Halt{Err: err}}
	m.halted = true
}

func (m *Machine) round(v chain.View) beacon.Round {
	return beacon.Round{Epoch: m.cfg.Epoch, View: v}
}

// at returns the attempt of view v, which must be above the floor.
func (m *Machine) at(v chain.View) *attempt {
	s := m.views[v]
	if s == nil {
		s = new(attempt)
		m.views[v] = s
		m.top = max(m.top, v)
	}
	return s
}

// block returns the proposal of the view that a quorum notarized, if any. A
// finalization says so as well as a notarization.
func (s *attempt) block() *Proposal {
	if c := s.certs[Notarize]; c != nil {
		return &c.Proposal
	}
	if c := s.certs[Finalize]; c != nil {
		return &c.Proposal
	}
	return nil
}

// seed returns the seed of view v. Every certificate of a view carries the
// same one.
func (m *Machine) seed(v chain.View) (bls.Signature, bool) {
	if v == m.floor.View && m.floor.Seed != (bls.Signature{}) {
		return m.floor.Seed, true
	}
	if s := m.views[v]; s != nil {
		for _, c := range s.certs {
			if c != nil {
				return c.Seed, true
			}
		}
	}
	return bls.Signature{}, false
}

// beaconOf returns the beacon of view v, on which the leader of v+1 is drawn.
func (m *Machine) beaconOf(v chain.View) (chain.Hash, bool) {
	if v == 0 {
		return m.cfg.GenesisBeacon, true
	}
	seed, ok := m.seed(v)
	if !ok {
		return chain.Hash{}, false
	}
	return chain.BeaconHash(m.cfg.Epoch, v, seed), true
}

// leader returns who may propose a block for view v on a parent of view p.
//
// Resolution 11.16 makes the leader depend on whether v-1 was nullified. A
// view can have both certificates and validators can leave it by either, so
// the proposal says which case it is: a parent below v-1 means that v-1 is
// nullified, and parenthood is checked against the nullification.
func (m *Machine) leader(v, p chain.View) (beacon.Participant, bool) {
	prev, ok := m.beaconOf(v - 1)
	if !ok {
		return 0, false
	}
	if p == v-1 {
		return m.cfg.Elector.Leader(prev), true
	}
	before, ok := m.beaconOf(v - 2) // p < v-1, so v >= 2
	if !ok {
		return 0, false
	}
	return m.cfg.Elector.LeaderPast(prev, before), true
}

// expected returns the leader of the current view as we entered it.
func (m *Machine) expected() (beacon.Participant, bool) {
	prev := m.view - 1
	s := m.views[prev]
	if prev == m.floor.View || s != nil && (s.certify == accepted || s.certs[Finalize] != nil) {
		return m.leader(m.view, prev)
	}
	return m.leader(m.view, prev-1)
}

// enterView makes v the current view unless we are past it.
func (m *Machine) enterView(v chain.View) {
	if v <= m.view {
		return
	}
	m.view = v
	m.at(v)
	m.silence.endView()
	who, known := m.expected()
	m.emit(EnterView{Round: m.round(v), Leader: who, Known: known},
		ArmTimer{View: v, Timer: TimerLeader}, ArmTimer{View: v, Timer: TimerCertification})
	if m.silent() {
		m.emit(ArmTimer{View: v, Timer: TimerSkip})
	}
	m.askAgain()
}

// fetch asks for view v once.
func (m *Machine) fetch(v chain.View) {
	if v <= m.floor.View {
		return
	}
	if s := m.at(v); !s.fetched {
		s.fetched = true
		m.emit(Fetch{View: v})
	}
}

// fetchBelow asks, once, for what leads to the unknown block of view p.
func (m *Machine) fetchBelow(p chain.View) {
	v := m.MissingFrom(p)
	if s := m.at(v); !s.fetched {
		s.fetched = true
		m.emit(Fetch{View: v, Below: p})
	}
}

// askAgain lets everything be asked for again that we still wait for: a lost
// answer must not hold us back for ever. progress follows and asks.
func (m *Machine) askAgain() {
	for _, v := range m.uncertified {
		s := m.views[v]
		s.asked = false
		for _, w := range []chain.View{s.block().Parent, m.MissingFrom(s.block().Parent)} {
			if missing := m.views[w]; missing != nil {
				missing.fetched = false
			}
		}
	}
	for v := m.view - 1; v > m.floor.View; v-- {
		s := m.views[v]
		if s != nil {
			s.fetched = false
		}
		if s == nil || s.certs[Nullify] == nil {
			break // whatever lies deeper is asked for after this
		}
	}
}

// progress does whatever the last change made possible.
func (m *Machine) progress() {
	if m.view == 0 || m.halted {
		return // still replaying
	}
	m.tryCertify()
	m.tryFinalize()
	if m.halted {
		return
	}
	m.tryPropose()
	m.tryVerify()
}

// conflict halts with the two certificates that contradict each other.
func (m *Machine) conflict(a, b Certificate) {
	m.halt(fmt.Errorf("view %d: %s of %v and %s of %v: %w", a.Proposal.Round.View,
		a.Kind, a.Proposal.Payload, b.Kind, b.Proposal.Payload, ErrConflict))
}
