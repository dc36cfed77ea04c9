package values

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

const (
	majorUint = iota << 5
	majorNegative
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorOther
)

const (
	byteFalse = 0xf4
	byteTrue  = 0xf5
	byteNull  = 0xf6
	byteFloat = 0xfb
)

// Append appends the encoding of v. It raises TypeError for a value that has
// none, ValueError for one beyond the profile, and whatever a method of the
// program raises.
func Append(m *vm.Machine, dst []byte, v vm.Value, p Profile) ([]byte, error) {
	m.Charge(m.Work().Conversion)
	e := &encoder{m: m, p: p, base: len(dst), dst: dst}
	mark := m.Hold(v)
	err := e.value(v, p.Depth)
	if err != nil {
		return nil, err
	}
	m.Release(mark)
	return e.dst, nil
}

type encoder struct {
	m    *vm.Machine
	p    Profile
	base int // where the encoding begins in dst
	dst  []byte
	seen map[vm.Value]int // in the exact form: numbers of what can be shared, unfinished while within; looked up

	finished int // objects numbered so far
}

// raiseValue raises the profile's class for what is beyond it.
func (e *encoder) raiseValue(format string, args ...any) error {
	return raiseAs(e.m, e.p.Faults.Value, format, args...)
}

// raiseType raises the profile's class for what has no encoding.
func (e *encoder) raiseType(format string, args ...any) error {
	if e.p.Faults.Type == nil {
		return e.m.TypeError(format, args...)
	}
	return e.m.Raise(e.p.Faults.Type, format, args...)
}

// unfinished is the number of a container that is being written.
const unfinished = -1

// room charges for n bytes about to be written and refuses those beyond the
// limit.
func (e *encoder) room(n int) error {
	if n > e.p.Bytes-(len(e.dst)-e.base) {
		return e.raiseValue("value is too long to serialize: more than %d bytes", e.p.Bytes)
	}
	e.m.ChargeEach(n, e.m.Prices().Char)
	return nil
}

func (e *encoder) head(major byte, arg uint64) error {
	if err := e.room(headLen(arg)); err != nil {
		return err
	}
	e.dst = appendHead(e.dst, major, arg)
	return nil
}

func headLen(arg uint64) int {
	switch {
	case arg < 24:
		return 1
	case arg < 1<<8:
		return 2
	case arg < 1<<16:
		return 3
	case arg < 1<<32:
		return 5
	}
	return 9
}

func appendHead(dst []byte, major byte, arg uint64) []byte {
	switch headLen(arg) {
	case 1:
		return append(dst, major|byte(arg))
	case 2:
		return append(dst, major|24, byte(arg))
	case 3:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(arg))
	case 5:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(arg))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), arg)
}

func (e *encoder) text(major byte, s string) error {
	if err := e.head(major, uint64(len(s))); err != nil {
		return err
	}
	if err := e.room(len(s)); err != nil {
		return err
	}
	e.dst = append(e.dst, s...)
	return nil
}

func (e *encoder) value(v vm.Value, depth int) error {
	e.m.Charge(e.m.Work().ConvertedItem + e.p.Item)
	if e.p.Exact && shareable(v) {
		return e.shared(v, depth)
	}
	return e.unshared(v, depth)
}

// shareable tells whether it can be seen that two places hold one object.
func shareable(v vm.Value) bool {
	switch v.Kind() {
	case vm.KindList, vm.KindDict, vm.KindSet, vm.KindByteArray, vm.KindInstance, vm.KindForeign:
		return true
	}
	return false
}

// shared writes an object at its first place, and its number at all others.
// Numbers are given in the order in which objects are finished.
func (e *encoder) shared(v vm.Value, depth int) error {
	e.m.Charge(2 * e.m.Prices().DictOp) // it is looked up, and numbered
	n, ok := e.seen[v]
	switch {
	case n == unfinished:
		return e.raiseValue("a value that contains itself is not serializable")
	case ok:
		return e.named(exactRef, func() error { return e.head(majorUint, uint64(n)) })
	}
	if e.seen == nil {
		e.seen = make(map[vm.Value]int)
	}
	e.m.Alloc(48)
	e.seen[v] = unfinished
	err := e.unshared(v, depth)
	e.seen[v] = e.finished
	e.finished++
	return err
}

