package soak

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// TestCommitteeSurvivesKills runs validators under load over links that delay,
// lose and reorder. One after the other is killed, and another one's link cut
// for a second while it is away; a quorum of the others goes on, and the one that
// comes back catches up. At the end all stores are compared.
func TestCommitteeSurvivesKills(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes: left out of -short runs, runs in make test")
	}
	t.Parallel()
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 2))
	s := newValidatorSet(t, *validators, 100*time.Millisecond, true)
	s.waitHeight(t, 0, 2, patience)
	for _, r := range s.relays {
		r.set(impaired)
	}
	seen := &witness{}
	ctx, cancel := context.WithCancel(context.Background())
	var load sync.WaitGroup
	defer load.Wait()
	defer cancel()
	load.Go(func() { s.load(ctx, 0, seen) })

	for k := range *committee {
		victim := 1 + rng.IntN(*validators-1)
		before := s.height(t, 0)
		s.procs[victim].kill()
		cut := 0
		if *validators >= 7 { // a quorum is left without both
			cut = 1 + (victim+rng.IntN(*validators-2))%(*validators-1)
			s.relays[cut].set(impairment{cut: true})
			time.Sleep(time.Second)
			s.relays[cut].set(impaired)
		}
		away := 3 + rng.Uint64N(12)               // more than others keep in memory
		s.waitHeight(t, 0, before+away, patience) // they go on
		s.start(t, victim)
		now := s.height(t, 0)
		s.waitHeight(t, victim, now, patience) // and it catches up
		if cut == 0 {                          // the smallest committee has no vote to spare while one is down
			cut = 1 + victim%(*validators-1)
			s.relays[cut].set(impairment{cut: true})
			time.Sleep(time.Second)
			s.relays[cut].set(impaired)
			s.waitHeight(t, cut, now+1, patience)
		}
		t.Logf("kill %d: validator %d was away from height %d to %d, the link of %d was cut", k, victim, before, now, cut)
	}
	seen.waitForReceipt(t)
	for end := time.Now().Add(patience); s.counter(t, 0, "cowboy_shard_blocks_rebuilt_total") == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no block was rebuilt from shards")
		}
	}
	cancel()
	load.Wait()
	head := s.height(t, 0)
	for i := range s.procs {
		s.waitHeight(t, i, head, patience)
	}
	t.Logf("%d blocks equal on all, %d transactions final", s.agree(t), len(seen.receipts))
	t.Logf("validator 0 rebuilt %v blocks from shards, refused %v shards",
		s.counter(t, 0, "cowboy_shard_blocks_rebuilt_total"), s.counter(t, 0, "cowboy_shards_refused_total"))
	for i, p := range s.procs {
		p.stop(t)
		t.Logf("validator %d: %s", i, verifyChain(t, s.bin, s.folder(i)))
	}
	equalStores(t, s.folders()...)
}

// impaired is what the links are like while nothing worse is done to them: more
// jitter than there is between packets reorders them.
var impaired = impairment{delay: 2 * time.Millisecond, jitter: 4 * time.Millisecond, loss: 0.01}

// TestCommitteeHealsPartition cuts validators off until no quorum is left, and
// joins them again: the chain stops, and goes on without a fork.
func TestCommitteeHealsPartition(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	t.Parallel()
	s := newValidatorSet(t, 4, 100*time.Millisecond, true)
	for i := range s.procs {
		s.waitHeight(t, i, 3, patience)
	}
	for _, r := range s.relays {
		r.set(impairment{cut: true})
	}
	stopped := s.standsStill(t, 0)
	for _, r := range s.relays {
		r.set(impairment{})
	}
	for i := range s.procs {
		s.waitHeight(t, i, stopped+5, patience)
	}
	t.Logf("%d blocks equal on all, cut at height %d", s.agree(t), stopped)
	for _, p := range s.procs {
		p.stop(t)
	}
}

// TestFullNodeFollows starts a node without a vote beside a running chain: it
// catches up, stays with the head, and passes transactions on.
func TestFullNodeFollows(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	t.Parallel()
	s := newValidatorSet(t, 4, 200*time.Millisecond, false)
	s.waitHeight(t, 0, 10, patience)
	p := launch(t, s.bin, "--log-level=info", "run", "--data", datadir.FullNodeFolder(s.dir, 0),
		"--rpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0", "--rpc-rate=0", "--p2p-addr=127.0.0.1:0")
	s.procs = append(s.procs, p) // the last, after the validators
	s.waitHeight(t, 4, s.height(t, 0), patience)
	new(witness).passOn(t, p, 0, 20)
	s.waitHeight(t, 4, s.height(t, 0), patience)
	t.Logf("%d blocks equal on all five", s.agree(t))
	for _, p := range s.procs {
		p.stop(t)
	}
	t.Log(verifyChain(t, s.bin, datadir.FullNodeFolder(s.dir, 0)))
}

// errMeasured ends a stream of blocks that has shown enough.
var errMeasured = errors.New("enough blocks were seen")

// TestFinalityOverhead measures, on a small block time over a clean loopback, how
// long after its timestamp a block is final at a validator.
func TestFinalityOverhead(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	s := newValidatorSet(t, *validators, *blockTime, false)
	s.waitHeight(t, 0, 20, patience)
	cfg := client.DefaultConfig()
	cfg.URL = s.procs[0].rpc
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	const least = 10 // blocks
	ctx, cancel := context.WithTimeout(t.Context(), *overhead+patience)
	defer cancel()
	var late, apart []float64
	var last uint64
	began := time.Now()
	_ = c.Events(ctx, chain.Height(s.height(t, 0)), func(b *rpc.BlockReply) error {
		late = append(late, float64(time.Now().UnixMicro())/1e3-float64(b.TimestampMillis))
		if last != 0 {
			apart = append(apart, float64(b.TimestampMillis-last))
		}
		last = b.TimestampMillis
		if len(late) >= least && time.Since(began) > *overhead {
			return errMeasured
		}
		return nil
	})
	if len(late) < least {
		t.Fatalf("%d blocks in %v", len(late), time.Since(began))
	}
	slices.Sort(late)
	slices.Sort(apart)
	at := func(s []float64, p float64) float64 { return s[int(p*float64(len(s)-1))] }
	t.Logf("%d blocks of %d validators: final p50 %.1f ms, p90 %.1f ms, p99 %.1f ms after the proposal; %.1f ms apart (p50), %.1f (p90)",
		len(late), *validators, at(late, 0.5), at(late, 0.9), at(late, 0.99), at(apart, 0.5), at(apart, 0.9))
	for _, line := range s.stages(t) {
		t.Log(line)
	}
	for _, p := range s.procs {
		p.stop(t)
	}
}
