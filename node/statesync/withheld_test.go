package statesync

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestWithheldVotesDenyNoCheckpoint: at three multiples in a row the block is final by
// a descendant alone, since somebody withheld a vote there. Each becomes a checkpoint
// all the same, of the same block on every server, and a joiner joins from the last
// (hostile.md 1.6: there used to be none).
func TestWithheldVotesDenyNoCheckpoint(t *testing.T) {
	h, s := village(t, 3, 3000) // a checkpoint of block 2, and block 3
	committed := func(at chain.Height) {
		for _, server := range h.servers {
			server.Committed(at)
		}
	}
	for range 3 { // blocks 4, 6 and 8 are multiples, and final by 5, 7 and 9
		commitDescended(t, s, 3000, 2, committed)
		head, _ := s.HeadInfo()
		for i, server := range h.servers {
			for end := time.Now().Add(time.Minute); server.Stats.Height.Load() != uint64(head-1); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("server %d has a checkpoint of block %d, want %d", i, server.Stats.Height.Load(), head-1)
				}
			}
		}
	}
	check(t, h.client.Run(t.Context()))
	imported, err := store.Open(h.client.cfg.Dir, options())
	check(t, err)
	rec, _, err := s.BlockByHeight(8)
	check(t, err)
	if height, digest := imported.HeadInfo(); height != 8 || digest != rec.Digest {
		t.Errorf("joined at %d", height)
	}
	_, err = imported.VerifyHead(t.Context())
	check(t, err)
	check(t, imported.Close())
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.asked) < 2 {
		t.Errorf("asked %v: the servers' chunks do not match", h.asked)
	}
}

// TestCheckpointOfALaterBlock: where the certificate is too far away for its headers,
// the next block that can be shown to be final takes the place.
func TestCheckpointOfALaterBlock(t *testing.T) {
	h, s := village(t, 1, 10)
	cfg := h.servers[0].cfg
	cfg.Dir, cfg.Interval = t.TempDir(), 4
	server := NewServer(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	commitDescended(t, s, 1, checkpoint.DescendantsMax+2, func(at chain.Height) { // from block 4 on
		if at == 4 {
			server.Committed(at)
		}
	})
	for end := time.Now().Add(time.Minute); server.Stats.Height.Load() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no checkpoint")
		}
		commit(t, s, 1)
		if height, _ := s.HeadInfo(); height%4 != 0 {
			server.Committed(height)
		}
	}
	if height := server.Stats.Height.Load(); height <= checkpoint.DescendantsMax+4 || height%4 == 0 {
		t.Errorf("a checkpoint of block %d", height)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check(t, server.Close())
}

// TestFolderThatFails: a folder that cannot be made or read ends nothing; the alarm
// says so until it can.
func TestFolderThatFails(t *testing.T) {
	h, s := village(t, 1, 10)
	cfg := h.servers[0].cfg
	cfg.Dir, cfg.Interval, cfg.Log = filepath.Join(t.TempDir(), "checkpoints"), 1, slog.New(slog.DiscardHandler)
	check(t, os.WriteFile(cfg.Dir, []byte("a file where the folder should be"), 0o600))
	reasons := make(chan string, 100)
	cfg.Alarm = func(reason string) { reasons <- reason }
	server := NewServer(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	if reason := <-reasons; !strings.Contains(reason, cfg.Dir) {
		t.Errorf("the alarm says %q", reason)
	}
	commit(t, s, 10)
	server.Committed(s.Head().Height())
	if reason := <-reasons; !strings.Contains(reason, "was not made") || server.Stats.Failed.Load() != 2 {
		t.Errorf("the alarm says %q, %d failures", reason, server.Stats.Failed.Load())
	}
	check(t, os.Remove(cfg.Dir))
	commit(t, s, 10)
	server.Committed(s.Head().Height())
	if reason := <-reasons; reason != "" {
		t.Errorf("the alarm says %q, want that it is over", reason)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the server ended with %v", err)
	}
	check(t, server.Close())
}
