package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/nice"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state/blocklog"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// scrub reads all stored blocks again from time to time, so that damage is found
// while another node still has the block, and not when somebody asks for it. It
// works on a thread of low priority and at a bounded pace. Every damaged block, also
// one that a reader met, is logged once and stays in /health and the metrics.
type scrub struct {
	cfg  scrubConfig
	read atomic.Uint64 // blocks that were looked at

	filesAt time.Time     // when the files were looked at, by run
	found   chan struct{} // has a value after a block was found damaged

	mu      sync.Mutex // guards all below
	damaged map[chain.Height]damage
	more    bool     // there was more damage than damagedKnown
	files   []string // what is wrong with files of blocks, by their names
}

// damage is what is known of a damaged block.
type damage struct {
	mending bool // it is written again and not known to be durable
	unread  bool // the disk did not give it back
}

type scrubConfig struct {
	store  scrubbed
	pace   int64 // bytes a second; 0 reads nothing
	alarms *alarms
	next   string // what the operator does about a damaged block
	log    *slog.Logger
}

// scrubbed is the store, as scrub needs it.
type scrubbed interface {
	HeadInfo() (chain.Height, chain.Hash)
	Base() chain.Height
	BlockByHeight(h chain.Height) (store.BlockRecord, bool, error)
	CheckBlockFiles() ([]*blocklog.DamageError, error)
}

const (
	// scrubEvery is the time from one reading of all blocks to the next.
	scrubEvery = 24 * time.Hour
	// scrubBatch is how much is read between two rests.
	scrubBatch = 256 << 10
	// filesEvery is how often the names of the files are looked at: a file that was
	// removed is read as if nothing were while it is open, and the next start refuses.
	filesEvery = time.Minute
	// damagedKnown bounds how many damaged blocks are remembered one by one.
	damagedKnown = 4096
)

func newScrub(cfg scrubConfig) *scrub {
	return &scrub{cfg: cfg, damaged: map[chain.Height]damage{}, found: make(chan struct{}, 1)}
}

// run reads until ctx ends.
func (s *scrub) run(ctx context.Context) error {
	if s.cfg.pace == 0 {
		<-ctx.Done()
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() { // a thread of its own, which ends with it
		nice.Thread()
		done <- survive(ctx, s.passes)
	}()
	return <-done
}

func (s *scrub) passes(ctx context.Context) error {
	for {
		begun := time.Now()
		if err := s.checkAll(ctx); err != nil {
			return err
		}
		for left := time.Duration(1); left > 0 && !s.again(); left = scrubEvery - time.Since(begun) {
			s.lookAtFiles(time.Now())
			if err := rest(ctx, min(left, filesEvery)); err != nil {
				return err
			}
		}
	}
}

// lookAtFiles looks at the names of the files, if that was not done a moment ago. What
// is wrong is logged when it is new, and stays in /health until it is not so any more.
func (s *scrub) lookAtFiles(now time.Time) {
	if now.Sub(s.filesAt) < filesEvery {
		return
	}
	s.filesAt = now
	found, err := s.cfg.store.CheckBlockFiles()
	if err != nil {
		return // of the database, or of a folder that cannot be read: others report it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.files
	s.files = nil
	for _, d := range found {
		what := d.File + ": " + d.Reason
		if s.files = append(s.files, what); !slices.Contains(before, what) {
			s.cfg.log.Error("a file of stored blocks is gone or was exchanged while the node runs: what it has open still reads, the next start refuses", "file", d.File, "err", d, "next", s.cfg.next)
		}
	}
	if len(before)+len(s.files) > 0 {
		s.say()
	}
}

// checkAll reads every block that there is, oldest first.
func (s *scrub) checkAll(ctx context.Context) error {
	batch := int64(0)
	head, _ := s.cfg.store.HeadInfo()
	s.lookAtFiles(time.Now())
	for h := max(1, s.cfg.store.Base()); h <= head; h++ {
		size := s.checkBlock(h)
		s.read.Add(1)
		if batch += size; batch < scrubBatch && ctx.Err() == nil {
			continue
		}
		if err := rest(ctx, time.Duration(batch*int64(time.Second)/s.cfg.pace)); err != nil {
			return err
		}
		s.lookAtFiles(time.Now())
		batch = 0
	}
	return ctx.Err()
}

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// checkBlock reads one block and returns about what it took. Reads that fail for other
// reasons than damage are somebody else's to report.
func (s *scrub) checkBlock(h chain.Height) (size int64) {
	const head = 512 // of a record, index and certificate among it
	rec, ok, err := s.cfg.store.BlockByHeight(h)
	if s.met(err) || err != nil || !ok {
		return head
	}
	size = head + int64(len(rec.Block))
	for _, r := range rec.Receipts {
		size += int64(len(r))
	}
	s.whole(h)
	return size
}

// met takes note of damage to a block, and reports whether the error is that.
func (s *scrub) met(err error) bool {
	d := new(blocklog.DamageError)
	if !errors.As(err, &d) || d.Height == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := chain.Height(d.Height)
	if _, known := s.damaged[h]; known {
		return true
	}
	if len(s.damaged) >= damagedKnown {
		s.more = true
		return true
	}
	s.damaged[h] = damage{unread: d.Cause != nil}
	s.cfg.log.Error("a stored block is damaged: the node goes on and cannot show it", "block", h, "err", err, "next", s.cfg.next)
	s.say()
	select {
	case s.found <- struct{}{}:
	default:
	}
	return true
}

// whole takes note of a block that is not damaged, or no longer. One that is written
// again may be read before it is durable.
func (s *scrub) whole(h chain.Height) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, known := s.damaged[h]; known && !d.mending {
		delete(s.damaged, h)
		s.say()
	}
}

// Heights implements repair.Damage.
func (s *scrub) Heights() []chain.Height {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.damaged))
}