func (e *encoder) unshared(v vm.Value, depth int) error {
	if !v.IsExact() {
		if fn, ok := e.m.ClassOf(v).Lookup(e.m, "__cowboy_serialize__"); ok {
			return e.object(v, fn, depth)
		}
	}
	switch v.Kind() {
	case vm.KindNone:
		return e.simple(byteNull)
	case vm.KindBool:
		if v.Same(vm.True) {
			return e.simple(byteTrue)
		}
		return e.simple(byteFalse)
	case vm.KindInt:
		if n, ok := v.Int64(); ok && n >= 0 {
			return e.head(majorUint, uint64(n))
		} else if ok {
			return e.head(majorNegative, uint64(^n))
		}
		n, _ := v.BigInt()
		return e.integer(n)
	case vm.KindFloat:
		return e.float(v)
	case vm.KindStr:
		s, _ := v.Text()
		return e.str(s)
	case vm.KindBytes:
		s, _ := e.m.BytesText(v)
		return e.text(majorBytes, s)
	}
	if depth == 0 {
		return e.raiseValue("value is nested too deeply to serialize: more than %d levels", e.p.Depth)
	}
	if err := e.m.Enter(); err != nil {
		return err
	}
	err := e.container(v, depth-1)
	e.m.Exit()
	return err
}

func (e *encoder) simple(b byte) error {
	if err := e.room(1); err != nil {
		return err
	}
	e.dst = append(e.dst, b)
	return nil
}

func (e *encoder) integer(n *big.Int) error {
	major, tag, bits := byte(majorUint), uint64(tagPositive), n.BitLen()
	if size := bits / 8; size > e.p.Bytes { // not even looked at
		return e.room(size)
	}
	if n.Sign() < 0 {
		major, tag = majorNegative, tagNegative
		if bits > 0 && int(n.TrailingZeroBits()) == bits-1 {
			bits-- // what is written is -n-1, of a power of two a bit less
		}
	}
	if bits <= 64 {
		if n.Sign() < 0 {
			n = new(big.Int).Not(n)
		}
		return e.head(major, n.Uint64())
	}
	if err := e.head(majorTag, tag); err != nil {
		return err
	}
	size := (bits + 7) / 8
	if err := e.head(majorBytes, uint64(size)); err != nil {
		return err
	}
	if err := e.room(size); err != nil { // before anything is copied
		return err
	}
	if n.Sign() < 0 {
		n = new(big.Int).Not(n)
	}
	e.dst = append(e.dst, n.Bytes()...)
	return nil
}

func (e *encoder) float(v vm.Value) error {
	b, _ := v.FloatEncoding()
	if b&exponentBits == exponentBits {
		if e.p.Finite {
			return e.raiseValue("Out of range float values are not allowed here")
		}
		if b<<12 != 0 {
			b = canonicalNaN
		}
	}
	if err := e.room(9); err != nil {
		return err
	}
	e.dst = binary.BigEndian.AppendUint64(append(e.dst, byteFloat), b)
	return nil
}

// str writes text in NFC. In the exact form text that is in another form stays
// as it is. What is no UTF-8 is refused, as the decoder refuses it: nobody could read
// what was written.
func (e *encoder) str(s string) error {
	if !utf8.ValidString(s) {
		return e.raiseValue("text is not UTF-8")
	}
	if !e.p.Exact {
		e.m.ChargeEach(len(s), e.m.Prices().Char)
		s = ucd.NFC(s)
	}
	return e.text(majorText, s)
}

func (e *encoder) container(v vm.Value, depth int) error {
	e.m.Charge(2 * e.m.Prices().Element) // for what keeps its parts
	switch v.Kind() {
	case vm.KindByteArray:
		s, _ := e.m.BytesText(v)
		if e.p.Exact {
			return e.named(exactByteArray, func() error { return e.text(majorBytes, s) })
		}
		return e.text(majorBytes, s)
	case vm.KindList:
		return e.array(v, depth)
	case vm.KindTuple:
		if e.p.Exact {
			return e.named(exactTuple, func() error { return e.array(v, depth) })
		}
		return e.array(v, depth)
	case vm.KindDict:
		return e.dict(v, depth)
	case vm.KindSet, vm.KindFrozenSet:
		return e.set(v, depth)
	case vm.KindRange:
		if e.p.Exact {
			return e.named(exactRange, func() error { return e.rangeParts(v, depth) })
		}
	}
	if e.p.NoObjects {
		return e.raiseType("Object of type %s is not serializable here", e.m.TypeName(v))
	}
	return e.raiseType("Object of type %s is not serializable: it has no __cowboy_serialize__", e.m.TypeName(v))
}

