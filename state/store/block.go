package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/blocklog"
)

// BlockRecord is a finalized block as it is kept. The store does not look into
// its bytes.
type BlockRecord struct {
	Height      chain.Height
	Digest      chain.Hash   // of the header
	Block       []byte       // encoding of the block
	Receipts    [][]byte     // encodings, in execution order
	Certificate []byte       // finalization certificate
	ReceiptIDs  []chain.Hash // one for each receipt: hashes of transactions, then ids of deliveries
	// Senders are those of the transactions, so that no reader has to recover them. Blocks
	// of older releases, and those that an import began with, have none.
	Senders  []chain.Address
	Emitters []Emitter // of the receipts' events, ascending; for [Store.Emissions] only, no read returns it
	Jobs     []JobsOf  // each side of each account once; for [Store.JobsOf] only, likewise
}

// The parts of a block's record in the block log; receipts follow them.
const (
	partBlock = iota
	partCertificate
	partIDs // of the receipts, and behind them the senders
	partReceipts
)

// parts returns those of a record.
func (r *BlockRecord) parts() [][]byte { return new(partsRoom).of(r) }

// partsRoom is the memory for the parts of a record, which the next one has.
type partsRoom struct {
	parts [][]byte
	ids   []byte
}

// of returns the parts of a record. They are good until the next call.
func (p *partsRoom) of(r *BlockRecord) [][]byte {
	p.ids = slices.Grow(p.ids[:0], len(r.ReceiptIDs)*hashLen+len(r.Senders)*senderLen)
	for i := range r.ReceiptIDs {
		p.ids = append(p.ids, r.ReceiptIDs[i][:]...)
	}
	for i := range r.Senders {
		p.ids = append(p.ids, r.Senders[i][:]...)
	}
	p.parts = slices.Grow(p.parts[:0], partReceipts+len(r.Receipts))
	p.parts = append(append(p.parts, r.Block, r.Certificate, p.ids), r.Receipts...)
	return p.parts
}

// forget drops what the parts refer to.
func (p *partsRoom) forget() { clear(p.parts) }

// putBlock writes the index of a block whose parts are durable at a place.
func putBlock(b *pebble.Batch, rec *BlockRecord, place blocklog.Place) error {
	height := heightBytes(rec.Height)
	err := errors.Join(
		b.Set(heightKey(tableBlocks, rec.Height), blocklog.AppendPlace(bytes.Clone(rec.Digest[:]), place), nil),
		b.Set(hashKey(tableHeights, rec.Digest), height, nil),
	)
	if err != nil {
		return err
	}
	key, location := hashKey(tableTxs, chain.Hash{}), append(height, 0, 0, 0, 0)
	for _, slot := range byID(rec.ReceiptIDs) {
		copy(key[len(key)-hashLen:], rec.ReceiptIDs[slot][:])
		binary.BigEndian.PutUint32(location[len(location)-4:], slot)
		if err := b.Set(key, location, nil); err != nil {
			return err
		}
	}
	return errors.Join(putEmitters(b, rec), putJobs(b, rec))
}

// byID returns the slots of ids in ascending order of these, which pebble takes faster
// than random order.
func byID(ids []chain.Hash) []uint32 {
	type place struct {
		first uint64 // bytes of the id, which mostly tell it from all others
		slot  uint32
	}
	places := make([]place, len(ids))
	for i := range ids {
		places[i] = place{binary.BigEndian.Uint64(ids[i][:]), uint32(i)}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return cmp.Or(bytes.Compare(ids[a.slot][:], ids[b.slot][:]), cmp.Compare(a.slot, b.slot))
	})
	slots := make([]uint32, len(ids))
	for i := range places {
		slots[i] = places[i].slot
	}
	return slots
}

// openBlocks opens the files of blocks, which must have the head's whole.
func (s *Store) openBlocks(head chain.Height) error {
	var last blocklog.Place
	if head > 0 {
		row, err := getRow(s.db, heightKey(tableBlocks, head))
		if err == nil && row == nil {
			err = damaged("block %d is the head and is not in the index", head)
		}
		if err == nil {
			_, last, err = readIndex(head, row)
		}
		if err != nil {
			return err
		}
	}
	var err error
	s.blocks, err = blocklog.Open(blocklog.Config{
		FS: s.opts.FS, Dir: s.opts.FS.PathJoin(s.dir, blocksFolder), SegmentBytes: s.opts.SegmentBytes,
	}, uint64(head), last)
	return damage(err)
}

const blocksFolder = "blocks"

func readIndex(h chain.Height, row []byte) (digest chain.Hash, place blocklog.Place, err error) {
	if len(row) != hashLen+blocklog.PlaceBytes {
		return digest, place, damaged("index of block %d takes %d bytes", h, len(row))
	}
	if place, err = blocklog.DecodePlace(row[hashLen:]); err != nil {
		return digest, place, damage(fmt.Errorf("index of block %d: %w", h, err))
	}
	return chain.Hash(row), place, nil
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
	digest, place, ok, err := s.index(h)
	if err != nil || !ok {
		return BlockRecord{}, false, err
	}
	parts, err := s.blocks.Read(uint64(h), place)
	if err != nil {
		return BlockRecord{}, false, damage(err)
	}
	if len(parts) < partReceipts {
		return BlockRecord{}, false, damaged("block %d is there in part", h)
	}
	rec := BlockRecord{
		Height: h, Digest: digest, Block: parts[partBlock], Certificate: parts[partCertificate],
		Receipts: parts[partReceipts:],
	}
	if rec.ReceiptIDs, rec.Senders, ok = splitIDs(parts[partIDs], len(rec.Receipts)); !ok {
		return BlockRecord{}, false, damaged("ids of the %d receipts of block %d take %d bytes", len(rec.Receipts), h, len(parts[partIDs]))
	}
	return rec, true, nil
}

