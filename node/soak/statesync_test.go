package soak

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/datadir"
)

// TestNodeJoinsByStateSync starts a fifth node with an empty folder beside four
// running validators under load: it fetches the state of a checkpoint over the
// mesh, follows the chain from there, and passes transactions on.
func TestNodeJoinsByStateSync(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	t.Parallel()
	s := newValidatorSet(t, 4, 100*time.Millisecond, false, "--checkpoint-blocks=10")
	load, stop := context.WithCancel(context.Background())
	defer stop()
	seen := &witness{}
	done := make(chan struct{})
	go func() { defer close(done); seen.load(load, s.procs[0].rpc, 0) }()
	s.waitHeight(t, 0, 32, patience)
	p := launch(t, s.bin, "--log-level=info", "run", "--sync", "--data", datadir.FullNodeFolder(s.dir, 0),
		"--rpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0", "--rpc-rate=0", "--p2p-addr=127.0.0.1:0")
	s.procs = append(s.procs, p) // the last, after the validators
	s.waitHeight(t, 4, s.height(t, 0)+5, patience)
	stop()
	<-done

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var refusal struct{ Code int }
	if ok, err := get(ctx, p.rpc+"/block/1", &refusal); ok || err != nil {
		t.Errorf("block 1 is there: it executed the past (%v)", err)
	}
	low := s.height(t, 4)
	t.Logf("%d blocks equal on all five", s.agreeFrom(ctx, t, low-5, low)-low+6)
	new(witness).passOn(t, p, 1, 1)
	for _, p := range s.procs {
		p.stop(t)
	}
	if out := verifyChain(t, s.bin, datadir.FullNodeFolder(s.dir, 0)); !strings.Contains(out, "began with the state of block") {
		t.Errorf("verify: %s", out)
	}
}
