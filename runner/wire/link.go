//spec:implements CIP-11 6.2
//spec:implements CIP-11 6.3
//spec:implements CIP-11 6.4

package wire

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Link is the session of one connection, of either side, as a machine: [Link.Step] takes what
// has happened and returns what is to be done. It knows no clock, no socket and no key; who
// drives it reads and writes streams, signs, verifies and counts time.
//
//	validator: idle → greeting → admission → proving → admitted → draining → closed
//	runner:    idle → greeting             → proving → admitted → draining → closed
//
// Until both sides are proven nothing is booked on the identity that the other side claims:
// the one effect before [Proven] that leaves this package is [Admit], which asks
// (CIP-11 §6.2; must C10). Whatever breaks a rule of the link ends it with a [Goodbye]
// (CIP-11 §12.5), signed once both sides are proven.
//
// A Link is not safe for concurrent use: the goroutine of the connection owns it.
type Link struct {
	cfg   LinkConfig
	state LinkState

	peer    Party
	session Session       // whole when the peer's Hello was taken
	theirs  [32]byte      // the peer's challenge
	checks  []signedFrame // whose signatures are being verified, the oldest first
	early   []Received    // control frames behind a proof that is being verified

	// Of a validator.
	pings     [signalsPerSecond]int64 // when the last Pings came, in ms, the oldest first
	signals   [signalsPerSecond]int64 // when the last other signals came
	pinged    bool
	lastNonce uint64
	accepting bool

	// Of a runner.
	nextNonce   uint64 // of the next Ping
	outstanding bool   // the Ping before it has no Pong yet
	pingedAt    int64  // when it was sent, in ms
	unanswered  uint64 // heights since the last Pong

	jobs map[uint64]*jobStream
}

// LinkConfig is what a side knows before the connection begins.
type LinkConfig struct {
	ChainID   uint64
	Self      Party
	Binding   [32]byte     // TLS exporter output, see ExporterLabel
	Challenge [32]byte     // random, of this connection alone
	Height    chain.Height // final here; [NewHeight] moves it

	// Of a runner: whom it has dialled, and the snapshot that it offers.
	Dialled chain.PeerKey
	Epoch   chain.Epoch
	SetHash chain.Hash
}

// LinkState is where a session is.
type LinkState uint8

const (
	LinkIdle      LinkState = iota // nothing has come, nothing was sent
	LinkGreeting                   // a runner has sent its Hello and waits for the validator's
	LinkAdmission                  // a validator looks whether the runner may come
	LinkProving                    // the Hellos are exchanged, the other side's proof is awaited
	LinkAdmitted                   // both sides are proven
	LinkDraining                   // one side has said Goodbye: results still pass
	LinkClosed
)

// String returns the state's name in logs.
func (s LinkState) String() string {
	return [...]string{"idle", "greeting", "admission", "proving", "admitted", "draining", "closed"}[s]
}

// Bounds of a session.
const (
	MaxJobStreams = 64 // at the same time
	// maxControlChecks bounds the control frames whose signatures are being verified. Of a
	// job stream there is one at a time: its answer, or its cancellation.
	maxControlChecks = 8
	// maxEarly bounds the control frames that come behind a proof while it is verified: a
	// runner pings at once.
	maxEarly         = 4
	signalsPerSecond = 4   // Pings (resolution 12.70), and as many other signals
	pingSpacing      = 260 // ms at least between two Pings of a runner, which is less than four a second
	// PongsMissedMax is after how many heights without a Pong a runner gives the connection
	// up; a validator forgets it after as many (CIP-11 §6.3).
	PongsMissedMax = 15
)

// signedFrame is a frame that counts once its signature does.
type signedFrame struct {
	stream uint64
	frame  Frame
}

// NewLink begins a session.
func NewLink(cfg LinkConfig) *Link {
	return &Link{cfg: cfg, accepting: true, jobs: map[uint64]*jobStream{}}
}

// State says where the session is.
func (l *Link) State() LinkState { return l.state }

// Connection returns the hash that signatures of the session are bound to. It is there when
// the peer's Hello was taken.
func (l *Link) Connection() chain.Hash { return l.session.ConnectionID() }

