package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// The rows of a storage stand under the era of that storage: the height of the
// block that cleared it last, 0 if none did. A block that clears a storage,
// however large it is, only begins an era with one mark; the rows of the era
// that ends stay where they are and as they were, so that reads of earlier
// heights find them there. They go by one range deletion when no height at which
// they could be read is kept any more: at once without undo records, never on an
// archive.
//
// The mark of an era is the row e ‖ owner ‖ height, and says whether the rows of
// the era before it are still there.
const (
	eraAfterRows = 0
	eraAlone     = 1
)

// eraStep is how many eras one block drops at most.
const eraStep = 1024

// eras knows under which era each storage stands, for the goroutine that
// commits. Readers look for marks (eraAt): those of their own snapshot.
type eras struct {
	live map[chain.Hash]chain.Height // of storages that were cleared; others are in era 0
	over []pastEra                   // whose rows will be dropped, ascending by end
}

// pastEra is an era that ended with the block at a height.
type pastEra struct {
	owner      chain.Hash
	begin, end chain.Height
}

// turn is what a block does to eras.
type turn struct {
	ended   []pastEra
	dropped int // of eras.over with ended behind it
	kept    bool
}

// appendEra appends the shortest encoding of an era that sorts as its number
// does: one byte for era 0. None is the beginning of another.
func appendEra(b []byte, era chain.Height) []byte {
	n := (bits.Len64(uint64(era)) + 7) / 8
	whole := binary.BigEndian.AppendUint64(nil, uint64(era))
	return append(append(b, byte(n)), whole[8-n:]...)
}

func readEra(b []byte) (era chain.Height, rest []byte, ok bool) {
	if len(b) == 0 || b[0] > 8 || len(b) < 1+int(b[0]) {
		return 0, nil, false
	}
	n := 1 + int(b[0])
	for _, x := range b[1:n] {
		era = era<<8 | chain.Height(x)
	}
	return era, b[n:], n == 1 || b[1] != 0
}

// storagePrefix begins the keys of the rows of a storage in an era.
func storagePrefix(owner chain.Hash, era chain.Height) []byte {
	b := make([]byte, 0, 1+hashLen+1+8)
	return appendEra(append(append(b, tableStorage), owner[:]...), era)
}

func eraKey(owner chain.Hash, height chain.Height) []byte {
	return binary.BigEndian.AppendUint64(hashKey(tableEras, owner), uint64(height))
}

// eraAt returns the era of a storage after the block at height h.
func eraAt(r pebble.Reader, owner chain.Hash, h chain.Height) (era chain.Height, err error) {
	upper := append(eraKey(owner, h), 0)
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: hashKey(tableEras, owner), UpperBound: upper})
	if err != nil {
		return 0, damage(err)
	}
	defer func() { err = damage(errors.Join(err, it.Error(), it.Close())) }()
	if !it.Last() {
		return 0, nil
	}
	_, era, err = readEraKey(it.Key()[1:])
	return era, err
}

func readEraKey(key []byte) (owner chain.Hash, height chain.Height, err error) {
	if len(key) != hashLen+8 {
		return owner, 0, damaged("mark of an era under %x", key)
	}
	return chain.Hash(key), chain.Height(binary.BigEndian.Uint64(key[hashLen:])), nil
}

// loadEras reads the marks. Of the eras that are over, those that a history
// which goes on covers are left out: nothing drops them.
func (s *Store) loadEras() (err error) {
	marks, err := openRows(s.db, tableEras)
	if err != nil {
		return err
	}
	defer func() { err = damage(errors.Join(err, marks.close())) }()
	s.eras = eras{live: map[chain.Hash]chain.Height{}}
	for ; marks.valid(); marks.next() {
		owner, height, err := readEraKey(marks.key())
		if err != nil {
			return err
		}
		if len(marks.value()) != 1 || marks.value()[0] > eraAlone {
			return damaged("mark of an era under %x: %x", marks.key(), marks.value())
		}
		begin := s.eras.live[owner]
		s.eras.live[owner] = height
		if marks.value()[0] == eraAfterRows && !(s.opts.History && s.hasHistory && height >= s.historyFrom) {
			s.eras.over = append(s.eras.over, pastEra{owner, begin, height})
		}
	}
	slices.SortStableFunc(s.eras.over, func(a, b pastEra) int { return cmp.Compare(a.end, b.end) })
	return nil
}

