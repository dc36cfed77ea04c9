package sdk

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// file is an open file: what open() answers.
type file struct {
	s        *Session
	content  *scratchFile
	name     string
	mode     string // as CPython shows it
	newline  string // of text: "" universal, untranslated with keep; else the line end
	pos      int
	keep     bool // newline='' was given
	text     bool
	read     bool
	write    bool
	append   bool
	closed   bool
	iterated bool // tell() is refused while a for loop reads text
}

func (*file) Roots(func(vm.Value)) {}
func (*file) Bytes() int           { return 256 }

// openDef is the builtin open().
func openDef() vm.Def {
	return native("open", 1, "file mode buffering encoding errors newline closefd opener", openFile)
}

// openFile is open() with CPython's rules about modes.
func openFile(c call) (vm.Value, error) {
	p, ok := c.arg(0).Text()
	if b, isBytes := c.m.BytesText(c.arg(0)); isBytes {
		p, ok = b, true
	}
	if !ok {
		if _, isInt := c.arg(0).BigInt(); isInt {
			return vm.None, c.m.Raise(c.m.Builtin("DeterminismError"), "open() reaches files under /tmp only")
		}
		return vm.None, c.m.TypeError("expected str, bytes or os.PathLike object, not %s", c.m.TypeName(c.arg(0)))
	}
	mode := "r"
	if v := c.arg(1); !v.IsNone() {
		if mode, ok = v.Text(); !ok {
			return vm.None, c.m.TypeError("open() argument 'mode' must be str, not %s", c.m.TypeName(v))
		}
	}
	c.m.ChargeEach(len(p)+len(mode), c.m.Prices().Char)
	f := &file{s: c.s, name: p}
	kind, err := f.setMode(c.m, mode)
	if err != nil {
		return vm.None, err
	}
	if err := f.options(c); err != nil {
		return vm.None, err
	}
	if f.content, err = c.s.files.fileAt(c.m, p, kind != 'r', kind == 'x'); err != nil {
		return vm.None, err
	}
	switch kind {
	case 'w':
		if err := c.s.files.resize(c.m, f.content, 0); err != nil {
			return vm.None, err
		}
	case 'a':
		f.append, f.pos = true, len(f.content.data)
	}
	return c.m.NewForeign(c.s.files.fileClass(c.m, f), f), nil
}

// setMode reads the mode and returns which of r, w, a and x it has.
func (f *file) setMode(m *vm.Machine, mode string) (byte, error) {
	var kind byte
	binary, update, kinds := false, false, 0
	// Bounded: by seven rounds: a letter that is unknown or comes twice ends it.
	for i := range len(mode) {
		ch := mode[i]
		// Bounded: by seven letters.
		if strings.IndexByte("rwaxbt+", ch) < 0 || strings.IndexByte(mode[:i], ch) >= 0 {
			return 0, m.ValueError("invalid mode: '%s'", mode)
		}
		switch ch {
		case 'b':
			binary = true
		case '+':
			update = true
		case 't':
			f.text = true
		default:
			kind, kinds = ch, kinds+1
		}
	}
	switch {
	case binary && f.text:
		return 0, m.ValueError("can't have text and binary mode at once")
	case kinds > 1:
		return 0, m.ValueError("must have exactly one of create/read/write/append mode")
	case kinds == 0:
		return 0, m.ValueError("Must have exactly one of create/read/write/append mode and at most one plus")
	}
	f.text = !binary
	f.read, f.write = kind == 'r' || update, kind != 'r' || update
	f.mode = mode
	if binary {
		f.mode = string(kind) + "b"
		if update {
			f.mode = map[byte]string{'r': "rb+", 'w': "rb+", 'a': "ab+", 'x': "xb+"}[kind]
		}
	}
	return kind, nil
}

// options reads encoding, errors and newline.
func (f *file) options(c call) error {
	for i, what := range []string{"encoding", "errors", "newline"} {
		v := c.arg(3 + i)
		if v.IsNone() {
			continue
		}
		s, ok := v.Text()
		c.m.ChargeEach(len(s), c.m.Prices().Char)
		if !ok {
			return c.m.TypeError("open() argument '%s' must be str or None, not %s", what, c.m.TypeName(v))
		}
		if !f.text {
			return c.m.ValueError("binary mode doesn't take an %s argument", what)
		}
		switch what {
		case "encoding":
			// Paid: by the characters above.
			if s = strings.ToLower(s); s != "utf-8" && s != "utf8" && s != "utf_8" {
				return c.m.Raise(c.m.Builtin("LookupError"), "unknown encoding: %s", s)
			}
		case "errors":
			if s != "strict" {
				return c.m.Raise(c.m.Builtin("LookupError"), "unknown error handler name '%s'", s)
			}
		case "newline":
			if s != "" && s != "\n" && s != "\r" && s != "\r\n" {
				return c.m.ValueError("illegal newline value: %s", s)
			}
			f.newline, f.keep = s, s == ""
		}
	}
	return nil
}

// fileClass returns the class of a file: CPython's name for its mode.
func (t *scratch) fileClass(m *vm.Machine, f *file) *vm.Class {
	name := "TextIOWrapper"
	switch {
	case f.text:
	case f.read && f.write:
		name = "BufferedRandom"
	case f.read:
		name = "BufferedReader"
	default:
		name = "BufferedWriter"
	}
	// Bounded: by the four classes that files have.
	for _, c := range t.classes {
		if c.Name() == name {
			return c
		}
	}
	m.Charge(m.Work().Class * m.Prices().NativeCall)
	c := m.NewClass("_io", name).Define(fileDefs()...)
	// Bounded: by the table; once a class and call.
	for _, g := range fileGetters() {
		c.Getter(g.name, g.get, nil)
	}
	t.classes = append(t.classes, c)
	return c
}

// unsupported is io.UnsupportedOperation.
func (t *scratch) unsupported(m *vm.Machine, text string) error {
	if t.refusal == nil {
		m.Charge(m.Work().Class * m.Prices().NativeCall)
		t.refusal = m.NewExceptionClass("io", "UnsupportedOperation", m.Builtin("OSError"), m.Builtin("ValueError"))
	}
	return m.RaiseValue(t.refusal, m.NewStr(text))
}
