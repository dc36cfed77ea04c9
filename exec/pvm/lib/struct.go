package lib

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// structModule is the module struct of one machine.
type structModule struct {
	class, iterator, failure *vm.Class
}

// structState is the payload of a Struct.
type structState struct {
	leaf
	format string
	l      *layout
}

func (s *structState) Bytes() int { return 96 + len(s.format) + 32*len(s.l.fields) }

// errorText raises struct.error; the format is a literal, as for Raise.
func (s *structModule) errorText(m *vm.Machine, format string, args ...any) error {
	return m.Raise(s.failure, format, args...)
}

func loadStruct(m *vm.Machine) (*vm.Module, error) {
	s := &structModule{
		class:    m.NewClass("_struct", "Struct").Dotted(),
		iterator: m.NewClass("_struct", "unpack_iterator").Dotted(),
		failure:  m.NewExceptionClass("struct", "error", m.Builtin("Exception")),
	}
	s.class.WithDict().Define(
		named("__new__", 2, []string{"cls", "format"}, s.newStruct),
		def("pack", 1, -1, s.method(s.pack)),
		def("pack_into", 1, -1, s.method(s.packIntoBuffer)),
		def("unpack", 2, 2, s.method(s.unpack)),
		named("unpack_from", 2, []string{"self", "buffer", "offset"}, s.method(s.unpackFrom)),
		def("iter_unpack", 2, 2, s.method(s.iterUnpack)),
	)
	s.class.Getter("format", func(m *vm.Machine, v vm.Value) (vm.Value, error) {
		p, err := payload[*structState](m, v)
		if err != nil {
			return vm.None, err
		}
		m.Charge(m.Prices().NativeCall)
		return m.NewStr(p.format), nil
	}, nil)
	s.class.Getter("size", func(m *vm.Machine, v vm.Value) (vm.Value, error) {
		p, err := payload[*structState](m, v)
		if err != nil {
			return vm.None, err
		}
		return vm.SmallInt(p.l.size), nil
	}, nil)
	s.defineIterator()
	mod := m.NewModule("struct")
	mod.Define(m,
		def("pack", 0, -1, s.function(s.pack)),
		def("pack_into", 0, -1, s.function(s.packIntoBuffer)),
		def("unpack", 2, 2, s.function(s.unpack)),
		named("unpack_from", 2, []string{"format", "buffer", "offset"}, s.function(s.unpackFrom)),
		def("iter_unpack", 2, 2, s.function(s.iterUnpack)),
		def("calcsize", 1, 1, s.function(func(_ *vm.Machine, l *layout, _ []vm.Value) (vm.Value, error) {
			return vm.SmallInt(l.size), nil
		})),
	)
	return mod.Set(m, "Struct", s.class.Value()).Set(m, "error", s.failure.Value()), nil
}

func (s *structModule) newStruct(m *vm.Machine, a vm.Args) (vm.Value, error) {
	l, text, err := s.layoutOf(m, a.Values[1])
	if err != nil {
		return vm.None, err
	}
	c, _ := a.Values[0].Class()
	return m.NewForeign(c, &structState{format: text, l: l}), nil
}

// structFunc is an operation of a layout with what follows format or receiver.
type structFunc func(m *vm.Machine, l *layout, rest []vm.Value) (vm.Value, error)

// method makes an operation a method of Struct.
func (s *structModule) method(fn structFunc) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		p, err := payload[*structState](m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return fn(m, p.l, a.Values[1:])
	}
}

// function makes it a function whose first argument is the format.
func (s *structModule) function(fn structFunc) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		if len(a.Values) == 0 {
			return vm.None, m.TypeError("missing format argument")
		}
		l, _, err := s.layoutOf(m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return fn(m, l, a.Values[1:])
	}
}

func (s *structModule) pack(m *vm.Machine, l *layout, rest []vm.Value) (vm.Value, error) {
	if int64(len(rest)) != l.items {
		return vm.None, s.errorText(m, "pack expected %d items for packing (got %d)", l.items, len(rest))
	}
	m.ChargeCount(l.size, m.Prices().Char)
	m.AllocBytes(l.size)
	dst := make([]byte, l.size)
	if err := s.packInto(m, l, dst, rest); err != nil {
		return vm.None, err
	}
	return m.NewBytes(string(dst)), nil
}

