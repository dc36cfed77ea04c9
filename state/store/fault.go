package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/blocklog"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Faults of this node. None of them says anything about a block or transaction.
var (
	// ErrInUse means that another process, or another Store of this one, has
	// the folder open.
	ErrInUse = errors.New("data folder is in use by another process, stop that first")
	// ErrFormat means that the folder was written by another version of this
	// code, or holds something else; see [FormatError].
	ErrFormat = errors.New("data folder has an unknown format")
	// ErrOtherGenesis means that the folder holds another chain; see
	// [OtherGenesisError].
	ErrOtherGenesis = errors.New("data folder belongs to another genesis")
	// ErrCorrupt means that stored data is damaged. Blocks can be executed
	// again, or fetched from peers.
	ErrCorrupt = errors.New("stored data is damaged")
	// ErrStale means that a version is too far behind the head to be read. The
	// caller takes the head anew.
	ErrStale = errors.New("version is no longer kept")
	// ErrClosed means that the store was closed.
	ErrClosed = errors.New("store is closed")
	// ErrFailed means that an earlier commit failed: it is unknown what of it is
	// on disk, so the process has to stop.
	ErrFailed = errors.New("store stopped after a failed commit")
	// ErrDiskFull means that the disk is full, or fuller than
	// Options.FreeBytesFloor allows. What was committed is safe; once there is
	// room, the store can be opened again and goes on.
	ErrDiskFull = errors.New("disk is full")
	// ErrNotNext means that a commit is not for a child of the head. It is a
	// mistake of the caller.
	ErrNotNext = errors.New("version is not the next after the head")
	// ErrNoGenesis means that blocks are committed before Init.
	ErrNoGenesis = errors.New("store has no genesis yet")
)

// OtherGenesisError names both chains. It matches [ErrOtherGenesis].
type OtherGenesisError struct {
	Stored, Given chain.Hash
}

func (e *OtherGenesisError) Error() string {
	return fmt.Sprintf("%v: it holds %s, the genesis given is %s", ErrOtherGenesis, e.Stored, e.Given)
}

// Unwrap makes the error match ErrOtherGenesis.
func (e *OtherGenesisError) Unwrap() error { return ErrOtherGenesis }

// FormatError says which format a folder has. It matches [ErrFormat].
type FormatError struct {
	Found []byte // what stands there; one byte, the version, in all known formats
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%v: %x, this build reads %d; there is no conversion: move the folder away and start "+
		"with an empty one, or use the program that wrote it", ErrFormat, e.Found, formatVersion)
}

// Unwrap makes the error match ErrFormat.
func (e *FormatError) Unwrap() error { return ErrFormat }

// damage marks what means damage, whoever found it.
func damage(err error) error {
	if err == nil || errors.Is(err, ErrCorrupt) {
		return err
	}
	if pebble.IsCorruptionError(err) || errors.Is(err, tree.ErrCorrupt) || errors.Is(err, blocklog.ErrDamaged) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// damaged reports damage that this package found.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
