package soak

import (
	"context"
	"flag"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/datadir"
)

var (
	awayBlocks  = flag.Uint64("away-blocks", 100, "how many blocks a validator misses in TestAwayValidatorCatchesUp")
	devnetFor   = flag.Duration("devnet-for", 4*time.Second, "how long TestDevnetUnderLoad runs")
	devnetKills = flag.Duration("devnet-kill-every", 2*time.Second, "time between the kills of TestDevnetUnderLoad")
)

// TestAwayValidatorCatchesUp leaves a validator out for many blocks of the least
// block time. It comes back and catches up while the others go on, and so does a
// full node that has only certificates and blocks to follow.
func TestAwayValidatorCatchesUp(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	s := newPatientSet(t, 4, timing{block: time.Millisecond, patience: 60 * time.Millisecond}, false) // the views that the missing one leads are short
	s.waitHeight(t, 0, 3, patience)
	s.procs[3].kill()
	left := s.height(t, 0)
	began := time.Now()
	for last := left; last < left+*awayBlocks; last = s.height(t, 0) {
		s.waitHeight(t, 0, min(last+50, left+*awayBlocks), time.Minute)
	}
	pace := time.Since(began)
	back := s.height(t, 0)
	began = time.Now()
	s.start(t, 3)
	target, stretches := back, 0
	for { // the others move on meanwhile: it is there when it meets them
		s.waitHeight(t, 3, target, 5*time.Minute)
		now := s.height(t, 0)
		if h := s.height(t, 3); h+5 >= now || stretches > 50 {
			break
		}
		target, stretches = now, stretches+1
	}
	caught := time.Since(began)
	if now := s.height(t, 0); now <= back {
		t.Errorf("the others stood still at %d while it caught up", now)
	}
	t.Logf("away for %d blocks (made in %v), caught up in %v while the others went from %d to %d", back-left, pace, caught, back, s.height(t, 0))

	began = time.Now()
	full := launch(t, s.bin, "--log-level=info", "run", "--data", datadir.FullNodeFolder(s.dir, 0),
		"--rpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0", "--rpc-rate=0", "--p2p-addr=127.0.0.1:0")
	s.procs = append(s.procs, full)
	now := s.height(t, 0)
	s.waitHeight(t, 4, now, 5*time.Minute)
	t.Logf("a full node followed %d blocks in %v", now, time.Since(began))
	for _, p := range s.procs {
		p.stop(t)
	}
	equalStores(t, append(s.folders(), datadir.FullNodeFolder(s.dir, 0))...)
}

var startedLine = regexp.MustCompile(`validator started" name=validator-(\d) pid=(\d+)`)

// TestDevnetUnderLoad runs the newcomer's command under load, and kills one of
// the four processes again and again; the command starts it anew. The chain goes
// on all the time, and in the end all stores are the same, and have every
// transaction that a node took exactly once.
func TestDevnetUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes: left out of -short runs, runs in make test")
	}
	bin, dir := buildBinary(t), t.TempDir()
	net := startDevnet(t, bin, dir, "--block-time=100ms")
	urls, log := net.rpcs, &net.log
	for _, url := range urls {
		waitFor(t, url, 3, log)
	}
	seen, seenByVictims := &witness{}, &witness{}
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	load.Go(func() {
		for ctx.Err() == nil {
			seen.load(ctx, urls[0], 0)
			_ = sleepCtx(ctx, 100*time.Millisecond)
		}
	})
	load.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			seenByVictims.load(ctx, urls[1+i%3], 1) // until it dies
			_ = sleepCtx(ctx, 100*time.Millisecond)
		}
	})
	kills := 0
	for end := time.Now().Add(*devnetFor); time.Now().Before(end); kills++ {
		h, err := height(urls[0])
		if err != nil {
			t.Fatal(err)
		}
		victim := 1 + kills%3
		pid := ""
		for _, m := range startedLine.FindAllStringSubmatch(log.String(), -1) {
			if m[1] == strconv.Itoa(victim) {
				pid = m[2] // the newest
			}
		}
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatalf("no process id of validator %d in the log:\n%s", victim, log)
		}
		if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		time.Sleep(*devnetKills)
		waitFor(t, urls[0], h+2, log)
		waitFor(t, urls[victim], h+2, log) // it is back
	}
	seen.waitForReceipt(t)
	seenByVictims.waitForReceipt(t)
	cancel()
	load.Wait()
	// What validator 0 took is final without a word more; it was never killed. A
	// pool dies with its process, so what the others took may need its sender again.
	seen.settle(t, urls[0], false)
	resent := seenByVictims.settle(t, urls[0], true)
	h, err := height(urls[0])
	if err != nil {
		t.Fatal(err)
	}
	// What was on its way when the load ended was taken without anybody hearing of it: it
	// is in the next blocks, and one validator may stop a block before the others.
	for _, url := range urls {
		waitFor(t, url, h+5, log)
	}
	net.stop(t)
	var folders []string
	for i := range 4 {
		folders = append(folders, datadir.DealtFolder(dir, i))
		t.Logf("validator %d: %s", i, verifyChain(t, bin, folders[i]))
	}
	equalStores(t, folders...)
	t.Logf("%d kills, height %d", kills, h)
	t.Logf("taken by validator 0: %v", seen.fates(t, folders))
	t.Logf("taken by those that were killed: %v; %d sent again at the end", seenByVictims.fates(t, folders), resent)
}
