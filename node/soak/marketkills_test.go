package soak

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

var (
	marketJobs  = flag.Int("market-jobs", 0, "how many jobs TestMarketUnderKills plays; 0 leaves it out")
	marketKills = flag.Duration("market-kill-every", 20*time.Second, "how often TestMarketUnderKills kills a validator")
)

const (
	killedFor    = 4 * time.Second
	stallAfter   = 90 * time.Second // without a job that ends
	progressTick = 10 * time.Second
)

// shortenMarket lets a runner take many jobs from the beginning, and come back soon.
func shortenMarket(p *params.Params) {
	p.Job.RequirePrice = true // as CIP-2 §3 and real chains have it
	p.Runner.ProbationSuccesses, p.Runner.ReturnBlocks = 0, 20
}

// TestMarketUnderKills plays a runner market on four validators, one of which is killed every
// twenty seconds, the next one each time. Fifty runners by script do the jobs, some of them
// badly, beside transfers; halfway a fifth node joins by a snapshot. At the end every job is
// over, money adds up, all nodes have the same roots, and each store is what re-execution
// arrives at.
func TestMarketUnderKills(t *testing.T) {
	if *marketJobs == 0 {
		t.Skip("kills real processes for minutes: runs in make soak-market-kills")
	}
	began := time.Now()
	s := newPatientSet(t, 4, timing{block: 250 * time.Millisecond, patience: 500 * time.Millisecond, change: shortenMarket}, false, "--checkpoint-blocks=25")
	o := &operator{T: t, set: s, play: newMarketPlay(*marketJobs), warnings: map[string]int{}}
	for i, p := range s.procs {
		o.play.board.set(i, p.rpc)
	}
	var treasury rpc.AccountReply
	if _, err := get(t.Context(), s.procs[0].rpc+"/account/"+chain.AddrTreasury.String(), &treasury); err != nil {
		t.Fatal(err)
	}
	o.treasuryBefore = treasury.Balance
	o.operate()
	t.Logf("all jobs are over after %v: %v; %d kills, back at the head after %v", time.Since(began).Round(time.Second), &o.play.shown, o.kills, o.backAfter)
	t.Logf("failed receipts: %v", o.play.failed)
	t.Logf("refused by nodes: %v; sent again because no block had it in %v: %d", o.play.refused, resendAfter, o.play.again)
	t.Logf("jobs by kind and end: %s; %d had a second attempt", o.play.ends(), o.play.retried())
	o.checkEnds()
	head := o.level()
	o.checkBooks(head)
	for i, p := range s.procs {
		p.stop(t)
		o.readLog(i)
	}
	t.Logf("warnings of the nodes: %v", o.warnings)
	equalStores(t, s.folders()...)
	market := o.verifyAll(append(s.folders(), datadir.FullNodeFolder(s.dir, 0)))
	if len(slices.Compact(slices.Sorted(slices.Values(market)))) != 1 || !strings.Contains(market[0], fmt.Sprintf("stakes of %d runners", numRunners)) {
		t.Errorf("the books of the stores: %q", market)
	}
	t.Logf("%d jobs, %d kills, %d blocks, %d transactions in %v", len(o.play.over), o.kills, head, o.play.final, time.Since(began).Round(time.Second))
}

// verifyAll runs cowboyd verify on stopped nodes, side by side, and returns what it says of
// the market's books in each.
func (o *operator) verifyAll(folders []string) []string {
	market := make([]string, len(folders))
	o.Run("verify", func(t *testing.T) {
		for i, folder := range folders {
			t.Run(fmt.Sprint("node ", i), func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				out := verifyChain(t, o.set.bin, folder)
				t.Logf("in %v: %s", time.Since(began).Round(time.Second), out)
				_, market[i], _ = strings.Cut(out, "\n")
			})
		}
	})
	return market
}

