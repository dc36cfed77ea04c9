package rent

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// ErrRecord means that metadata begins as a record does, but is none: a fault. Only
// this package writes metadata after the genesis, whose locks begin otherwise.
var ErrRecord = errors.New("malformed record of evicted storage")

const (
	// recordTag begins metadata with a record. No CBOR item begins with it, so
	// it cannot begin metadata of another kind.
	recordTag = 0xff

	flagRestoring = 1

	// MaxRecordBytes bounds the encoding of a Record.
	MaxRecordBytes = 2 + len(chain.Hash{}) + 2*binary.MaxVarintLen64 +
		len(chain.Address{}) + 8 + len(chain.Hash{})

	// MaxMetaBytes is how much metadata an actor may have and still be evicted.
	MaxMetaBytes = state.MaxMetaBytes - MaxRecordBytes
)

// Record is what stays of a storage that was evicted.
type Record struct {
	Root      chain.Hash        // of the storage as it was
	Size      state.StorageSize // of it
	Restoring *Restoring        // nil while nobody puts it back
}

// Restoring is an attempt to put a storage back.
type Restoring struct {
	By       chain.Address // alone may put, until the deadline
	Deadline chain.Height  // last height at which that is so
	Cursor   chain.Hash    // hash of the last key that was put; zero before the first
}

// append appends the canonical encoding: tag, flags, root, bytes and entries as
// uvarints; while restoring, address, deadline (big-endian) and cursor.
func (r *Record) append(dst []byte) []byte {
	flags := byte(0)
	if r.Restoring != nil {
		flags = flagRestoring
	}
	dst = append(append(dst, recordTag, flags), r.Root[:]...)
	dst = binary.AppendUvarint(dst, r.Size.Bytes)
	dst = binary.AppendUvarint(dst, r.Size.Entries)
	if p := r.Restoring; p != nil {
		dst = append(dst, p.By[:]...)
		dst = binary.BigEndian.AppendUint64(dst, uint64(p.Deadline))
		dst = append(dst, p.Cursor[:]...)
	}
	return dst
}

// ParseMeta divides an account's metadata into the record of evicted storage,
// nil if there is none, and the metadata that it hides. It accepts exactly what
// this package writes.
func ParseMeta(meta []byte) (rec *Record, hidden []byte, err error) {
	if len(meta) == 0 || meta[0] != recordTag {
		return nil, meta, nil
	}
	if rec, hidden, err = parseRecord(meta[1:]); err != nil {
		return nil, nil, err
	}
	return rec, hidden, nil
}

func parseRecord(b []byte) (*Record, []byte, error) {
	const fixed, session = 1 + len(chain.Hash{}), len(chain.Address{}) + 8 + len(chain.Hash{})
	if len(b) < fixed || b[0] > flagRestoring {
		return nil, nil, ErrRecord
	}
	rec := &Record{Root: chain.Hash(b[1:fixed])}
	flags, b := b[0], b[fixed:]
	for _, to := range []*uint64{&rec.Size.Bytes, &rec.Size.Entries} {
		v, n := binary.Uvarint(b)
		if n <= 0 || n > 1 && b[n-1] == 0 {
			return nil, nil, ErrRecord
		}
		*to, b = v, b[n:]
	}
	if flags&flagRestoring == 0 {
		return rec, b, nil
	}
	if len(b) < session {
		return nil, nil, ErrRecord
	}
	p := &Restoring{By: chain.Address(b)}
	b = b[len(p.By):]
	p.Deadline = chain.Height(binary.BigEndian.Uint64(b))
	p.Cursor = chain.Hash(b[8:])
	rec.Restoring = p
	return rec, b[8+len(p.Cursor):], nil
}

// Dormant reports whether the storage of a was evicted and is not back yet. Such
// an actor must not run.
func Dormant(a *state.Account) bool { return len(a.Meta) > 0 && a.Meta[0] == recordTag }

// RecordOf returns the record of evicted storage of an account. The error is
// ErrNotDormant if there is none.
func RecordOf(v state.View, addr chain.Address) (*Record, error) {
	_, rec, _, err := dormant(v, addr)
	return rec, err
}

// dormant returns a dormant account, its record and the metadata it hides.
func dormant(v state.View, addr chain.Address) (state.Account, *Record, []byte, error) {
	a, _, err := v.Account(addr)
	if err != nil {
		return a, nil, nil, err
	}
	rec, hidden, err := ParseMeta(a.Meta)
	if err != nil {
		return a, nil, nil, fmt.Errorf("account %s: %w", addr, err)
	}
	if rec == nil {
		return a, nil, nil, ErrNotDormant
	}
	return a, rec, hidden, nil
}

// withRecord returns metadata that says rec and hides the rest.
func withRecord(rec *Record, hidden []byte) []byte {
	return append(rec.append(make([]byte, 0, MaxRecordBytes+len(hidden))), hidden...)
}
