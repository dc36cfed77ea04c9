package sdk

import (
	"path"
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// scratch is the table of the files under /tmp. There are no folders: a path
// names a file directly below /tmp.
type scratch struct {
	files  map[string]*scratchFile // looked up, never iterated
	used   int                     // bytes of all files
	peak   int                     // most that used has been
	most   int
	amount int // files that may exist

	classes []*vm.Class // of open files, made at the first use
	refusal *vm.Class   // io.UnsupportedOperation, likewise
}

// scratchFile is the content of a file. The room behind it keeps what was cut off.
type scratchFile struct{ data []byte }

func newScratch(l Limits) scratch { return scratch{most: l.ScratchBytes, amount: l.ScratchFiles} }

// Numbers of the errors that the table raises, as Linux has them.
const (
	errNoEntry   = 2
	errExists    = 17
	errDirectory = 21
	errInvalid   = 22
	errNoSpace   = 28
)

func osError(m *vm.Machine, class string, number int64, text, name string) error {
	args := []vm.Value{vm.SmallInt(number), m.NewStr(text)}
	if name != "" {
		args = append(args, m.NewStr(name))
	}
	return m.RaiseValue(m.Builtin(class), args...)
}

// scratchName checks that a path leads to a file below /tmp, also after its dots,
// and returns the file's name.
func scratchName(m *vm.Machine, p string) (string, error) {
	if len(p) > 4096 {
		return "", osError(m, "OSError", 36, "File name too long", p)
	}
	// Bounded: by 4,096 characters, which openFile paid.
	if strings.IndexByte(p, 0) >= 0 {
		return "", m.ValueError("embedded null byte")
	}
	clean := path.Clean(p)
	// Bounded: by one character.
	if clean == "/tmp" && strings.HasPrefix(p, "/") {
		return "", osError(m, "IsADirectoryError", errDirectory, "Is a directory", p)
	}
	// Bounded: by five characters.
	name, ok := strings.CutPrefix(clean, "/tmp/")
	if !ok {
		return "", m.Raise(m.Builtin("DeterminismError"), "open() reaches files under /tmp only")
	}
	// Bounded: by one character.
	if strings.HasSuffix(p, "/") {
		return "", osError(m, "IsADirectoryError", errDirectory, "Is a directory", p)
	}
	return name, nil
}

// fileAt returns the file of that name; make says that it is made when absent,
// fresh that it must be absent.
func (t *scratch) fileAt(m *vm.Machine, p string, make, fresh bool) (*scratchFile, error) {
	name, err := scratchName(m, p)
	if err != nil {
		return nil, err
	}
	f, ok := t.files[name]
	switch {
	case ok && fresh:
		return nil, osError(m, "FileExistsError", errExists, "File exists", p)
	case ok:
		return f, nil
	// Bounded: by 4,096 characters, which openFile paid.
	case !make || strings.Contains(name, "/"):
		return nil, osError(m, "FileNotFoundError", errNoEntry, "No such file or directory", p)
	case len(t.files) >= t.amount:
		return nil, osError(m, "OSError", errNoSpace, "No space left on device", p)
	}
	f = &scratchFile{}
	if t.files == nil {
		t.files = map[string]*scratchFile{}
	}
	t.files[name] = f
	return f, nil
}

// write puts data at offset pos, with zeros before it where the file is shorter.
func (t *scratch) write(m *vm.Machine, f *scratchFile, pos int, data string) error {
	end := pos + len(data)
	if len(data) == 0 || end <= len(f.data) {
		copy(f.data[min(pos, len(f.data)):], data)
		return nil
	}
	if err := t.resize(m, f, end); err != nil {
		return err
	}
	copy(f.data[pos:], data)
	return nil
}

// resize makes a file n bytes long.
func (t *scratch) resize(m *vm.Machine, f *scratchFile, n int) error {
	more := n - len(f.data)
	if n < 0 || n > t.most || more > t.most-t.used {
		return osError(m, "OSError", errNoSpace, "No space left on device", "")
	}
	t.used += more
	t.peak = max(t.peak, t.used)
	if more <= 0 {
		f.shrink(n)
		return nil
	}
	m.ChargeEach(more, m.Prices().Char)
	f.grow(n)
	return nil
}

// scratchRoom is how many times what is left of a file its room may be.
const scratchRoom = 4

// shrink cuts the file off. Its room stays, or the next byte would copy what is left for
// the price of one; it goes where little is left, which whoever filled it has paid for.
func (f *scratchFile) shrink(n int) {
	if n*scratchRoom <= cap(f.data) {
		f.data = append([]byte(nil), f.data[:n]...)
		return
	}
	f.data = f.data[:n]
}

// grow makes the file longer, by zeros.
func (f *scratchFile) grow(n int) {
	if n <= cap(f.data) {
		old := len(f.data)
		f.data = f.data[:n]
		// Paid: by the growth, in resize.
		clear(f.data[old:])
		return
	}
	f.data = append(f.data, make([]byte, n-len(f.data))...)
}
