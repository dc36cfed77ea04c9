package soak

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestCheckpointsAreNotDenied runs four validators as processes, of which one never
// starts and another gives no finalize vote at even heights, and so at the multiples of
// ten where checkpoints are made: no block there is final by itself, three times in a
// row. A node with an empty folder joins by the state of one all the same
// (docs/adr/0117).
func TestCheckpointsAreNotDenied(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	t.Parallel()
	const every, multiples, liar, joins = 10, 3, 3, 2
	s := newDealtSet(t, 4, timing{block: 100 * time.Millisecond, patience: 400 * time.Millisecond}, false, fmt.Sprintf("--checkpoint-blocks=%d", every))
	s.liars = map[int]string{liar: "unfinal"}
	for _, i := range []int{0, 1, liar} {
		s.start(t, i)
	}
	s.waitHeight(t, 0, multiples*every+2, patience)
	p := launch(t, s.bin, "--log-level=info", "run", "--sync", "--data", datadir.FullNodeFolder(s.dir, 0),
		"--rpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0", "--rpc-rate=0", "--p2p-addr=127.0.0.1:0")
	t.Cleanup(p.kill)
	s.procs[joins] = p // in the place of the validator that never started
	s.waitHeight(t, joins, s.height(t, 0)+5, patience)

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var refusal struct{ Code int }
	if ok, err := get(ctx, p.rpc+"/block/1", &refusal); ok || err != nil {
		t.Errorf("block 1 is there: it executed the past (%v)", err)
	}
	h := s.height(t, joins)
	s.waitHeight(t, 0, h, patience) // who joined may be a block ahead
	var ours, its rpc.BlockReply
	for url, to := range map[string]*rpc.BlockReply{s.procs[0].rpc: &ours, p.rpc: &its} {
		if ok, err := get(ctx, fmt.Sprintf("%s/block/%d", url, h), to); err != nil || !ok {
			t.Fatalf("%s has no block %d: %v", url, h, err)
		}
	}
	if ours.Hash != its.Hash || ours.StateRoot != its.StateRoot {
		t.Errorf("block %d is %s with state %s, and where it joined %s with %s", h, ours.Hash, ours.StateRoot, its.Hash, its.StateRoot)
	}
	for _, p := range s.procs {
		p.stop(t)
	}
	if out := verifyChain(t, s.bin, datadir.FullNodeFolder(s.dir, 0)); !strings.Contains(out, "began with the state of block") {
		t.Errorf("verify: %s", out)
	}
	kept, err := store.Open(filepath.Join(s.folder(0), "store"), store.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	for h := chain.Height(every); h <= multiples*every; h += every {
		rec, ok, err := kept.BlockByHeight(h)
		if err != nil || !ok {
			t.Fatalf("block %d: %v, %v", h, ok, err)
		}
		if _, err := ledger.OwnCertificate(rec.Certificate); !errors.Is(err, ledger.ErrNotOwn) {
			t.Errorf("block %d is final by itself (%v): nothing was withheld", h, err)
		}
	}
}
