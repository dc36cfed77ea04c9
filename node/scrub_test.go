package node

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/node/tools"
	"github.com/cowboy-foundation/cowboy/state/blocklog"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestDamagedBlockIsSaidOnce spoils one stored block. The node goes on, ready, finds
// it by itself, and says so once in the log and all the time in /health; a client is
// sent to another node, however often it asks.
func TestDamagedBlockIsSaidOnce(t *testing.T) {
	dir, opts := t.TempDir(), setup.DevnetOptions{BlockTime: 10 * time.Millisecond}
	first := run(t, dir, opts)
	for first.ledger.Head().Height() < 12 {
		time.Sleep(time.Millisecond)
	}
	rec, _, err := first.store.BlockByHeight(5)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, datadir.StoreFolder, "blocks", "000001.blocks")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(raw), string(rec.Block))
	raw[at+len(rec.Block)/2] ^= 1
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		t.Fatal(err)
	}

	r := run(t, dir, opts)
	for end := time.Now().Add(time.Minute); r.scrub.countDamaged() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the damage was not found")
		}
	}
	// The scrub may be faster than the replay of the engine's journal, and a node that
	// starts says so before all else.
	var health rpc.HealthReply
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		health = rpc.HealthReply{}
		if r.get(t, "/health/ready", &health); health.Status != "starting" {
			break
		}
	}
	if !health.Ready || health.Status != "degraded" || !strings.Contains(strings.Join(health.Reasons, " "), "stored blocks are damaged, the first is 5") {
		t.Errorf("health: %+v", health)
	}
	for range 3 {
		var why rpc.ErrorReply
		if code := r.get(t, "/block/5", &why); code != 404 || why.Code != rpc.CodeNotKept || !strings.Contains(why.Message, "damaged") {
			t.Errorf("answered %d, %+v", code, why)
		}
	}
	var other rpc.BlockReply
	if code := r.get(t, "/block/6", &other); code != 200 {
		t.Errorf("the block beside it: %d", code)
	}
	if r.scrub.countDamaged() != 1 {
		t.Errorf("%d blocks are said to be damaged", r.scrub.countDamaged())
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	_, err = tools.VerifyChain(t.Context(), dir, func(string, chain.Height, chain.Height) {})
	var next *datadir.NextStepError
	if !errors.As(err, &next) || !strings.Contains(err.Error(), "000001.blocks") {
		t.Errorf("verify: %v", err)
	}
}

// brokenBlocks is a store some of whose blocks are damaged.
type brokenBlocks struct {
	head   chain.Height
	broken map[chain.Height]bool
	failed bool // every read, and not for damage
	files  []*blocklog.DamageError
}

func (b *brokenBlocks) HeadInfo() (chain.Height, chain.Hash) { return b.head, chain.Hash{} }

func (b *brokenBlocks) Base() chain.Height { return 0 }

func (b *brokenBlocks) BlockByHeight(h chain.Height) (store.BlockRecord, bool, error) {
	switch {
	case b.failed:
		return store.BlockRecord{}, false, store.ErrClosed
	case b.broken[h]:
		return store.BlockRecord{}, false, fmt.Errorf("read: %w", &blocklog.DamageError{File: "000001.blocks", Height: uint64(h)})
	}
	return store.BlockRecord{}, true, nil
}

func (b *brokenBlocks) CheckBlockFiles() ([]*blocklog.DamageError, error) { return b.files, nil }

