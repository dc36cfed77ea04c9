package sdk

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// method wraps a method of an open file.
func method(name string, most int, fn func(m *vm.Machine, f *file, a vm.Args) (vm.Value, error)) vm.Def {
	return vm.Def{Name: name, Min: 1, Max: most + 1, Fn: func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		f, ok := fileOf(a.Values[0])
		if !ok {
			return vm.None, m.TypeError("descriptor '%s' requires a file object", name)
		}
		if f.closed && name != "close" && name != "__exit__" && name != "__repr__" {
			return vm.None, m.ValueError("I/O operation on closed file.")
		}
		return fn(m, f, a)
	}}
}

func fileOf(v vm.Value) (*file, bool) {
	p, _ := v.Foreign()
	f, ok := p.(*file)
	return f, ok
}

type fileGetter struct {
	name string
	get  func(m *vm.Machine, v vm.Value) (vm.Value, error)
}

func fileGetters() []fileGetter {
	get := func(name string, fn func(m *vm.Machine, f *file) vm.Value) fileGetter {
		return fileGetter{name, func(m *vm.Machine, v vm.Value) (vm.Value, error) {
			f, ok := fileOf(v)
			if !ok {
				return vm.None, m.TypeError("descriptor '%s' requires a file object", name)
			}
			return fn(m, f), nil
		}}
	}
	return []fileGetter{
		get("name", func(m *vm.Machine, f *file) vm.Value {
			m.Charge(m.Prices().NativeCall)
			return m.NewStr(f.name)
		}),
		get("mode", func(m *vm.Machine, f *file) vm.Value { return m.NewStr(f.mode) }),
		get("closed", func(_ *vm.Machine, f *file) vm.Value { return vm.Bool(f.closed) }),
	}
}

func fileDefs() []vm.Def {
	constant := func(name string, get func(f *file) bool) vm.Def {
		return method(name, 0, func(_ *vm.Machine, f *file, _ vm.Args) (vm.Value, error) { return vm.Bool(get(f)), nil })
	}
	itself := func(_ *vm.Machine, _ *file, a vm.Args) (vm.Value, error) { return a.Values[0], nil }
	shut := func(_ *vm.Machine, f *file, _ vm.Args) (vm.Value, error) {
		f.closed = true
		return vm.None, nil
	}
	return []vm.Def{
		method("read", 1, fileRead),
		method("readline", 1, fileReadline),
		method("readlines", 1, fileReadlines),
		method("write", 1, fileWrite),
		method("writelines", 1, fileWritelines),
		method("seek", 2, fileSeek),
		method("tell", 0, fileTell),
		method("truncate", 1, fileTruncate),
		method("flush", 0, func(*vm.Machine, *file, vm.Args) (vm.Value, error) { return vm.None, nil }),
		method("close", 0, shut),
		method("__enter__", 0, itself),
		method("__exit__", 3, shut),
		method("__iter__", 0, itself),
		method("__next__", 0, fileNext),
		method("__repr__", 0, fileRepr),
		method("fileno", 0, func(m *vm.Machine, f *file, _ vm.Args) (vm.Value, error) {
			return vm.None, f.s.files.unsupported(m, "fileno")
		}),
		constant("readable", func(f *file) bool { return f.read }),
		constant("writable", func(f *file) bool { return f.write }),
		constant("seekable", func(*file) bool { return true }),
		constant("isatty", func(*file) bool { return false }),
	}
}

// size returns the optional argument of read and readline; negative or None is
// everything.
func size(m *vm.Machine, a vm.Args) (int, error) {
	if len(a.Values) < 2 || a.Values[1].IsNone() {
		return -1, nil
	}
	n, err := m.Index(a.Values[1])
	if err != nil {
		return 0, err
	}
	return int(max(-1, min(n, 1<<30))), nil
}

func (f *file) readable(m *vm.Machine) error {
	if !f.read {
		what := "not readable"
		if !f.text {
			what = "read"
		}
		return f.s.files.unsupported(m, what)
	}
	return nil
}

// readUpTo reads at most n characters or bytes, to the end of a line when line is
// set, and charges for each byte.
func (f *file) readUpTo(m *vm.Machine, n int, line bool) (vm.Value, error) {
	rest := f.content.data[min(f.pos, len(f.content.data)):]
	if !f.text {
		if n < 0 || n > len(rest) {
			n = len(rest)
		}
		if line {
			// Paid: by the charge below: what was looked at is what is read.
			if i := bytes.IndexByte(rest[:n], '\n'); i >= 0 {
				n = i + 1
			}
		}
		m.ChargeEach(n, m.Prices().Char)
		m.Charge(2 * m.Prices().Element) // for the object
		f.pos += n
		return m.NewBytes(m.CopyText(rest[:n])), nil
	}
	if line && n < 0 {
		if v, ok := f.plainLine(m, rest); ok {
			return v, nil
		}
	}
	var room [64]byte // of most lines
	out, i := room[:0], 0
	for count := 0; i < len(rest) && (n < 0 || count < n); count++ {
		r, size := utf8.DecodeRune(rest[i:])
		if r == utf8.RuneError && size <= 1 {
			return f.undecodable(m, rest)
		}
		m.Charge(m.Prices().Char * int64(size))
		if used := f.lineEnd(rest[i:]); used > 0 {
			out, size = append(out, '\n'), used
		} else {
			out = append(out, rest[i:i+size]...)
		}
		i += size
		if line && f.endsLine(out, rest[i:]) {
			break
		}
	}
	f.pos += i
	return m.NewNormalStr(out), nil
}