// senderLen is the size of an address.
const senderLen = len(chain.Address{})

// splitIDs reads the ids of n receipts and the senders behind them.
func splitIDs(part []byte, n int) (ids []chain.Hash, senders []chain.Address, ok bool) {
	if len(part) < n*hashLen || (len(part)-n*hashLen)%senderLen != 0 || len(part) > n*(hashLen+senderLen) {
		return nil, nil, false
	}
	for ; len(ids) < n; part = part[hashLen:] {
		ids = append(ids, chain.Hash(part))
	}
	for ; len(part) > 0; part = part[senderLen:] {
		senders = append(senders, chain.Address(part))
	}
	return ids, senders, true
}

// ReceiptIDs returns the ids of the receipts of the finalized block at height h, and the
// senders of its transactions if they are stored, and is false where
// [Store.BlockByHeight] is.
func (s *Store) ReceiptIDs(h chain.Height) (ids []chain.Hash, senders []chain.Address, ok bool, err error) {
	_, place, ok, err := s.index(h)
	if err != nil || !ok {
		return nil, nil, false, err
	}
	part, err := s.blocks.ReadPart(uint64(h), place, partIDs)
	if err == nil {
		if ids, senders, ok = splitIDs(part, int(place.Parts)-partReceipts); !ok {
			err = damaged("%d bytes", len(part))
		}
	}
	if err != nil {
		return nil, nil, false, fmt.Errorf("read ids of receipts of block %d: %w", h, damage(err))
	}
	return ids, senders, true, nil
}

// BlockBytes returns digest and encoding of the finalized block at height h, and
// is false where [Store.BlockByHeight] is. It leaves the receipts unread, which
// can be as large as the block.
func (s *Store) BlockBytes(h chain.Height) (digest chain.Hash, block []byte, ok bool, err error) {
	digest, place, ok, err := s.index(h)
	if err != nil || !ok {
		return chain.Hash{}, nil, false, err
	}
	if block, err = s.blocks.ReadPart(uint64(h), place, partBlock); err != nil {
		return chain.Hash{}, nil, false, damage(err)
	}
	return digest, block, true, nil
}

// BlockSize returns how many bytes are stored of the finalized block at height h, with its
// receipts, which costs a look at its index. It is false where [Store.BlockByHeight] is.
func (s *Store) BlockSize(h chain.Height) (int, bool, error) {
	_, place, ok, err := s.index(h)
	if err != nil || !ok {
		return 0, false, err
	}
	return place.PartBytes(), true, nil
}

// FinalBlock returns encoding and certificate of the finalized block at height h, and is
// false where [Store.BlockByHeight] is. It leaves the receipts unread, and all of it
// where the two take more than bytesMax bytes: then block is nil.
func (s *Store) FinalBlock(h chain.Height, bytesMax int) (block, certificate []byte, ok bool, err error) {
	_, place, ok, err := s.index(h)
	if err != nil || !ok {
		return nil, nil, false, err
	}
	parts, fits, err := s.blocks.ReadFirst(uint64(h), place, partCertificate+1, bytesMax)
	if err != nil {
		return nil, nil, false, damage(err)
	}
	if !fits {
		return nil, nil, true, nil
	}
	return parts[partBlock], parts[partCertificate], true, nil
}

// index returns digest and place of a block, false if there is none.
func (s *Store) index(h chain.Height) (digest chain.Hash, place blocklog.Place, ok bool, err error) {
	row, err := s.row(heightKey(tableBlocks, h))
	if err != nil {
		return digest, place, false, fmt.Errorf("read index of block %d: %w", h, err)
	}
	if row == nil {
		if h == 0 {
			return digest, place, false, nil
		}
		if err := s.checkKept(h); err != nil {
			return digest, place, false, err
		}
		if last, _ := s.HeadInfo(); h <= last {
			return digest, place, false, damaged("block %d is missing below the head", h)
		}
		return digest, place, false, nil
	}
	digest, place, err = readIndex(h, row)
	return digest, place, err == nil, err
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
	digest, _, ok, err := s.index(h)
	return digest, ok, err
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

// ReceiptLocation returns the block of a receipt, by the hash of its transaction
// or the id of its delivery, and its place among the block's receipts: a
// transaction has the same place among the block's transactions.
func (s *Store) ReceiptLocation(hash chain.Hash) (h chain.Height, index int, ok bool, err error) {
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
// order. Before it is read, pay is told how many bytes it has; its error ends the reading.
func (s *Store) Receipt(h chain.Height, i int, pay func(bytes int) error) ([]byte, bool, error) {
	_, place, ok, err := s.index(h)
	if err != nil || !ok || i < 0 || i >= int(place.Parts)-partReceipts {
		return nil, false, err
	}
	bytes, err := s.blocks.PartSize(uint64(h), place, uint32(partReceipts+i))
	if err != nil {
		return nil, false, fmt.Errorf("read size of receipt %d: %w", i, damage(err))
	}
	if err := pay(bytes); err != nil {
		return nil, false, err
	}
	receipt, err := s.blocks.ReadPart(uint64(h), place, uint32(partReceipts+i))
	if err != nil {
		return nil, false, fmt.Errorf("read receipt %d: %w", i, damage(err))
	}
	return receipt, true, nil
}
