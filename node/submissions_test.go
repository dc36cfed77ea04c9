package node

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// TestSubmissionsSurviveARestart: what clients submitted and no block has yet is in
// the pool again after an orderly stop, and after a death that left only what had
// been synced; what became final meanwhile is not.
func TestSubmissionsSurviveARestart(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(map[bool]string{false: "stopped", true: "killed"}[killed], func(t *testing.T) {
			dir, from, to := t.TempDir(), setup.DevAccounts()[0], chain.Address{0xab, 1}
			r := run(t, dir, setup.DevnetOptions{BlockTime: 50 * time.Millisecond})
			r.transferred(t, pay(r.genesis, from, 0, to).AppendWire(nil))

			// Nonce 1 is missing, so none of these is included.
			var wire []byte
			hashes := make([]chain.Hash, 0, 3)
			for nonce := uint64(2); nonce < 5; nonce++ {
				tx := pay(r.genesis, from, nonce, to)
				wire, hashes = tx.AppendWire(wire), append(hashes, chain.TxHash(tx.Encode()))
			}
			var reply rpc.SubmitReply
			if code := r.post(t, "/submit", wire, &reply); code != http.StatusOK || !reply.Results[2].Accepted {
				t.Fatalf("submit answered %d: %+v", code, reply)
			}
			file := filepath.Join(dir, datadir.SubmittedFile)
			if killed {
				until(t, func() bool { return r.submitted.Stats.Synced.Load() == 4 })
				left, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if err := r.stop(); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, left, 0o600); err != nil {
					t.Fatal(err)
				}
			} else if err := r.stop(); err != nil {
				t.Fatal(err)
			}

			r = run(t, dir, setup.DevnetOptions{})
			s := &r.submitted.Stats
			until(t, func() bool { return s.Outdated.Load() == 1 && r.lanes.Stats().Admitted == 3 })
			if s.Again.Load() != 3 || s.Refused.Load() != 0 {
				t.Errorf("%d offered, %d refused", s.Again.Load(), s.Refused.Load())
			}
			r.transferred(t, pay(r.genesis, from, 1, to).AppendWire(nil))
			for _, hash := range hashes {
				until(t, func() bool { return (&submissions{node: r.Node}).Final(hash) })
			}
		})
	}
}

// TestNoFileOfSubmissionsStopsANode, and what it left is not touched.
func TestNoFileOfSubmissionsStopsANode(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, datadir.SubmittedFile)
	if err := os.WriteFile(file, []byte("somebody else's"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, dir, setup.DevnetOptions{BlockTime: 50 * time.Millisecond})
	r.transferred(t, pay(r.genesis, setup.DevAccounts()[0], 0, chain.Address{0xab, 1}).AppendWire(nil))
	if s := &r.submitted.Stats; s.Failures.Load() != 1 || s.Dropped.Load() != 1 {
		t.Errorf("failures %d, dropped %d", s.Failures.Load(), s.Dropped.Load())
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "somebody else's" {
		t.Errorf("the file holds %q, %v", raw, err)
	}
}

// transferred submits a transaction and waits until it is final.
func (r *running) transferred(t *testing.T, wire []byte) {
	t.Helper()
	var reply rpc.SubmitWaitReply
	if code := r.post(t, "/submit_wait?timeout_ms=10000", wire, &reply); code != http.StatusOK || reply.Results[0].Receipt == nil {
		t.Fatalf("submit_wait answered %d: %+v", code, reply)
	}
}

// until waits for a condition that comes true by itself.
func until(t *testing.T, holds func() bool) {
	t.Helper()
	for range 3000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain")
}