// plainLine reads a line whose text is as it stands in the file; false where it is not, or may
// not be.
func (f *file) plainLine(m *vm.Machine, rest []byte) (vm.Value, bool) {
	end := -1
	switch {
	case f.newline == "":
		// Paid: by the charge below, or by the next read, as what was looked at is what is read.
		end = bytes.IndexAny(rest, "\r\n")
	case f.newline == "\n":
		// Paid: likewise.
		end = bytes.IndexByte(rest, '\n')
	default:
		return vm.None, false
	}
	switch {
	case end < 0:
		end = len(rest)
	case rest[end] == '\r':
		return vm.None, false
	default:
		end++
	}
	text := rest[:end]
	if !utf8.Valid(text) {
		return vm.None, false
	}
	m.ChargeEach(end, m.Prices().Char)
	f.pos += end
	return m.NewNormalStr(text), true
}

// lineEnd is how many bytes the line end at the head of rest has that is read as another, 0:
// there is none.
func (f *file) lineEnd(rest []byte) int {
	switch {
	case rest[0] != '\r' || f.newline != "" || f.keep:
		return 0
	case len(rest) > 1 && rest[1] == '\n':
		return 2
	}
	return 1
}

// endsLine tells whether what was read ends with a line end, given what follows.
func (f *file) endsLine(out, rest []byte) bool {
	s := string(out[max(0, len(out)-2):])
	switch {
	case f.keep:
		// Bounded: by one character.
		return strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\r") && (len(rest) == 0 || rest[0] != '\n')
	case f.newline != "":
		// Bounded: by two characters.
		return strings.HasSuffix(s, f.newline)
	}
	// Bounded: by one character.
	return strings.HasSuffix(s, "\n")
}

// undecodable raises what decoding the rest of the file raises.
func (f *file) undecodable(m *vm.Machine, rest []byte) (vm.Value, error) {
	m.ChargeEach(len(rest), m.Prices().Char)
	fn, err := m.GetAttr(m.NewBytes(string(rest)), m.Name("decode"))
	if err != nil {
		return vm.None, err
	}
	return m.Call(fn)
}

func fileRead(m *vm.Machine, f *file, a vm.Args) (vm.Value, error) {
	if err := f.readable(m); err != nil {
		return vm.None, err
	}
	n, err := size(m, a)
	if err != nil {
		return vm.None, err
	}
	return f.readUpTo(m, n, false)
}

func fileReadline(m *vm.Machine, f *file, a vm.Args) (vm.Value, error) {
	if err := f.readable(m); err != nil {
		return vm.None, err
	}
	n, err := size(m, a)
	if err != nil {
		return vm.None, err
	}
	return f.readUpTo(m, n, true)
}

// linesAhead is how many lines of a file there is room for before they were read.
const linesAhead = 64

func fileReadlines(m *vm.Machine, f *file, a vm.Args) (vm.Value, error) {
	if err := f.readable(m); err != nil {
		return vm.None, err
	}
	hint, err := size(m, a)
	if err != nil {
		return vm.None, err
	}
	mark := m.Hold(vm.None)
	lines := m.NewListBuilder(linesAhead, len(f.content.data))
	for read := 0; f.pos < len(f.content.data) && (hint <= 0 || read < hint); {
		m.Charge(m.Prices().Step)
		v, err := f.readUpTo(m, -1, true)
		if err != nil {
			return vm.None, err
		}
		lines.Add(v)
		n, err := m.Len(v)
		if err != nil {
			return vm.None, err
		}
		read += int(n)
	}
	m.Release(mark)
	return lines.List(), nil
}

func fileNext(m *vm.Machine, f *file, _ vm.Args) (vm.Value, error) {
	if err := f.readable(m); err != nil {
		return vm.None, err
	}
	f.iterated = true
	if f.pos >= len(f.content.data) {
		f.iterated = false
		return vm.None, m.RaiseValue(m.Builtin("StopIteration"))
	}
	return f.readUpTo(m, -1, true)
}

