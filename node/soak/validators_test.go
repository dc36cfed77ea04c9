package soak

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/porttest"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

var (
	validators = flag.Int("validators", 4, "how many validators the committee tests run")
	committee  = flag.Int("committee-kills", 1, "how often TestCommitteeSurvivesKills kills one")
	blockTime  = flag.Duration("overhead-block", 20*time.Millisecond, "block time of TestFinalityOverhead")
	overhead   = flag.Duration("overhead-for", time.Second, "how long TestFinalityOverhead measures at least")
)

// validatorSet is a chain of several validators, each a process behind a relay.
type validatorSet struct {
	bin, dir string
	args     []string // of every validator
	relays   []*relay // in front of each validator's p2p port; none on a clean loopback
	p2p      []string
	procs    []*process
	liars    map[int]string // kinds of lies, by validator
}

// newValidatorSet deals the keys of n validators whose views are short, so that a
// dead leader costs a test little.
func newValidatorSet(t *testing.T, n int, block time.Duration, relayed bool, args ...string) *validatorSet {
	t.Helper()
	return newPatientSet(t, n, timing{block: block, patience: 400 * time.Millisecond}, relayed, args...)
}

// timing is the block time, and the time that a leader has beyond it, with what else the
// genesis has other than a devnet's.
type timing struct {
	block, patience time.Duration
	shards          bool // any transaction makes a block go as shards
	change          func(*params.Params)
}

// newPatientSet does so with timers of its own.
func newPatientSet(t *testing.T, n int, times timing, relayed bool, args ...string) *validatorSet {
	t.Helper()
	s := newDealtSet(t, n, times, relayed, args...)
	for i := range n {
		s.start(t, i)
	}
	return s
}

// newDealtSet deals the keys and starts nothing yet.
func newDealtSet(t *testing.T, n int, times timing, relayed bool, args ...string) *validatorSet {
	t.Helper()
	g := genesis.DevnetTemplate()
	ms, patience := uint64(times.block.Milliseconds()), uint64(times.patience.Milliseconds())
	g.Params.BlockTimeMillis = ms
	g.Params.LeaderTimeoutMillis = ms + patience
	g.Params.CertificationTimeoutMillis = ms + 2*patience
	g.Params.NullifyRetryMillis = 500
	if relayed || times.shards {
		g.Params.MaxWholeBytes = 1 // any transaction makes a block go as shards
	}
	if times.change != nil {
		times.change(&g.Params)
	}
	raw, err := g.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	template := filepath.Join(t.TempDir(), "template.json")
	if err := os.WriteFile(template, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	s := &validatorSet{args: args, bin: buildBinary(t), dir: t.TempDir()}
	dealt, err := setup.Deal(s.dir, setup.DealOptions{Validators: n, FullNodes: 1, DevnetOptions: setup.DevnetOptions{GenesisFile: template}})
	if err != nil {
		t.Fatal(err)
	}
	var addresses []string
	s.p2p = porttest.UDP(t, n)
	for i := range n {
		addresses = append(addresses, s.p2p[i])
		if relayed {
			s.relays = append(s.relays, newRelay(t, s.p2p[i], uint64(i)))
			addresses[i] = s.relays[i].addr()
		}
	}
	if err := setup.WriteDealtPeers(s.dir, dealt, addresses); err != nil {
		t.Fatal(err)
	}
	s.procs = make([]*process, n)
	t.Cleanup(func() {
		for i, p := range s.procs {
			if p == nil {
				continue
			}
			if p.kill(); t.Failed() {
				t.Logf("validator %d:\n%s", i, tail(p.stderr.String(), 4000))
			}
		}
	})
	return s
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// stages returns a line for each stage of validator 0: how often, how long on
// average, and below what time half of them were.
func (s *validatorSet) stages(t *testing.T) (lines []string) {
	t.Helper()
	resp, err := http.Get(s.procs[0].admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	const series = "cowboy_stage_seconds_"
	medians := map[string]float64{}
	counts, sums := map[string]float64{}, map[string]float64{}
	text := bufio.NewScanner(resp.Body)
	var buckets [][3]string // stage, bound, count: ascending, before the count of all
	for text.Scan() {
		var value float64
		line := strings.TrimPrefix(text.Text(), series)
		if line == text.Text() {
			continue
		}
		kind, rest, _ := strings.Cut(line, "{")
		labels, number, _ := strings.Cut(rest, "} ")
		if _, err := fmt.Sscan(number, &value); err != nil {
			t.Fatalf("%s: %v", text.Text(), err)
		}
		quoted := strings.Split(labels, "\"") // stage="…" or stage="…",le="…"
		switch stage := quoted[1]; kind {
		case "bucket":
			buckets = append(buckets, [3]string{stage, quoted[3], number})
		case "sum":
			sums[stage] = value
		case "count":
			counts[stage] = value
		}
	}
	for _, b := range slices.Backward(buckets) {
		var bound, n float64
		if _, err := fmt.Sscan(b[1], &bound); err != nil {
			bound = math.Inf(1)
		}
		if _, err := fmt.Sscan(b[2], &n); err != nil {
			t.Fatal(err)
		}
		if 2*n >= counts[b[0]] {
			medians[b[0]] = bound
		}
	}
	for stage, n := range counts {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("%-26s %6.0f times, mean %7.2f ms, half below %7.2f ms", stage, n, 1e3*sums[stage]/n, 1e3*medians[stage]))
		}
	}
	slices.Sort(lines)
	return lines
}

func (s *validatorSet) folder(i int) string { return datadir.DealtFolder(s.dir, i) }

// start runs validator i, which tells others the address of its relay.
func (s *validatorSet) start(t *testing.T, i int) {
	t.Helper()
	tell := s.p2p[i]
	if s.relays != nil {
		tell = s.relays[i].addr()
	}
	args := append([]string{
		"--log-level=info", "run", "--data", s.folder(i),
		"--rpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0", "--rpc-rate=0", "--p2p-addr=" + s.p2p[i], "--p2p-advertise=" + tell,
	}, s.args...)
	if kind := s.liars[i]; kind != "" {
		args = append(args, "--byzantine", kind)
	}
	s.procs[i] = launch(t, s.bin, args...)
}

func height(url string) (uint64, error) {
	var h rpc.HeightReply
	_, err := get(context.Background(), url+"/height", &h)
	return h.Height, err
}

// waitHeight returns when validator i has reached the height.
func (s *validatorSet) waitHeight(t *testing.T, i int, want uint64, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		h, err := height(s.procs[i].rpc)
		if err == nil && h >= want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("validator %d is at height %d (%v), not at %d after %v", i, h, err, want, within)
		}
	}
}

