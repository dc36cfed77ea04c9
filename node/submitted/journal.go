package submitted

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/journal"
)

// Config bounds the journal.
type Config struct {
	Path      string // of the file
	Bytes     int64  // that it may take; 0 keeps nothing
	Share     int    // of it that one client may hold of what others leave, in percent
	AgeMillis uint64 // for which a transaction is worth sending again
	Log       *slog.Logger
}

const (
	// fileKind tells the file from other journals.
	fileKind journal.Kind = "submits"
	// MaxBytes bounds the setting. A larger file is not read.
	MaxBytes = 1 << 30
	// syncEvery is the least time between two syncs, and the longest for which a
	// record waits for one.
	syncEvery = 200 * time.Millisecond
	// cleanEvery is the time between two cleanings where there is room, and after
	// one that freed little.
	cleanEvery = time.Minute
	// queueBatches and queueBytes bound what waits for the disk: seconds of a
	// validator's submissions.
	queueBatches = 4096
	queueBytes   = 8 << 20
)

// Chain is what the journal asks of its node.
type Chain interface {
	// Ready says whether transactions can be judged and told to others.
	Ready() bool
	// Final says whether the transaction is part of the chain.
	Final(hash chain.Hash) bool
	// EachWaiting calls f for every transaction that the pool has. It reports false if
	// nobody can tell any more.
	EachWaiting(f func(hash chain.Hash)) bool
	// Admit judges bodies and offers them to the pool without blocking. If it
	// returns nil, answered is called once, on any goroutine; an error means that
	// nothing was taken, and that it may be tried again.
	Admit(bodies [][]byte, answered func(refused int)) error
}

// Stats are read by anybody. They count transactions, unless they say otherwise.
type Stats struct {
	Written  atomic.Uint64 // put into the file
	Synced   atomic.Uint64 // of them, durable ones, until they are cleaned away
	Dropped  atomic.Uint64 // not kept, for want of room or of a journal that works
	Again    atomic.Uint64 // of an earlier run, offered to the pool again
	Refused  atomic.Uint64 // of them, those that it did not take
	Outdated atomic.Uint64 // of an earlier run, not offered: final, or too old
	Failures atomic.Uint64 // 1 once the journal was given up
	Bytes    atomic.Int64  // of the file
	// OwnerNanos is how long Run did not wait, syncs included.
	OwnerNanos atomic.Uint64
}

// file is a state/journal. Tests put a disk that fails in its place.
type file interface {
	Append(rec []byte) error
	Sync() error
	Replay(f func(rec []byte) error) error
	Prune(keep func(rec []byte) bool) error
	Size() int64
	Close() error
}

// Journal keeps what clients submitted to this node.
type Journal struct {
	cfg   Config
	chain Chain
	queue chan batch
	seed  maphash.Seed // of clients' keys; it stays
	// queued counts the bytes in the queue.
	queued atomic.Int64
	works  atomic.Bool
	// returning says that the owner has something of an earlier run to offer.
	returning atomic.Bool
	Stats     Stats

	// The rest is the owner's.
	file    file // nil if nothing is kept
	record  []byte
	dirty   uint64 // records written since the last sync
	again   again
	shares  shares
	held    []held // the records in the file, in their order
	cleaned int64  // size after the last cleaning
	since   time.Time
}

// Open opens the journal, or one that keeps nothing if the file cannot be used: the
// log and the counters say so.
func Open(cfg Config, c Chain) *Journal {
	j := newJournal(cfg, c)
	if cfg.Bytes == 0 {
		return j
	}
	f, err := openFile(cfg.Path)
	if err != nil {
		j.giveUp("open it", err)
		return j
	}
	if cut := f.Repaired(); cut > 0 {
		cfg.Log.Warn("the file of submitted transactions did not end with a whole record: its last bytes were cut off, as a crash leaves them, and what was in them is not sent again", "file", cfg.Path, "bytes", cut)
	}
	j.adoptFile(f)
	return j
}

