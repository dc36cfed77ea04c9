package cluster

import (
	"errors"
	"os/exec"
	"testing"
)

// A validator that is killed in its first moments is started again; one that
// gives up then ends the devnet, or it would be started for ever.
func TestSignalled(t *testing.T) {
	f := func(rule, script string, want bool) {
		t.Helper()
		if err := exec.Command("sh", "-c", script).Run(); signalled(err) != want {
			t.Errorf("%s: %v: got %v", rule, err, !want)
		}
	}
	f("killed", "kill -9 $$", true)
	f("terminated", "exit 143", true)
	f("gave up", "exit 1", false)
	if signalled(errors.New("start: no such file")) || signalled(nil) {
		t.Error("an error that is no exit counts as a signal")
	}
}
