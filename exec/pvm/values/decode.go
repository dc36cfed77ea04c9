package values

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Decode makes the value that data is the encoding of. It raises ValueError for
// anything else, with the offset of the fault, and whatever a method of the
// program raises.
func Decode(m *vm.Machine, data []byte, p Profile) (vm.Value, error) {
	m.Charge(m.Work().Conversion)
	d := &decoder{m: m, p: p, data: data}
	if len(data) > p.Bytes {
		return vm.None, raiseAs(m, p.Faults.Malformed, "malformed value: longer than %d bytes", p.Bytes)
	}
	m.ChargeEach(len(data), m.Prices().Char)
	mark := m.Hold(vm.None)
	v, err := d.value(p.Depth, false)
	if err != nil {
		return vm.None, err
	}
	m.Release(mark)
	if d.pos != len(data) {
		return vm.None, d.fail("bytes after the value")
	}
	return v, nil
}

type decoder struct {
	m    *vm.Machine
	p    Profile
	data []byte
	pos  int
	seen []vm.Value // in the exact form: what can be shared, by number
}

func (d *decoder) fail(what string) error { return d.failAs(d.p.Faults.Malformed, what) }

// failEarly is for data that ends within the value.
func (d *decoder) failEarly() error { return d.failAs(d.p.Faults.Truncated, "it ends too early") }

func (d *decoder) failAs(class *vm.Class, what string) error {
	return raiseAs(d.m, class, "malformed value at byte %d: %s", d.pos, what)
}

// raiseAs raises a class of the profile's, ValueError where it has none.
func raiseAs(m *vm.Machine, class *vm.Class, format string, args ...any) error {
	if class == nil {
		return m.ValueError(format, args...)
	}
	return m.Raise(class, format, args...)
}

// head reads the head of an item: its major type, argument, and for major
// type 7 the byte itself.
func (d *decoder) head() (major byte, arg uint64, err error) {
	if d.pos >= len(d.data) {
		return 0, 0, d.failEarly()
	}
	b := d.data[d.pos]
	major, info := b&0xe0, b&0x1f
	if major == majorOther {
		d.pos++
		return major, uint64(b), nil
	}
	if info < 24 {
		d.pos++
		return major, uint64(info), nil
	}
	if info == 31 {
		return 0, 0, d.fail("indefinite length")
	}
	if info > 27 {
		return 0, 0, d.fail("reserved form")
	}
	size := 1 << (info - 24)
	if len(d.data)-d.pos-1 < size {
		return 0, 0, d.failEarly()
	}
	// Bounded: by 8 bytes.
	for _, c := range d.data[d.pos+1 : d.pos+1+size] {
		arg = arg<<8 | uint64(c)
	}
	if headLen(arg) != 1+size {
		return 0, 0, d.fail("not the shortest form")
	}
	d.pos += 1 + size
	return major, arg, nil
}

// bytes takes a string of n bytes, which must be there.
func (d *decoder) bytes(n uint64) ([]byte, error) {
	if n > uint64(len(d.data)-d.pos) {
		return nil, d.failEarly()
	}
	s := d.data[d.pos : d.pos+int(n)]
	d.pos += int(n)
	return s, nil
}

// count checks that n items of at least size bytes each can follow.
func (d *decoder) count(n uint64, size int) (int, error) {
	if n > uint64((len(d.data)-d.pos)/size) {
		return 0, d.failEarly()
	}
	return int(n), nil
}

