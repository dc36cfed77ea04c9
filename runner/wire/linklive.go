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
		return l.newHeight(e.Height)
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
			return l.check(controlStream, f, f.SignedHash(l.Connection()), f.Signature[:])
		case *CapabilityDelta:
			return l.check(controlStream, f, f.SignedHash(l.Connection()), f.Signature[:])
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
		l.accepting = f.AcceptingNew
		return []Effect{Present{l.accepting}}
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
	if oldest := l.pings[0]; l.pinged && oldest != 0 && millis-oldest < 1000 {
		return l.violation(GoodbyeProtocolError, fmt.Errorf("more than %d Pings in a second", pingsPerSecond))
	}
	copy(l.pings[:], l.pings[1:])
	l.pings[pingsPerSecond-1] = max(millis, 1)
	l.pinged, l.lastNonce = true, f.Nonce
	return l.check(controlStream, f, HeartbeatPingDigest(l.Connection(), f.BlockHeight, f.Nonce), f.Signature[:])
}

// present answers a Ping with the latest nonce that has come (must C28).
func (l *Link) present(f *Ping) []Effect {
	pong := &Pong{BlockHeight: l.cfg.Height, NonceEcho: f.Nonce, AcceptingNew: l.accepting}
	digest := HeartbeatPongDigest(l.Connection(), pong.BlockHeight, pong.NonceEcho, pong.AcceptingNew)
	return []Effect{Present{l.accepting}, l.sendSigned(controlStream, pong, digest)}
}

// ping sends the next Ping.
func (l *Link) ping(h chain.Height) Effect {
	f := &Ping{BlockHeight: h, Nonce: l.nextNonce}
	l.nextNonce++
	return l.sendSigned(controlStream, f, HeartbeatPingDigest(l.Connection(), f.BlockHeight, f.Nonce))
}

// newHeight pings, or gives a validator up that answers none.
func (l *Link) newHeight(h chain.Height) []Effect {
	if l.state != LinkAdmitted {
		return nil
	}
	if l.unanswered++; l.unanswered > PongsMissedMax {
		return l.violation(GoodbyeIdleTimeout, fmt.Errorf("no Pong for %d heights", PongsMissedMax))
	}
	return []Effect{l.ping(h)}
}

// takePong holds a Pong to a Ping that has none yet, in their order: a validator answers each,
// and where blocks come faster than answers several are on their way (must C28).
func (l *Link) takePong(f *Pong) []Effect {
	if f.NonceEcho < l.unponged || f.NonceEcho >= l.nextNonce {
		return l.violation(GoodbyeProtocolError, fmt.Errorf("Pong of nonce %d, %d to %d are awaited", f.NonceEcho, l.unponged, l.nextNonce))
	}
	l.unponged = f.NonceEcho + 1
	return l.check(controlStream, f, HeartbeatPongDigest(l.Connection(), f.BlockHeight, f.NonceEcho, f.AcceptingNew), f.Signature[:])
}

// takeGoodbye has the signature of a Goodbye verified; one without is refused (must C14).
func (l *Link) takeGoodbye(f *Goodbye) []Effect {
	if len(f.Signature) != signatureBytes(l.peer.Role) {
		return l.violation(GoodbyeAuthenticationFailed, errors.New("a Goodbye without the signature of its side"))
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
