package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// ErrNotKept means that a block is below the first that the store has: it began
// with an imported state. See [NotKeptError].
var ErrNotKept = errors.New("block is not kept")

// NotKeptError names the block and the first one that is kept. It matches
// [ErrNotKept].
type NotKeptError struct{ Height, First chain.Height }

func (e *NotKeptError) Error() string {
	return fmt.Sprintf("block %d is not kept: this node began with the state of block %d", e.Height, e.First)
}

// Unwrap makes the error match ErrNotKept.
func (e *NotKeptError) Unwrap() error { return ErrNotKept }

// Base returns the height of the first block that is kept: 0 if none below the
// head is missing. Of the block at a base above 0 there are neither receipts nor
// an index of its transactions.
func (s *Store) Base() chain.Height { return chain.Height(s.base.Load()) }

// checkKept refuses blocks below the first.
func (s *Store) checkKept(h chain.Height) error {
	if base := s.Base(); h < base {
		return &NotKeptError{Height: h, First: base}
	}
	return nil
}

// loadBase reads where the kept blocks begin.
func (s *Store) loadBase() error {
	row, err := getRow(s.db, []byte(keyBase))
	if err != nil || row == nil {
		return err
	}
	if len(row) != 8 {
		return damaged("first height takes %d bytes", len(row))
	}
	s.base.Store(binary.BigEndian.Uint64(row))
	return nil
}
