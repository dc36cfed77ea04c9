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

var stallFor = flag.Duration("stall-for", 10*time.Second, "how long TestMemoryWhileNothingIsFinal keeps four validators from finality; make soak-stall takes longer")

// stallMemory is what a validator may take beyond what it took while blocks were final.
const stallMemory = 1 << 30

// TestMemoryWhileNothingIsFinal keeps a committee of four processes from finality: one is
// killed, one is a liar whose signatures are worth nothing, and clients go on sending.
// Honest ones stay within a gigabyte of what they took before, and go on when the killed
// one is back.
func TestMemoryWhileNothingIsFinal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	t.Parallel()
	const honest, liar, away = 2, 2, 3
	s := newDealtSet(t, 4, timing{block: 50 * time.Millisecond, patience: 100 * time.Millisecond}, false)
	s.liars = map[int]string{liar: "invalid-signer"}
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
	s.procs[away].kill()
	time.Sleep(time.Second) // what was under way is final, or will not be
	stood := s.height(t, 0)
	for end := time.Now().Add(*stallFor); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		for i := range most {
			most[i] = max(most[i], resident(t, s.procs[i].cmd.Process.Pid))
		}
	}
	if h := s.height(t, 0); h > stood+1 {
		t.Errorf("blocks %d to %d became final without a quorum", stood+1, h)
	}
	for i := range most {
		t.Logf("validator %d: %d MiB while blocks were final, %d MiB at most in %v without", i, idle[i]>>20, most[i]>>20, *stallFor)
		if most[i] > idle[i]+stallMemory {
			t.Errorf("validator %d took %d bytes beyond idle, at most %d are allowed", i, most[i]-idle[i], int64(stallMemory))
		}
	}
	s.start(t, away)
	s.waitHeight(t, 0, uint64(stood)+20, patience+*stallFor)
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
