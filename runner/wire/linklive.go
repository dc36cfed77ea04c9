package wire

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// live takes what this side wants while both are proven.
func (l *Link) live(e Event) []Effect {
	if l.isRunner() {
		return l.liveRunner(e)
	}
	switch e := e.(type) {
	case Push:
		return l.push(e)
	case Cancel:
		return l.cancel(e)
	case AckOverdue:
		return l.ackOverdue(e.Stream)
	case StreamEnded:
		delete(l.jobs, e.Stream)
	}
	return nil
}

func (l *Link) liveRunner(e Event) []Effect {
	switch e := e.(type) {
	case NewHeight:
		return l.newHeight(e.Millis)
	case Capacity:
		f := &Backpressure{ActiveJobs: e.Active, MaxConcurrent: e.Max, AcceptingNew: e.Accepting, Reason: e.Reason}
		return []Effect{l.sendSigned(controlStream, f, f.SignedHash(l.Connection()))}
	case Capabilities:
		f := e.Delta
		return []Effect{l.sendSigned(controlStream, &f, f.SignedHash(l.Connection()))}
	case Answer:
		return l.acknowledge(e)
	case Say:
		return l.say(e)
	case StreamEnded:
		delete(l.jobs, e.Stream)
	}
	return nil
}

// onControl takes a frame of the control stream while both sides are proven.
func (l *Link) onControl(e Received) []Effect {
	if f, ok := e.Frame.(*Goodbye); ok {
		return l.takeGoodbye(f)
	}
	if !l.isRunner() {
		switch f := e.Frame.(type) {
		case *Ping:
			return l.takePing(f, e.Millis)
		case *Backpressure:
			return l.takeSignal(f, f.SignedHash, f.Signature[:], e.Millis)
		case *CapabilityDelta:
			return l.takeSignal(f, f.SignedHash, f.Signature[:], e.Millis)
		}
	} else if f, ok := e.Frame.(*Pong); ok {
		return l.takePong(f)
	}
	return l.violation(GoodbyeProtocolError, fmt.Errorf("%v while %v", e.Frame.Type(), l.state))
}

// signed takes a frame whose signature holds.
func (l *Link) signed(c signedFrame) []Effect {
	switch f := c.frame.(type) {
	case *Ping:
		return l.present(f)
	case *Pong:
		l.unanswered = 0
	case *Backpressure:
		if l.accepting = f.AcceptingNew; !l.accepting {
			return []Effect{Present{}} // the next Ping brings a runner back (CIP-11 §6.4)
		}
	case *CapabilityDelta:
		return []Effect{Noted{f}}
	case *Goodbye:
		return l.takeLeave(f)
	case *JobAck:
		return l.acknowledged(c.stream, f)
	case *JobCancel:
		return l.cancelled(c.stream, f)
	}
	return nil
}

// takePing holds a Ping to its place in the order and to the rate, before its signature is
// verified (CIP-11 §6.3; resolution 12.70). Its height is judged by nobody.
func (l *Link) takePing(f *Ping, millis int64) []Effect {
	if l.pinged && f.Nonce <= l.lastNonce {
		return l.violation(GoodbyeProtocolError, fmt.Errorf("nonce %d of a Ping behind %d", f.Nonce, l.lastNonce))
	}
	if tooFast(&l.pings, millis) {
		return l.violation(GoodbyeProtocolError, fmt.Errorf("more than %d Pings in a second", signalsPerSecond))
	}
	l.pinged, l.lastNonce = true, f.Nonce
	return l.check(controlStream, f, HeartbeatPingDigest(l.Connection(), f.BlockHeight, f.Nonce), f.Signature[:])
}

// tooFast notes when a frame has come, and reports whether it is one more than a second may
// have. times are in ms, the oldest first; 0 stands for none.
func tooFast(times *[signalsPerSecond]int64, millis int64) bool {
	if oldest := times[0]; oldest != 0 && millis-oldest < 1000 {
		return true
	}
	copy(times[:], times[1:])
	times[signalsPerSecond-1] = max(millis, 1)
	return false
}

