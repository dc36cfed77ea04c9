package wire

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// The signatures of these tests are the digest and who signed, as long as the scheme's.
func testSignature(by Party, digest chain.Hash) []byte {
	sig := make([]byte, signatureBytes(by.Role))
	copy(sig, digest[:])
	sig[32] = byte(by.Role)
	return sig
}

var (
	testRunner    = RunnerParty(pinRunner)
	testValidator = ValidatorParty(pinPeer)
)

func linkOf(self Party) *Link {
	cfg := LinkConfig{ChainID: 7, Self: self, Binding: [32]byte{9}, Challenge: [32]byte{byte(self.Role)}, Height: 100}
	if self.Role == chain.RoleRunner {
		cfg.Dialled, cfg.Epoch, cfg.SetHash = pinPeer, 3, pinSetHash
	}
	return NewLink(cfg)
}

// side is one end of a connection under test.
type side struct {
	*Link
	log  []Effect
	out  []Received // what it has sent
	asks []Verify   // that wait, where they are answered late
	late bool
}

// step takes an event, signs, and answers questions as the test says: every runner may come,
// and signatures are verified.
func (s *side) step(t *testing.T, e Event) {
	t.Helper()
	for _, f := range s.Step(e) {
		s.log = append(s.log, f)
		switch f := f.(type) {
		case Send:
			if f.Sign != nil {
				SetSignature(f.Frame, testSignature(s.cfg.Self, *f.Sign))
			}
			s.out = append(s.out, Received{Stream: f.Stream, Frame: reread(t, f.Frame)})
		case OpenStream:
			s.out = append(s.out, Received{Stream: f.Stream, Frame: reread(t, f.Frame)})
		case Admit:
			s.step(t, Admission{OK: true})
		case Verify:
			if s.late {
				s.asks = append(s.asks, f)
				continue
			}
			s.step(t, verdictOn(f))
		}
	}
}

func verdictOn(f Verify) Verified {
	return Verified{OK: bytes.Equal(f.Signature, testSignature(f.By, f.Digest))}
}

// verifyLate answers what has waited.
func (s *side) verifyLate(t *testing.T) bool {
	t.Helper()
	asks := s.asks
	s.asks = nil
	for _, f := range asks {
		s.step(t, verdictOn(f))
	}
	return len(asks) > 0
}

