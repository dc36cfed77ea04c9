package main

import (
	"flag"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/bench"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/devtest"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

var lanesFor = flag.Duration("lanes-for", 2*time.Second, "how long TestLanesUnderOverload puts each load on the devnet")

const (
	overload       = 10                     // times what blocks take of transfers
	blockTime      = 200 * time.Millisecond // of the devnet
	dearTransfer   = 1_000_000              // cycles: so that ten times a block's are few
	heartbeatEvery = 50 * time.Millisecond
)

// devnet runs a devnet of this process and returns its address.
func devnet(t *testing.T, profile string) string {
	t.Helper()
	url, stop := devtest.Start(t, filepath.Join(t.TempDir(), "chain"), setup.DevnetOptions{
		GenesisFile: devtest.Genesis(t, func(p *params.Params) { p.Intrinsic.TransferCycles = dearTransfer }),
		BlockTime:   blockTime, Lanes: profile,
	})
	t.Cleanup(stop)
	return url
}

// TestLanesUnderOverload puts heartbeats of runners and timers on a devnet, first
// alone and then beside ten times the transfers that blocks take: counted in
// blocks, both must be served as without them (whitepaper §6.3, §6.4). The longer
// run is `make soak-lanes`.
func TestLanesUnderOverload(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a devnet for some seconds: left out of -short runs, runs in make test")
	}
	for _, profile := range params.LaneProfiles() {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			lanesUnderOverload(t, profile)
		})
	}
}

func lanesUnderOverload(t *testing.T, profile string) {
	url := devnet(t, profile)
	mix, err := readMix("../../profiles/workload/lanes-saturated.json")
	if err != nil {
		t.Fatal(err)
	}
	users := overload * float64((20_000_000-2_000_000)/dearTransfer) / blockTime.Seconds()
	runners := 1 / heartbeatEvery.Seconds()
	alone := mix
	alone.Kinds = []bench.Kind{mix.Kinds[1]}
	alone.Kinds[0].Percent = 100
	quiet := put(t, url, alone, runners)
	loaded := put(t, url, mix, users*100/float64(mix.Kinds[0].Percent))

	if said := loaded.Ceiling.LaneProfile; said != profile {
		t.Errorf("the node says that its lanes are those of %q", said)
	}
	was, is := quiet.Kinds[0], loaded.Kinds[1]
	t.Logf("runner instructions, blocks from sending: p50 %d, p99 %d of %d; under overload p50 %d, p99 %d of %d",
		was.Blocks.P50, was.Blocks.P99, was.Blocks.Count, is.Blocks.P50, is.Blocks.P99, is.Blocks.Count)
	t.Logf("timers, blocks late: p50 %d, p99 %d of %d; under overload p50 %d, p99 %d of %d",
		quiet.Timers.Late.P50, quiet.Timers.Late.P99, quiet.Timers.Firings, loaded.Timers.Late.P50, loaded.Timers.Late.P99, loaded.Timers.Firings)
	if is.Accepted == 0 || is.Blocks.Count != is.Accepted || was.Blocks.Count != was.Accepted || quiet.Timers.Firings == 0 || loaded.Timers.Firings == 0 {
		t.Errorf("runner instructions: %+v alone, %+v under overload", was, is)
	}
	// The way to the pool is the machine's and costs blocks too when that is busy:
	// the slowest of a hundred may take one more.
	if is.Blocks.P50 > was.Blocks.P50+1 || is.Blocks.P99 > was.Blocks.P99+2 {
		t.Error("runner instructions wait longer under overload")
	}
	if late := loaded.Timers.Late.P99; late > quiet.Timers.Late.P99 {
		t.Errorf("timers are %d blocks late under overload", late)
	}
	// Without this there was no overload.
	transfers := loaded.Kinds[0]
	if loaded.Waiting < transfers.Accepted/2 || transfers.Blocks.P99 < 2*is.Blocks.P99 {
		t.Errorf("%d of %d transfers wait, the others took %+v blocks: no overload", loaded.Waiting, transfers.Accepted, transfers.Blocks)
	}
}

// put loads the devnet and returns the report, which must know of no loss.
func put(t *testing.T, url string, mix bench.Mix, rate float64) *bench.LoadReport {
	t.Helper()
	cfg := bench.DefaultLoadConfig()
	cfg.RPC, cfg.Mix, cfg.Rate, cfg.Duration = url, mix, rate, *lanesFor
	cfg.Accounts, cfg.Connections, cfg.Batch = 40, 4, 5
	cfg.LatenessMax = time.Minute // the machine may be busy: only blocks count
	cfg.FundKey = setup.DevAccounts()[0].Key.Bytes()
	r, err := bench.Run(t.Context(), cfg, ".", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != bench.VerdictPass {
		t.Fatalf("%s: %s", r.Verdict, r.Reason)
	}
	return r
}

// TestMarketUnderLoad has jobs asked for on a devnet, and the runners of the load answer
// them: every submission, commitment and result that the node takes comes to its job. Both
// sizes of a committee, beside everything else.
func TestMarketUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a devnet for some seconds: left out of -short runs, runs in make test")
	}
	t.Parallel()
	url, stop := devtest.Start(t, filepath.Join(t.TempDir(), "chain"), setup.DevnetOptions{BlockTime: blockTime})
	t.Cleanup(stop)
	for _, name := range []string{"market", "lane-mix-40-30-20-10"} {
		mix, err := readMix("../../profiles/workload/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		mix.Runners = 12
		r := put(t, url, mix, 50)
		m := r.Market
		if m == nil || m.Jobs < 5 || m.Outcomes["ok"] == 0 || m.Results.Applied != m.Outcomes["ok"] || r.Unheard != 0 {
			t.Fatalf("%s: %+v, %d unheard", name, m, r.Unheard)
		}
		t.Logf("%s: %d jobs, %v; %d commitments and %d results applied, p99 %d and %d blocks",
			name, m.Jobs, m.Outcomes, m.Commitments.Applied, m.Results.Applied, m.Commitments.Blocks.P99, m.Results.Blocks.P99)
		if several := name == "market"; several != (m.Commitments.Applied > 0) {
			t.Errorf("%s: %d commitments", name, m.Commitments.Applied)
		}
	}
}
