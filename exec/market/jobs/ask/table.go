package ask

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// Bounds of a dictionary.
const (
	MaxBytes = 64 << 10
	maxPairs = 64 // of one table: more than it has keys that are known
)

// Reasons for which a key is refused.
var (
	ErrUnknownKey = errors.New("there is no such key")
	ErrMissing    = errors.New("it is missing")
	ErrTwice      = errors.New("it is said twice, in two ways")
	ErrRange      = errors.New("it is out of range")
)

// KeyError says which key of a dictionary is wrong. Key is its path, empty for the
// dictionary as a whole.
type KeyError struct {
	Key string
	Err error
}

func (e *KeyError) Error() string {
	if e.Key == "" {
		return e.Err.Error()
	}
	return e.Key + ": " + e.Err.Error()
}

// Unwrap returns what is wrong with it.
func (e *KeyError) Unwrap() error { return e.Err }

// reader remembers the first thing that is wrong. What is read after it means nothing.
type reader struct{ err *KeyError }

func (r *reader) wrong(key string, err error) {
	if r.err == nil {
		r.err = &KeyError{key, err}
	}
}

// limits are those of an item of a dictionary that was scanned before.
func limits() cbor.Limits {
	return cbor.Limits{Bytes: MaxBytes, Depth: cbor.DefaultLimits().Depth, Items: MaxBytes}
}

// pair is one of a table. used says that somebody has read it.
type pair struct {
	name string
	item []byte
	used bool
}

// table is a map with text keys, whose pairs are taken out one by one.
type table struct {
	r     *reader
	path  string // with a dot at its end; "" for the whole
	pairs []pair
}

// table reads a map; one without pairs where the item is no map with text keys.
func (r *reader) table(path string, item []byte) *table {
	t := &table{r: r}
	if path != "" {
		t.path = path + "."
	}
	c := cbor.NewReader(item)
	n, err := c.Map(maxPairs)
	if err != nil {
		r.wrong(path, fmt.Errorf("want a map of at most %d pairs: %w", maxPairs, err))
		return t
	}
	// Bounded: by maxPairs, 64.
	for range n {
		name, err := c.Text(MaxBytes)
		if err != nil {
			r.wrong(path, fmt.Errorf("want keys that are text: %w", err))
			return t
		}
		value, err := c.Raw(limits())
		if err != nil {
			r.wrong(t.path+name, err)
			return t
		}
		t.pairs = append(t.pairs, pair{name: name, item: value})
	}
	return t
}

// take returns what stands under a key, nil where it is null or not there.
func (t *table) take(name string) []byte {
	// Bounded: by maxPairs, 64.
	for i := range t.pairs {
		if p := &t.pairs[i]; p.name == name {
			p.used = true
			if c := cbor.NewReader(p.item); c.Null() {
				return nil
			}
			return p.item
		}
	}
	return nil
}

// either returns what stands under one of two spellings of a key, and the one that it is.
func (t *table) either(name, other string) (string, []byte) {
	a, b := t.take(name), t.take(other)
	switch {
	case a != nil && b != nil:
		t.wrong(other, ErrTwice)
		return name, a
	case a == nil && b != nil:
		return other, b
	}
	return name, a
}

// leaveNone refuses what nobody has taken.
func (t *table) leaveNone() {
	// Bounded: by maxPairs, 64.
	for i := range t.pairs {
		if !t.pairs[i].used {
			t.wrong(t.pairs[i].name, ErrUnknownKey)
			return
		}
	}
}

func (t *table) wrong(name string, err error) { t.r.wrong(t.path+name, err) }

// wrongIf refuses a key unless err is nil.
func (t *table) wrongIf(name string, err error) {
	if err != nil {
		t.wrong(name, err)
	}
}

// sub is the table under a key; nil where there is none.
func (t *table) sub(name string) *table {
	item := t.take(name)
	if item == nil {
		return nil
	}
	return t.r.table(t.path+name, item)
}

// items returns the items of the array under a key, at most most.
func (t *table) items(name string, most int) (out [][]byte) {
	item := t.take(name)
	if item == nil {
		return nil
	}
	c := cbor.NewReader(item)
	n, err := c.Array(most)
	t.wrongIf(name, err)
	// Bounded: by most, which is a bound of the job's form.
	for range n {
		next, err := c.Raw(limits())
		if err != nil {
			t.wrong(name, err)
			return nil
		}
		out = append(out, next)
	}
	return out
}

// text is the text under a key; nil where there is none.
func (t *table) text(name string) *string { return t.textOf(name, t.take(name)) }

// need is the text under a key that must be there.
func (t *table) need(name string) string {
	s := t.text(name)
	if s == nil {
		t.wrong(name, ErrMissing)
		return ""
	}
	return *s
}

func (t *table) textOf(name string, item []byte) *string {
	if item == nil {
		return nil
	}
	c := cbor.NewReader(item)
	s, err := c.Text(MaxBytes)
	if err != nil {
		t.wrong(name, fmt.Errorf("want a text: %w", err))
	}
	return &s
}

// nameOf is an item that is a text; "" for another.
func nameOf(item []byte) string {
	c := cbor.NewReader(item)
	s, _ := c.Text(MaxBytes)
	return s
}

// texts is the list of texts under a key.
func (t *table) texts(name string) (out []string) {
	// Bounded: by chain.MaxCheckFields, 64.
	for i, item := range t.items(name, chain.MaxCheckFields) {
		if s := t.textOf(fmt.Sprintf("%s[%d]", name, i), item); s != nil {
			out = append(out, *s)
		}
	}
	return out
}

// textMap is the map of texts under a key, sorted.
func (t *table) textMap(name string) (m chain.TextMap) {
	sub := t.sub(name)
	if sub == nil {
		return nil
	}
	// Bounded: by maxPairs, 64.
	for i := range sub.pairs {
		p := &sub.pairs[i]
		p.used = true
		if s := sub.textOf(p.name, p.item); s != nil {
			m = append(m, chain.TextPair{Name: p.name, Value: *s})
		}
	}
	return m
}

// truth is the bool under a key.
func (t *table) truth(name string) bool {
	item := t.take(name)
	if item == nil {
		return false
	}
	c := cbor.NewReader(item)
	v, err := c.Bool()
	if err != nil {
		t.wrong(name, fmt.Errorf("want True or False: %w", err))
	}
	return v
}

// uint is the integer of least to most under a key, or else what stands for it.
func (t *table) uint(name string, otherwise, least, most uint64) uint64 {
	return t.uintOf(name, t.take(name), otherwise, least, most)
}

func (t *table) uintOf(name string, item []byte, otherwise, least, most uint64) uint64 {
	if item == nil {
		return otherwise
	}
	c := cbor.NewReader(item)
	n, err := c.Uint()
	switch {
	case err != nil:
		t.wrong(name, fmt.Errorf("want an integer: %w", err))
	case n < least || n > most:
		t.wrong(name, fmt.Errorf("%w: %d, want %d to %d", ErrRange, n, least, most))
	}
	return n
}

// raw is the byte string of exactly len(into) bytes under a key, or its hexadecimal digits
// behind 0x; it reports whether there is one.
func (t *table) raw(name string, into []byte) bool {
	item := t.take(name)
	if item == nil {
		return false
	}
	c := cbor.NewReader(item)
	text, err := c.Text(MaxBytes)
	if err == nil {
		err = chain.ParseHex(into, []byte(text))
	} else {
		err = c.BytesInto(into)
	}
	if err != nil {
		t.wrong(name, fmt.Errorf("want %d bytes, or 0x and their digits: %w", len(into), err))
	}
	return true
}