// reread is a frame as the other side has it.
func reread(t *testing.T, f Frame) Frame {
	t.Helper()
	typ, body, err := ReadFrame(bytes.NewReader(Append(nil, f)), f.Type().OnControl())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(typ, body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// exchange hands frames over until none is left; signatures are verified late where nothing else
// is left.
func exchange(t *testing.T, a, b *side) {
	t.Helper()
	for len(a.out)+len(b.out) > 0 || a.verifyLate(t) || b.verifyLate(t) {
		for _, p := range [2][2]*side{{a, b}, {b, a}} {
			frames := p[0].out
			p[0].out = nil
			for _, f := range frames {
				p[1].step(t, f)
			}
		}
	}
}

// met are two sides that are proven to each other.
func met(t *testing.T) (v, r *side) {
	t.Helper()
	v, r = &side{Link: linkOf(testValidator)}, &side{Link: linkOf(testRunner)}
	v.step(t, Opened{})
	r.step(t, Opened{})
	exchange(t, v, r)
	if v.State() != LinkAdmitted || r.State() != LinkAdmitted {
		t.Fatalf("validator %v, runner %v\n%v\n%v", v.State(), r.State(), v.log, r.log)
	}
	return v, r
}

// took returns the effects of a kind.
func took[E Effect](s *side) (list []E) {
	for _, f := range s.log {
		if e, ok := f.(E); ok {
			list = append(list, e)
		}
	}
	return list
}

func TestLinkHandshake(t *testing.T) { // CIP-11 §6.2
	v, r := met(t)
	if p := took[Proven](v); len(p) != 1 || p[0].Peer != testRunner {
		t.Errorf("the validator has %+v", p)
	}
	if p := took[Proven](r); len(p) != 1 || p[0].Peer != testValidator {
		t.Errorf("the runner has %+v", p)
	}
	if v.Connection() != r.Connection() {
		t.Error("two names of one connection")
	}
	// The runner's first Ping is 0, was answered, and made it present.
	if p := took[Present](v); len(p) != 1 || !p[0].Accepting {
		t.Errorf("present: %+v", p)
	}
	if r.nextNonce != 1 || r.outstanding {
		t.Errorf("%d Pings, the last answered %v", r.nextNonce, !r.outstanding)
	}
}

// TestLinkVerifiesLate plays a session in which each signature is verified when nothing else is
// left to do: what comes behind a frame waits for it.
func TestLinkVerifiesLate(t *testing.T) {
	v, r := &side{Link: linkOf(testValidator), late: true}, &side{Link: linkOf(testRunner), late: true}
	v.step(t, Opened{})
	r.step(t, Opened{})
	exchange(t, v, r)
	if v.State() != LinkAdmitted || r.State() != LinkAdmitted || len(took[Present](v)) != 1 || r.outstanding {
		t.Fatalf("validator %v, runner %v\n%v\n%v", v.State(), r.State(), v.log, r.log)
	}
	f := pinFrames()["job_assignment"].(*JobAssignment)
	for n := range uint64(MaxJobStreams) {
		v.step(t, Push{Stream: n + 1, Assignment: f, Several: true})
	}
	for len(v.out) > 0 {
		frames := v.out
		v.out = nil
		for _, e := range frames {
			r.step(t, e)
		}
	}
	for n := range uint64(MaxJobStreams) { // an executor that is done at once
		r.step(t, Answer{Stream: n + 1, Status: AckAccepted})
		r.step(t, Say{Stream: n + 1, Frame: &JobResultCommit{JobID: f.JobID, Tx: []byte("commit")}})
		r.step(t, Say{Stream: n + 1, Frame: &JobResult{JobID: f.JobID, Tx: []byte("result")}})
	}
	r.step(t, NewHeight{200, 10_000})
	for i := range r.out {
		r.out[i].Millis = 10_000
	}
	exchange(t, v, r)
	if n := len(took[Forward](v)); n != 2*MaxJobStreams || v.State() != LinkAdmitted || len(took[ResetStream](v)) != 0 {
		t.Errorf("%d transactions forwarded, %v, %v", n, took[ResetStream](v), took[Close](v))
	}
	// Who sends more behind its proof than it may is turned away.
	v = &side{Link: linkOf(testValidator), late: true}
	v.step(t, Opened{})
	v.step(t, firstSent[*Hello](r))
	v.step(t, firstSent[*HelloAck](r))
	for range maxEarly + 1 {
		v.step(t, firstSent[*Ping](r))
	}
	if c := took[Close](v); len(c) != 1 || c[0].Reason != GoodbyeProtocolError {
		t.Errorf("frames without end behind a proof: %+v", c)
	}
}

// TestLinkHandshakeRefuses: each lie of a handshake ends it with its reason, and nothing was
// booked on who lied.
func TestLinkHandshakeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		by     Party // the side that lies
		change func(f Frame)
		want   GoodbyeReason
	}{
		{"runner of another chain", testRunner, hello(func(f *Hello) { f.ChainID++ }), GoodbyeChainIDMismatch},
		{"runner of another major version", testRunner, hello(func(f *Hello) { f.Version = 0x0200 }), GoodbyeUnsupportedVersion},
		{"runner of a higher minor version", testRunner, hello(func(f *Hello) { f.Version++ }), GoodbyeUnsupportedVersion},
		{"version before chain id", testRunner, hello(func(f *Hello) { f.Version, f.ChainID = 0x0200, 8 }), GoodbyeUnsupportedVersion},
		{"runner that says it is a validator", testRunner, hello(func(f *Hello) { f.Party = testValidator }), GoodbyeAuthenticationFailed},
		{"validator that says it is a runner", testValidator, hello(func(f *Hello) { f.Party = testRunner }), GoodbyeAuthenticationFailed},
		{"another validator than dialled", testValidator, hello(func(f *Hello) { f.Party.Validator[0]++ }), GoodbyeAuthenticationFailed},
		{"validator of another set", testValidator, hello(func(f *Hello) { f.ValidatorSetHash[0]++ }), GoodbyeValidatorSetHashMismatch},
		{"validator of another epoch", testValidator, hello(func(f *Hello) { f.SubsetEpoch++ }), GoodbyeValidatorSetHashMismatch},
		{"validator of another chain", testValidator, hello(func(f *Hello) { f.ChainID++ }), GoodbyeChainIDMismatch},
		{"runner's proof of another key", testRunner, proof(func(f *HelloAck) { f.Party.Runner[5]++ }), GoodbyeAuthenticationFailed},
		{"runner's proof of another version", testRunner, proof(func(f *HelloAck) { f.Version++ }), GoodbyeUnsupportedVersion},
		{"runner's proof with a flipped bit", testRunner, proof(func(f *HelloAck) { f.Signature[3] ^= 4 }), GoodbyeAuthenticationFailed},
		{"validator's proof with a flipped bit", testValidator, proof(func(f *HelloAck) { f.Signature[3] ^= 4 }), GoodbyeAuthenticationFailed},
		{"validator's proof of another key", testValidator, proof(func(f *HelloAck) { f.Party.Validator[5]++ }), GoodbyeAuthenticationFailed},
	} {
		v, r := &side{Link: linkOf(testValidator)}, &side{Link: linkOf(testRunner)}
		liar, other := r, v
		if tt.by.Role == chain.RoleValidator {
			liar, other = v, r
		}
		v.step(t, Opened{})
		r.step(t, Opened{})
		for range 6 {
			for _, p := range [2][2]*side{{liar, other}, {other, liar}} {
				frames := p[0].out
				p[0].out = nil
				for _, f := range frames {
					if p[0] == liar {
						tt.change(f.Frame)
					}
					p[1].step(t, f)
				}
			}
		}
		c := took[Close](other)
		if other.State() != LinkClosed || len(c) != 1 || c[0].Reason != tt.want {
			t.Errorf("%s: %v, %+v, want reason %d", tt.name, other.State(), c, tt.want)
		}
		if len(took[Proven](other))+len(took[Present](other)) != 0 {
			t.Errorf("%s: booked", tt.name)
		}
	}
}

