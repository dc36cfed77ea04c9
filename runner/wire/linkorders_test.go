package wire

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// walked is a session under every order of events.
type walked struct {
	t      *testing.T
	self   Party
	events []Event
	seen   map[string]bool
	states map[LinkState]bool
	kinds  map[string]bool // of effects
}

// replay takes events anew and returns the session with its last effects.
func (w *walked) replay(path []int) (*Link, []Effect) {
	l := linkOf(w.self)
	var out []Effect
	for _, i := range path {
		out = l.Step(w.events[i])
	}
	return l, out
}

// mark tells two sessions apart that can go on otherwise.
func mark(l *Link) string {
	var b strings.Builder
	fmt.Fprint(&b, l.state, l.pinged, l.lastNonce, l.accepting, l.nextNonce, l.outstanding, l.unanswered, l.peer.Role, len(l.early), l.signals)
	for _, c := range l.checks {
		fmt.Fprintf(&b, "%v@%d %+v", c.frame.Type(), c.stream, reflect.ValueOf(c.frame).Elem().Interface())
	}
	for _, id := range slices.Sorted(maps.Keys(l.jobs)) {
		fmt.Fprintf(&b, "%d %+v", id, *l.jobs[id])
	}
	return b.String()
}

// walk takes each event at the end of a path, unless a session like it was met.
func (w *walked) walk(path []int, depth int) {
	for i := range w.events {
		next := append(slices.Clone(path), i)
		before, _ := w.replay(path)
		l, out := w.replay(next)
		w.states[l.state] = true
		w.check(before, l, next, out)
		key := fmt.Sprint(depth, mark(l))
		if depth > 1 && l.state != LinkClosed && !w.seen[key] {
			w.seen[key] = true
			w.walk(next, depth-1)
		}
	}
}

func (w *walked) check(before, l *Link, path []int, out []Effect) {
	w.t.Helper()
	proven := before.state == LinkAdmitted || before.state == LinkDraining
	for i, f := range out {
		w.kinds[strings.TrimPrefix(fmt.Sprintf("%T", f), "wire.")] = true
		switch f := f.(type) {
		case Close:
			if i != len(out)-1 || l.state != LinkClosed {
				w.t.Fatalf("%v: something follows the end", w.name(path))
			}
		case Send:
			_, a := f.Frame.(*Hello)
			_, b := f.Frame.(*HelloAck)
			_, c := f.Frame.(*Goodbye)
			if l.state != LinkAdmitted && !proven && !a && !b && !c {
				w.t.Fatalf("%v: %v before the proof", w.name(path), f.Frame.Type())
			}
		case Proven:
			if v, ok := w.events[path[len(path)-1]].(Verified); !ok || !v.OK || before.state != LinkProving || before.checks[0].frame.Type() != TypeHelloAck {
				w.t.Fatalf("%v: proven by it", w.name(path))
			}
			proven = true
		case Admit, Verify, Arm:
		default:
			if !proven {
				w.t.Fatalf("%v: %T before the proof", w.name(path), f)
			}
		}
	}
	if l.state == LinkClosed && before.state != LinkClosed && (len(out) == 0 || reflect.TypeOf(out[len(out)-1]) != reflect.TypeOf(Close{})) {
		w.t.Fatalf("%v: closed without an end", w.name(path))
	}
	if l.state < before.state {
		w.t.Fatalf("%v: from %v back to %v", w.name(path), before.state, l.state)
	}
	// There is a way out of every state, by itself: the drive's own answers and times lead to
	// the end.
	if l.state != LinkClosed {
		last, _ := w.replay(path)
		for _, e := range []Event{Verified{}, Admission{}, TimedOut{TimerHello}, TimedOut{TimerProof}, Stopping{Reason: GoodbyeShutdown}, TimedOut{TimerDrain}} {
			last.Step(e)
		}
		if last.state != LinkClosed {
			w.t.Fatalf("%v: no way out of %v", w.name(path), l.state)
		}
	}
}

