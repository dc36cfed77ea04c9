package sdk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// scratchScript runs everywhere: CPython gets a folder for /tmp.
const scratchScript = `
def attempt(fn):
    try:
        print(repr(fn()))
    except Exception as e:
        print(type(e).__name__, str(e).replace(D, '/tmp'))
def put(name, data, mode='w', **kw):
    with open(D + name, mode, **kw) as f:
        return f.write(data)
def get(name, mode='r', **kw):
    with open(D + name, mode, **kw) as f:
        return f.read()
attempt(lambda: open(D + '/absent'))
attempt(lambda: open(D + '/absent/a', 'w'))
attempt(lambda: put('/a', 'one\ntwo\nthr\u00e9e'))
attempt(lambda: get('/a'))
attempt(lambda: get('/a', 'rb'))
attempt(lambda: get('/./b/../a', 'rb') if False else 0)
attempt(lambda: put('/a', 'x', 'x'))
attempt(lambda: put('/a', '+more', 'a'))
attempt(lambda: get('/a'))
attempt(lambda: put('/b', b'\x00\xff\n\r\n', 'wb'))
attempt(lambda: get('/b'))
attempt(lambda: get('/b', 'rb'))
attempt(lambda: put('/c', b'a\r\nb\rc\n\xc3\xa9\n', 'xb'))
for newline in None, '', '\n', '\r', '\r\n':
    attempt(lambda: get('/c', newline=newline))
    attempt(lambda: open(D + '/c', newline=newline).readlines())
    attempt(lambda: list(open(D + '/c', newline=newline)))
    attempt(lambda: put('/d', 'a\nb\r\nc', newline=newline))
    attempt(lambda: get('/d', 'rb'))
for mode in 'rw', 'rt', 'q', '', 'b', 'rbt', 'r+w', 'rr', '+', 'r++':
    attempt(lambda: open(D + '/a', mode).close())
attempt(lambda: put('/a', b'bytes'))
attempt(lambda: put('/a', 'text', 'wb'))
attempt(lambda: put('/a', 1))
attempt(lambda: open(D + '/c', 'w').read())
attempt(lambda: open(D + '/c', 'wb').read())
attempt(lambda: open(D + '/c', 'r').write('x'))
attempt(lambda: open(D + '/c', 'rb').write(b'x'))
attempt(lambda: put('/c', 'hello world\nbye\n'))
f = open(D + '/c')
attempt(lambda: (f.read(3), f.tell(), f.readline(), f.readline(2), f.readline(), f.readline(), f.read()))
attempt(lambda: (f.seek(2), f.read(4), f.seek(0, 2), f.tell(), f.seek(0), f.tell()))
attempt(lambda: f.seek(1, 1))
attempt(lambda: f.seek(-1, 2))
attempt(lambda: f.seek(-1))
attempt(lambda: f.seek(0, 5))
attempt(lambda: (f.readlines(3), f.readlines(), f.closed, f.readable(), f.writable(), f.seekable(), f.mode, f.isatty()))
attempt(lambda: f.close())
attempt(lambda: f.close())
attempt(lambda: f.read())
attempt(lambda: f.closed)
attempt(lambda: f.__enter__())
f = open(D + '/c', 'r+')
attempt(lambda: (f.write('HE'), f.seek(0), f.read(), f.seek(3), f.truncate(), f.seek(0), f.read()))
attempt(lambda: (f.seek(6), f.write('z'), f.seek(0), f.read()))
f.close()
g = open(D + '/c', 'rb+')
attempt(lambda: (g.seek(-2, 2), g.read(), g.seek(1), g.seek(1, 1), g.read(1), g.truncate(4), g.tell(), g.mode))
attempt(lambda: (g.seek(0), g.read(), g.readline()))
attempt(lambda: g.seek(-9, 1))
g.close()
h = open(D + '/c', 'a+')
attempt(lambda: (h.tell(), h.read(), h.write('end'), h.seek(0), h.read()))
h.close()
with open(D + '/l', 'w') as f:
    f.writelines(['a\n', 'b\n', 'c'])
    attempt(lambda: f.writelines([1]))
with open(D + '/l') as f:
    for line in f:
        print(repr(line))
        attempt(lambda: f.tell())
    attempt(lambda: next(f))
attempt(lambda: open(D + '/l', encoding='latin-2x'))
attempt(lambda: open(D + '/l', 'rb', encoding='utf-8'))
attempt(lambda: open(D + '/l', newline='q'))
attempt(lambda: open(D + '/l', mode=1))
attempt(lambda: open(1.5))
attempt(lambda: open(D + '/l').fileno() if D == '/tmp' else unsupported())
`