func hello(change func(*Hello)) func(Frame) {
	return func(f Frame) {
		if h, ok := f.(*Hello); ok {
			change(h)
		}
	}
}

func proof(change func(*HelloAck)) func(Frame) {
	return func(f Frame) {
		if h, ok := f.(*HelloAck); ok {
			change(h)
		}
	}
}

// TestLinkReplays: what was signed on one connection is refused on another, though all but the
// exporter is the same (must C9).
func TestLinkReplays(t *testing.T) {
	_, recorded := met(t)
	var ack, ping Frame
	for _, s := range took[Send](recorded) {
		switch s.Frame.(type) {
		case *HelloAck:
			ack = s.Frame
		case *Ping:
			ping = s.Frame
		}
	}
	cfg := linkOf(testValidator).cfg
	cfg.Binding[0]++
	v := &side{Link: NewLink(cfg)}
	v.step(t, Opened{})
	v.step(t, firstSent[*Hello](recorded))
	v.step(t, Received{Frame: ack})
	if c := took[Close](v); len(c) != 1 || c[0].Reason != GoodbyeAuthenticationFailed {
		t.Errorf("a recorded proof: %+v", c)
	}
	v, _ = met(t)
	v.cfg.Binding[0]++
	v.session.ChannelBinding = v.cfg.Binding
	ping.(*Ping).Nonce++
	v.step(t, Received{Frame: ping, Millis: 5000})
	if c := took[Close](v); len(c) != 1 || c[0].Reason != GoodbyeAuthenticationFailed {
		t.Errorf("a Ping of another connection: %+v", c)
	}
}