// value reads one item. key asks for a value that can be a key: tuples for
// lists, frozensets for sets, and no dicts.
func (d *decoder) value(depth int, key bool) (vm.Value, error) {
	d.m.Charge(d.m.Work().ConvertedItem + d.p.Item)
	major, arg, err := d.head()
	if err != nil {
		return vm.None, err
	}
	switch major {
	case majorUint:
		if n := int64(arg); n >= 0 {
			return vm.SmallInt(n), nil
		}
		return d.m.NewInt(new(big.Int).SetUint64(arg)), nil
	case majorNegative:
		if n := int64(arg); n >= 0 {
			return vm.SmallInt(^n), nil
		}
		n := new(big.Int).SetUint64(arg)
		return d.m.NewInt(n.Not(n)), nil
	case majorBytes:
		s, err := d.bytes(arg)
		if err != nil {
			return vm.None, err
		}
		d.m.Charge(2 * d.m.Prices().Element) // for the object
		return d.m.NewBytes(d.m.CopyText(s)), nil
	case majorText:
		s, err := d.str(arg)
		if err != nil {
			return vm.None, err
		}
		return d.m.NewStr(s), nil
	case majorOther:
		return d.other(byte(arg))
	case majorTag:
		if arg == tagPositive || arg == tagNegative {
			return d.bignum(arg == tagNegative)
		}
	}
	if depth == 0 {
		return vm.None, d.fail("nested too deeply")
	}
	if err := d.m.Enter(); err != nil {
		return vm.None, err
	}
	ref := false
	v, err := d.container(major, arg, depth-1, key, &ref)
	d.m.Exit()
	if err == nil && d.p.Exact && !ref && shareable(v) {
		d.m.Hold(v)
		d.seen = append(d.seen, v)
	}
	return v, err
}

func (d *decoder) container(major byte, arg uint64, depth int, key bool, ref *bool) (vm.Value, error) {
	d.m.Charge(2 * d.m.Prices().Element) // for the object
	switch {
	case major == majorArray:
		b, err := d.items(arg, depth, key)
		if err != nil {
			return vm.None, err
		}
		if key && !d.p.Exact {
			return d.m.NewTuple(b.Items()), nil
		}
		return b.List(), nil
	case major == majorMap && key:
		return vm.None, d.fail("a map as a key")
	case major == majorMap:
		return d.dict(arg, depth)
	case arg == tagSet && !d.p.Exact:
		return d.set(depth, key)
	case arg == tagObject:
		return d.named(depth, key, ref)
	}
	return vm.None, d.fail("unknown tag")
}

func (d *decoder) other(b byte) (vm.Value, error) {
	switch b {
	case byteNull:
		return vm.None, nil
	case byteTrue:
		return vm.True, nil
	case byteFalse:
		return vm.False, nil
	case byteFloat:
		s, err := d.bytes(8)
		if err != nil {
			return vm.None, err
		}
		f := binary.BigEndian.Uint64(s)
		if f&exponentBits == exponentBits {
			if d.p.Finite {
				return vm.None, d.fail("a float that is not finite")
			}
			if f<<12 != 0 && f != canonicalNaN {
				return vm.None, d.fail("another NaN than the canonical one")
			}
		}
		return vm.FloatBits(f), nil
	}
	return vm.None, d.fail("unknown simple value or width of float")
}

func (d *decoder) str(n uint64) (string, error) {
	b, err := d.bytes(n)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) {
		return "", d.fail("text is not UTF-8")
	}
	s := string(b)
	if !d.p.Exact {
		d.m.ChargeEach(len(s), d.m.Prices().Char)
		norm := ucd.NFC(s)
		if norm != s && !d.p.Normalize {
			return "", d.fail("text is not in NFC")
		}
		s = norm
	}
	return s, nil
}

func (d *decoder) bignum(negative bool) (vm.Value, error) {
	major, arg, err := d.head()
	if err != nil {
		return vm.None, err
	}
	if major != majorBytes {
		return vm.None, d.fail("a bignum that is no byte string")
	}
	b, err := d.bytes(arg)
	if err != nil {
		return vm.None, err
	}
	if len(b) <= 8 || b[0] == 0 {
		return vm.None, d.fail("not the shortest form")
	}
	n := new(big.Int).SetBytes(b)
	if negative {
		n.Not(n)
	}
	return d.m.NewInt(n), nil
}

// letGo drops what was held since for the parts of a value that is held itself by now. In
// the exact form any of them may be referred to later.
func (d *decoder) letGo(mark int) {
	if !d.p.Exact {
		d.m.Release(mark + 1)
	}
}

