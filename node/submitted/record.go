package submitted

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// ErrRecord means that a record of the file is none of this package's.
var ErrRecord = errors.New("not a record of a submitted transaction")

const (
	recordTag  = 1
	recordHead = 1 + 8
	// frameBytes is what state/journal puts before each record.
	frameBytes = 20
)

// entry is one admitted transaction.
type entry struct {
	millis uint64 // when it was admitted, Unix time
	body   []byte // canonical, without length prefix
	client uint64 // of this run who submitted it; not written
}

// fileBytes is what the entry takes of the file.
func (e *entry) fileBytes() int64 { return int64(frameBytes + recordHead + len(e.body)) }

func (e *entry) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, recordTag), e.millis)
	return append(dst, e.body...)
}

// decode reads a record. The body is part of it. Whether it is a transaction is
// for admission to say.
func decode(rec []byte) (entry, error) {
	switch {
	case len(rec) <= recordHead || rec[0] != recordTag:
		return entry{}, fmt.Errorf("%w: %d bytes", ErrRecord, len(rec))
	case len(rec)-recordHead > chain.MaxTxBytes:
		return entry{}, fmt.Errorf("%w: body of %d bytes, at most %d", ErrRecord, len(rec)-recordHead, chain.MaxTxBytes)
	}
	return entry{millis: binary.BigEndian.Uint64(rec[1:]), body: rec[recordHead:]}, nil
}
