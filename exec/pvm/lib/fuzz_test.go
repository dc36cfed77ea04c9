package lib_test

import (
	"os"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// calls hands texts to a function check of the program src, with so many cycles.
func calls(tb testing.TB, src string) func(t *testing.T, args func(m *vm.Machine) []vm.Value) {
	o, err := compile.Source([]byte(src), "check", compile.DefaultLimits())
	if err != nil {
		tb.Fatal(err)
	}
	m := runtimeOf(tb).NewMachine()
	return func(t *testing.T, args func(m *vm.Machine) []vm.Value) {
		m.Reset()
		res, err := m.Do(2_000_000, func(m *vm.Machine) (vm.Value, error) {
			if _, err := m.LoadModule("__main__", o); err != nil {
				return vm.None, err
			}
			fn, _ := m.Global("__main__", "check")
			return m.Call(fn, args(m)...)
		})
		if abort, ok := err.(*vm.Abort); err != nil && (!ok || abort.Code == vm.Internal) {
			t.Fatal(err)
		}
		if res.Raised != nil {
			t.Fatal(res.Traceback)
		}
	}
}

// readable is text as a program can hold it: whole characters.
func readable(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// FuzzJSON: what is read is written and read again equal, and only the errors
// that json has come out.
func FuzzJSON(tf *testing.F) {
	f := soak.New(tf, strings.Fields(`{ } [ ] , : " \" \\ \n \u0041 \ud83d\ude00 \ud800 null true false NaN Infinity -Infinity 0 -0 1e5 1.5E-7 -1 12345678901234567890 1e400 "a" "a":1 {"a":{}} [[]] é 😀`)...)
	for _, s := range []string{`{"a":{"b":[1,2.5,{"c":null}]},"d":"x\ny\"\\\/\b"}`, ` [ true , false, -0.0, 1e-7 ] `, `"\ud83d\ude00 \u00e9"`, `[NaN,-Infinity]`, `{"a":1,"a":2}`, strings.Repeat("[", 300)} {
		f.Add(s)
	}
	check := calls(f, `
import json
def check(text):
    try:
        v = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as e:
        str(e)
        return
    try:
        s = json.dumps(v)
    except ValueError:
        return
    w = json.loads(s)
    assert repr(v) == repr(w) or sorted(repr(v)) == sorted(repr(w)), (v, w)
    assert json.dumps(w) == s
`)
	f.Fuzz(func(t *testing.T, text string) {
		check(t, func(m *vm.Machine) []vm.Value { return []vm.Value{m.NewStr(readable(text))} })
	})
}

// FuzzStruct: what a format unpacks it packs to the same bytes, but for padding
// and the encodings of NaN.
func FuzzStruct(tf *testing.F) {
	f := soak.New(tf, strings.Fields("@ = < > ! x c b B ? h H i I l L q Q n N e f d s p P 0 1 3s 10p 99999999999999999999 4x 100000d 0q")...)
	f.Add("<hIq3s", []byte("0123456789abcdefg"))
	f.Add("@b?x2d5p", []byte("\x01\x00\x02\xff\xff\xff\xff\xff\xff\xf0\x7f0123456789012345678"))
	f.Add(">efd", []byte("\x7c\x01\x3c\x00\x00\x00\x40\x09\x21\xfb\x54\x44\x2d\x18"))
	check := calls(f, `
import struct
def check(form, data):
    try:
        n = struct.calcsize(form)
        s = struct.Struct(form)
        assert s.size == n
        v = struct.unpack_from(form, data)
    except (struct.error, ValueError) as e: # ValueError: a format that is not ASCII
        str(e)
        return
    assert len(data) >= n
    again = s.pack(*v)
    assert len(again) == n
    if all(x == x for x in v):
        assert s.unpack(again) == v, (v, again)
    into = bytearray(n + 3)
    s.pack_into(into, 3, *v)
    assert into[3:] == again
    if 0 < n:
        for w in s.iter_unpack(data[:n] * 2):
            assert len(w) == len(v)
`)
	f.Fuzz(func(t *testing.T, form string, data []byte) {
		check(t, func(m *vm.Machine) []vm.Value {
			return []vm.Value{m.NewStr(readable(form)), m.NewBytes(string(data))}
		})
	})
}

// FuzzRe: the functions of re agree with each other, and raise what they may.
func FuzzRe(tf *testing.F) {
	f := soak.New(tf, strings.Fields(`( ) [ ] [^ { } * + ? *? ++ {2,3} | ^ $ . \\ \b \d \w \s \1 \g<a> \g<0> (?: (?= (?! (?<= (?<! (?> (?P<a> (?P=a) (?(1) (?i) (?x) (?s) a-z é a b ab`)...)
	f.Add(`(a|b)*?c\1`, "abcabc é", `<\1>`)
	f.Add(`(?P<a>\w+) (\d*)`, "word 12 é", `\g<a>-\2`)
	f.Add(`\s*[,;]\s*`, "a , b;c", `\n`)
	check := calls(f, `
import re
def check(pattern, text, repl):
    try:
        p = re.compile(pattern)
    except (re.error, OverflowError, RecursionError, MemoryError) as e: # MemoryError: nested too deeply
        str(e)
        return
    found = [m for m in p.finditer(text)]
    all = p.findall(text)
    assert len(found) == len(all)
    for m, groups in zip(found, all):
        assert text[m.start():m.end()] == m.group()
        assert p.groups > 1 or (m.group(p.groups) or '') == groups
        m.groups(), m.groupdict(), m.regs, m.lastindex, m.lastgroup, repr(m)
    first = p.search(text)
    assert (first is None) == (not found) and (first is None or first.span() == found[0].span())
    parts = p.split(text)
    assert len(parts) == 1 + len(found) * (1 + p.groups)
    try:
        out, n = p.subn(repl, text)
        assert n == len(found)
        for m in found: m.expand(repl)
    except (re.error, IndexError) as e:
        str(e)
    assert p.sub(lambda m: m.group(), text) == text
    assert re.fullmatch(re.escape(text), text)
`)
	f.Fuzz(func(t *testing.T, pattern, text, repl string) {
		check(t, func(m *vm.Machine) []vm.Value {
			return []vm.Value{m.NewStr(readable(pattern)), m.NewStr(readable(text)), m.NewStr(readable(repl))}
		})
	})
}

// FuzzText: formats, numbers and methods of str, bytes and int, that a program
// reaches with any text.
func FuzzText(tf *testing.F) {
	f := soak.New(tf, strings.Fields("{ } {0} {a!r:>{b}} {0[1]} {0.real} %s %5d %(a)s %.3e > < ^ = + - # 0 , _ b c d o x e f g n 12 3.5 1_000 0x1f inf nan é ß ǆ İ 日本 😀 utf-8 ascii latin-1 strict ignore replace backslashreplace xmlcharrefreplace")...)
	f.Add("{0!r:>{1}}", "*^+#12,.3f", int64(5))
	f.Add("%-5s|%+08.2f", "1_0.5e-3", int64(-12345))
	f.Add("ǆ İß\r\n\tx", "0x_1f", int64(1)<<62)
	check := calls(f, `
from decimal import Decimal, InvalidOperation
expected = (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, LookupError, MemoryError, ZeroDivisionError, RecursionError, InvalidOperation)
def attempt(f, *a, **k):
    try:
        return f(*a, **k)
    except expected as e:
        return str(e)
def check(a, b, n):
    for x in (n, n / 7, a, Decimal(n), True, [n], n ** 5):
        attempt(format, x, b)
        attempt(lambda: a % x)
        attempt(lambda: a.encode() % x)
    attempt(lambda: a % (n, n / 3, b))
    attempt(lambda: a % {'a': n, b: a})
    attempt(a.format, n, b, a=n / 3, b=[b])
    attempt(a.format_map, {'a': n})
    for base in (0, 10, 36, n % 40):
        attempt(int, a, base)
    attempt(float, a); attempt(Decimal, a); attempt(float.fromhex, b); attempt(bytes.fromhex, b)
    for name in ('upper', 'lower', 'title', 'casefold', 'swapcase', 'capitalize', 'split', 'rsplit', 'splitlines', 'strip', 'isidentifier', 'isnumeric', 'istitle', 'isprintable', 'encode', 'expandtabs'):
        r = attempt(getattr(a, name))
        attempt(getattr(a.encode(), name, repr))
    for name in ('find', 'rfind', 'count', 'index', 'split', 'rsplit', 'partition', 'rpartition', 'startswith', 'removeprefix', 'removesuffix', 'strip', 'lstrip', 'join', '__contains__', '__lt__', '__add__'):
        attempt(getattr(a, name), b)
        attempt(getattr(a.encode(), name), b.encode())
    attempt(a.replace, b, a, n % 5); attempt(a.split, b, n % 5); attempt(a.translate, {ord(c): b for c in b[:9]})
    attempt(a.center, n % 300, b[:1]); attempt(a.zfill, n % 300); attempt(a.encode, b, a); attempt(a.encode().decode, b, a)
    attempt(a.encode, 'ascii', b); attempt(a.encode().decode, 'ascii', 'backslashreplace')
    i, j, k = n % 17 - 8, n // 17 % 17 - 8, n // 289 % 9 - 4
    attempt(lambda: a[i:j:k]); attempt(lambda: a.encode()[i:j:k]); attempt(lambda: a[i])
    attempt(round, n / 7, i); attempt(round, n, i); attempt(n.to_bytes, abs(i), 'big', signed=True); attempt(pow, n, n % 999, j)
    assert a.encode().decode() == a
    assert int(str(n)) == n and float(repr(n / 7)) == n / 7 and int(hex(n), 16) == n
`)
	f.Fuzz(func(t *testing.T, a, b string, n int64) {
		check(t, func(m *vm.Machine) []vm.Value {
			return []vm.Value{m.NewStr(readable(a)), m.NewStr(readable(b)), vm.SmallInt(n)}
		})
	})
}

// FuzzScript runs the scripts of testdata, changed, with the library.
func FuzzScript(tf *testing.F) {
	f := soak.New(tf, soak.Python()...)
	f.Add("import json\nprint(json.dumps([1]))\n")
	if f.Soaking() {
		f.AddSources("testdata")
		f.AddSources("python")
	}
	rt := runtimeOf(f)
	m := rt.NewMachine()
	head, err := os.ReadFile("testdata/mixed.py")
	if err != nil {
		f.Fatal(err)
	}
	imports := ""
	for _, line := range strings.Split(string(head), "\n") {
		if strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "from ") {
			imports += line + "\n"
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		o, err := compile.Source([]byte(imports+src), "s", compile.DefaultLimits())
		if err != nil {
			return
		}
		f.Past()
		m.Reset()
		_, err = m.Execute(o, 1<<18)
		if abort, ok := err.(*vm.Abort); err != nil && (!ok || abort.Code == vm.Internal) {
			t.Fatal(err)
		}
	})
}