func (s *structModule) packIntoBuffer(m *vm.Machine, l *layout, rest []vm.Value) (vm.Value, error) {
	switch {
	case len(rest) == 0:
		return vm.None, s.errorText(m, "pack_into expected buffer argument")
	case len(rest) == 1:
		return vm.None, s.errorText(m, "pack_into expected offset argument")
	case int64(len(rest)-2) != l.items:
		return vm.None, s.errorText(m, "pack_into expected %d items for packing (got %d)", l.items, len(rest)-2)
	}
	buf, ok := rest[0].MutableBytes()
	if !ok {
		return vm.None, m.TypeError("argument must be read-write bytes-like object, not %s", m.TypeName(rest[0]))
	}
	offset, err := m.Index(rest[1])
	if err != nil {
		return vm.None, err
	}
	size := int64(len(buf))
	if offset < 0 {
		if offset+l.size > 0 {
			return vm.None, s.errorText(m, "no space to pack %d bytes at offset %d", l.size, offset)
		}
		if offset+size < 0 {
			return vm.None, s.errorText(m, "offset %d out of range for %d-byte buffer", offset, size)
		}
		offset += size
	}
	if size < offset || size-offset < l.size {
		return vm.None, s.errorText(m, "pack_into requires a buffer of at least %d bytes for packing %d bytes at offset %d (actual buffer size is %d)",
			uint64(l.size)+uint64(offset), l.size, offset, size)
	}
	m.ChargeCount(l.size, m.Prices().Char)
	m.AllocBytes(l.size)
	dst := make([]byte, l.size)
	if err := s.packInto(m, l, dst, rest[2:]); err != nil {
		return vm.None, err
	}
	if buf, _ = rest[0].MutableBytes(); int64(len(buf))-offset < l.size {
		return vm.None, m.Raise(m.Builtin("BufferError"), "Existing exports of data: object cannot be re-sized")
	}
	copy(buf[offset:], dst)
	return vm.None, nil
}

func notBytes(m *vm.Machine, v vm.Value) error {
	return m.TypeError("a bytes-like object is required, not '%s'", m.TypeName(v))
}

func (s *structModule) unpack(m *vm.Machine, l *layout, rest []vm.Value) (vm.Value, error) {
	if !rest[0].IsBytes() {
		return vm.None, notBytes(m, rest[0])
	}
	if int64(rest[0].BytesLen()) != l.size {
		return vm.None, s.errorText(m, "unpack requires a buffer of %d bytes", l.size)
	}
	return l.charged(m, rest[0], 0), nil
}

// charged unpacks what stands at a place of a buffer, within it, after it charged for
// bytes and values.
func (l *layout) charged(m *vm.Machine, buf vm.Value, at int64) vm.Value {
	m.ChargeCount(l.size, m.Prices().Char)
	m.ChargeCount(l.items, m.Prices().Element)
	m.ChargeWide(int(l.items), 2*m.Prices().Element) // for objects longer than their bytes
	return l.unpack(m, buf.BytesPart(int(at), int(at+l.size)))
}

func (s *structModule) unpackFrom(m *vm.Machine, l *layout, rest []vm.Value) (_ vm.Value, err error) {
	buf := rest[0]
	if !buf.IsBytes() {
		return vm.None, notBytes(m, buf)
	}
	var offset int64
	if len(rest) > 1 && rest[1].Bound() {
		if offset, err = m.Index(rest[1]); err != nil {
			return vm.None, err
		}
	}
	size := int64(buf.BytesLen())
	if offset < 0 {
		if offset+l.size > 0 {
			return vm.None, s.errorText(m, "not enough data to unpack %d bytes at offset %d", l.size, offset)
		}
		if offset+size < 0 {
			return vm.None, s.errorText(m, "offset %d out of range for %d-byte buffer", offset, size)
		}
		offset += size
	}
	if size < offset || size-offset < l.size {
		return vm.None, s.errorText(m, "unpack_from requires a buffer of at least %d bytes for unpacking %d bytes at offset %d (actual buffer size is %d)",
			uint64(l.size)+uint64(offset), l.size, offset, size)
	}
	return l.charged(m, buf, offset), nil
}

// structIter is the payload of what iter_unpack returns.
type structIter struct {
	l   *layout
	buf vm.Value
	at  int64
}

func (s *structIter) Roots(visit func(vm.Value)) { visit(s.buf) }
func (s *structIter) Bytes() int                 { return 64 + s.l.modelled() } // a layout that nothing else may hold

// Step unpacks the next piece of the buffer.
func (s *structIter) Step(m *vm.Machine) (vm.Value, bool, error) {
	if s.at+s.l.size > int64(s.buf.BytesLen()) {
		return vm.None, false, nil
	}
	s.at += s.l.size
	m.Charge(m.Work().IteratorStep * m.Prices().Element)
	m.ChargeCount(s.l.items, 2*m.Prices().Element) // an object each, of bytes that may be none
	return s.l.charged(m, s.buf, s.at-s.l.size), true, nil
}

func (s *structModule) iterUnpack(m *vm.Machine, l *layout, rest []vm.Value) (vm.Value, error) {
	if !rest[0].IsBytes() {
		return vm.None, notBytes(m, rest[0])
	}
	if l.size == 0 {
		return vm.None, s.errorText(m, "cannot iteratively unpack with a struct of length 0")
	}
	if int64(rest[0].BytesLen())%l.size != 0 {
		return vm.None, s.errorText(m, "iterative unpacking requires a buffer of a multiple of %d bytes", l.size)
	}
	return m.NewForeign(s.iterator, &structIter{l: l, buf: rest[0]}), nil
}

func (s *structModule) defineIterator() {
	s.iterator.Define(
		def("__iter__", 1, 1, itself),
		def("__next__", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			p, err := payload[*structIter](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			return stepped(m, p)
		}),
		def("__length_hint__", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			p, err := payload[*structIter](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			return vm.SmallInt(max(0, int64(p.buf.BytesLen())-p.at) / p.l.size), nil
		}),
	)
}

// itself is __iter__ of iterators.
func itself(_ *vm.Machine, a vm.Args) (vm.Value, error) { return a.Values[0], nil }