// Found implements repair.Damage.
func (s *scrub) Found() <-chan struct{} { return s.found }

// Mending implements repair.Damage.
func (s *scrub) Mending(h chain.Height) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, known := s.damaged[h]; known {
		d.mending = true
		s.damaged[h] = d
	}
}

// Mended implements repair.Damage.
func (s *scrub) Mended(h chain.Height) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.damaged, h)
	s.say()
}

// again reports whether to look for damage that had no place in memory: what had is
// mended.
func (s *scrub) again() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.more || len(s.damaged) > 0 {
		return false
	}
	s.more = false
	return true
}

// say raises the alarm, or ends it. The caller holds mu.
func (s *scrub) say() {
	var reasons []string
	if len(s.damaged) > 0 {
		first, unread := slices.Min(slices.Collect(maps.Keys(s.damaged))), 0
		for _, d := range s.damaged {
			if d.unread {
				unread++
			}
		}
		what := fmt.Sprintf("%d stored blocks are damaged, the first is %d: see the log", len(s.damaged), first)
		if unread > 0 {
			what += fmt.Sprintf("; the disk does not give back %d of them (dmesg)", unread)
		}
		reasons = append(reasons, what)
	}
	if len(s.files) > 0 {
		reasons = append(reasons, fmt.Sprintf("%d files of stored blocks are gone or exchanged, the first is %s: see the log", len(s.files), s.files[0]))
	}
	if len(reasons) == 0 {
		s.cfg.alarms.clear(alarmBlocks)
		return
	}
	s.cfg.alarms.raise(alarmBlocks, strings.Join(reasons, "; "))
}

// lost is how many files are known to be gone or exchanged.
func (s *scrub) lost() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files)
}

// countDamaged is how many blocks are known to be damaged.
func (s *scrub) countDamaged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.damaged)
}

// explain is what a client is told of a fault that is this node's alone, nil where
// there is nothing to tell: it is in the log already, once.
func (s *scrub) explain(err error) *rpc.Refusal {
	if !s.met(err) {
		return nil
	}
	return &rpc.Refusal{
		Status: http.StatusNotFound, Code: rpc.CodeNotKept,
		Message: "a block that this needs is damaged in this node's files: ask another node",
	}
}

func (n *Node) newScrub() *scrub {
	next := "docs/damage.md, \"A damaged block\": without haste, stop the node, move its store away, and let it fetch the chain from other nodes"
	if n.cfg.RepairBytes > 0 {
		next = "nothing, if the log soon says that it is whole: the node fetches it from other validators; if not, " + next
	}
	if n.set.Len() == 1 {
		next = "docs/damage.md, \"A damaged block\": put the folder store back from a backup, whose end comes out of votes.journal; no other node has the block"
	}
	return newScrub(scrubConfig{store: n.store, pace: n.cfg.ScrubBytes, alarms: n.alarms, next: next, log: n.log})
}

func (n *Node) scrubMetrics(counter counterFunc, gauge gaugeFunc) {
	counter("blocks_scrubbed_total", "Stored blocks that were read again to find damage.", n.scrub.read.Load)
	gauge("blocks_damaged", "Stored blocks that are known to be damaged; each is in the log.", func() float64 { return float64(n.scrub.countDamaged()) })
	gauge("block_files_lost", "Files of stored blocks that are gone, cut or exchanged while the node has them open; each is in the log.", func() float64 { return float64(n.scrub.lost()) })
}
