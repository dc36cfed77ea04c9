package store

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/blocklog"
)

// ErrOtherSize means that the parts of a block do not fill the place of its record to
// the byte.
var ErrOtherSize = blocklog.ErrOtherSize

// Salvaged is what can still be read of the record of a finalized block. Parts that are
// damaged are nil.
type Salvaged struct {
	Height      chain.Height
	Digest      chain.Hash // of the header, from the index
	Whole       bool       // nothing is damaged
	Bytes       int        // of all parts together, as the index has it
	Block       []byte
	Certificate []byte
	IDs         []byte // ids of the receipts, and behind them the senders if they are stored
	Receipts    [][]byte
}

// Salvage returns what can be read of a block at height h that may be damaged, if it
// has no more than bytesMax bytes, which [Salvaged.Bytes] says; it is false where
// [Store.BlockByHeight] is. It reads the file as the folder has it now.
func (s *Store) Salvage(h chain.Height, bytesMax int) (Salvaged, bool, error) {
	digest, place, ok, err := s.index(h)
	if err != nil || !ok {
		return Salvaged{}, false, err
	}
	out := Salvaged{Height: h, Digest: digest, Bytes: place.PartBytes()}
	if place.Parts < partReceipts {
		return out, false, damaged("block %d is there in part", h)
	}
	out.Receipts = make([][]byte, place.Parts-partReceipts)
	if out.Bytes > bytesMax {
		return out, true, nil
	}
	parts, whole, err := s.blocks.Salvage(uint64(h), place)
	if err != nil {
		return out, false, damage(err)
	}
	out.Whole = whole
	out.Block, out.Certificate, out.IDs, out.Receipts = parts[partBlock], parts[partCertificate], parts[partIDs], parts[partReceipts:]
	return out, true, nil
}

// Mend writes the damaged record of a block again at its place. What rec says must have
// been held to the digest of the block: the store does not look into it. The record is
// durable when it returns nil. [ErrOtherSize] means that the parts take another number
// of bytes than the place has; after any other error the record may be written again.
// None of them stops the store. others says that somebody else has the blocks beside it,
// see [blocklog.Log.Rewrite].
func (s *Store) Mend(rec *BlockRecord, others bool) error {
	done, err := s.use()
	if err != nil {
		return err
	}
	defer done()
	if err := errors.Join(s.stop.why(), s.checkSpace()); err != nil {
		return fmt.Errorf("mend block %d: %w", rec.Height, err)
	}
	digest, place, ok, err := s.index(rec.Height)
	switch {
	case err != nil:
		return err
	case !ok || digest != rec.Digest:
		return fmt.Errorf("mend block %d: it is not %s that is stored", rec.Height, rec.Digest)
	}
	if err := s.blocks.Rewrite(uint64(rec.Height), place, rec.parts(), others); err != nil {
		return fmt.Errorf("mend: %w", named(err))
	}
	return nil
}

// BlockParts returns parts of the record of the finalized block at height h as they are
// stored, from part first on and before part end (0 the block, 1 its certificate, 2
// the ids, then the receipts), as many as fit into bytesMax bytes, and is false where
// [Store.BlockByHeight] is, or has another digest, or has no such part.
func (s *Store) BlockParts(h chain.Height, digest chain.Hash, first, end uint32, bytesMax int) (parts [][]byte, ok bool, err error) {
	found, place, ok, err := s.index(h)
	if err != nil || !ok || found != digest || first >= min(end, place.Parts) {
		return nil, false, err
	}
	parts, err = s.blocks.ReadSome(uint64(h), place, first, end, bytesMax)
	return parts, err == nil, damage(err)
}

// CheckBlockFiles returns what is wrong with the files of blocks by their names and
// lengths: one that was removed while the store has it open is read as if nothing were,
// until the store is opened again.
func (s *Store) CheckBlockFiles() ([]*blocklog.DamageError, error) {
	h, _ := s.HeadInfo()
	_, place, ok, err := s.index(h)
	if err != nil || !ok {
		return nil, err
	}
	return s.blocks.CheckFiles(place.Segment)
}
