package store

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/state/blocklog"
)

// Options are the settings of a store. They are this node's own: no two nodes
// need to agree on them.
type Options struct {
	CacheBytes    int64 // memory for blocks read from disk
	MemTableBytes int64 // size of one memtable; up to four are in memory under load
	KeepVersions  int   // committed versions that stay readable, the head included; at least 1
	OpenFilesMax  int
	// History keeps old values, for reads at any height: an archive. A store that
	// has begun goes on with it at every Open, until one with EndHistory.
	History      bool
	EndHistory   bool
	UndoBlocks   int   // last blocks whose old values are kept, for reads at their heights; 0 for none
	SegmentBytes int64 // size of one file of blocks
	// FreeBytesFloor is how much of the disk stays free: below it, commits fail
	// with ErrDiskFull. 0 for no floor.
	FreeBytesFloor int64
	Workers        int          // goroutines that compute a root, 1 to 16
	FS             vfs.FS       // nil for the file system of the machine
	Log            *slog.Logger // nil for none
}

// DefaultOptions returns settings for a validator. The sizes follow
// measurements of pebble under 10,000 updates a block; its own defaults (4 MB
// memtables) stall under that load.
func DefaultOptions() Options {
	return Options{
		CacheBytes:    256 << 20,
		MemTableBytes: 64 << 20,
		KeepVersions:  16,
		OpenFilesMax:  1000,
		Workers:       min(16, runtime.GOMAXPROCS(0)),
		UndoBlocks:    1024,
		SegmentBytes:  blocklog.DefaultSegmentBytes,

		FreeBytesFloor: 1 << 30,
	}
}

// Check returns an error for settings the store cannot work with.
func (o *Options) Check() error {
	switch {
	case o.CacheBytes < 1<<20:
		return errors.New("store: cache below 1 MiB")
	case o.MemTableBytes < 256<<10 || o.MemTableBytes > 1<<30:
		return errors.New("store: memtable outside 256 KiB to 1 GiB")
	case o.KeepVersions < 1 || o.KeepVersions > 4096:
		return errors.New("store: versions kept outside 1 to 4096")
	case o.Workers < 1 || o.Workers > 16:
		return errors.New("store: workers outside 1 to 16")
	case o.UndoBlocks < 0 || o.UndoBlocks > 1<<20:
		return errors.New("store: undo records of fewer than 0 or more than 1048576 blocks")
	case o.SegmentBytes < 4<<10 || o.SegmentBytes > 1<<40:
		return errors.New("store: segments of blocks outside 4 KiB to 1 TiB")
	case o.FreeBytesFloor < 0:
		return errors.New("store: floor of free bytes below 0")
	case o.History && o.EndHistory:
		return errors.New("store: a history that is to be kept and to be ended")
	case o.OpenFilesMax < 64:
		return errors.New("store: fewer than 64 open files")
	}
	return nil
}

// pebble returns the database's settings.
//
//   - L0CompactionThreshold 2 keeps few overlapping files, so that reads stay
//     short; writes are slowed down only far above it.
//   - Bloom filters on every level: most reads of the state are for one key,
//     and many for accounts that do not exist yet.
//   - 8 KiB blocks suit reads of one key; the index of a large block would
//     cost more than it saves.
//   - Damage and errors in the background are told to the store, from any
//     goroutine. Pebble by itself ends the process for the former, and tries
//     again for ever for the latter.
//   - The newest format writes sync marks into the log, by which damage in the
//     middle of it is told from a torn end.
func (s *Store) pebble() *pebble.Options {
	o, log := &s.opts, pebbleLog{s.opts.Log, s.stop}
	po := &pebble.Options{
		CacheSize:          o.CacheBytes,
		FS:                 gate{orderedNames{o.FS}, s.stop},
		FormatMajorVersion: pebble.FormatNewest,
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) {
				log.Errorf("background: %v", err)
				s.onBackground(err)
			},
			DataCorruption: func(info pebble.DataCorruptionInfo) {
				log.Errorf("damaged file %s: %v", info.Path, info.Details)
				s.noteDamage(fmt.Errorf("%w: file %s: %w", ErrCorrupt, info.Path, info.Details))
			},
		},
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       1000,
		LBaseMaxBytes:               64 << 20,
		Lock:                        s.lock.Lock,
		Logger:                      log,
		MaxOpenFiles:                o.OpenFilesMax,
		MemTableSize:                uint64(o.MemTableBytes),
		MemTableStopWritesThreshold: 4,
		WALBytesPerSync:             512 << 10,
		CompactionConcurrencyRange:  func() (lower, upper int) { return 1, max(2, runtime.GOMAXPROCS(0)/2) },
	}
	for i := range po.Levels {
		po.Levels[i].BlockSize = 8 << 10
		po.Levels[i].IndexBlockSize = 256 << 10
		po.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		po.Levels[i].FilterType = pebble.TableFilter
	}
	po.TargetFileSizes[0] = 16 << 20
	po.EnsureDefaults()
	return po
}

// pebbleLog passes pebble's messages on.
type pebbleLog struct {
	log  *slog.Logger
	stop *stop
}

func (pebbleLog) Infof(string, ...any) {}

func (j pebbleLog) Errorf(format string, args ...any) {
	if j.log != nil {
		j.log.Error("database", "message", fmt.Sprintf(format, args...))
	}
}

// Fatalf does not return. Pebble calls it when it can no longer keep its files in
// order; going on could show as final what is not on disk. That ends the store,
// and freezes the goroutine: whoever waits for it does so in stop.wait. Without
// an error among the arguments it is about a mistake in the program.
func (j pebbleLog) Fatalf(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if j.log != nil {
		j.log.Error("database stopped", "message", message)
	}
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			j.stop.kill(fmt.Errorf("database stopped: %w", cause))
			j.stop.freeze()
		}
	}
	panic("store: " + message)
}