// firstSent is the first frame of a kind that a side has sent.
func firstSent[F Frame](s *side) Received {
	for _, e := range took[Send](s) {
		if f, ok := e.Frame.(F); ok {
			return Received{Frame: f}
		}
	}
	return Received{}
}

func TestLinkPings(t *testing.T) { // CIP-11 §6.3; resolution 12.70
	signed := func(v *side, nonce uint64, height chain.Height) *Ping {
		f := &Ping{BlockHeight: height, Nonce: nonce}
		copy(f.Signature[:], testSignature(testRunner, HeartbeatPingDigest(v.Connection(), height, nonce)))
		return f
	}
	v, _ := met(t)
	for i, millis := range []int64{1000, 1100, 1200, 1300, 2001, 2101} {
		v.step(t, Received{Frame: signed(v, uint64(i)+1, chain.Height(1)<<60), Millis: millis}) // absurd heights change nothing
	}
	if n := len(took[Present](v)); v.State() != LinkAdmitted || n != 7 {
		t.Errorf("%d Pings counted, %v", n, took[Close](v))
	}
	for name, frames := range map[string][]Received{
		"five in a second":    {{0, signed(v, 1, 1), 1000}, {0, signed(v, 2, 1), 1001}, {0, signed(v, 3, 1), 1002}, {0, signed(v, 4, 1), 1003}, {0, signed(v, 5, 1), 1999}},
		"the same nonce":      {{0, signed(v, 0, 1), 5000}},
		"an earlier nonce":    {{0, signed(v, 9, 1), 5000}, {0, signed(v, 8, 1), 9000}},
		"a second Hello":      {{0, pinFrames()["hello_runner"], 0}},
		"a validator's frame": {{0, pinFrames()["pong"], 0}},
		"a job's frame":       {{0, pinFrames()["job_progress"], 0}},
	} {
		v, _ := met(t)
		for _, f := range frames {
			v.step(t, f)
		}
		if c := took[Close](v); len(c) != 1 || c[0].Reason != GoodbyeProtocolError {
			t.Errorf("%s: %+v", name, c)
		}
		if bye := firstSent[*Goodbye](v).Frame.(*Goodbye); len(bye.Signature) != ValidatorSignatureBytes {
			t.Errorf("%s: a Goodbye without a signature", name)
		}
	}
}

// TestLinkPongs: a runner pings once a height, takes each Pong once, and gives a validator up
// that answers none.
func TestLinkPongs(t *testing.T) {
	v, r := met(t)
	for h := range chain.Height(5) {
		r.step(t, NewHeight{200 + h, int64(1+h) * 1000})
		v.step(t, NewHeight{300 + h, 0})
		for i := range r.out {
			r.out[i].Millis = int64(1+h) * 1000
		}
		exchange(t, v, r)
	}
	if r.nextNonce != 6 || r.outstanding || r.unanswered != 0 || r.State() != LinkAdmitted {
		t.Errorf("%d Pings, outstanding %v, %d heights without, %v", r.nextNonce, r.outstanding, r.unanswered, took[Close](r))
	}
	var pongs []uint64
	for _, s := range took[Send](v) {
		if f, ok := s.Frame.(*Pong); ok {
			pongs = append(pongs, f.NonceEcho)
		}
	}
	if want := []uint64{0, 1, 2, 3, 4, 5}; !slices.Equal(pongs, want) {
		t.Errorf("Pongs of %v", pongs)
	}
	for _, nonce := range []uint64{5, 6} { // answered already; never sent
		_, r := met(t)
		r.nextNonce, r.outstanding = 6, nonce == 6
		r.step(t, Received{Frame: &Pong{NonceEcho: nonce}})
		if c := took[Close](r); len(c) != 1 || c[0].Reason != GoodbyeProtocolError {
			t.Errorf("Pong of %d: %+v", nonce, c)
		}
	}
	_, r = met(t)
	for h := range chain.Height(PongsMissedMax + 1) {
		if r.State() != LinkAdmitted {
			t.Errorf("given up after %d heights", h)
		}
		r.step(t, NewHeight{h, int64(1+h) * 1000})
	}
	if c := took[Close](r); len(c) != 1 || c[0].Reason != GoodbyeIdleTimeout || len(r.out) != 2 { // a Ping and Goodbye
		t.Errorf("no Pong: %+v, %d frames sent", c, len(r.out))
	}
	// Blocks that come faster than a second may have Pings, and a network that hands over late
	// what was sent, end nothing.
	v, r = met(t)
	for h := range int64(200) {
		r.step(t, NewHeight{chain.Height(h), 10_000 + 20*h})
		for i := range r.out {
			r.out[i].Millis = 10_000 + 20*h
		}
		if h%50 == 49 {
			exchange(t, v, r) // once a second
		}
		r.unanswered = 0
	}
	if v.State() != LinkAdmitted || r.State() != LinkAdmitted || r.nextNonce != 5 {
		t.Errorf("%v, %v after %d Pings: %v", v.State(), r.State(), r.nextNonce, took[Close](v))
	}
}

