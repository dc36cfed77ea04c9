package soak

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/porttest"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

var ownKeyRuns = flag.Int("own-key-runs", 0, "how often TestOwnKey plays each of its cases; 0: some of them once")

// otherLife is the exit code of a process that found another one with its key.
const otherLife = 10

// Another life of a validator's key, as operators make them: a folder copied before
// its first start, a clone, a restored disk with the chain running and standing, and
// a whole network restored. Two lives never both go on, a restored one does, and
// nobody is convicted (hostile.md 1.1).
func TestOwnKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		play func(*testing.T)
		long bool // not in the short form: TestLives of node/simnode and of consensus/engine play the like
	}{
		{"fresh folder copied", copiedFresh, true},
		{"clone at a height", cloned, false},
		{"restored, the chain running", restoredRunning, true},
		{"restored, the chain standing", restoredStanding, false},
		{"all four restored", restoredAll, false},
		{"two that start together", together, true},
	} {
		if c.long && *ownKeyRuns == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()                         // they listen most of the time
			for i := range max(1, *ownKeyRuns) { // each ends its processes and clears its folders
				t.Run(fmt.Sprint("run=", i+1), c.play)
			}
		})
	}
}

// victim is the validator whose key lives twice.
const victim = 3

func ownKeySet(t *testing.T, watchFor string) *validatorSet {
	s := dealtForOwnKey(t, watchFor)
	for i := range s.procs {
		s.start(t, i)
	}
	return s
}

func dealtForOwnKey(t *testing.T, watchFor string) *validatorSet {
	return newDealtSet(t, 4, timing{block: 200 * time.Millisecond, patience: 400 * time.Millisecond}, false, "--watch-for="+watchFor)
}

// twin starts a process on a copy of the victim's folder.
func (s *validatorSet) twin(t *testing.T, folder string) *process {
	t.Helper()
	address := porttest.UDP(t, 1)[0]
	p := launch(t, s.bin, append([]string{
		"--log-level=info", "run", "--data", folder,
		"--rpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0", "--rpc-rate=0", "--p2p-addr=" + address,
	}, s.args...)...)
	t.Cleanup(p.kill)
	return p
}

