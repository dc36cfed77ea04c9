package wire

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// open begins the handshake: a runner speaks first.
func (l *Link) open() []Effect {
	if l.state != LinkIdle {
		return nil
	}
	if !l.isRunner() {
		return []Effect{Arm{TimerHello}}
	}
	l.state = LinkGreeting
	return []Effect{Send{Frame: l.hello(l.cfg.Epoch, l.cfg.SetHash)}, Arm{TimerHello}}
}

func (l *Link) hello(epoch chain.Epoch, set chain.Hash) *Hello {
	return &Hello{
		Version: Version, ChainID: l.cfg.ChainID, Party: l.cfg.Self, SubsetEpoch: epoch, ValidatorSetHash: set,
		BlockHeight: l.cfg.Height, Challenge: l.cfg.Challenge,
	}
}

// onFrame takes a frame. Before both sides are proven the handshake's next is taken, and a
// Goodbye, which then only ends the connection (must C14).
func (l *Link) onFrame(e Received) []Effect {
	if e.Stream != controlStream {
		if l.state == LinkAdmitted || l.state == LinkDraining {
			return l.onJob(e)
		}
		return l.violation(GoodbyeProtocolError, fmt.Errorf("%v on a job stream while %v", e.Frame.Type(), l.state))
	}
	if l.state == LinkAdmitted || l.state == LinkDraining {
		return l.onControl(e)
	}
	switch f := e.Frame.(type) {
	case *Goodbye:
		l.state = LinkClosed
		return []Effect{Close{Reason: f.Reason, Err: errors.New("the other side ends the handshake")}}
	case *Hello:
		if l.state == LinkIdle && !l.isRunner() || l.state == LinkGreeting {
			return l.takeHello(f)
		}
	case *HelloAck:
		if l.state == LinkProving && len(l.checks) == 0 {
			return l.takeHelloAck(f)
		}
	default:
		if l.state == LinkProving && len(l.checks) > 0 && len(l.early) < maxEarly {
			l.early = append(l.early, e)
			return nil
		}
	}
	return l.violation(GoodbyeProtocolError, fmt.Errorf("%v while %v", e.Frame.Type(), l.state))
}

// takeHello judges the other side's Hello, in the order of resolution 12.68 as far as it can
// be judged here.
func (l *Link) takeHello(f *Hello) []Effect {
	switch {
	case f.Version != Version:
		return l.violation(GoodbyeUnsupportedVersion, fmt.Errorf("version %#04x", f.Version))
	case f.ChainID != l.cfg.ChainID:
		return l.violation(GoodbyeChainIDMismatch, fmt.Errorf("chain id %d, ours is %d", f.ChainID, l.cfg.ChainID))
	case f.Party.Role == l.cfg.Self.Role:
		return l.violation(GoodbyeAuthenticationFailed, fmt.Errorf("role %d on both sides", f.Party.Role))
	}
	l.peer, l.theirs = f.Party, f.Challenge
	l.session = Session{
		ChainID: l.cfg.ChainID, SubsetEpoch: f.SubsetEpoch, ValidatorSetHash: f.ValidatorSetHash, ChannelBinding: l.cfg.Binding,
	}
	if l.isRunner() {
		return l.takeValidatorsHello(f)
	}
	l.session.Runner, l.session.Validator = f.Party.Runner, l.cfg.Self.Validator
	l.state = LinkAdmission
	return []Effect{Admit{Runner: f.Party.Runner, Epoch: f.SubsetEpoch, SetHash: f.ValidatorSetHash}}
}

func (l *Link) takeValidatorsHello(f *Hello) []Effect {
	switch {
	case f.SubsetEpoch != l.cfg.Epoch || f.ValidatorSetHash != l.cfg.SetHash:
		return l.violation(GoodbyeValidatorSetHashMismatch, fmt.Errorf("snapshot %d %v, we offered %d %v", f.SubsetEpoch, f.ValidatorSetHash, l.cfg.Epoch, l.cfg.SetHash))
	case f.Party.Validator != l.cfg.Dialled:
		return l.violation(GoodbyeAuthenticationFailed, errors.New("another validator than the one that was dialled"))
	}
	l.session.Runner, l.session.Validator = l.cfg.Self.Runner, f.Party.Validator
	l.state = LinkProving
	return []Effect{l.prove(), Arm{TimerProof}}
}

// admission goes on with a runner that may come, or says why not.
func (l *Link) admission(e Admission) []Effect {
	if l.state != LinkAdmission {
		return nil
	}
	if !e.OK {
		return l.violation(e.Refuse, errors.New("the runner is not admitted"))
	}
	l.state = LinkProving
	return []Effect{Send{Frame: l.hello(l.session.SubsetEpoch, l.session.ValidatorSetHash)}, l.prove(), Arm{TimerProof}}
}

// prove answers the other side's challenge.
func (l *Link) prove() Effect {
	f := &HelloAck{Version: Version, Party: l.cfg.Self, BlockHeight: l.cfg.Height}
	return l.sendSigned(controlStream, f, l.session.HelloAckDigest(l.cfg.Self.Role, l.theirs))
}

// takeHelloAck has the other side's proof verified, which answers our challenge.
func (l *Link) takeHelloAck(f *HelloAck) []Effect {
	switch {
	case f.Version != Version:
		return l.violation(GoodbyeUnsupportedVersion, fmt.Errorf("version %#04x", f.Version))
	case f.Party != l.peer:
		return l.violation(GoodbyeAuthenticationFailed, errors.New("another party than in its Hello"))
	}
	return l.check(controlStream, f, l.session.HelloAckDigest(l.peer.Role, l.cfg.Challenge), f.Signature)
}

// proven: the proof holds. A runner pings at once, and what has come behind the proof is
// taken.
func (l *Link) proven(*HelloAck) []Effect {
	if l.state != LinkProving {
		return nil
	}
	l.state = LinkAdmitted
	out := []Effect{Proven{l.peer}}
	if l.isRunner() {
		out = append(out, l.ping())
	}
	early := l.early
	l.early = nil
	for _, e := range early {
		out = append(out, l.Step(e)...)
	}
	return out
}