// TestLinkSignalsAreBounded: signals cost us a recovery each, so a second has four.
func TestLinkSignalsAreBounded(t *testing.T) {
	v, r := met(t)
	for range signalsPerSecond {
		r.step(t, Capabilities{})
	}
	r.step(t, Capacity{})
	for i := range r.out {
		r.out[i].Millis = 1000
	}
	exchange(t, v, r)
	if c := took[Close](v); len(c) != 1 || c[0].Reason != GoodbyeProtocolError || len(took[Noted](v)) != signalsPerSecond {
		t.Errorf("five signals: %+v, %d noted", c, len(took[Noted](v)))
	}
}

func TestLinkBackpressure(t *testing.T) { // must C30, C31
	v, r := met(t)
	r.step(t, Capacity{Active: 4, Max: 4})
	exchange(t, v, r)
	if p := took[Present](v); p[len(p)-1].Accepting {
		t.Error("a runner that takes no work is counted as one that does")
	}
	v.step(t, Push{Stream: 1, Assignment: pinFrames()["job_assignment"].(*JobAssignment)})
	if len(took[OpenStream](v)) != 0 {
		t.Error("pushed to a runner that takes no work")
	}
	r.step(t, NewHeight{200, 10_000})
	r.out[0].Millis = 10_000
	exchange(t, v, r)
	if pong := v.lastFrame(t).(*Pong); pong.AcceptingNew {
		t.Error("the Pong says that it takes work")
	}
	before := len(took[Present](v))
	r.step(t, Capacity{Max: 4, Accepting: true})
	r.step(t, Capabilities{CapabilityDelta{AddedCapabilities: []string{"gpu"}}})
	exchange(t, v, r)
	if p := took[Present](v); len(p) != before { // the next Ping does that (CIP-11 §6.4)
		t.Errorf("present without a Ping: %+v", p)
	}
	if n := took[Noted](v); len(n) != 1 || n[0].Delta.AddedCapabilities[0] != "gpu" {
		t.Errorf("noted %+v", n)
	}
	v.step(t, Push{Stream: 1, Assignment: pinFrames()["job_assignment"].(*JobAssignment)})
	if len(took[OpenStream](v)) != 1 {
		t.Error("nothing is pushed to a runner that takes work again")
	}
	forged := &Backpressure{Signature: [65]byte(testSignature(testRunner, chain.Hash{1}))}
	v.step(t, Received{Frame: forged})
	if c := took[Close](v); len(c) != 1 || c[0].Reason != GoodbyeAuthenticationFailed {
		t.Errorf("a forged signal: %+v", c)
	}
}

// lastFrame is the last that a side has sent.
func (s *side) lastFrame(t *testing.T) Frame {
	t.Helper()
	sent := took[Send](s)
	if len(sent) == 0 {
		t.Fatal("nothing was sent")
	}
	return sent[len(sent)-1].Frame
}