// copied copies the folder of a validator that does not run.
func (s *validatorSet) copied(t *testing.T, i int) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(s.folder(i))); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"keys.json"} { // CopyFS widens modes
		if err := os.Chmod(filepath.Join(to, secret), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// restore puts a copy back in the place of the folder.
func (s *validatorSet) restore(t *testing.T, i int, from string) {
	t.Helper()
	if err := os.RemoveAll(s.folder(i)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, s.folder(i)); err != nil {
		t.Fatal(err)
	}
}

// oneYields waits until one of two lives of the victim's key has stopped because of
// the other. It is the newcomer where it listens for long enough to hear of a new
// round; where the machine is slow the older one may hear of it first.
func (s *validatorSet) oneYields(t *testing.T, newcomer *process) {
	t.Helper()
	stopped := newcomer
	select {
	case <-newcomer.exited:
	case <-s.procs[victim].exited:
		stopped = s.procs[victim]
		t.Logf("the older life stopped:\n%s\nand the newcomer goes on:\n%s", tail(stopped.stderr.String(), 1500), tail(newcomer.stderr.String(), 1500))
	case <-time.After(patience):
		t.Fatalf("both lives go on\n%s", tail(newcomer.stderr.String(), 2000))
	}
	if stopped.code() != otherLife {
		t.Errorf("exit code %d, want %d\n%s", stopped.code(), otherLife, tail(stopped.stderr.String(), 2000))
	}
}

// innocent holds that the chain goes on, and that no validator has proof against
// another.
func (s *validatorSet) innocent(t *testing.T, from int) {
	t.Helper()
	s.waitHeight(t, from, s.height(t, from)+10, patience)
	for i, p := range s.procs {
		select {
		case <-p.exited:
			continue
		default:
		}
		var e rpc.EvidenceReply
		if _, err := get(context.Background(), p.rpc+"/evidence", &e); err != nil || len(e.Evidence) > 0 {
			t.Errorf("validator %d has proof of a double vote: %+v, %v", i, e, err)
		}
		if n := s.counter(t, i, "cowboy_evidence_total"); n != 0 {
			t.Errorf("validator %d saw %v double votes", i, n)
		}
	}
}

// votes waits until a validator votes.
func (s *validatorSet) votes(t *testing.T, i int) {
	t.Helper()
	var h rpc.HealthReply
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if ok, err := get(context.Background(), s.procs[i].rpc+"/health/ready", &h); ok && err == nil {
			return
		}
		if time.Now().After(end) {
			_, _ = get(context.Background(), s.procs[i].rpc+"/health", &h)
			t.Fatalf("validator %d does not vote after %v: %v", i, patience, h.Reasons)
		}
	}
}

func copiedFresh(t *testing.T) {
	s := dealtForOwnKey(t, "10s")
	fresh := s.copied(t, victim)
	for i := range s.procs {
		s.start(t, i)
	}
	s.waitHeight(t, victim, 5, patience)
	s.votes(t, victim)
	s.oneYields(t, s.twin(t, fresh))
	s.innocent(t, 0)
}

// together says what became of two lives that listen at the same time: how long is
// drawn, and the peers tell each of the other.
func together(t *testing.T) {
	s := dealtForOwnKey(t, "10s")
	fresh := s.copied(t, victim)
	for i := range s.procs {
		s.start(t, i)
	}
	s.oneYields(t, s.twin(t, fresh))
	s.innocent(t, 0)
}

func cloned(t *testing.T) {
	s := ownKeySet(t, "10s")
	s.waitHeight(t, 0, 5, patience)
	s.procs[victim].stop(t)
	clone := s.copied(t, victim)
	s.start(t, victim)
	s.votes(t, victim)
	s.oneYields(t, s.twin(t, clone))
	s.innocent(t, 0)
}

func restoredRunning(t *testing.T) {
	s := ownKeySet(t, "2s")
	s.waitHeight(t, 0, 5, patience)
	s.procs[victim].stop(t)
	old := s.copied(t, victim)
	s.start(t, victim)
	s.votes(t, victim)
	s.waitHeight(t, victim, s.height(t, 0)+10, patience)
	s.procs[victim].kill()
	s.restore(t, victim, old)
	s.start(t, victim)
	s.votes(t, victim)
	s.innocent(t, victim)
}

func restoredStanding(t *testing.T) {
	s := ownKeySet(t, "2s")
	s.waitHeight(t, 0, 5, patience)
	s.procs[victim].stop(t)
	old := s.copied(t, victim)
	s.start(t, victim)
	s.votes(t, victim)
	s.waitHeight(t, victim, s.height(t, 0)+10, patience)
	s.procs[1].kill()
	s.procs[victim].kill()
	s.standsStill(t, 0)
	s.restore(t, victim, old)
	s.start(t, victim)
	before := s.height(t, 0)
	for end := time.Now().Add(15 * time.Second); s.height(t, 0) < before+5; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Logf("the chain waits in a view that the restored life is silent in, for validator 1 to come back")
			break
		}
	}
	s.start(t, 1)
	s.votes(t, victim)
	s.innocent(t, victim)
}

func restoredAll(t *testing.T) {
	s := ownKeySet(t, "2s")
	s.waitHeight(t, 0, 5, patience)
	var old []string
	for i := range s.procs {
		s.procs[i].stop(t)
	}
	for i := range s.procs {
		old = append(old, s.copied(t, i))
	}
	for i := range s.procs {
		s.start(t, i)
	}
	s.waitHeight(t, 0, s.height(t, 0)+10, patience)
	for i := range s.procs {
		s.procs[i].kill()
	}
	for i := range s.procs {
		s.restore(t, i, old[i])
		s.start(t, i)
	}
	s.votes(t, victim)
	s.innocent(t, 0)
	s.agree(t)
}
