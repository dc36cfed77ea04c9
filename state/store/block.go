package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
)

// BlockRecord is a finalized block as it is kept. The store does not look into
// its bytes.
type BlockRecord struct {
	Height      chain.Height
	Digest      chain.Hash   // of the header
	Block       []byte       // encoding of the block
	Receipts    [][]byte     // encodings, in execution order
	Certificate []byte       // finalization certificate
	TxHashes    []chain.Hash // of the block's transactions, in execution order
}

func putBlock(b *pebble.Batch, rec *BlockRecord) error {
	height := heightBytes(rec.Height)
	digests := append(make([]byte, 0, (1+len(rec.TxHashes))*hashLen), rec.Digest[:]...)
	for i := range rec.TxHashes {
		digests = append(digests, rec.TxHashes[i][:]...)
	}
	err := errors.Join(
		b.Set(heightKey(tableBlocks, rec.Height), rec.Block, nil),
		b.Set(heightKey(tableDigests, rec.Height), digests, nil),
		b.Set(heightKey(tableCertificates, rec.Height), rec.Certificate, nil),
		b.Set(hashKey(tableHeights, rec.Digest), height, nil),
	)
	for i, receipt := range rec.Receipts {
		err = errors.Join(err, b.Set(receiptKey(rec.Height, i), receipt, nil))
	}
	for i, hash := range rec.TxHashes {
		location := binary.BigEndian.AppendUint32(bytes.Clone(height), uint32(i))
		err = errors.Join(err, b.Set(hashKey(tableTxs, hash), location, nil))
	}
	return err
}

// row reads one row of the newest state.
func (s *Store) row(key []byte) ([]byte, error) {
	done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	return getRow(s.db, key)
}

// BlockByHeight returns the finalized block at height h, false if h is above
// the head or 0: the genesis is not a block. Below [Store.Base] the error is
// [ErrNotKept].
func (s *Store) BlockByHeight(h chain.Height) (BlockRecord, bool, error) {
	digests, err := s.digests(h)
	if err != nil || digests == nil {
		return BlockRecord{}, false, err
	}
	rec := BlockRecord{Height: h, Digest: chain.Hash(digests[:hashLen])}
	for rest := digests[hashLen:]; len(rest) > 0; rest = rest[hashLen:] {
		rec.TxHashes = append(rec.TxHashes, chain.Hash(rest[:hashLen]))
	}
	if rec.Block, err = s.row(heightKey(tableBlocks, h)); err != nil {
		return BlockRecord{}, false, fmt.Errorf("read block %d: %w", h, err)
	}
	if rec.Certificate, err = s.row(heightKey(tableCertificates, h)); err != nil {
		return BlockRecord{}, false, fmt.Errorf("read certificate of block %d: %w", h, err)
	}
	if rec.Block == nil || rec.Certificate == nil {
		return BlockRecord{}, false, damaged("block %d is there in part", h)
	}
	if rec.Receipts, err = s.receipts(h); err != nil {
		return BlockRecord{}, false, fmt.Errorf("read receipts of block %d: %w", h, err)
	}
	return rec, true, nil
}

// BlockBytes returns digest and encoding of the finalized block at height h, and
// is false where [Store.BlockByHeight] is. It leaves the receipts unread, which
// can be as large as the block.
func (s *Store) BlockBytes(h chain.Height) (digest chain.Hash, block []byte, ok bool, err error) {
	digests, err := s.digests(h)
	if err != nil || digests == nil {
		return chain.Hash{}, nil, false, err
	}
	if block, err = s.row(heightKey(tableBlocks, h)); err != nil {
		return chain.Hash{}, nil, false, fmt.Errorf("read block %d: %w", h, err)
	}
	if block == nil {
		return chain.Hash{}, nil, false, damaged("block %d is there in part", h)
	}
	return chain.Hash(digests[:hashLen]), block, true, nil
}