func newJournal(cfg Config, c Chain) *Journal {
	return &Journal{
		cfg: cfg, chain: c, queue: make(chan batch, queueBatches), seed: maphash.MakeSeed(), since: time.Now(),
		again: again{answers: make(chan int, 1)}, shares: newShares(cfg.Bytes, cfg.Share),
	}
}

// openFile opens the file, unless it is too large to be one of this package's.
func openFile(path string) (*journal.Journal, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the first start
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > MaxBytes+journal.MaxRecordBytes:
		return nil, fmt.Errorf("%s is no file of submitted transactions", path)
	}
	return journal.Open(path, fileKind)
}

// adoptFile takes over a file and what an earlier run left in it.
func (j *Journal) adoptFile(f file) {
	j.file = f
	err := j.readEarlier()
	j.returning.Store(j.again.begun) // also if the rest cannot be read
	if err != nil {
		j.giveUp("read it", err)
		return
	}
	j.works.Store(true)
	j.Stats.Bytes.Store(f.Size())
}

// batch is what was admitted of one submission.
type batch struct {
	txs    []*chain.VerifiedTx
	bytes  int64 // of their bodies
	millis uint64
	client uint64
}

// Record keeps transactions that the pool has just admitted for a client, whose network it
// is. It holds on to the list until it is written.
func (j *Journal) Record(client netip.Addr, txs []*chain.VerifiedTx) {
	if j.cfg.Bytes == 0 || len(txs) == 0 {
		return
	}
	b := batch{txs: txs, millis: uint64(time.Now().UnixMilli())}
	for _, tx := range txs {
		b.bytes += int64(len(tx.Body))
	}
	if !j.works.Load() {
		j.Stats.Dropped.Add(uint64(len(txs)))
		return
	}
	if j.queued.Add(b.bytes) > queueBytes {
		j.releaseRoom(&b)
		return
	}
	b.client = j.clientKey(client)
	select {
	case j.queue <- b:
	default:
		j.releaseRoom(&b)
	}
}

// releaseRoom gives back the room of what the queue does not take.
func (j *Journal) releaseRoom(b *batch) {
	j.queued.Add(-b.bytes)
	j.Stats.Dropped.Add(uint64(len(b.txs)))
}

// Run writes what is taken, and sends again what an earlier run left, until ctx
// ends.
func (j *Journal) Run(ctx context.Context) error {
	ticker := time.NewTicker(syncEvery)
	defer ticker.Stop()
	for {
		var began time.Time
		select {
		case <-ctx.Done():
			return ctx.Err()
		case b := <-j.queue:
			began = time.Now()
			j.write(b)
		case refused := <-j.again.answers:
			began = time.Now()
			j.answered(refused)
		case <-ticker.C:
			began = time.Now()
			j.sync()
			j.sendAgain()
			if time.Since(j.since) > cleanEvery && j.file != nil && j.file.Size() > max(j.cleaned, j.cfg.Bytes/16) {
				j.clean()
			}
		}
		j.Stats.OwnerNanos.Add(uint64(time.Since(began)))
	}
}

// write appends a batch. It is durable after the next sync.
func (j *Journal) write(b batch) {
	j.queued.Add(-b.bytes)
	for _, tx := range b.txs {
		e := entry{b.millis, tx.Body, b.client}
		if j.file == nil || !j.roomFor(&e) {
			j.Stats.Dropped.Add(1)
			continue
		}
		j.record = e.append(j.record[:0])
		if err := j.file.Append(j.record); err != nil {
			j.Stats.Dropped.Add(1)
			j.giveUp("write it", err)
			continue
		}
		j.held = append(j.held, held{keyOf(tx.Hash), e.client, true})
		j.shares.add(e.client, e.fileBytes())
		j.dirty++
		j.Stats.Written.Add(1)
	}
	if j.file != nil {
		j.Stats.Bytes.Store(j.file.Size())
	}
}