// load sends transfers to validator i until ctx ends, and counts those that
// became final. The validator may come and go.
func (s *validatorSet) load(ctx context.Context, i int, seen *witness) {
	for ctx.Err() == nil {
		seen.load(ctx, s.procs[i].rpc, i%len(setup.DevAccounts()))
		_ = sleepCtx(ctx, 100*time.Millisecond)
	}
}

func sleepCtx(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// agree compares every block of every validator, up to the lowest head.
func (s *validatorSet) agree(t *testing.T) uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	low := ^uint64(0)
	for i, p := range s.procs {
		h, err := height(p.rpc)
		if err != nil {
			t.Fatalf("validator %d: %v", i, err)
		}
		low = min(low, h)
	}
	return s.agreeFrom(ctx, t, 1, low)
}

// agreeFrom compares the blocks from one height to another.
func (s *validatorSet) agreeFrom(ctx context.Context, t *testing.T, first, low uint64) uint64 {
	t.Helper()
	for h := first; h <= low; h++ {
		var want rpc.BlockReply
		for i, p := range s.procs {
			var got rpc.BlockReply
			if ok, err := get(ctx, fmt.Sprintf("%s/block/%d", p.rpc, h), &got); err != nil || !ok {
				t.Fatalf("validator %d has no block %d (%v)", i, h, err)
			}
			if i == 0 {
				want = got
			} else if got.Hash != want.Hash || got.StateRoot != want.StateRoot {
				t.Fatalf("block %d: validator %d has %s with state %s, validator 0 has %s with state %s",
					h, i, got.Hash, got.StateRoot, want.Hash, want.StateRoot)
			}
		}
	}
	return low
}

// folders are those of the validators.
func (s *validatorSet) folders() (out []string) {
	for i := range s.p2p {
		out = append(out, s.folder(i))
	}
	return out
}

// counter reads a counter of validator i.
func (s *validatorSet) counter(t *testing.T, i int, name string) (value float64) {
	t.Helper()
	resp, err := http.Get(s.procs[i].admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for text := bufio.NewScanner(resp.Body); text.Scan(); {
		if _, err := fmt.Sscanf(text.Text(), name+" %g", &value); err == nil {
			return value
		}
	}
	t.Fatalf("validator %d has no counter %s", i, name)
	return 0
}

func (s *validatorSet) height(t *testing.T, i int) uint64 {
	t.Helper()
	h, err := height(s.procs[i].rpc)
	if err != nil {
		t.Fatalf("validator %d: %v", i, err)
	}
	return h
}

// standsStill waits until the height of validator i has stood for a second. What was under
// way when the quorum was lost may still become final, and no more.
func (s *validatorSet) standsStill(t *testing.T, i int) uint64 {
	t.Helper()
	const underWay = 20
	first := s.height(t, i)
	last, since := first, time.Now()
	for time.Since(since) < time.Second {
		time.Sleep(20 * time.Millisecond)
		now := s.height(t, i)
		if now > first+underWay {
			t.Fatalf("height went from %d to %d without a quorum", first, now)
		}
		if now != last {
			last, since = now, time.Now()
		}
	}
	return last
}
