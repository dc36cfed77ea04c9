package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
)

// watermark remembers the head outside of the database. Damage near the end of
// pebble's log looks to pebble like a write that a crash cut short: it drops
// finalized blocks without a word and opens at an older height. The watermark
// tells the two apart. It is written after each commit and never synced, so
// after a power cut it may lag behind the head, but it is never ahead of it.
//
//	height (u64) ‖ digest ‖ crc32c (u32), big-endian
type watermark struct{ file vfs.File }

const (
	watermarkName = "head.watermark"
	watermarkLen  = 8 + hashLen + 4
)

func openWatermark(fs vfs.FS, dir string) (*watermark, error) {
	f, err := fs.OpenReadWrite(fs.PathJoin(dir, watermarkName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", watermarkName, err)
	}
	return &watermark{f}, nil
}

// compare compares the database's head with the last one that is known. A
// watermark that is itself missing, torn or damaged says nothing: knows is false.
func (w *watermark) compare(h chain.Height, digest chain.Hash) (knows bool, err error) {
	var b [watermarkLen]byte
	_, err = w.file.ReadAt(b[:], 0)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", watermarkName, err)
	}
	if binary.BigEndian.Uint32(b[8+hashLen:]) != watermarkSum(b[:]) {
		return false, nil
	}
	known, knownDigest := chain.Height(binary.BigEndian.Uint64(b[:])), chain.Hash(b[8:8+hashLen])
	if known > h {
		return true, damaged("the head is at %d, but block %d had been finalized: the database's log lost its end", h, known)
	}
	if known == h && knownDigest != digest {
		return true, damaged("the head at %d is %s, but %s had been finalized", h, digest, knownDigest)
	}
	return true, nil
}

// renewWatermark writes a watermark that said nothing, and says so. Who has no log
// leaves it to the next one who has.
func (s *Store) renewWatermark(h chain.Height, digest chain.Hash) error {
	if s.opts.Log == nil {
		return nil
	}
	s.opts.Log.Warn("head.watermark was missing or damaged and is made anew: it cannot tell whether the database's log lost final blocks since the last start; after a power cut that is ordinary",
		"file", s.opts.FS.PathJoin(s.dir, watermarkName), "head", h)
	return s.mark.set(h, digest)
}

func (w *watermark) set(h chain.Height, digest chain.Hash) error {
	b := append(heightBytes(h), digest[:]...)
	b = binary.BigEndian.AppendUint32(b, watermarkSum(b))
	if _, err := w.file.WriteAt(b, 0); err != nil {
		return fmt.Errorf("write %s: %w", watermarkName, err)
	}
	return nil
}

func watermarkSum(b []byte) uint32 {
	return crc32.Checksum(b[:8+hashLen], crc32.MakeTable(crc32.Castagnoli))
}
