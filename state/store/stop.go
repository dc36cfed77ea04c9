package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// stop remembers why the store can write no more. Work of the database in the
// background can fail at any time; whoever waits for a commit then waits no
// longer.
type stop struct {
	mu     sync.Mutex
	reason error         // nil while the store works
	c      chan struct{} // closed with the first reason
	dead   chan struct{} // closed when the database may hold locks for ever
	isDead bool

	writing sync.RWMutex // held for reading by every write of the database
	opening atomic.Bool  // the database is not open yet
}

func newStop() *stop {
	s := &stop{c: make(chan struct{}), dead: make(chan struct{})}
	s.opening.Store(true)
	return s
}

// setReason takes the first reason.
func (s *stop) setReason(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopFor(err)
}

func (s *stop) stopFor(err error) {
	if s.reason == nil {
		s.reason = named(err)
		close(s.c)
	}
}

// kill takes a reason after which the database must not be called any more.
func (s *stop) kill(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopFor(err)
	if !s.isDead {
		s.isDead = true
		close(s.dead)
	}
}

// why returns the first reason, or nil.
func (s *stop) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}

// drain waits for the writes under way; after kill, none follows.
func (s *stop) drain() {
	s.writing.Lock()
	defer s.writing.Unlock()
}

func (s *stop) killed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isDead
}

// wait runs f, a call of the database, and returns its error; or the reason why
// the database works no more, when f does not return because of it.
func (s *stop) wait(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-s.dead:
		return s.why()
	}
}

// named gives errors of the operating system and the database their names here.
func named(err error) error {
	if err != nil && !errors.Is(err, ErrDiskFull) && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)) {
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return damage(err)
}

// onBackground is told of errors in flushes and compactions. The database tries
// again without end, and commits would come to wait for it.
func (s *Store) onBackground(err error) {
	if !errors.Is(err, pebble.ErrCancelledCompaction) {
		s.stop.setReason(fmt.Errorf("work of the database in the background: %w", err))
	}
}

// checkSpace refuses to write when little of the disk is free: what stops in
// time can be opened again, also by those who have to make room.
func (s *Store) checkSpace() error {
	if s.opts.FreeBytesFloor == 0 {
		return nil
	}
	usage, err := s.opts.FS.GetDiskUsage(s.dir)
	if errors.Is(err, vfs.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask for free space: %w", err)
	}
	if usage.AvailBytes < uint64(s.opts.FreeBytesFloor) {
		return fmt.Errorf("%w: %d bytes are free, %d are to stay so: make room and start again",
			ErrDiskFull, usage.AvailBytes, s.opts.FreeBytesFloor)
	}
	return nil
}