func TestLinkGoodbye(t *testing.T) { // CIP-11 §12.5; must C14
	v, r := met(t)
	r.step(t, Stopping{Reason: GoodbyeShutdown, RetryAfterBlocks: 5})
	exchange(t, v, r)
	if l := took[Leaving](v); len(l) != 1 || l[0].RetryAfterBlocks != 5 || v.State() != LinkDraining || r.State() != LinkDraining {
		t.Errorf("%+v, %v and %v", l, v.State(), r.State())
	}
	v.step(t, Push{Stream: 1, Assignment: pinFrames()["job_assignment"].(*JobAssignment)})
	if len(took[OpenStream](v)) != 0 {
		t.Error("pushed to a runner that leaves")
	}
	for _, s := range []*side{v, r} {
		if s.step(t, TimedOut{TimerDrain}); s.State() != LinkClosed {
			t.Errorf("%v after its time", s.State())
		}
	}
	for name, f := range map[string]*Goodbye{
		"unsigned":                  {Reason: GoodbyeShutdown},
		"of the wrong scheme":       {Reason: GoodbyeShutdown, Signature: make([]byte, ValidatorSignatureBytes)},
		"with a wrong signature":    {Reason: GoodbyeShutdown, Signature: make([]byte, RunnerSignatureBytes)},
		"signed for another reason": {Reason: GoodbyeOverloaded, Signature: r.goodbyeSignature(t)},
	} {
		v, _ := met(t)
		v.step(t, Received{Frame: f})
		if c := took[Close](v); len(took[Leaving](v)) != 0 || len(c) != 1 || c[0].Reason != GoodbyeAuthenticationFailed {
			t.Errorf("%s: %+v", name, c)
		}
	}
	early := &side{Link: linkOf(testValidator)}
	early.step(t, Opened{})
	early.step(t, Received{Frame: &Goodbye{Reason: GoodbyeShutdown}})
	if early.State() != LinkClosed || len(took[Send](early))+len(took[Leaving](early)) != 0 {
		t.Errorf("a Goodbye before the proof: %+v", early.log)
	}
	v, _ = met(t)
	v.step(t, Stopping{Reason: GoodbyeShutdown, AtOnce: true}) // a newer connection (resolution 12.69)
	if bye, ok := v.lastFrame(t).(*Goodbye); !ok || v.State() != LinkClosed || len(bye.Signature) == 0 {
		t.Errorf("superseded: %v", v.State())
	}
}

// goodbyeSignature is the signature of the Goodbye that a side has sent.
func (s *side) goodbyeSignature(t *testing.T) []byte {
	t.Helper()
	return firstSent[*Goodbye](s).Frame.(*Goodbye).Signature
}

// given are two sides with an assignment on stream 1.
func given(t *testing.T, several bool) (v, r *side, f *JobAssignment) {
	t.Helper()
	v, r = met(t)
	f = pinFrames()["job_assignment"].(*JobAssignment)
	v.step(t, Push{Stream: 1, Assignment: f, Several: several})
	exchange(t, v, r)
	if a := took[Assigned](r); len(a) != 1 || !a[0].Assignment.Same(f) {
		t.Fatalf("assigned %+v", a)
	}
	return v, r, f
}