// named writes tag 27 over a name and what body writes.
func (e *encoder) named(name string, body func() error) error {
	if err := e.head(majorTag, tagObject); err != nil {
		return err
	}
	if err := e.head(majorArray, 2); err != nil {
		return err
	}
	if err := e.text(majorText, name); err != nil {
		return err
	}
	return body()
}

func (e *encoder) rangeParts(v vm.Value, depth int) error {
	if err := e.head(majorArray, 3); err != nil {
		return err
	}
	// Bounded: by three.
	for _, name := range []string{"start", "stop", "step"} {
		x, err := e.m.GetAttr(v, e.m.Name(name))
		if err != nil {
			return err
		}
		if err := e.value(x, depth); err != nil {
			return err
		}
	}
	return nil
}

// array writes a list or tuple as it is now: the methods that it calls may
// change it.
func (e *encoder) array(v vm.Value, depth int) error {
	items, _ := v.Items()
	if err := e.head(majorArray, uint64(len(items))); err != nil {
		return err
	}
	e.m.ChargeEach(len(items), e.m.Prices().Element)
	mark := e.m.Hold(v)
	if v.Kind() != vm.KindTuple && len(items) > 0 {
		// Paid: by the element for each above.
		items = slices.Clone(items)
		e.m.Hold(e.m.NewTuple(items))
	}
	err := e.items(items, depth)
	if err == nil {
		e.m.Release(mark)
	}
	return err
}

