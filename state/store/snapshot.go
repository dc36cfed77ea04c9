package store

import (
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// kept is the database as it was after one commit, while it is kept.
type kept struct {
	mu       sync.RWMutex
	snapshot *pebble.Snapshot // nil once given up
	gone     error            // what reads answer then
}

// get returns the row under key in a slice of the caller's, or nil.
func (k *kept) get(key []byte) ([]byte, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.snapshot == nil {
		return nil, k.gone
	}
	return getRow(k.snapshot, key)
}

// giveUp ends the snapshot; reads answer with reason from then on.
func (k *kept) giveUp(reason error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.snapshot == nil {
		return nil
	}
	err := k.snapshot.Close()
	k.snapshot, k.gone = nil, reason
	return err
}

// getRow returns a row in a slice of its own, which is not nil if there is one.
func getRow(r pebble.Reader, key []byte) ([]byte, error) {
	value, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, damage(err)
	}
	row := append([]byte{}, value...)
	return row, closer.Close()
}