// digests returns digest ‖ transaction hashes of a block, nil if there is none.
func (s *Store) digests(h chain.Height) ([]byte, error) {
	row, err := s.row(heightKey(tableDigests, h))
	if err != nil {
		return nil, fmt.Errorf("read digest of block %d: %w", h, err)
	}
	if row == nil {
		if h == 0 {
			return nil, nil
		}
		if err := s.checkKept(h); err != nil {
			return nil, err
		}
		if last, _ := s.HeadInfo(); h <= last {
			return nil, damaged("block %d is missing below the head", h)
		}
		return nil, nil
	}
	if len(row) == 0 || len(row)%hashLen != 0 {
		return nil, damaged("digests of block %d take %d bytes", h, len(row))
	}
	return row, nil
}

func (s *Store) receipts(h chain.Height) (receipts [][]byte, err error) {
	done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	prefix := heightKey(tableReceipts, h)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return nil, damage(err)
	}
	defer func() { err = damage(errors.Join(err, it.Error(), it.Close())) }()
	for it.First(); it.Valid(); it.Next() {
		if !bytes.Equal(it.Key(), receiptKey(h, len(receipts))) {
			return nil, damaged("receipt %d of block %d is missing", len(receipts), h)
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		receipts = append(receipts, append([]byte{}, value...))
	}
	return receipts, nil
}

// Blocks calls f with every finalized block from height from (at least 1) up to
// the head at the time of the call, and ends with the first error.
func (s *Store) Blocks(from chain.Height, f func(BlockRecord) error) error {
	last, _ := s.HeadInfo()
	for h := max(from, 1); h <= last; h++ {
		rec, ok, err := s.BlockByHeight(h)
		if err != nil {
			return err
		}
		if !ok {
			return damaged("block %d is missing below the head", h)
		}
		if err := f(rec); err != nil {
			return err
		}
	}
	return nil
}

// BlockDigest returns the digest of the finalized block at height h; at height
// 0 that is the genesis hash.
func (s *Store) BlockDigest(h chain.Height) (chain.Hash, bool, error) {
	if genesis, ok := s.Genesis(); h == 0 {
		return genesis, ok, nil
	}
	digests, err := s.digests(h)
	if err != nil || digests == nil {
		return chain.Hash{}, false, err
	}
	return chain.Hash(digests[:hashLen]), true, nil
}

// HeightByDigest returns the height of the finalized block with the digest.
func (s *Store) HeightByDigest(digest chain.Hash) (chain.Height, bool, error) {
	row, err := s.row(hashKey(tableHeights, digest))
	if err != nil {
		return 0, false, fmt.Errorf("read height of %s: %w", digest, err)
	}
	if row == nil {
		return 0, false, nil
	}
	if len(row) != 8 {
		return 0, false, damaged("height of %s takes %d bytes", digest, len(row))
	}
	return chain.Height(binary.BigEndian.Uint64(row)), true, nil
}

// TxLocation returns the block of a finalized transaction and its place among
// the block's transactions.
func (s *Store) TxLocation(hash chain.Hash) (h chain.Height, index int, ok bool, err error) {
	row, err := s.row(hashKey(tableTxs, hash))
	if err != nil {
		return 0, 0, false, fmt.Errorf("read location of %s: %w", hash, err)
	}
	if row == nil {
		return 0, 0, false, nil
	}
	if len(row) != 12 {
		return 0, 0, false, damaged("location of %s takes %d bytes", hash, len(row))
	}
	return chain.Height(binary.BigEndian.Uint64(row)), int(binary.BigEndian.Uint32(row[8:])), true, nil
}

// Receipt returns a receipt of a finalized block, by its place in execution
// order.
func (s *Store) Receipt(h chain.Height, index int) ([]byte, bool, error) {
	if index < 0 {
		return nil, false, nil
	}
	row, err := s.row(receiptKey(h, index))
	if err != nil {
		return nil, false, fmt.Errorf("read receipt %d of block %d: %w", index, h, err)
	}
	return row, row != nil, nil
}