func TestLinkJob(t *testing.T) { // CIP-11 §10
	v, r, f := given(t, true)
	r.step(t, Answer{Stream: 1, Status: AckAccepted})
	exchange(t, v, r)
	if a := took[Acknowledged](v); len(a) != 1 || a[0].Status != AckAccepted {
		t.Fatalf("acknowledged %+v", a)
	}
	for _, frame := range []Frame{
		&JobProgress{JobID: f.JobID, Percent: 50}, &JobResultCommit{JobID: f.JobID, Tx: []byte("commit")}, &JobResult{JobID: f.JobID, Tx: []byte("result")},
	} {
		r.step(t, Say{Stream: 1, Frame: frame})
	}
	exchange(t, v, r)
	fw := took[Forward](v)
	if len(fw) != 2 || string(fw[0].Tx) != "commit" || fw[0].Result || string(fw[1].Tx) != "result" || !fw[1].Result || fw[1].JobID != f.JobID {
		t.Errorf("forwarded %+v", fw)
	}
	if len(took[Progressed](v)) != 1 || len(took[ResetStream](v)) != 0 {
		t.Errorf("%+v", v.log)
	}
	v.step(t, AckOverdue{1}) // it was answered
	v.step(t, Cancel{Stream: 1, Reason: CancelExpired})
	exchange(t, v, r)
	if c := took[Cancelled](r); len(c) != 1 || c[0].Reason != CancelExpired {
		t.Errorf("cancelled %+v", c)
	}
}

func TestLinkJobRefuses(t *testing.T) {
	at := func(f Frame) Received { return Received{Stream: 1, Frame: f, Millis: 1000} }
	job := pinFrames()["job_assignment"].(*JobAssignment).JobID
	ack := func(v *side, change func(*JobAck)) Frame {
		d := v.jobs[1].dispatch
		f := &JobAck{JobID: d.JobID, AssignmentHash: d.AssignmentHash, Status: AckAccepted}
		copy(f.Signature[:], testSignature(testRunner, f.SignedHash(&d)))
		change(f)
		return f
	}
	none := func(*JobAck) {}
	for _, tt := range []struct {
		name   string
		frames func(v *side) []Frame
		reset  bool // else the session ends
	}{
		{"an answer to another job", func(v *side) []Frame { return []Frame{ack(v, func(f *JobAck) { f.JobID[0]++ })} }, true},
		{"an answer to another assignment", func(v *side) []Frame { return []Frame{ack(v, func(f *JobAck) { f.AssignmentHash[0]++ })} }, true},
		{"two answers", func(v *side) []Frame { return []Frame{ack(v, none), ack(v, none)} }, true},
		{"a forged answer", func(v *side) []Frame { return []Frame{ack(v, func(f *JobAck) { f.Status = AckDuplicate })} }, false},
		{"a result before the answer", func(*side) []Frame { return []Frame{&JobResult{JobID: job}} }, true},
		{"progress before the answer", func(*side) []Frame { return []Frame{&JobProgress{JobID: job}} }, true},
		{"a result before its commitment", func(v *side) []Frame { return []Frame{ack(v, none), &JobResult{JobID: job}} }, true},
		{"two commitments", func(v *side) []Frame {
			return []Frame{ack(v, none), &JobResultCommit{JobID: job}, &JobResultCommit{JobID: job}}
		}, true},
		{"two results", func(v *side) []Frame {
			return []Frame{ack(v, none), &JobResultCommit{JobID: job}, &JobResult{JobID: job}, &JobResult{JobID: job}}
		}, true},
		{"a commitment behind the result", func(v *side) []Frame {
			return []Frame{ack(v, none), &JobResultCommit{JobID: job}, &JobResult{JobID: job}, &JobResultCommit{JobID: job}}
		}, true},
		{"a commitment of another job", func(v *side) []Frame { return []Frame{ack(v, none), &JobResultCommit{JobID: chain.Hash{9}}} }, true},
		{"an assignment from a runner", func(*side) []Frame { return []Frame{pinFrames()["job_assignment"]} }, false},
		{"a Ping on a job stream", func(*side) []Frame { return []Frame{pinFrames()["ping"]} }, false},
	} {
		v, _, _ := given(t, true)
		for _, f := range tt.frames(v) {
			v.step(t, at(f))
		}
		r := took[ResetStream](v)
		if tt.reset && (len(r) != 1 || r[0].Err == nil || v.State() != LinkAdmitted || v.jobs[1] != nil) {
			t.Errorf("%s: %+v, %v", tt.name, r, v.State())
		}
		if !tt.reset && v.State() != LinkClosed {
			t.Errorf("%s: %v", tt.name, v.State())
		}
	}
	// A runner holds a cancellation to its assignment.
	for name, change := range map[string]func(*JobCancel){
		"of another job": func(f *JobCancel) { f.JobID[0]++ }, "of another assignment": func(f *JobCancel) { f.AssignmentHash[0]++ },
	} {
		_, r, a := given(t, true)
		f := &JobCancel{JobID: a.JobID, AssignmentHash: a.Hash, Reason: CancelFailed}
		change(f)
		if r.step(t, at(f)); len(took[Cancelled](r)) != 0 || len(took[ResetStream](r)) != 1 {
			t.Errorf("cancellation %s: %+v", name, r.log)
		}
	}
}

