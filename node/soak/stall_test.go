package soak

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

var stallFor = flag.Duration("stall-for", 3*time.Second, "how long TestMemoryWhileNothingIsFinal keeps four validators from finality; make soak-stall takes longer")

// stallMemory is what a validator may take beyond what it took while blocks were final.
const stallMemory = 1 << 30

// stalls are ways to keep a committee of four from finality, one of them a liar.
var stalls = []struct {
	name    string
	lie     string
	args    []string
	relayed bool
	moves   bool // views go on
	begin   func(t *testing.T, s *validatorSet)
	end     func(t *testing.T, s *validatorSet)
}{
	{
		name: "one is killed", lie: "invalid-signer", // whose signatures are worth nothing
		begin: func(_ *testing.T, s *validatorSet) { s.procs[stalledAway].kill() },
		end:   func(t *testing.T, s *validatorSet) { s.start(t, stalledAway) },
	},
	{
		// Each block comes when the others have given its view up, and no wait grows: the
		// honest nullify view after view, the liar spoils the shards of its blocks.
		name: "blocks come too late", lie: "bad-shards", args: []string{"--timeout-max=1ms"}, relayed: true, moves: true,
		begin: func(_ *testing.T, s *validatorSet) { s.impair(impairment{delay: 250 * time.Millisecond}) },
		end:   func(_ *testing.T, s *validatorSet) { s.impair(impairment{}) },
	},
}

// stalledAway is who is killed, stalledLiar who lies; the others have clients.
const (
	stalledLiar = 2
	stalledAway = 3
)

// impair sets what all packets suffer.
func (s *validatorSet) impair(i impairment) {
	for _, r := range s.relays {
		r.set(i)
	}
}

// TestMemoryWhileNothingIsFinal keeps committees of four processes from finality, while
// clients go on sending, with views that stand and with views that go on. Honest ones
// stay within a gigabyte of what they took before, and blocks become final again when
// the cause is gone.
func TestMemoryWhileNothingIsFinal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	t.Parallel()
	for _, c := range stalls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const honest = 2
			s := newDealtSet(t, 4, timing{block: 50 * time.Millisecond, patience: 100 * time.Millisecond}, c.relayed, c.args...)
			s.liars = map[int]string{stalledLiar: c.lie}
			for i := range s.procs {
				s.start(t, i)
			}
			s.waitHeight(t, 0, 20, patience)
			ctx, cancel := context.WithCancel(t.Context())
			var loading sync.WaitGroup
			for i := range honest {
				loading.Go(func() { s.load(ctx, i, &witness{accepted: map[string]sent{}}) })
			}
			defer loading.Wait()
			defer cancel()
			time.Sleep(2 * time.Second)
			var idle, most [honest]int64
			for i := range idle {
				idle[i] = resident(t, s.procs[i].cmd.Process.Pid)
			}
			c.begin(t, s)
			stood, view := s.standsStill(t, 0), s.view(t, 0)
			enough := max(1, uint64(stallFor.Seconds()/5)) // views
			moved := func() bool { return !c.moves || s.view(t, 0) >= view+enough }
			for begun := time.Now(); time.Since(begun) < *stallFor || !moved() && time.Since(begun) < patience+*stallFor; time.Sleep(200 * time.Millisecond) {
				for i := range most {
					most[i] = max(most[i], resident(t, s.procs[i].cmd.Process.Pid))
				}
			}
			views := s.view(t, 0) - view
			if h := s.height(t, 0); h > stood+1 {
				t.Errorf("blocks %d to %d became final", stood+1, h)
			}
			if c.moves && views < enough {
				t.Errorf("%d views in %v, want at least %d", views, *stallFor, enough)
			}
			for i := range most {
				t.Logf("validator %d: %d MiB while blocks were final, %d MiB at most in %v without, %d views", i, idle[i]>>20, most[i]>>20, *stallFor, views)
				if most[i] > idle[i]+stallMemory {
					t.Errorf("validator %d took %d bytes beyond idle, at most %d are allowed", i, most[i]-idle[i], int64(stallMemory))
				}
			}
			c.end(t, s)
			s.waitHeight(t, 0, stood+20, patience+*stallFor)
		})
	}
}

// view is the view that validator i is in.
func (s *validatorSet) view(t *testing.T, i int) uint64 {
	t.Helper()
	return uint64(sum(t, []string{s.procs[i].admin + "/metrics"}, "cowboy_view"))
}

// resident is the memory of a process that is in use, as proc(5) has it in its status.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(status), "VmRSS:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil || !found {
		t.Fatalf("resident memory of process %d: %v", pid, err)
	}
	return kib << 10
}