// roomFor makes room for an entry where it can. A cleaning that left less than a
// quarter free is not repeated soon: each reads and writes the whole file.
func (j *Journal) roomFor(e *entry) bool {
	bytes := e.fileBytes()
	full := func() bool { return j.file.Size()+bytes > j.cfg.Bytes }
	switch since := time.Since(j.since); {
	case full() && (j.cleaned <= j.cfg.Bytes/4*3 || since >= cleanEvery):
		j.clean()
	case !j.shares.holds(e.client, bytes) && j.shares.fresh(e.client) && since >= shareCleanEvery:
		j.clean()
	}
	return j.file != nil && !full() && j.shares.holds(e.client, bytes)
}

// sync makes durable what was written.
func (j *Journal) sync() {
	if j.file == nil || j.dirty == 0 {
		return
	}
	if err := j.file.Sync(); err != nil {
		j.giveUp("write it", err)
		return
	}
	j.Stats.Synced.Add(j.dirty)
	j.dirty = 0
}

// clean drops from the file what is not worth keeping. Until the records of an
// earlier run are in the pool, they would all look so.
func (j *Journal) clean() {
	if j.file == nil || !j.again.done() {
		return
	}
	now, waits := uint64(time.Now().UnixMilli()), j.waiting()
	shares, kept, record := j.shares.again(), j.held[:0], 0 // never ahead of what is read
	err := j.file.Prune(func(rec []byte) bool {
		h := &j.held[record]
		record++
		e, err := decode(rec)
		if err != nil || j.tooOld(&e, now) || !waits(h.key) {
			return false
		}
		kept = append(kept, *h)
		shares.carryOver(h, e.fileBytes())
		return true
	})
	j.held = kept
	j.shares = shares
	j.since = time.Now()
	if err != nil {
		j.giveUp("clean it", err)
		return
	}
	j.cleaned = j.file.Size()
	j.Stats.Bytes.Store(j.cleaned)
	j.Stats.Synced.Add(j.dirty) // pruning makes durable what it keeps
	j.dirty = 0
}

// waiting returns what says, once for each transaction, whether the pool has it: asking
// the pool for one after the other would take longer than all else.
func (j *Journal) waiting() func(key txKey) bool {
	in := map[txKey]bool{}
	if !j.chain.EachWaiting(func(hash chain.Hash) { in[keyOf(hash)] = true }) {
		return func(key txKey) bool {
			told := in[key]
			in[key] = true
			return !told
		}
	}
	return func(key txKey) bool {
		waits := in[key]
		delete(in, key)
		return waits
	}
}

// tooOld says whether the pool would not keep the transaction any more. The clock
// may have been set back meanwhile: then it stays, until it is final.
func (j *Journal) tooOld(e *entry, now uint64) bool {
	return now > e.millis && now-e.millis > j.cfg.AgeMillis
}

// giveUp ends the journal until the next start. What was read of an earlier run is
// offered to the pool all the same.
func (j *Journal) giveUp(what string, err error) {
	j.works.Store(false)
	j.Stats.Failures.Store(1)
	j.cfg.Log.Error("own submissions are not kept from now on: move the file away if it is damaged, and start again",
		"file", j.cfg.Path, "failed_to", what, "err", err)
	if j.file != nil {
		_ = j.file.Close() // it failed already
	}
	j.file, j.dirty = nil, 0
	j.Stats.Bytes.Store(0)
}

// Close writes what is still queued and closes the file. Run must have returned. It
// fails no caller: what goes wrong is logged.
func (j *Journal) Close() {
	for len(j.queue) > 0 {
		j.write(<-j.queue)
	}
	j.sync()
	if j.file == nil {
		return
	}
	j.works.Store(false)
	if err := j.file.Close(); err != nil {
		j.cfg.Log.Error("own submissions may not all be kept", "file", j.cfg.Path, "err", err)
	}
	j.file = nil
}