func TestOpenAsCPython(t *testing.T) {
	dir := t.TempDir()
	pre := "import io\ndef unsupported(): raise io.UnsupportedOperation('fileno')\nD = " + "'" + filepath.ToSlash(dir) + "'\n"
	want := strings.TrimSpace(string(cpython.Run(t, pre+scratchScript, nil)))
	b := newBench(t)
	got := b.call("D = '/tmp'\n"+scratchScript, "", "None")
	g, w := strings.Split(strings.TrimSpace(got), "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		var l, r string
		if i < len(g) {
			l = g[i]
		}
		if i < len(w) {
			r = w[i]
		}
		if l != r {
			t.Errorf("line %d: %s, CPython %s", i+1, l, r)
		}
	}
}

func TestScratchLimits(t *testing.T) { // whitepaper §3.1
	for _, row := range []struct{ rule, src, want string }{
		{"outside", "open('/etc/passwd')", "DeterminismError: open() reaches files under /tmp only"},
		{"traversal", "open('/tmp/../etc/passwd', 'w')", "DeterminismError: open() reaches files under /tmp only"},
		{"relative", "open('a', 'w')", "DeterminismError: open() reaches files under /tmp only"},
		{"relative tmp", "open('tmp/a', 'w')", "DeterminismError: open() reaches files under /tmp only"},
		{"prefix", "open('/tmpx', 'w')", "DeterminismError: open() reaches files under /tmp only"},
		{"number", "open(0)", "DeterminismError: open() reaches files under /tmp only"},
		{"the folder", "open('/tmp')", "IsADirectoryError: [Errno 21] Is a directory: '/tmp'"},
		{"dots that stay", "open('/tmp/b/../c', 'w').write('x')", ""},
		{"full", "open('/tmp/a', 'wb').write(bytes(256 * 1024))", ""},
		{"too full", "open('/tmp/a', 'wb').write(bytes(256 * 1024 + 1))", "OSError: [Errno 28] No space left on device"},
		{"two files", "open('/tmp/a', 'wb').write(bytes(200_000)); open('/tmp/b', 'wb').write(bytes(100_000))", "OSError: [Errno 28] No space left on device"},
		{"room again", "open('/tmp/a', 'wb').write(bytes(200_000)); open('/tmp/a', 'w'); open('/tmp/b', 'wb').write(bytes(100_000))", ""},
		{"hole", "f = open('/tmp/a', 'wb'); f.seek(1 << 30); f.write(b'x')", "OSError: [Errno 28] No space left on device"},
		{"too many", "for i in range(1025): open(f'/tmp/{i}', 'w')", "OSError: [Errno 28] No space left on device: '/tmp/1024'"},
	} {
		b := newBench(t)
		if got := b.call(row.src, "", "None"); got != row.want {
			t.Errorf("%s: %q, want %q", row.rule, got, row.want)
		}
	}
	b := newBench(t)
	b.call("open('/tmp/a', 'wb').write(bytes(1000)); open('/tmp/a', 'w').write('x')", "", "None")
	if n := b.session.ScratchPeak(); n != 1000 {
		t.Errorf("the most that lay in /tmp was %d bytes, want 1000", n)
	}
	if got := b.call("open('/tmp/a')", "", "None"); got != "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/a'" {
		t.Errorf("a file outlives its call: %q", got)
	}
	if _, err := os.Stat("/tmp/1024"); err == nil {
		t.Error("the host's /tmp was written")
	}
}

// TestShortenedFilesKeepTheirRoom: a byte more than before is no copy of all the others,
// nor does a file that was long hold what it was.
func TestShortenedFilesKeepTheirRoom(t *testing.T) {
	m := newRuntime(t).NewMachine()
	_, err := m.Do(10_000_000, func(m *vm.Machine) (vm.Value, error) {
		files := newScratch(DefaultLimits())
		f, err := files.fileAt(m, "/tmp/a", true, false)
		if err != nil {
			return vm.None, err
		}
		resize := func(n int) {
			t.Helper()
			if err := files.resize(m, f, n); err != nil {
				t.Fatal(err)
			}
		}
		resize(200_000)
		if n := testing.AllocsPerRun(100, func() {
			resize(150_000)
			f.data[149_999] = 1
			resize(149_999)
			resize(150_001)
			if f.data[149_999] != 0 {
				t.Fatal("what was cut off came back")
			}
		}); n > 0 {
			t.Errorf("%v allocations for a byte that comes and goes", n)
		}
		resize(10)
		if cap(f.data) > 100 {
			t.Errorf("10 bytes hold room for %d", cap(f.data))
		}
		return vm.None, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