// operator kills and starts validators, and has a node join, while the market is played.
type operator struct {
	*testing.T
	set  *validatorSet
	play *marketPlay

	kills     int
	victim    int // of the last kill
	killedAt  time.Time
	state     victimState
	goal      uint64 // height that the victim has to reach
	backAfter []time.Duration
	joined    bool

	treasuryBefore chain.Wei
	warnings       map[string]int // lines of the nodes, by message
}

type victimState int

const (
	victimLevel  victimState = iota // it is up, and at the head
	victimAway                      // it was killed
	victimBehind                    // it was started again
)

// operate returns when the market is over.
func (o *operator) operate() {
	o.Helper()
	ctx, cancel := context.WithCancelCause(o.Context())
	done := make(chan error, 1)
	go func() {
		err := o.play.prepare(ctx)
		if err == nil {
			err = o.play.play(ctx)
		}
		done <- err
	}()
	defer cancel(errors.New("the test has ended"))
	o.killedAt = time.Now()
	shown, moved, last := time.Now(), time.Now(), 0
	for {
		select {
		case err := <-done:
			if err != nil {
				o.Fatal(err)
			}
			for o.state != victimLevel {
				o.attend()
				time.Sleep(100 * time.Millisecond)
			}
			if !o.joined {
				o.join()
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
		o.attend()
		if over := o.play.progress(); over != last {
			last, moved = over, time.Now()
		}
		if time.Since(shown) >= progressTick {
			shown = time.Now()
			o.Logf("%v; %d kills", &o.play.shown, o.kills)
		}
		if time.Since(moved) > stallAfter {
			cancel(errors.New("nothing moves"))
			<-done
			o.stalled()
		}
	}
}

// stalled ends the test with what can be said; the last lines of the nodes follow.
func (o *operator) stalled() {
	o.Helper()
	for i, p := range o.set.procs {
		h, err := height(p.rpc)
		o.Logf("node %d: height %d, %v", i, h, err)
	}
	for _, s := range o.play.senders {
		if len(s.queue) > 0 {
			first := s.queue[0]
			o.Logf("%s has %d transactions that wait, the first is %s with nonce %d: %s", s.addr, len(s.queue), first.what, s.next, first.refusal)
		}
	}
	o.Fatalf("nothing has moved for %v: %v; the oldest job waits: %s; refused %v; failed %v",
		stallAfter, &o.play.shown, o.play.shown.waits, o.play.refused, o.play.failed)
}

// attend does what is due: one validator at a time is away or behind, so that the others have
// a quorum.
func (o *operator) attend() {
	o.Helper()
	for i, p := range o.set.procs {
		select {
		case <-p.exited:
			if o.state != victimAway || i != o.victim {
				o.Fatalf("node %d has ended by itself: %v", i, p.err)
			}
		default:
		}
	}
	switch since := time.Since(o.killedAt); o.state {
	case victimAway:
		if since < killedFor {
			return
		}
		o.set.start(o.T, o.victim)
		o.play.board.set(o.victim, o.set.procs[o.victim].rpc)
		o.goal = o.set.height(o.T, (o.victim+1)%4)
		o.state = victimBehind
	case victimBehind:
		if h, err := height(o.set.procs[o.victim].rpc); err == nil && h >= o.goal {
			o.backAfter = append(o.backAfter, (since - killedFor).Round(100*time.Millisecond))
			o.state = victimLevel
		} else if since > patience {
			o.Fatalf("validator %d is at height %d %v after its kill, the others had %d (%v)", o.victim, h, since, o.goal, err)
		}
	case victimLevel:
		if o.play.half() && !o.joined {
			o.join()
		}
		if since < *marketKills {
			return
		}
		o.victim = o.kills % 4
		o.kills++
		o.killedAt, o.state = time.Now(), victimAway
		o.set.procs[o.victim].kill()
		o.readLog(o.victim)
	}
}

var logLine = regexp.MustCompile(`level=(WARN|ERROR) msg=("[^"]*"|\S+)`)

// readLog goes through what a node that has ended said: none says that something is broken.
func (o *operator) readLog(i int) {
	o.Helper()
	for line := range strings.Lines(o.set.procs[i].stderr.String()) {
		m := logLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		o.warnings[m[2]]++
		if m[1] == "ERROR" {
			o.Errorf("node %d: %s", i, line)
		}
	}
}

// join starts a fifth node with an empty folder, which begins with a snapshot.
func (o *operator) join() {
	o.Helper()
	o.joined = true
	began, head := time.Now(), o.set.height(o.T, 0)
	p := launch(o.T, o.set.bin, "--log-level=info", "run", "--sync", "--data", datadir.FullNodeFolder(o.set.dir, 0),
		"--rpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0", "--rpc-rate=0", "--p2p-addr=127.0.0.1:0")
	o.set.procs = append(o.set.procs, p)
	o.set.waitHeight(o.T, 4, head, patience)
	o.play.board.set(4, p.rpc)
	o.Logf("a fifth node joined at height %d in %v", head, time.Since(began).Round(100*time.Millisecond))
}

// level waits until all nodes have the same blocks, compares those that all have, and returns
// their height.
func (o *operator) level() (low uint64) {
	o.Helper()
	head := o.play.height
	for i := range o.set.procs {
		o.set.waitHeight(o.T, i, head, patience)
	}
	ctx, cancel := context.WithTimeout(o.Context(), 5*patience)
	defer cancel()
	var refusal struct{ Code int }
	if ok, err := get(ctx, o.set.procs[4].rpc+"/block/1", &refusal); ok || err != nil {
		o.Errorf("the fifth node has block 1: it executed the past (%v)", err)
	}
	first := firstBlock(ctx, o.T, o.set.procs[4].rpc, head)
	o.set.agreeFrom(ctx, o.T, first, head)
	o.Logf("blocks %d to %d have equal roots on all five", first, head)
	return head
}

// firstBlock is the first block that a node which began with a snapshot has.
func firstBlock(ctx context.Context, t *testing.T, url string, head uint64) uint64 {
	t.Helper()
	low, high := uint64(1), head // it lacks low and has high
	for high-low > 1 {
		var block struct{ Height uint64 }
		middle := (low + high) / 2
		ok, err := get(ctx, fmt.Sprintf("%s/block/%d", url, middle), &block)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// half reports whether half of the jobs are over.
func (m *marketPlay) half() bool {
	m.shown.mu.Lock()
	defer m.shown.mu.Unlock()
	return 2*m.shown.over >= m.total
}

// progress grows with jobs that are over, and before there are any with transactions.
func (m *marketPlay) progress() int {
	m.shown.mu.Lock()
	defer m.shown.mu.Unlock()
	if m.shown.asked == 0 || m.shown.over == m.total {
		return m.shown.txs
	}
	return m.shown.over
}

// checkEnds holds the market as a whole to what it was: most of it was well done.
func (o *operator) checkEnds() {
	o.Helper()
	m := o.play
	for _, fault := range m.faults[:min(len(m.faults), 20)] {
		o.Error(fault)
	}
	count := m.shown.outcomes
	if len(m.over) != m.total || count["ok"]+count["no_agreement"]+count["timeout"] != m.total || 10*count["ok"] < 9*m.total {
		o.Errorf("of %d jobs %d are over: %v", m.total, len(m.over), count)
	}
}

// retried counts the jobs that had more than one attempt.
func (m *marketPlay) retried() (n int) {
	for _, t := range m.over {
		if t.job.Attempt > 0 {
			n++
		}
	}
	return n
}

// ends counts jobs by kind and outcome.
func (m *marketPlay) ends() string {
	count := map[string]int{}
	for _, t := range m.over {
		count[t.kind.name+" "+t.job.Outcome]++
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		list = append(list, fmt.Sprintf("%d %s", count[name], name))
	}
	return strings.Join(list, ", ")
}