// put writes one piece and returns how many characters or bytes it had.
func (f *file) put(m *vm.Machine, v vm.Value) (int, error) {
	data, count := "", 0
	if f.text {
		s, ok := v.StrObject()
		if !ok {
			return 0, m.TypeError("write() argument must be str, not %s", m.TypeName(v))
		}
		data, count = s.String(), s.Runes()
		if f.newline != "" && f.newline != "\n" {
			m.ChargeEach(len(data), m.Prices().Char)
			// Paid: by the characters above, and by those below for what it became.
			data = strings.ReplaceAll(data, "\n", f.newline)
		}
	} else {
		b, ok := m.BytesText(v)
		if !ok {
			return 0, m.TypeError("a bytes-like object is required, not '%s'", m.TypeName(v))
		}
		data, count = b, len(b)
	}
	m.ChargeEach(len(data), m.Prices().Char)
	if f.append {
		f.pos = len(f.content.data)
	}
	if err := f.s.files.write(m, f.content, f.pos, data); err != nil {
		return 0, err
	}
	f.pos += len(data)
	return count, nil
}

func (f *file) writable(m *vm.Machine) error {
	if !f.write {
		what := "not writable"
		if !f.text {
			what = "write"
		}
		return f.s.files.unsupported(m, what)
	}
	return nil
}

func fileWrite(m *vm.Machine, f *file, a vm.Args) (vm.Value, error) {
	if len(a.Values) < 2 {
		return vm.None, m.TypeError("write() takes exactly one argument (0 given)")
	}
	if err := f.writable(m); err != nil {
		return vm.None, err
	}
	n, err := f.put(m, a.Values[1])
	return vm.SmallInt(int64(n)), err
}

func fileWritelines(m *vm.Machine, f *file, a vm.Args) (vm.Value, error) {
	if len(a.Values) < 2 {
		return vm.None, m.TypeError("writelines() takes exactly one argument (0 given)")
	}
	if err := f.writable(m); err != nil {
		return vm.None, err
	}
	return vm.None, m.Each(a.Values[1], func(v vm.Value) error {
		if f.closed {
			return m.ValueError("I/O operation on closed file.")
		}
		_, err := f.put(m, v)
		return err
	})
}

// seekMax is where a file may be written at most, were there room for it.
const seekMax = 1 << 30

func fileSeek(m *vm.Machine, f *file, a vm.Args) (vm.Value, error) {
	if len(a.Values) < 2 {
		return vm.None, m.TypeError("seek expected at least 1 argument, got 0")
	}
	off, err := m.Index(a.Values[1])
	if err != nil {
		return vm.None, err
	}
	whence := int64(0)
	if len(a.Values) > 2 {
		if whence, err = m.Index(a.Values[2]); err != nil {
			return vm.None, err
		}
	}
	from := 0
	switch {
	case whence < 0 || whence > 2:
		return vm.None, m.ValueError("invalid whence (%d, should be 0, 1 or 2)", whence)
	case whence == 1 && f.text && off != 0:
		return vm.None, f.s.files.unsupported(m, "can't do nonzero cur-relative seeks")
	case whence == 2 && f.text && off != 0:
		return vm.None, f.s.files.unsupported(m, "can't do nonzero end-relative seeks")
	case whence == 0 && f.text && off < 0:
		return vm.None, m.ValueError("negative seek position %d", off)
	case whence == 1:
		from = f.pos
	case whence == 2:
		from = len(f.content.data)
	}
	if off > seekMax || off < -seekMax || int64(from)+off < 0 || int64(from)+off > seekMax {
		return vm.None, osError(m, "OSError", errInvalid, "Invalid argument", "")
	}
	f.pos = from + int(off)
	f.iterated = false
	return vm.SmallInt(int64(f.pos)), nil
}

func fileTell(m *vm.Machine, f *file, _ vm.Args) (vm.Value, error) {
	if f.iterated && f.text {
		return vm.None, plainOSError(m, "telling position disabled by next() call")
	}
	return vm.SmallInt(int64(f.pos)), nil
}

func plainOSError(m *vm.Machine, text string) error {
	return m.RaiseValue(m.Builtin("OSError"), m.NewStr(text))
}

func fileTruncate(m *vm.Machine, f *file, a vm.Args) (vm.Value, error) {
	n := int64(f.pos)
	if len(a.Values) > 1 && !a.Values[1].IsNone() {
		var err error
		if n, err = m.Index(a.Values[1]); err != nil {
			return vm.None, err
		}
	}
	if !f.write {
		what := "truncate"
		if f.text {
			what = "File not open for writing"
		}
		return vm.None, f.s.files.unsupported(m, what)
	}
	if n < 0 {
		return vm.None, osError(m, "OSError", errInvalid, "Invalid argument", "")
	}
	if err := f.s.files.resize(m, f.content, int(min(n, 1<<30))); err != nil {
		return vm.None, err
	}
	return vm.SmallInt(n), nil
}

func fileRepr(m *vm.Machine, f *file, a vm.Args) (vm.Value, error) {
	name, err := m.Repr(m.NewStr(f.name))
	if err != nil {
		return vm.None, err
	}
	s := "<_io." + m.TypeName(a.Values[0]) + " name=" + name.String()
	if f.text {
		s += " mode='" + f.mode + "' encoding='UTF-8'"
	}
	return m.NewStr(s + ">"), nil
}
