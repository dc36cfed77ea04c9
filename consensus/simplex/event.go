package simplex

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// Event is something that happened to this validator. Whoever makes an event
// has checked the signatures in it; the machine checks the rules.
type Event interface{ isEvent() }

// Replayed hands back a journal record after a restart. All records come
// before Resumed and before any other event.
type Replayed struct{ Record Record }

// Resumed ends the replay, of an empty journal too, and starts the machine.
type Resumed struct{}

// ProposalReceived is a proposal from the validator From, which the transport
// authenticated or whose notarize vote was verified.
type ProposalReceived struct {
	From     beacon.Participant
	Proposal Proposal
}

// ProposalReady answers RequestProposal with the digest of our own block.
type ProposalReady struct {
	View    chain.View
	Payload chain.Hash
}

// ProposalFailed answers RequestProposal when there is no block to propose.
type ProposalFailed struct{ View chain.View }

// Verified answers RequestVerify. A verdict that the application cannot reach
// is no event: it waits (resolution 11.18).
type Verified struct {
	View    chain.View
	Payload chain.Hash
	OK      bool
}

// Certified answers RequestCertify, under the same rule.
type Certified struct {
	View    chain.View
	Payload chain.Hash
	OK      bool
}

// CertificateReceived is a certificate whose two signatures were verified,
// from a peer or recovered here from a quorum of votes.
type CertificateReceived struct{ Certificate Certificate }

// VoteSeen is a vote of another validator, of an authenticated sender and not
// verified, for whatever view. It is a sign of life ([Skip]); a nullify vote
// matters besides when the sender leads the current view.
type VoteSeen struct {
	From beacon.Participant
	View chain.View
	Kind Kind
}

// TimerFired means that a timer armed by ArmTimer ran out.
type TimerFired struct {
	View  chain.View
	Timer Timer
}

func (Replayed) isEvent()            {}
func (Resumed) isEvent()             {}
func (ProposalReceived) isEvent()    {}
func (ProposalReady) isEvent()       {}
func (ProposalFailed) isEvent()      {}
func (Verified) isEvent()            {}
func (Certified) isEvent()           {}
func (CertificateReceived) isEvent() {}
func (VoteSeen) isEvent()            {}
func (TimerFired) isEvent()          {}

// Timer names a timer of a view. The driver knows the durations.
type Timer uint8

// The timers of a view.
const (
	// TimerLeader runs from entry until a proposal is there.
	TimerLeader Timer = iota
	// TimerCertification runs from entry until the view is left. It is longer
	// than the leader timer.
	TimerCertification
	// TimerRetry runs from our nullify vote until the view is left, again and
	// again.
	TimerRetry
	// TimerSkip is armed on entry to a view whose leader is silent, and runs out
	// at once, or after what the driver wants to spend on the chance that the
	// leader speaks up.
	TimerSkip

	// NumTimers is the number of timers.
	NumTimers
)

// Effect is work for the driver, to be done in the order returned.
type Effect interface{ isEffect() }

// Persist must be durable before any effect that [Split] holds back is carried
// out, of this Step or of a later one; otherwise a restart could sign two blocks
// in one view. The driver may gather several Persist effects and sync once, and
// let other effects go before.
type Persist struct{ Record Record }

// Split divides the effects that a driver gathered since its last sync, in their
// order, into those that may go at once and those that bind this validator
// beyond a crash and must wait for the disk. These are our own votes; the
// certificates that one of these votes may have completed, which are as good as
// the vote; and the finality of a block by way of a descendant, whose own
// certificate only the journal has, and what became final after it, since blocks
// become final in their order. Everything else repeats what a quorum said,
// or asks: a node that forgot it learns it again.
func Split(effects []Effect) (free, bound []Effect) {
	for i, e := range effects {
		if binding(e, effects[:i]) {
			bound = append(bound, e)
		} else {
			free = append(free, e)
		}
	}
	return free, bound
}