func (l *Link) isRunner() bool { return l.cfg.Self.Role == chain.RoleRunner }

// Step takes an event and returns what is to be done, in this order. A closed session takes
// none.
func (l *Link) Step(e Event) []Effect {
	if l.state == LinkClosed {
		return nil
	}
	switch e := e.(type) {
	case Opened:
		return l.open()
	case Received:
		return l.onFrame(e)
	case Unreadable:
		return l.violation(GoodbyeProtocolError, e.Err)
	case Admission:
		return l.admission(e)
	case Verified:
		return l.verified(e)
	case TimedOut:
		return l.timedOut(e.Timer)
	case Lost:
		l.state = LinkClosed
		return []Effect{Close{Err: e.Err}}
	case Stopping:
		return l.sayGoodbye(e)
	}
	if h, ok := e.(NewHeight); ok {
		l.cfg.Height = h.Height
	}
	if l.state == LinkAdmitted || l.state == LinkDraining {
		return l.live(e)
	}
	return nil
}

// violation ends the session for what the other side did, or did not do.
func (l *Link) violation(reason GoodbyeReason, err error) []Effect {
	bye := l.goodbye(&Goodbye{Reason: reason})
	l.state = LinkClosed
	return []Effect{bye, Close{Reason: reason, Err: err}}
}

// goodbye sends a Goodbye, signed if both sides are proven.
func (l *Link) goodbye(f *Goodbye) Effect {
	if l.state != LinkAdmitted && l.state != LinkDraining {
		return Send{Frame: f}
	}
	return l.sendSigned(controlStream, f, f.SignedHash(l.cfg.Self.Role, l.Connection()))
}

// sendSigned sends a frame with its signature.
func (l *Link) sendSigned(stream uint64, f Frame, digest chain.Hash) Effect {
	return Send{Stream: stream, Frame: f, Sign: &digest}
}

// check has a frame's signature verified, and keeps the frame until then.
func (l *Link) check(stream uint64, f Frame, digest chain.Hash, signature []byte) []Effect {
	waiting := 0
	for i := range l.checks {
		if l.checks[i].stream == controlStream {
			waiting++
		}
	}
	if stream == controlStream && waiting >= maxControlChecks {
		return l.violation(GoodbyeOverloaded, fmt.Errorf("%d frames wait for their verification", waiting))
	}
	l.checks = append(l.checks, signedFrame{stream, f})
	return []Effect{Verify{Digest: digest, By: l.peer, Signature: signature}}
}

// verified takes what the oldest check has found.
func (l *Link) verified(e Verified) []Effect {
	if len(l.checks) == 0 {
		return nil
	}
	c := l.checks[0]
	l.checks = l.checks[1:]
	if !e.OK {
		return l.violation(GoodbyeAuthenticationFailed, fmt.Errorf("signature of a %v", c.frame.Type()))
	}
	if f, ok := c.frame.(*HelloAck); ok {
		return l.proven(f)
	}
	return l.signed(c)
}

// timedOut takes the end of a time that the session had for something.
func (l *Link) timedOut(t Timer) []Effect {
	switch {
	case t == TimerDrain && l.state == LinkDraining:
		l.state = LinkClosed
		return []Effect{Close{Reason: GoodbyeShutdown}}
	case t == TimerHello && (l.state == LinkIdle || l.state == LinkGreeting), t == TimerProof && l.state <= LinkProving:
		return l.violation(GoodbyeProtocolError, fmt.Errorf("silence while %v", l.state))
	}
	return nil
}

// sayGoodbye ends the session because this side wants to.
func (l *Link) sayGoodbye(e Stopping) []Effect {
	f := &Goodbye{Reason: e.Reason}
	if e.RetryAfterBlocks > 0 {
		f.RetryAfterBlocks = &e.RetryAfterBlocks
	}
	bye := l.goodbye(f)
	if l.state != LinkAdmitted || e.AtOnce {
		l.state = LinkClosed
		return []Effect{bye, Close{Reason: e.Reason}}
	}
	l.state = LinkDraining
	return []Effect{bye, Arm{TimerDrain}}
}
