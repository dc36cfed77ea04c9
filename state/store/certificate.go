package store

import "github.com/cowboy-foundation/cowboy/chain"

// Certificate returns what was stored as [BlockRecord.Certificate] of the
// finalized block at height h, and is false where [Store.BlockByHeight] is. It
// leaves the rest of the block unread.
func (s *Store) Certificate(h chain.Height) ([]byte, bool, error) {
	_, place, ok, err := s.index(h)
	if err != nil || !ok {
		return nil, false, err
	}
	certificate, err := s.blocks.ReadPart(uint64(h), place, partCertificate)
	return certificate, err == nil, damage(err)
}