// takeSignal has a signal of a runner verified, of which a second may have as many as Pings:
// each costs us a recovery, and up to 16 KiB of hashing.
func (l *Link) takeSignal(f Frame, digest func(chain.Hash) chain.Hash, signature []byte, millis int64) []Effect {
	if tooFast(&l.signals, millis) {
		return l.violation(GoodbyeProtocolError, fmt.Errorf("more than %d signals in a second", signalsPerSecond))
	}
	return l.check(controlStream, f, digest(l.Connection()), signature)
}

// present answers a Ping with the latest nonce that has come (must C28).
func (l *Link) present(f *Ping) []Effect {
	pong := &Pong{BlockHeight: l.cfg.Height, NonceEcho: f.Nonce, AcceptingNew: l.accepting}
	digest := HeartbeatPongDigest(l.Connection(), pong.BlockHeight, pong.NonceEcho, pong.AcceptingNew)
	answer := l.sendSigned(controlStream, pong, digest)
	if l.state == LinkDraining {
		return []Effect{answer} // who leaves is present no more
	}
	return []Effect{Present{l.accepting}, answer}
}

// ping sends the next Ping.
func (l *Link) ping() Effect {
	f := &Ping{BlockHeight: l.cfg.Height, Nonce: l.nextNonce}
	l.nextNonce++
	l.outstanding = true
	return l.sendSigned(controlStream, f, HeartbeatPingDigest(l.Connection(), f.BlockHeight, f.Nonce))
}

// newHeight pings, or gives a validator up that does not answer. One Ping is on its way at a
// time: several that a stalled network hands over at once would be more than a second may
// have, at no fault of the runner.
func (l *Link) newHeight(millis int64) []Effect {
	if l.state != LinkAdmitted {
		return nil
	}
	if l.unanswered++; l.unanswered > PongsMissedMax {
		return l.violation(GoodbyeIdleTimeout, fmt.Errorf("no Pong for %d heights", PongsMissedMax))
	}
	if l.outstanding || l.pingedAt != 0 && millis-l.pingedAt < pingSpacing {
		return nil
	}
	l.pingedAt = max(millis, 1)
	return []Effect{l.ping()}
}

// takePong holds a Pong to the Ping that has none (must C28).
func (l *Link) takePong(f *Pong) []Effect {
	if !l.outstanding || f.NonceEcho+1 != l.nextNonce {
		return l.violation(GoodbyeProtocolError, fmt.Errorf("Pong of nonce %d, the next Ping's is %d", f.NonceEcho, l.nextNonce))
	}
	l.outstanding = false
	return l.check(controlStream, f, HeartbeatPongDigest(l.Connection(), f.BlockHeight, f.NonceEcho, f.AcceptingNew), f.Signature[:])
}

// takeGoodbye has the signature of a Goodbye verified. One without has no effect but that the
// connection ends, which whoever sends it can have anyway: a side that was not proven to yet
// signs none (must C14).
func (l *Link) takeGoodbye(f *Goodbye) []Effect {
	if f.Signature == nil {
		l.state = LinkClosed
		return []Effect{Close{Reason: GoodbyeAuthenticationFailed, Err: fmt.Errorf("an unsigned Goodbye of reason %d", f.Reason)}}
	}
	if len(f.Signature) != signatureBytes(l.peer.Role) {
		return l.violation(GoodbyeAuthenticationFailed, errors.New("a Goodbye with the signature of the other side's scheme"))
	}
	return l.check(controlStream, f, f.SignedHash(l.peer.Role, l.Connection()), f.Signature)
}

// takeLeave begins the end that the other side wants.
func (l *Link) takeLeave(f *Goodbye) []Effect {
	if l.state == LinkDraining {
		l.state = LinkClosed // both want it
		return []Effect{Close{Reason: f.Reason}}
	}
	l.state = LinkDraining
	leaving := Leaving{Reason: f.Reason}
	if f.RetryAfterBlocks != nil {
		leaving.RetryAfterBlocks = *f.RetryAfterBlocks
	}
	return []Effect{leaving, Arm{TimerDrain}}
}
