package state

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Entry is a storage key with the value under it.
type Entry struct {
	Key   StorageKey
	Value []byte
}

// Span is what of a storage is scanned: from the first key on that begins with
// Prefix and is not below From, in ascending order of the bytes of the keys. The
// answer ends with the entry that makes it Entries many, with the one whose key
// and value bring it to Bytes, or with the last that begins with Prefix and is below To.
type Span struct {
	Prefix  StorageKey // "" for all of the storage
	From    StorageKey // "" for all that begin with Prefix
	To      StorageKey // "" likewise
	Entries int        // without one or the other nothing is answered
	Bytes   int
}

// First returns the lowest key that can be in the answer.
func (s *Span) First() StorageKey { return max(s.Prefix, s.From) }

// Holds reports whether the answer can have a key.
func (s *Span) Holds(key StorageKey) bool {
	return key >= s.From && strings.HasPrefix(string(key), string(s.Prefix)) && (s.To == "" || key < s.To)
}

// End returns the lowest key above all that the answer can have, false if there is none.
func (s *Span) End() (StorageKey, bool) {
	end, bounded := s.Prefix.Above()
	if s.To != "" && (!bounded || s.To < end) {
		return s.To, true
	}
	return end, bounded
}

// Above returns the lowest key above all that begin with this one, false if there is none.
func (k StorageKey) Above() (StorageKey, bool) {
	for i := len(k) - 1; i >= 0; i-- {
		if b := k[i]; b != 0xff {
			return k[:i] + StorageKey([]byte{b + 1}), true
		}
	}
	return "", false
}

// Rest returns what is left of a span behind a part of its answer; done if that
// was all of it. A part that does not use its span up is the whole answer.
func (s Span) Rest(part []Entry) (rest Span, done bool) {
	for i := range part {
		s.Bytes -= part[i].byteCount()
	}
	if s.Entries -= len(part); len(part) > 0 {
		s.From = part[len(part)-1].Key.Next()
	}
	return s, s.Entries > 0 && s.Bytes > 0
}

func (e *Entry) byteCount() int { return len(e.Key) + len(e.Value) }

// Used reports whether the span allows no more.
func (s *Span) Used() bool { return s.Entries <= 0 || s.Bytes <= 0 }

// Take counts an entry of the answer.
func (s *Span) Take(e *Entry) {
	s.Entries--
	s.Bytes -= e.byteCount()
}

// Next returns the lowest key above k.
func (k StorageKey) Next() StorageKey { return k + "\x00" }

// Scan implements [View]. What is written is put in order when an address is
// scanned for the first time, and kept so; runs of removed keys are passed at one
// step once they are known. So a scan takes what it returns, and writes take a
// scan once.
func (o *Overlay) Scan(addr chain.Address, s Span) ([]Entry, error) {
	w := o.delta.accounts[addr]
	if w == nil || len(w.slots) == 0 && !w.cleared {
		return o.scanBelow(addr, s)
	}
	m := merging{over: w, left: s, at: s.First(), empty: s.First()}
	if w.walk != nil {
		m.skipGap(&w.walk.gaps)
	}
	for {
		whole, err := true, error(nil)
		if !w.cleared {
			whole, err = m.fetchBelow(o, addr)
		}
		if err != nil {
			return nil, err
		}
		if m.merge(whole) {
			return m.out, nil
		}
	}
}

// walk is what a scan knows of the writes of an address.
type walk struct {
	order *keyOrder
	gaps  Gaps
}

// walked puts the written keys in order, unless they are.
func (w *writes) walked() *walk {
	if w.walk == nil {
		keys := make([]StorageKey, len(w.slots))
		for i := range w.slots {
			keys[i] = w.slots[i].Key
		}
		w.walk = &walk{order: newKeyOrder(keys)}
	}
	return w.walk
}

func (w *walk) wrote(key StorageKey, value []byte) {
	w.order.add(key)
	if value != nil {
		w.gaps.Fill(key)
	}
}

// unwrote is told of a key that is not written any more: what is below shows again.
func (w *walk) unwrote(key StorageKey) {
	w.order.remove(key)
	w.gaps.Fill(key)
}

// merging is one scan of writes over what is below them.
type merging struct {
	over  *writes
	left  Span // of the answer; its From is not kept
	out   []Entry
	at    StorageKey // everything below it is done
	below []Entry    // ahead of at, or hidden by a gap
	pages int        // so far

	empty StorageKey // from here on, and below at, there is no entry
	steps int        // that were made since
}

// Sizes of what is asked from below. The first time it is what the answer needs;
// if some of that was hidden, more and more.
const (
	pageEntries = 512
	pageBytes   = 64 << 10
)

// scanBelow scans the parent, on from where the scan before has read to.
func (o *Overlay) scanBelow(addr chain.Address, s Span) ([]Entry, error) {
	if o.shared {
		return o.parent.Scan(addr, s)
	}
	return o.ahead.scan(o.parent, addr, s)
}

// fetchBelow fetches what is below from at on, and reports whether that is all.
func (m *merging) fetchBelow(o *Overlay, addr chain.Address) (whole bool, err error) {
	page := Span{Prefix: m.left.Prefix, From: m.at, To: m.left.To, Entries: m.left.Entries, Bytes: m.left.Bytes}
	if m.pages++; m.pages > 1 {
		page.Entries = max(page.Entries, min(1<<m.pages, pageEntries))
		page.Bytes = max(page.Bytes, pageBytes)
	}
	if page.Used() {
		return true, nil
	}
	if m.below, err = o.scanBelow(addr, page); err != nil {
		return false, err
	}
	_, whole = page.Rest(m.below)
	return whole, nil
}

// merge goes through what is below and what is written beside it, and reports
// whether the scan is done; else more is to be fetched.
func (m *merging) merge(whole bool) (done bool) {
	walk := m.over.walked()
	for !m.left.Used() {
		m.skipGap(&walk.gaps)
		if len(m.below) == 0 && !whole {
			return false
		}
		key, written := walk.order.lowestFrom(m.at)
		written = written && m.left.Holds(key)
		var value []byte
		switch {
		case len(m.below) > 0 && (!written || m.below[0].Key < key):
			key, value = m.below[0].Key, m.below[0].Value
			m.below = m.below[1:]
		case written:
			if value, _ = m.over.slot(key); value != nil {
				value = append([]byte{}, value...)
			}
			if len(m.below) > 0 && m.below[0].Key == key {
				m.below = m.below[1:]
			}
		default:
			if end, ok := m.left.End(); ok {
				m.gapUpTo(end, &walk.gaps)
			}
			return true
		}
		m.passKey(key, value, &walk.gaps)
	}
	return true
}

// skipGap goes to the end of the gap that at is in.
func (m *merging) skipGap(gaps *Gaps) {
	if to := gaps.Pass(m.at); to != m.at {
		m.at = to
		m.steps++
	}
	for len(m.below) > 0 && m.below[0].Key < m.at {
		m.below = m.below[1:]
		m.steps++
	}
}

// passKey goes past a key, whose value is nil if it was removed.
func (m *merging) passKey(key StorageKey, value []byte, gaps *Gaps) {
	m.at = key.Next()
	if value == nil {
		m.steps++
		return
	}
	m.gapUpTo(key, gaps)
	m.empty = m.at
	e := Entry{key, value}
	m.left.Take(&e)
	m.out = append(m.out, e)
}

// gapUpTo remembers what the scan passed before a key, if it was much.
func (m *merging) gapUpTo(key StorageKey, gaps *Gaps) {
	if m.steps >= WorthAGap {
		gaps.Add(m.empty, key)
	}
	m.steps = 0
}