// roomAhead is how many values are made room for before they were read.
const roomAhead = 64

func (d *decoder) items(n uint64, depth int, key bool) (vm.ListBuilder, error) {
	count, err := d.count(n, 1)
	if err != nil {
		return vm.ListBuilder{}, err
	}
	b := d.m.NewListBuilder(roomAhead, count)
	mark := d.m.Hold(vm.None)
	// Paid: by value, which charges for each item.
	for range count {
		x, err := d.value(depth, key)
		if err != nil {
			return b, err
		}
		b.Add(x)
		d.letGo(mark)
	}
	return b, nil
}

func (d *decoder) dict(n uint64, depth int) (vm.Value, error) {
	count, err := d.count(n, 2)
	if err != nil {
		return vm.None, err
	}
	dict := d.m.NewDict()
	mark := d.m.Hold(dict.Value())
	var last []byte
	// Paid: by value, which charges for each item.
	for i := range count {
		start := d.pos
		k, err := d.value(depth, true)
		if err != nil {
			return vm.None, err
		}
		if err := d.ordered(last, d.data[start:d.pos], i); err != nil {
			return vm.None, err
		}
		last = d.data[start:d.pos]
		d.m.Hold(k)
		v, err := d.value(depth, false)
		if err != nil {
			return vm.None, err
		}
		if err := d.put(dict, k, v); err != nil {
			return vm.None, err
		}
		d.letGo(mark)
	}
	return dict.Value(), nil
}

func (d *decoder) ordered(last, next []byte, i int) error {
	if i == 0 {
		return nil
	}
	// Paid: by Decode, which charges for all bytes: each is compared twice, and again for each of 64 levels at most.
	switch c := bytes.Compare(last, next); {
	case c == 0:
		return d.fail("a key stands twice")
	case c > 0:
		return d.fail("keys are not in order")
	}
	return nil
}

// put stores under a key that must be new under Python's equality also: 1 and
// 1.0 have two encodings and are one key.
func (d *decoder) put(dict *vm.Dict, k, v vm.Value) error {
	d.m.Charge(2 * d.m.Prices().DictOp)
	_, there, err := d.m.DictGet(dict, k)
	if err != nil {
		return err
	}
	if there {
		return d.fail("a key stands twice")
	}
	return d.m.DictPut(dict, k, v)
}

func (d *decoder) set(depth int, key bool) (vm.Value, error) {
	major, n, err := d.head()
	if err != nil {
		return vm.None, err
	}
	if major != majorArray {
		return vm.None, d.fail("a set that is no array")
	}
	count, err := d.count(n, 1)
	if err != nil {
		return vm.None, err
	}
	b := d.m.NewListBuilder(roomAhead, count)
	mark := d.m.Hold(vm.None)
	var last []byte
	// Paid: by value, which charges for each item.
	for i := range count {
		start := d.pos
		x, err := d.value(depth, true)
		if err != nil {
			return vm.None, err
		}
		if err := d.ordered(last, d.data[start:d.pos], i); err != nil {
			return vm.None, err
		}
		last = d.data[start:d.pos]
		b.Add(x)
		d.letGo(mark)
	}
	name := "set"
	if key {
		name = "frozenset"
	}
	return d.distinct(name, b)
}

// distinct makes a set and checks that no two of the items are equal.
func (d *decoder) distinct(class string, b vm.ListBuilder) (vm.Value, error) {
	items := b.Items()
	d.m.ChargeEach(len(items), d.m.Prices().DictOp)
	v, err := d.m.Call(d.m.Builtin(class).Value(), b.List())
	if err != nil {
		return vm.None, err
	}
	n, err := d.m.Len(v)
	if err == nil && n != int64(len(items)) {
		err = d.fail("an element stands twice")
	}
	return v, err
}