func (w *walked) name(path []int) (list []string) {
	for _, i := range path {
		if r, ok := w.events[i].(Received); ok {
			list = append(list, r.Frame.Type().String())
			continue
		}
		list = append(list, strings.TrimPrefix(fmt.Sprintf("%T", w.events[i]), "wire."))
	}
	return list
}

// TestLinkUnderEveryOrder takes every order of up to six events, of both sides and of the drive,
// and on to nine where nothing new was met: no effect before its right, no state without a way
// out, and all states are met.
func TestLinkUnderEveryOrder(t *testing.T) {
	v, r := met(t)
	sent := func(s *side, typ FrameType) Event {
		for _, e := range took[Send](s) {
			if e.Frame.Type() == typ {
				return Received{Frame: e.Frame, Millis: 1}
			}
		}
		t.Fatalf("%v was not sent", typ)
		return nil
	}
	assignment := pinFrames()["job_assignment"].(*JobAssignment)
	common := []Event{
		Opened{},
		Verified{OK: true},
		Verified{},
		TimedOut{TimerProof},
		Stopping{Reason: GoodbyeShutdown},
		Lost{},
		Received{Frame: &Goodbye{Reason: GoodbyeShutdown}},
		StreamEnded{1},
		TimedOut{TimerDrain},
	}
	for _, w := range []*walked{
		{self: testValidator, events: append([]Event{
			sent(r, TypeHello),
			Admission{OK: true},
			Admission{Refuse: GoodbyeNotInSubset},
			sent(r, TypeHelloAck), sent(r, TypePing),
			Received{Frame: &Goodbye{Signature: make([]byte, RunnerSignatureBytes)}},
			Received{Frame: &Backpressure{}},
			Push{Stream: 1, Assignment: assignment, Several: true},
			Cancel{Stream: 1},
			AckOverdue{1},
			Received{Stream: 1, Frame: &JobAck{JobID: assignment.JobID, AssignmentHash: assignment.Hash}},
			Received{Stream: 1, Frame: &JobResultCommit{JobID: assignment.JobID}},
			Received{Stream: 1, Frame: &JobResult{JobID: assignment.JobID}},
		}, common...)},
		{self: testRunner, events: append([]Event{
			sent(v, TypeHello), sent(v, TypeHelloAck), sent(v, TypePong),
			NewHeight{200, 5000},
			Capacity{Max: 1, Accepting: true},
			Received{Frame: &Goodbye{Signature: make([]byte, ValidatorSignatureBytes)}},
			Received{Stream: 1, Frame: assignment},
			Received{Stream: 1, Frame: &JobCancel{JobID: assignment.JobID, AssignmentHash: assignment.Hash}},
			Answer{Stream: 1},
			Answer{Stream: 1, Status: AckReject},
			Say{Stream: 1, Frame: &JobProgress{JobID: assignment.JobID}},
		}, common...)},
	} {
		w.t, w.seen, w.states, w.kinds = t, map[string]bool{}, map[LinkState]bool{}, map[string]bool{}
		w.walk(nil, 9)
		for s := LinkGreeting; s <= LinkClosed; s++ {
			if validator := w.self.Role == chain.RoleValidator; w.states[s] == (s == LinkGreeting && validator || s == LinkAdmission && !validator) {
				t.Errorf("role %d: state %v met is %v", w.self.Role, s, w.states[s])
			}
		}
		want := strings.Fields("Acknowledged Admit Arm Close Forward Leaving OpenStream Present Proven ResetStream Send Silent Verify")
		if w.self.Role == chain.RoleRunner {
			want = strings.Fields("Arm Assigned Cancelled Close FinishStream Leaving Proven ResetStream Send Verify")
		}
		if got := slices.Sorted(maps.Keys(w.kinds)); !slices.Equal(got, want) {
			t.Errorf("role %d: effects met are %v, want %v", w.self.Role, got, want)
		}
		t.Logf("role %d: %d sessions that can go on differently", w.self.Role, len(w.seen))
	}
}
