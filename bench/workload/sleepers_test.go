package workload

import (
	"io"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/timers"
	"github.com/cowboy-foundation/cowboy/node/ledger"
)

func depth(t *testing.T, head *ledger.Executed) uint64 {
	t.Helper()
	queue, err := timers.ReadHead(head.State, head.Force.Params)
	if err != nil {
		t.Fatal(err)
	}
	return queue.Depth
}

// TestSleepersRace runs a round on small chains: both make the same blocks, and one
// of them keeps its sleepers.
func TestSleepersRace(t *testing.T) {
	cfg := DefaultSleepersConfig()
	cfg.Timers, cfg.Accounts, cfg.Actors, cfg.People, cfg.Txs, cfg.Blocks = 500, 40, 5, 40, 40, 2
	r, err := newSleepersRace(t.Context(), cfg, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ratio, err := r.round(t.Context())
	if err != nil || ratio <= 0 {
		t.Errorf("ratio %g, %v", ratio, err)
	}
	with, without := r.chains[0].Head(), r.chains[1].Head()
	if got := depth(t, with) - depth(t, without); got != 500 {
		t.Errorf("%d timers sleep on one chain and not on the other, want 500", got)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// TestSuiteMeasuresEachModeOnOneChain: each measure goes on where the one before
// ended, and blocks in parallel are told from others.
func TestSuiteMeasuresEachModeOnOneChain(t *testing.T) {
	cfg := DefaultSuiteConfig()
	cfg.Workloads, cfg.Modes, cfg.Workers = []string{"timer-storm", "transfer-random"}, []parallel.Mode{parallel.Sequential, parallel.Planned}, 2
	cfg.People, cfg.Markets, cfg.Txs, cfg.Blocks = 40, 1, 20, 1
	var got []string
	err := Suite(t.Context(), cfg, io.Discard, func(mode parallel.Mode, m Measure) error {
		got = append(got, mode.String()+" "+m.Workload)
		if m.Txs != 20 || m.Split.Total() == 0 || m.Split.Run == 0 {
			t.Errorf("%s: %+v", mode, m)
		}
		in := mode == parallel.Planned
		speculates := in && m.Workload != "transfer-random" // payments run in their place (ADR 188)
		if speculates != (m.Split.Executions >= 20) || in != (m.Split.Settle > 0) {
			t.Errorf("%s: %+v", mode, m.Split)
		}
		return nil
	})
	if err != nil || len(got) != 4 || got[0] != "seq timer-storm" || got[3] != "dag transfer-random" {
		t.Errorf("measured %q, %v", got, err)
	}
	cfg.Workloads = []string{"none"}
	if err := cfg.Check(); err == nil {
		t.Error("a workload that does not exist is measured")
	}
}