// named reads what tag 27 holds: the name of a class and a value.
func (d *decoder) named(depth int, key bool, ref *bool) (vm.Value, error) {
	major, n, err := d.head()
	if err != nil {
		return vm.None, err
	}
	if major != majorArray || n != 2 {
		return vm.None, d.fail("an object that is no pair")
	}
	major, n, err = d.head()
	if err != nil {
		return vm.None, err
	}
	if major != majorText {
		return vm.None, d.fail("an object without a name")
	}
	name, err := d.str(n)
	if err != nil {
		return vm.None, err
	}
	// Bounded: by one byte.
	if strings.HasPrefix(name, ":") {
		if !d.p.Exact {
			return vm.None, d.fail("unknown class")
		}
		return d.exact(name, depth, key, ref)
	}
	if d.p.NoObjects {
		return vm.None, d.fail("unknown tag")
	}
	c, ok := classNamed(d.m, name)
	if !ok {
		return vm.None, d.fail("unknown class")
	}
	fn, ok, err := d.m.LookupAttr(c.Value(), d.m.Name("__cowboy_deserialize__"))
	if err != nil {
		return vm.None, err
	}
	if !ok {
		return vm.None, d.m.TypeError("class %s has no __cowboy_deserialize__", c.Name())
	}
	x, err := d.value(depth, false)
	if err != nil {
		return vm.None, err
	}
	d.m.Hold(x)
	return d.m.Call(fn, x)
}

// exact reads a builtin value of the exact form.
func (d *decoder) exact(name string, depth int, key bool, ref *bool) (vm.Value, error) {
	major, n, err := d.head()
	if err != nil {
		return vm.None, err
	}
	if name == exactRef && major == majorUint {
		if n >= uint64(len(d.seen)) {
			return vm.None, d.fail("a reference to nothing")
		}
		*ref = true
		return d.seen[n], nil
	}
	if name == exactByteArray && major == majorBytes {
		b, err := d.bytes(n)
		if err != nil {
			return vm.None, err
		}
		return d.m.Call(d.m.Builtin("bytearray").Value(), d.m.NewBytes(string(b)))
	}
	if major != majorArray {
		return vm.None, d.fail("a builtin value that is no array")
	}
	hashed := key || name == exactSet || name == exactFrozenSet
	if name == exactDict {
		if n%2 != 0 {
			return vm.None, d.fail("pairs that are not even")
		}
		return d.pairs(n, depth)
	}
	b, err := d.items(n, depth, hashed)
	if err != nil {
		return vm.None, err
	}
	items := b.Items()
	switch {
	case name == exactTuple:
		return d.m.NewTuple(items), nil
	case name == exactSet:
		return d.distinct("set", b)
	case name == exactFrozenSet:
		return d.distinct("frozenset", b)
	case name == exactRange && len(items) == 3:
		return d.m.Call(d.m.Builtin("range").Value(), items...)
	}
	return vm.None, d.fail("unknown builtin value")
}

func (d *decoder) pairs(n uint64, depth int) (vm.Value, error) {
	count, err := d.count(n, 1)
	if err != nil {
		return vm.None, err
	}
	dict := d.m.NewDict()
	d.m.Hold(dict.Value())
	// Paid: by value, which charges for each item.
	for range count / 2 {
		k, err := d.value(depth, true)
		if err != nil {
			return vm.None, err
		}
		d.m.Hold(k)
		v, err := d.value(depth, false)
		if err != nil {
			return vm.None, err
		}
		if err := d.put(dict, k, v); err != nil {
			return vm.None, err
		}
	}
	return dict.Value(), nil
}

// classNamed finds a class by what the encoder calls it: its name when it is a
// global of the program, its module before that when it is the library's.
func classNamed(m *vm.Machine, name string) (*vm.Class, bool) {
	module := "__main__"
	// Paid: by Decode, a character a byte, or by the encoder's charge for the name.
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		module, name = name[:dot], name[dot+1:]
	}
	v, ok := m.Global(module, name)
	if !ok {
		return nil, false
	}
	return v.Class()
}