func (e *encoder) items(items []vm.Value, depth int) error {
	// Paid: by value, which charges for each item.
	for _, x := range items {
		if err := e.value(x, depth); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) dict(v vm.Value, depth int) error {
	d, _ := v.Dict()
	if d.Len() == 0 {
		return e.head(majorMap, 0)
	}
	keys, vals := e.m.DictItems(d)
	mark := e.m.Hold(e.m.NewTuple(keys))
	e.m.Hold(e.m.NewTuple(vals))
	start := len(e.dst)
	parts, err := e.pairs(keys, vals, depth)
	if err != nil {
		return err
	}
	e.m.Release(mark)
	sorted, err := e.order(parts)
	if err != nil || sorted || !e.p.Exact {
		return err
	}
	return e.flatten(start, len(keys))
}

// flatten turns the map of n pairs that begins at start into the array of its
// pairs by which the exact form keeps their order.
func (e *encoder) flatten(start, n int) error {
	old := start + headLen(uint64(n))
	e.m.ChargeEach(len(e.dst)-old, e.m.Prices().Char)
	e.m.Alloc(len(e.dst) - old)
	// Paid: by the charge for each byte above.
	body := slices.Clone(e.dst[old:])
	e.dst = e.dst[:start]
	return e.named(exactDict, func() error {
		if err := e.head(majorArray, 2*uint64(n)); err != nil {
			return err
		}
		if err := e.room(len(body)); err != nil {
			return err
		}
		e.dst = append(e.dst, body...)
		return nil
	})
}

// part is where an element of a map or set lies in dst; its key ends at keyEnd.
type part struct{ start, keyEnd, end int }

// pairs writes a map in the order of its keys in Python.
func (e *encoder) pairs(keys, vals []vm.Value, depth int) ([]part, error) {
	if err := e.head(majorMap, uint64(len(keys))); err != nil {
		return nil, err
	}
	e.m.Alloc(24 * len(keys))
	parts := make([]part, 0, len(keys))
	// Paid: by value, which charges for each item.
	for i, k := range keys {
		p := part{start: len(e.dst)}
		if err := e.value(k, depth); err != nil {
			return nil, err
		}
		p.keyEnd = len(e.dst)
		if err := e.value(vals[i], depth); err != nil {
			return nil, err
		}
		p.end = len(e.dst)
		parts = append(parts, p)
	}
	return parts, nil
}

// order sorts the parts that end dst by their keys and tells whether they were
// in order; in the exact form they stay where they are. Two keys with one
// encoding, which Python tells apart, are refused.
func (e *encoder) order(parts []part) (bool, error) {
	if len(parts) == 0 {
		return true, nil
	}
	start := parts[0].start
	n := len(e.dst) - start
	prices := e.m.Prices()
	e.m.ChargeEach(len(parts), prices.Compare*int64(bits.Len(uint(len(parts)))))
	e.m.ChargeEach(n, prices.Char*int64(bits.Len(uint(len(parts)))))
	key := func(i int) []byte { return e.dst[parts[i].start:parts[i].keyEnd] }
	// Paid: by the charges above, for comparisons and for the bytes that they read.
	less := func(i, j int) bool { return bytes.Compare(key(i), key(j)) < 0 }
	// Paid: by the charges above, for comparisons and for the bytes that they read.
	sorted := sort.SliceIsSorted(parts, less)
	if !sorted {
		// Paid: by the charges above, for comparisons and for the bytes that they read.
		sort.SliceStable(parts, less)
	}
	// Paid: by the charges above, for comparisons and for the bytes that they read.
	for i := 1; i < len(parts); i++ {
		// Paid: by the charges above, for comparisons and for the bytes that they read.
		if bytes.Equal(key(i-1), key(i)) {
			return false, e.raiseValue("two keys have the same encoding")
		}
	}
	if sorted || e.p.Exact {
		return sorted, nil
	}
	e.m.Alloc(n)
	moved := make([]byte, 0, n)
	// Paid: by the charges above, for comparisons and for the bytes that they read.
	for _, p := range parts {
		moved = append(moved, e.dst[p.start:p.end]...)
	}
	copy(e.dst[start:], moved)
	return false, nil
}

func (e *encoder) set(v vm.Value, depth int) error {
	items, _ := e.m.SetElements(v)
	e.m.Hold(e.m.NewTuple(items))
	if e.p.Exact {
		name := exactSet
		if v.Kind() == vm.KindFrozenSet {
			name = exactFrozenSet
		}
		return e.named(name, func() error {
			if err := e.head(majorArray, uint64(len(items))); err != nil {
				return err
			}
			return e.items(items, depth)
		})
	}
	if err := e.head(majorTag, tagSet); err != nil {
		return err
	}
	if err := e.head(majorArray, uint64(len(items))); err != nil {
		return err
	}
	e.m.Alloc(24 * len(items))
	parts := make([]part, 0, len(items))
	// Paid: by value, which charges for each item.
	for _, x := range items {
		p := part{start: len(e.dst)}
		if err := e.value(x, depth); err != nil {
			return err
		}
		p.keyEnd, p.end = len(e.dst), len(e.dst)
		parts = append(parts, p)
	}
	_, err := e.order(parts)
	return err
}

// object writes what __cowboy_serialize__ answers under the name of the class,
// by which [Decode] will find it again.
func (e *encoder) object(v, fn vm.Value, depth int) error {
	m := e.m
	if e.p.NoObjects {
		return e.raiseType("Object of type %s is not serializable here", m.TypeName(v))
	}
	if depth == 0 {
		return e.raiseValue("value is nested too deeply to serialize: more than %d levels", e.p.Depth)
	}
	c := m.ClassOf(v)
	name := c.Name()
	m.ChargeEach(len(name)/int(m.Work().KeyBytes), m.Prices().Char) // it is looked up
	if c.Module() != "__main__" {
		name = c.Module() + "." + name
	}
	if found, ok := classNamed(m, name); !ok || found != c {
		return e.raiseType("Object of type %s is not serializable: its class is no global name", m.TypeName(v))
	}
	if err := m.Enter(); err != nil {
		return err
	}
	x, err := m.Call(fn, v)
	if err == nil {
		m.Hold(x)
		err = e.named(name, func() error { return e.value(x, depth-1) })
	}
	m.Exit()
	return err
}
