package simnode

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	seedCount = flag.Uint64("seeds", 1, "number of seeds that TestNodes plays")
	firstSeed = flag.Uint64("first", 3, "the first of them")
	oneSeed   = flag.Uint64("seed", 0, "play this seed only")
	times     = flag.Int("times", 1, "how often each seed is played")
	keepIn    = flag.String("traces", os.TempDir(), "folder for the traces of runs that fail")
	liars     = flag.String("liars", "", "kinds of liars in place of those of the seed, with commas")
	guests    = flag.String("guests", "", "kinds of guests in place of those of the seed, with commas")
	slowDisk  = flag.Duration("slow-disk", 0, "a sync of the first machine takes up to this long")
	tell      = flag.Bool("report", false, "print what happened, not only with -v")
)

// TestNodes plays seeds -first to -first+-seeds-1 and checks every invariant of
// the package. A failure names the command that plays its seed again, and its
// trace.
func TestNodes(t *testing.T) {
	first, last := *firstSeed, *firstSeed+*seedCount-1
	switch {
	case *oneSeed != 0:
		first, last = *oneSeed, *oneSeed
	case testing.Short():
		last = first
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // one heap for all machines: memory for time
	s := &summary{first: first, last: last, states: map[string]int{}, lies: map[string]int{}}
	began, cpu := time.Now(), cpuTime()
	for seed := first; seed <= last; seed++ {
		for round := range *times {
			t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { playSeed(t, s, seed, round) })
		}
	}
	var out strings.Builder
	s.print(&out, time.Since(began), cpuTime()-cpu)
	t.Log("\n" + out.String())
	if *tell && !testing.Verbose() {
		_, _ = io.WriteString(os.Stdout, out.String())
	}
	if s.runs >= 40 {
		for _, name := range mustReach {
			if s.states[name] == 0 {
				t.Errorf("never happened: %s; the simulation does not test what it should", name)
			}
		}
	}
}

func playSeed(t *testing.T, s *summary, seed uint64, round int) {
	plan := Draw(seed)
	if *liars != "" {
		plan.Liars, plan.Withheld = strings.Split(*liars, ","), 0
		plan.Validators = max(plan.Validators, 3*len(plan.Liars)+1)
	}
	if *guests != "" {
		plan.Guests = strings.Split(*guests, ",")
	}
	if *slowDisk > 0 {
		plan.SlowDisk = *slowDisk
	}
	r, err := Play(t, plan)
	s.add(plan, &r, err)
	if err == nil && plan.Withheld > 0 && r.FullMost < 0.9 {
		err = fmt.Errorf("hoarders filled %.0f %% of the budget of blocks only: it is not tested", 100*r.FullMost)
	}
	if err == nil {
		t.Logf("%v: %d blocks in %d views, %d lives, level %d views after the faults, %d transfers", plan, r.Blocks, r.Views, r.Lives, r.Healed, r.Transfers)
		return
	}
	name := filepath.Join(*keepIn, fmt.Sprintf("nodes-seed-%d-%d.trace", seed, round))
	if kept := r.WriteTrace(name); kept != nil {
		name = kept.Error()
	}
	t.Errorf("%v\n%v\ntrace: %s\nplay again: make sim-nodes SEED=%d TIMES=10", err, plan, name, seed)
}

// summary is what many runs came to.
type summary struct {
	first, last  uint64
	runs, failed int
	hours        float64
	lives        int
	blocks       uint64
	views        uint64
	healed       []uint64
	packets      packetCounts
	states, lies map[string]int
	sevens       int
	inbox, held  int64
	guest        int64
	full         float64
}

func (s *summary) add(plan Plan, r *Report, err error) {
	s.runs++
	if err != nil {
		s.failed++
	}
	s.hours += r.Hours
	s.lives += r.Lives
	s.blocks += uint64(r.Blocks)
	s.views += uint64(r.Views)
	s.healed = append(s.healed, uint64(r.Healed))
	s.packets.add(r.Packets)
	for name, n := range r.States {
		s.states[name] += n
	}
	for _, lie := range plan.Liars {
		s.lies[lie]++
	}
	s.inbox, s.held = max(s.inbox, r.InboxMax), max(s.held, r.BlocksMax)
	s.guest, s.full = max(s.guest, r.GuestBytes), max(s.full, r.FullMost)
	if plan.Validators == 7 {
		s.sevens++
	}
}

func (s *summary) print(w io.Writer, wall, cpu time.Duration) {
	fmt.Fprintf(w, "whole nodes, seeds %d to %d: %d runs, %d of seven validators, %d failed\n", s.first, s.last, s.runs, s.sevens, s.failed)
	fmt.Fprintf(w, "  %.2f validator-hours in %v, %v of one core: %.0f validator-hours an hour of one core\n",
		s.hours, wall.Round(time.Second), cpu.Round(time.Second), s.hours/cpu.Hours())
	fmt.Fprintf(w, "  %d blocks in %d views, %d lives of validators\n", s.blocks, s.views, s.lives)
	if slices.Sort(s.healed); len(s.healed) > 0 {
		fmt.Fprintf(w, "  views from the end of the faults until all are level: %d in the middle, %d at most, want %d\n",
			s.healed[len(s.healed)/2], s.healed[len(s.healed)-1], healViews)
	}
	fmt.Fprintf(w, "  most bytes in an inbox %d, of blocks %d, %.0f %% of the budget where hoarders fill it; of one validator to guests %d\n", s.inbox, s.held, 100*s.full, s.guest)
	p := s.packets
	fmt.Fprintf(w, "  packets: %d sent, %d lost, %d cut off, %d repeated, %d late, %d to nobody, %d too many\n", p.Sent, p.Lost, p.Cut, p.Repeated, p.Late, p.Nobody, p.Full)
	for _, counts := range []map[string]int{s.states, s.lies} {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
		}
		fmt.Fprintf(w, "  %s\n", strings.Join(parts, ", "))
	}
}

// cpuTime returns the processor time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
