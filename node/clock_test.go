package node

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestClockReason(t *testing.T) {
	const drift = 5 * time.Second
	f := func(rule string, c clock, waits bool, want string) {
		t.Helper()
		c.drift = drift
		if got := c.reason(); c.waits() != waits || want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, waits %v; want %q, %v", rule, got, c.waits(), want, waits)
		}
	}
	f("all agree", clock{}, false, "")
	f("a proposal takes two seconds to come", clock{off: -2 * time.Second}, false, "")
	f("the head is at the edge of the drift for two clocks that differ a little", clock{behind: time.Second}, false, "")
	f("an hour slow at the start", clock{behind: time.Hour}, true, "for 3600 seconds more")
	f("three seconds slow", clock{off: 3 * time.Second}, false, "3 seconds behind those of most validators; from 5 on")
	f("an hour fast", clock{off: -time.Hour}, false, "3600 seconds ahead of those of most")
}

func TestAlarms(t *testing.T) {
	var text bytes.Buffer
	a := newAlarms(slog.New(slog.NewTextHandler(&text, nil)))
	a.clear(alarmClock) // nothing to say
	for range 100 {
		a.raise(alarmEvidence, "the disk is full")
		a.raise(alarmClock, "an hour slow")
	}
	if got := strings.Join(a.reasons(), ", "); got != "an hour slow, the disk is full" {
		t.Errorf("reasons %q", got)
	}
	a.clear(alarmClock)
	a.raise(alarmClock, "again")
	if on, raised := a.stateOf(alarmClock); !on || raised != 2 {
		t.Errorf("on %v, raised %d times", on, raised)
	}
	if on, raised := a.stateOf(alarmCheckpoints); on || raised != 0 {
		t.Error("an alarm that nobody raised")
	}
	if lines := strings.Count(text.String(), "\n"); lines != 4 {
		t.Errorf("%d lines for three alarms and one end: %s", lines, text.String())
	}
}
