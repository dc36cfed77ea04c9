package store

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Certificate returns what was stored as [BlockRecord.Certificate] of the
// finalized block at height h, and is false where [Store.BlockByHeight] is.
func (s *Store) Certificate(h chain.Height) ([]byte, bool, error) {
	digests, err := s.digests(h)
	if err != nil || digests == nil {
		return nil, false, err
	}
	row, err := s.row(heightKey(tableCertificates, h))
	if err != nil {
		return nil, false, fmt.Errorf("read certificate of block %d: %w", h, err)
	}
	if row == nil {
		return nil, false, damaged("certificate of block %d is missing", h)
	}
	return row, true, nil
}