// TestLinkJobStreams: one runner's answers that were not accepted free their streams, an
// answer that does not come makes the runner absent, and there are 64 at the most.
func TestLinkJobStreams(t *testing.T) {
	v, r, f := given(t, false)
	r.step(t, Answer{Stream: 1, Status: AckReject, Why: RejectAtCapacity})
	exchange(t, v, r)
	if a := took[Acknowledged](v); len(a) != 1 || a[0].Status != AckReject || a[0].Why != RejectAtCapacity || len(v.jobs) != 0 || !r.jobs[1].over || len(took[FinishStream](r)) != 1 {
		t.Errorf("%+v, %d and %d streams", a, len(v.jobs), len(r.jobs))
	}
	r.step(t, Received{Stream: 1, Frame: f}) // a second assignment on the stream of the first
	if c := took[Close](r); len(c) != 1 || c[0].Reason != GoodbyeProtocolError {
		t.Errorf("two assignments on a stream: %+v", c)
	}
	for n := range uint64(MaxJobStreams + 5) {
		v.step(t, Push{Stream: n + 2, Assignment: f})
	}
	if n := len(took[OpenStream](v)); n != MaxJobStreams+1 {
		t.Errorf("%d streams were opened", n)
	}
	v.step(t, AckOverdue{2})
	if s := took[Silent](v); len(s) != 1 || s[0].Stream != 2 || v.jobs[2] != nil {
		t.Errorf("silent: %+v", s)
	}
	v.step(t, Push{Stream: 99, Assignment: f})
	if v.jobs[99] == nil {
		t.Error("the freed place is not used")
	}
	// 65 assignments are too many for a runner.
	_, r = met(t)
	for n := range uint64(MaxJobStreams + 1) {
		r.step(t, Received{Stream: n + 1, Frame: f})
	}
	if x := took[ResetStream](r); len(took[Assigned](r)) != MaxJobStreams || len(x) != 1 || x[0].Stream != MaxJobStreams+1 || r.State() != LinkAdmitted {
		t.Errorf("%d assigned, %+v, %v", len(took[Assigned](r)), x, r.State())
	}
	r.step(t, StreamEnded{3})
	if r.step(t, Received{Stream: 99, Frame: f}); len(took[Assigned](r)) != MaxJobStreams+1 {
		t.Error("the place of a stream that has ended is not used")
	}
}

// TestLinkSilence: nobody waits for ever.
func TestLinkSilence(t *testing.T) {
	for _, self := range []Party{testValidator, testRunner} {
		s := &side{Link: linkOf(self)}
		s.step(t, Opened{})
		s.step(t, TimedOut{TimerHello})
		if c := took[Close](s); s.State() != LinkClosed || len(c) != 1 || c[0].Reason != GoodbyeProtocolError {
			t.Errorf("role %d: %+v", self.Role, c)
		}
	}
	v, _ := met(t)
	for _, timer := range []Timer{TimerHello, TimerProof, TimerDrain} {
		if v.step(t, TimedOut{timer}); v.State() != LinkAdmitted {
			t.Errorf("timer %d ends a session that needs it no more", timer)
		}
	}
	if v.step(t, Lost{errors.New("reset")}); v.State() != LinkClosed || v.Step(Opened{}) != nil {
		t.Error("a lost connection goes on")
	}
}
