package wire

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// body is one walk of a frame's fields, which writes them or reads them. Fields are walked
// in the order of their keys as encoded: shorter names first, then by their bytes (RFC 8949
// §4.2.1; restored definitions §4).
//
// After the first error nothing more is read, and err keeps it.
type body struct {
	out     []byte
	in      cbor.Reader
	reading bool
	count   bool   // only counts the fields
	n       int    // fields so far
	skip    string // a field that is left out
	name    string // of the field under way
	err     error
}

// countFields returns how many fields a frame has, without the one that is left out, if any.
func countFields(f Frame, without string) int {
	b := body{count: true, skip: without}
	f.fields(&b)
	return b.n
}

// appendBody appends the map of a frame without the field that is left out, if any.
func appendBody(dst []byte, f Frame, without string) []byte {
	w := body{out: cbor.AppendMap(dst, countFields(f, without)), skip: without}
	f.fields(&w)
	return w.out
}

// walk reads the fields of a frame.
func (b *body) walk(f Frame) {
	want := countFields(f, "")
	var n int
	if n, b.err = b.in.Map(want); b.err == nil && n != want {
		b.err = fmt.Errorf("%d fields of %d: %w", n, want, cbor.ErrMissingKey)
	}
	f.fields(b)
}

// opens begins a field: it writes the key, or reads it and refuses another. It reports whether
// the field's value is to be written or read. This is the one place that knows the form of
// keys.
func (b *body) opens(name string) bool {
	if b.err != nil || name == b.skip {
		return false
	}
	b.n++
	if b.count {
		return false
	}
	b.name = name
	if !b.reading {
		b.out = cbor.AppendText(b.out, name)
		return true
	}
	got, err := b.in.Text(maxKeyBytes)
	switch {
	case err != nil:
		b.err = err
	case got != name:
		b.err = fmt.Errorf("key %q: %w", got, cbor.ErrUnknownKey)
	}
	return b.err == nil
}

// maxKeyBytes bounds the names of fields.
const maxKeyBytes = 32

// uint64 walks a number of at most most.
func (b *body) uint64(name string, v *uint64, most uint64) {
	if !b.opens(name) {
		return
	}
	if !b.reading {
		b.out = cbor.AppendUint(b.out, *v)
		return
	}
	if *v, b.err = b.in.Uint(); b.err == nil && *v > most {
		b.err = fmt.Errorf("%d, at most %d: %w", *v, most, ErrFrameValue)
	}
}

// number walks a number of a narrower type, or of one with a name.
func number[T ~uint8 | ~uint16 | ~uint32 | ~uint64](b *body, name string, v *T) {
	wide := uint64(*v)
	b.uint64(name, &wide, uint64(^T(0)))
	*v = T(wide)
}

// one walks a number that is one of a table's.
func one[T ~uint8](b *body, name string, v *T, known func(T) bool) {
	number(b, name, v)
	if b.reading && b.err == nil && !known(*v) {
		b.err = fmt.Errorf("0x%02x: %w", uint8(*v), ErrFrameValue)
	}
}

// bool walks true or false.
func (b *body) bool(name string, v *bool) {
	switch {
	case !b.opens(name):
	case b.reading:
		*v, b.err = b.in.Bool()
	default:
		b.out = cbor.AppendBool(b.out, *v)
	}
}

// hash32 walks 32 bytes.
func (b *body) hash32(name string, v *[32]byte) {
	switch {
	case !b.opens(name):
	case b.reading:
		b.err = b.in.BytesInto(v[:])
	default:
		b.out = cbor.AppendBytes(b.out, v[:])
	}
}

// byteString walks a byte string of at most most bytes. What is read aliases the frame.
func (b *body) byteString(name string, v *[]byte, most int) {
	switch {
	case !b.opens(name):
	case b.reading:
		*v, b.err = b.in.Bytes(most)
	default:
		b.out = cbor.AppendBytes(b.out, *v)
	}
}

// signature walks a signature of exactly so many bytes.
func (b *body) signature(name string, v []byte) {
	switch {
	case !b.opens(name):
	case b.reading:
		b.err = b.in.BytesInto(v)
	default:
		b.out = cbor.AppendBytes(b.out, v)
	}
}

// runnerKey walks a runner's key with its scheme (CIP-11 §12.6).
func (b *body) runnerKey(name string, k *chain.RunnerKey) {
	tagged := k.AppendWire(nil)
	if b.taggedKey(name, tagged, chain.SchemeSecp256k1) {
		*k = chain.RunnerKey(tagged[1:])
	}
}

// validatorKey walks a validator's key with its scheme (CIP-11 §12.6).
func (b *body) validatorKey(name string, k *chain.PeerKey) {
	tagged := k.AppendWire(nil)
	if b.taggedKey(name, tagged, chain.SchemeEd25519) {
		*k = chain.PeerKey(tagged[1:])
	}
}

// taggedKey writes a key, or reads one of the same length and scheme into tagged; it reports
// whether it has read.
func (b *body) taggedKey(name string, tagged []byte, scheme chain.Scheme) bool {
	b.signature(name, tagged)
	if !b.reading || b.err != nil {
		return false
	}
	if tagged[0] != byte(scheme) {
		b.err = fmt.Errorf("key of scheme 0x%02x: %w", tagged[0], ErrFrameValue)
	}
	return b.err == nil
}

// maybeText walks a text of at most most bytes, or null for nil. The empty text is another
// thing than none (CIP-11 §12.6).
func (b *body) maybeText(name string, v **string, most int) {
	switch {
	case !b.opens(name):
	case !b.reading && *v == nil:
		b.out = cbor.AppendNull(b.out)
	case !b.reading:
		b.out = cbor.AppendText(b.out, **v)
	case b.in.Null():
		*v = nil
	default:
		var s string
		s, b.err = b.in.Text(most)
		*v = &s
	}
}

// maybeUint64 walks a number, or null for nil.
func (b *body) maybeUint64(name string, v **uint64) {
	switch {
	case !b.opens(name):
	case !b.reading && *v == nil:
		b.out = cbor.AppendNull(b.out)
	case !b.reading:
		b.out = cbor.AppendUint(b.out, **v)
	case b.in.Null():
		*v = nil
	default:
		var n uint64
		n, b.err = b.in.Uint()
		*v = &n
	}
}

// texts walks a list of at most most texts of at most maxBytes each, as they are sent: no
// order is asked of them.
func (b *body) texts(name string, v *[]string, most, maxBytes int) {
	if !b.opens(name) {
		return
	}
	if !b.reading {
		b.out = cbor.AppendArray(b.out, len(*v))
		for _, s := range *v {
			b.out = cbor.AppendText(b.out, s)
		}
		return
	}
	var n int
	n, b.err = b.in.Array(most)
	for range n {
		if b.err != nil {
			return
		}
		var s string
		s, b.err = b.in.Text(maxBytes)
		*v = append(*v, s)
	}
}

// hashes walks a list of at most most hashes.
func (b *body) hashes(name string, v *[]chain.Hash, most int) {
	if !b.opens(name) {
		return
	}
	if !b.reading {
		b.out = cbor.AppendArray(b.out, len(*v))
		for i := range *v {
			b.out = cbor.AppendBytes(b.out, (*v)[i][:])
		}
		return
	}
	var n int
	n, b.err = b.in.Array(most)
	for range n {
		if b.err != nil {
			return
		}
		var h chain.Hash
		b.err = b.in.BytesInto(h[:])
		*v = append(*v, h)
	}
}