func binding(e Effect, before []Effect) bool {
	switch e := e.(type) {
	case Broadcast:
		return true
	case BroadcastCertificate:
		return slices.ContainsFunc(before, func(b Effect) bool {
			own, ok := b.(Broadcast)
			return ok && own.Vote.Kind == e.Certificate.Kind && own.Vote.Proposal == e.Certificate.Proposal
		})
	case Finalized:
		return len(e.Chain) > 1 || slices.ContainsFunc(before, func(b Effect) bool {
			earlier, ok := b.(Finalized)
			return ok && len(earlier.Chain) > 1
		})
	}
	return false
}

// Broadcast sends our own vote to all validators and counts it here. The
// driver sends the block along with a notarize vote for a block of our own.
type Broadcast struct{ Vote Vote }

// BroadcastCertificate sends a certificate to all validators.
type BroadcastCertificate struct{ Certificate Certificate }

// Parent is the block that a proposal extends, with the seed of its round. At
// genesis the view is 0 and the seed is zero.
type Parent struct {
	Round   beacon.Round
	Payload chain.Hash
	Seed    bls.Signature
}

// RequestProposal asks the application for a block on Parent. The answer is
// ProposalReady or ProposalFailed; when the view is left first, none is needed.
type RequestProposal struct {
	Round  beacon.Round
	Parent Parent
}

// RequestVerify asks the application whether the proposed block is valid. The
// answer is Verified.
type RequestVerify struct {
	Proposal Proposal
	Parent   Parent
	Leader   beacon.Participant // of the view, who made the proposal
}

// RequestCertify asks the application to take in a notarized block: fetch it
// if need be, execute it, and say whether it is valid. The answer is
// Certified; it must be the same on every honest node. The request is repeated
// on entry to a view and at the retry timer, so that a block that did not come
// is fetched again. Again is set after a restart when the verdict was given
// before: the application lost only its memory of the block.
//
// Leader is the validator that had to make the block. It is not known where
// the certificates of the views before are missing; then the quorum, half of
// which knew, vouches for it.
type RequestCertify struct {
	Proposal Proposal
	Parent   Parent
	Leader   beacon.Participant
	Known    bool
	Again    bool
}

// EnterView means that the machine is in a new view: timers of older views are
// void. Leader is the validator expected to propose, if Known; it is not known
// after a jump over views whose certificates are missing.
type EnterView struct {
	Round  beacon.Round
	Leader beacon.Participant
	Known  bool
}

// ArmTimer starts a timer of the current view.
type ArmTimer struct {
	View  chain.View
	Timer Timer
}

// Fetch asks a peer for the certificates, and the block if there is one, of
// view View and of views after it. Where they are needed for the block of view
// Below, a nullification of Below is no answer, for a view can have both, and a
// driver that gathers effects can ask from [Machine.MissingFrom] on
// instead: part of them may have come in the meantime.
type Fetch struct {
	View  chain.View
	Below chain.View // 0: any certificate of View is needed
}

// Finalized means that blocks are final. Certificate is the finalization of the
// last of them. Chain has for each, parents first, a certificate of its own:
// its finalization, or its notarization where a descendant made it final. The
// application has executed each of them before, in answer to RequestVerify,
// RequestCertify or RequestProposal.
type Finalized struct {
	Chain       []Certificate
	Certificate Certificate
}

// Equivocation means that From signed two different proposals for one view
// (resolution 11.2).
type Equivocation struct {
	From          beacon.Participant
	First, Second Proposal
}

// Halt means that the rules this machine relies on are broken: more than a
// third of the validators lie, or the application changed a verdict. The
// driver stops and must not vote again. The machine ignores all later events.
type Halt struct{ Err error }

func (Persist) isEffect()              {}
func (Broadcast) isEffect()            {}
func (BroadcastCertificate) isEffect() {}
func (RequestProposal) isEffect()      {}
func (RequestVerify) isEffect()        {}
func (RequestCertify) isEffect()       {}
func (EnterView) isEffect()            {}
func (ArmTimer) isEffect()             {}
func (Fetch) isEffect()                {}
func (Finalized) isEffect()            {}
func (Equivocation) isEffect()         {}
func (Halt) isEffect()                 {}