// TestRemovedFileIsNoticed removes a file of blocks under a node that has it open, and
// puts it back.
func TestRemovedFileIsNoticed(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{BlockTime: 10 * time.Millisecond})
	for r.ledger.Head().Height() < 3 {
		time.Sleep(time.Millisecond)
	}
	if _, _, err := r.store.BlockByHeight(1); err != nil { // it is open
		t.Fatal(err)
	}
	var log lockedText
	s := newScrub(scrubConfig{store: r.store, alarms: newAlarms(slog.New(slog.DiscardHandler)), next: "mend it", log: slog.New(slog.NewTextHandler(&log, nil))})
	file := filepath.Join(r.cfg.DataDir, datadir.StoreFolder, "blocks", "000001.blocks")
	now := time.Now()
	look := func(lost int) {
		t.Helper()
		now = now.Add(filesEvery)
		s.lookAtFiles(now)
		if on, _ := s.cfg.alarms.stateOf(alarmBlocks); s.lost() != lost || on != (lost > 0) {
			t.Errorf("%d files are lost, alarm %v, want %d", s.lost(), on, lost)
		}
	}
	look(0)
	if err := os.Rename(file, file+".moved"); err != nil {
		t.Fatal(err)
	}
	look(1)
	look(1)
	if _, _, err := r.store.BlockByHeight(1); err != nil {
		t.Errorf("the open file: %v", err)
	}
	if n := strings.Count(log.String(), "000001.blocks: the file is missing"); n != 1 {
		t.Errorf("said %d times:\n%s", n, log.String())
	}
	if why := s.cfg.alarms.reasons(); len(why) != 1 || !strings.Contains(why[0], "000001.blocks") {
		t.Errorf("the alarm says %q", why)
	}
	if err := os.Rename(file+".moved", file); err != nil {
		t.Fatal(err)
	}
	look(0)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

// TestScrubCounts: damage is said once, also when a reader meets it again, and is over
// when the block can be read; a store that fails for another reason is not damaged.
func TestScrubCounts(t *testing.T) {
	var log lockedText
	logger := slog.New(slog.NewTextHandler(&log, nil))
	blocks := &brokenBlocks{head: 9, broken: map[chain.Height]bool{3: true, 7: true}}
	s := newScrub(scrubConfig{store: blocks, pace: 1 << 30, alarms: newAlarms(logger), next: "mend it", log: logger})
	said := func(want int) {
		t.Helper()
		if got := strings.Count(log.String(), "a stored block is damaged"); got != want {
			t.Errorf("said %d times, want %d:\n%s", got, want, log.String())
		}
	}
	for range 2 {
		if err := s.checkAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := blocks.BlockByHeight(7)
	if s.explain(err) == nil || s.explain(errors.New("other")) != nil || s.explain(nil) != nil {
		t.Error("a client is told the wrong thing")
	}
	said(2)
	if on, _ := s.cfg.alarms.stateOf(alarmBlocks); s.countDamaged() != 2 || !on || s.read.Load() != 18 {
		t.Errorf("%d damaged, alarm %v, %d read", s.countDamaged(), on, s.read.Load())
	}
	blocks.failed = true
	if err := s.checkAll(t.Context()); err != nil || s.countDamaged() != 2 {
		t.Errorf("a store that fails: %v, %d damaged", err, s.countDamaged())
	}
	blocks.failed, blocks.broken = false, nil
	if err := s.checkAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if on, _ := s.cfg.alarms.stateOf(alarmBlocks); s.countDamaged() != 0 || on {
		t.Errorf("mended: %d damaged, alarm %v", s.countDamaged(), on)
	}
	for h := range chain.Height(damagedKnown + 100) { // memory has a bound
		s.met(&blocklog.DamageError{Height: uint64(h + 1)})
	}
	if s.countDamaged() != damagedKnown {
		t.Errorf("%d damaged blocks are remembered, at most %d may be", s.countDamaged(), damagedKnown)
	}
}

// TestRefusalsOfTheDisk: what the disk does not give back at a start is refused with the
// file, and with what to do where it stays so.
func TestRefusalsOfTheDisk(t *testing.T) {
	n := &Node{cfg: Config{DataDir: t.TempDir()}, genesis: &genesis.Genesis{Validators: make([]chain.Validator, 4)}}
	for part, want := range map[string]string{
		datadir.KeysFile: "from its backup", guard.FileName: "never put an older copy", datadir.JournalFile: "--sync", datadir.StoreFolder: "fetched from other nodes", "": "dmesg",
	} {
		err := n.refused(part, fmt.Errorf("open: %w", &os.PathError{Op: "read", Path: "/a/" + part, Err: syscall.EIO}))
		var next *datadir.NextStepError
		if !errors.As(err, &next) || !strings.Contains(err.Error(), "input/output error") || !strings.Contains(next.Next, want) || !strings.Contains(next.Next, "dmesg") {
			t.Errorf("%s: %v", part, err)
		}
	}
}