// putEras begins the eras of the storages that v clears, and drops those that
// ended so long ago that none of the heights that can be read after the block
// is in them: its undo records begin at undone, 0 for none.
func (s *Store) putEras(b *pebble.Batch, v *Version, undone chain.Height) (t turn, err error) {
	err = v.image.EachRow(func(row *tree.Row, _ []byte) error {
		if !row.Cleared {
			return nil
		}
		t.ended = append(t.ended, pastEra{row.Key, s.eras.live[row.Key], v.height})
		return b.Set(eraKey(row.Key, v.height), []byte{eraAfterRows}, nil)
	})
	limit := v.height + 1 // eras that ended below it are dropped
	if undone != 0 {
		limit = undone
	}
	if s.opts.History {
		from := v.height
		if s.hasHistory {
			from = s.historyFrom
		}
		t.kept = true
		limit = min(limit, from)
	}
	for _, list := range [][]pastEra{s.eras.over, t.ended} {
		for i := range list {
			if list[i].end >= limit || t.dropped == eraStep {
				return t, err
			}
			err = errors.Join(err, list[i].deleteRows(b))
			t.dropped++
		}
	}
	return t, err
}

// deleteRows removes the rows of an era, and its own mark, which nothing is read by
// any more.
func (e *pastEra) deleteRows(b *pebble.Batch) error {
	prefix := storagePrefix(e.owner, e.begin)
	err := errors.Join(
		b.DeleteRange(prefix, after(prefix), nil),
		b.Set(eraKey(e.owner, e.end), []byte{eraAlone}, nil),
	)
	if e.begin != 0 {
		err = errors.Join(err, b.Delete(eraKey(e.owner, e.begin), nil))
	}
	return err
}

// commit notes what a block that is committed did.
func (e *eras) commit(t *turn) {
	for i := range t.ended {
		if e.live == nil {
			e.live = map[chain.Hash]chain.Height{}
		}
		e.live[t.ended[i].owner] = t.ended[i].end
	}
	if !t.kept {
		e.over = append(e.over, t.ended...)
	}
	e.over = e.over[t.dropped:]
}

// eraOf returns the era in which v writes the storage of a row, and whether it is
// a new one, in which nothing is yet.
func (e *eras) eraOf(row *tree.Row, v *Version) (era chain.Height, begins bool) {
	if row.Cleared {
		return v.height, true
	}
	return e.live[row.Key], false
}

// liveRows walks the storage rows of the eras that are not over, ascending by
// account and storage key. It passes over others at one seek for each account
// that has some.
type liveRows struct {
	rows, marks *rows
	owner       []byte       // of the row it stands at
	era         chain.Height // of the owner
	key         []byte       // storage key
	seek        []byte
}

func openLive(r pebble.Reader) (*liveRows, error) {
	l := &liveRows{}
	var err error
	if l.rows, err = openRows(r, tableStorage); err != nil {
		return nil, err
	}
	if l.marks, err = openRows(r, tableEras); err != nil {
		return nil, errors.Join(err, l.rows.close())
	}
	l.skipEnded()
	return l, nil
}

func (l *liveRows) valid() bool   { return l.rows.valid() }
func (l *liveRows) value() []byte { return l.rows.value() }

func (l *liveRows) next() {
	l.rows.next()
	l.skipEnded()
}

func (l *liveRows) close() error { return errors.Join(l.rows.close(), l.marks.close()) }

// skipEnded goes on to the next row of an era that is not over.
func (l *liveRows) skipEnded() {
	for l.rows.valid() {
		k := l.rows.key()
		if len(k) < hashLen {
			l.rows.stopAt(damaged("storage row under %x", k))
			return
		}
		if !bytes.Equal(k[:hashLen], l.owner) {
			l.owner = append(l.owner[:0], k[:hashLen]...)
			l.era = l.marked()
		}
		era, key, ok := readEra(k[hashLen:])
		switch {
		case !ok || era > l.era:
			l.rows.stopAt(damaged("storage row under %x in era %d", k, l.era))
			return
		case era == l.era:
			l.key = key
			return
		}
		l.seek = appendEra(append(l.seek[:0], l.owner...), l.era)
		l.rows.seek(l.seek)
	}
}

// marked returns the last era of the owner, whose marks are ahead.
func (l *liveRows) marked() (era chain.Height) {
	for ; l.marks.valid(); l.marks.next() {
		owner, height, err := readEraKey(l.marks.key())
		if err != nil {
			l.rows.stopAt(err)
			return 0
		}
		switch bytes.Compare(owner[:], l.owner) {
		case 0:
			era = height
		case 1:
			return era
		}
	}
	return era
}
