package blocklog

import (
	"errors"
	"io"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// unreadable is the reason of a record that the disk does not give back.
const unreadable = "the disk does not give it back"

// Unreadable reports whether a disk answered that it cannot read what is there: a sector
// is lost (EIO, ENODATA), or fails the check of the file system or of the disk itself
// (EBADMSG, EILSEQ). Others can be read all the same, so that it is damage of what stands
// there. A disk that is gone altogether answers so, too; its node stops with the next
// block that it writes.
func Unreadable(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENODATA) ||
		errors.Is(err, syscall.EBADMSG) || errors.Is(err, syscall.EILSEQ)
}

// sectorBytes is what a disk loses at once, and what file systems read to write less.
const sectorBytes = 4096

// readSectors reads as ReadAt does, and where the disk gives back nothing leaves zeros.
func readSectors(file vfs.File, b []byte, from int64) (n int, err error) {
	for n < len(b) {
		at := from + int64(n)
		end := min(len(b), n+int(sectorBytes-at%sectorBytes))
		got, err := file.ReadAt(b[n:end], at)
		switch {
		case Unreadable(err):
			clear(b[n:end])
		case err != nil:
			return n + got, err
		}
		n = end
	}
	return n, nil
}

// blank writes zeros over the sectors between two bytes that cannot be read, so that what
// begins or ends in them can be written: to write a part of a sector, the rest is read.
// A disk puts another sector in its place. It leaves the first, which has the header, and
// any that an append may still write to.
func blank(file vfs.File, from, to int64) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var sector [sectorBytes]byte
	for at := max(from-from%sectorBytes, sectorBytes); at < to && at+sectorBytes <= info.Size(); at += sectorBytes {
		_, err := file.ReadAt(sector[:], at)
		switch {
		case errors.Is(err, io.EOF):
			return nil // somebody cuts it
		case !Unreadable(err):
			continue
		}
		clear(sector[:])
		if _, err := file.WriteAt(sector[:], at); err != nil {
			return err
		}
	}
	return nil
}
