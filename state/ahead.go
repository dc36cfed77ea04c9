package state

import (
	"cmp"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// ahead are entries of the parent of an overlay that scans have read beyond what they were
// asked for. A pass that takes one row after the other out of a table scans it anew each
// time, since it may change the table as it goes; with these it walks the table of the
// parent once. They are of the parent alone, which does not change, so that the writes of
// the overlay are merged with them as with an answer of the parent.
//
// The first scan of a table reads what it is asked for, and each that has to read on as much
// again as all before it: what is read for nothing is no more than what was asked for. The
// zero value holds nothing.
type ahead struct {
	addr       chain.Address
	prefix, to StorageKey // of the spans that are answered
	from       StorageKey // the lowest key that rows would hold
	rows       []Entry    // all of the parent from there on
	more       bool       // the parent may have some behind them
	bytes      int        // in rows
}

// Sizes of what is read ahead.
const (
	aheadFew     = 4  // who asks for more at first has pages of its own
	aheadEntries = 64 // at a time
	aheadBytes   = 16 << 10

	// Larger spans are not answered from what is kept, nor is more of it kept than twice this.
	aheadMost, aheadMostBytes = pageEntries, pageBytes
)

// scan is [View.Scan] of the parent.
func (a *ahead) scan(parent View, addr chain.Address, s Span) ([]Entry, error) {
	if s.Used() {
		return nil, nil
	}
	if s.Entries > aheadMost || s.Bytes > aheadMostBytes {
		return parent.Scan(addr, s)
	}
	if !a.covers(addr, &s) {
		list, err := parent.Scan(addr, s)
		if err == nil {
			a.begin(addr, s, list)
		}
		return list, err
	}
	// Bounded: by the entries that the span allows, and one step more than it takes to read them.
	for {
		if list, enough := a.portion(s); enough {
			return list, nil
		}
		if err := a.readOn(parent, s); err != nil {
			*a = ahead{}
			return nil, err
		}
	}
}

// covers reports whether the entries from the first of a span on are known, or the parent can
// be read on from where it is not known how it goes on.
func (a *ahead) covers(addr chain.Address, s *Span) bool {
	if len(a.rows) == 0 || a.addr != addr || a.prefix != s.Prefix || a.to != s.To {
		return false
	}
	first := s.First()
	return first >= a.from && (!a.more || first <= a.readTo())
}

// readTo returns the lowest key of which it is not known whether the parent has it, where it may
// have more.
func (a *ahead) readTo() StorageKey { return a.rows[len(a.rows)-1].Key.Next() }

// begin keeps an answer to go on from, unless it is large.
func (a *ahead) begin(addr chain.Address, s Span, list []Entry) {
	*a = ahead{}
	if len(list) == 0 || s.Entries > aheadFew {
		return
	}
	rest, whole := s.Rest(list)
	size := s.Bytes - rest.Bytes
	if size > aheadBytes {
		return
	}
	*a = ahead{addr: addr, prefix: s.Prefix, to: s.To, from: s.First(), rows: cloned(list), more: !whole, bytes: size}
}

// at returns how many rows are below a key.
func (a *ahead) at(key StorageKey) int {
	n, _ := slices.BinarySearchFunc(a.rows, key, func(e Entry, key StorageKey) int { return cmp.Compare(e.Key, key) })
	return n
}

// portion returns what is known of a span, and whether that is all that it allows.
func (a *ahead) portion(s Span) (list []Entry, enough bool) {
	first := a.at(s.First())
	last := first
	for last < len(a.rows) && !s.Used() {
		s.Take(&a.rows[last])
		last++
	}
	if !s.Used() && a.more {
		return nil, false
	}
	if first == last {
		return nil, true
	}
	return cloned(a.rows[first:last]), true
}

// readOn reads what comes behind the rows.
func (a *ahead) readOn(parent View, s Span) error {
	next := Span{Prefix: a.prefix, From: a.readTo(), To: a.to, Entries: max(s.Entries, min(len(a.rows), aheadEntries)), Bytes: max(s.Bytes, min(a.bytes, aheadBytes))}
	list, err := parent.Scan(a.addr, next)
	if err != nil {
		return err
	}
	rest, whole := next.Rest(list)
	a.rows, a.more, a.bytes = append(a.rows, list...), !whole, a.bytes+next.Bytes-rest.Bytes
	if len(a.rows) > aheadMost || a.bytes > aheadMostBytes {
		a.dropFirst(s.First())
	}
	return nil
}

// dropFirst drops the rows in front of a key, but for the last.
func (a *ahead) dropFirst(key StorageKey) {
	n := min(a.at(key), len(a.rows)-1)
	if n == 0 {
		return
	}
	for i := range n {
		a.bytes -= a.rows[i].byteCount()
	}
	a.from, a.rows = a.rows[n-1].Key.Next(), slices.Clone(a.rows[n:])
}

// cloned returns entries whose values are the caller's.
func cloned(list []Entry) []Entry {
	out := make([]Entry, len(list))
	for i := range list {
		out[i] = Entry{list[i].Key, append([]byte{}, list[i].Value...)}
	}
	return out
}
