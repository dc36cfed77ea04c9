package format

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// TestVectors runs CPython's cases of % with floats, as format() too where that
// has the same meaning.
func TestVectors(t *testing.T) {
	cases := 0
	for _, line := range strings.Split(string(vectors.Read(t, "float/cpython/formatfloat_testcases.txt")), "\n") {
		line, _, _ = strings.Cut(line, "--")
		left, want, ok := strings.Cut(line, "->")
		if !ok {
			continue
		}
		spec, arg, _ := strings.Cut(strings.TrimSpace(left), " ")
		want = strings.TrimSpace(want)
		x, err := floatOf(arg)
		if err != nil {
			t.Fatal(err)
		}
		got, err := AppendPercent(nil, spec, &tuple{args: []operand{floatOperand(x)}, at: -1})
		if err != nil || string(got) != want {
			t.Errorf("%s of %s = %s, %v, want %s", spec, arg, got, err, want)
		}
		if spec != "%r" {
			got, err := formatOne(spec[1:], floatOperand(x), "")
			if err != nil || string(got) != want {
				t.Errorf("format of %s by %s = %s, %v, want %s", arg, spec[1:], got, err, want)
			}
		}
		cases++
	}
	if cases < 100 {
		t.Errorf("%d cases", cases)
	}
	hard := 0
	for _, text := range strings.Fields(string(vectors.Read(t, "float/cpython/floating_points.txt"))) {
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		x, err := floatOf(text)
		if err != nil || x != math.Float64bits(want) {
			t.Errorf("%s = %#x, %v, want %v", text, x, err, want)
		}
		hard++
	}
	if hard < 300 {
		t.Errorf("%d hard decimals", hard)
	}
}

// TestPublicDecimals reads the public files of hard decimals.
func TestPublicDecimals(t *testing.T) {
	read := 0
	for _, name := range []string{"freetype-2-7", "google-wuffs", "lemire-fast-float", "more-test-cases", "tencent-rapidjson"} {
		for n, line := range strings.Split(string(vectors.Read(t, "float/parse_f64/"+name+".txt")), "\n") {
			fields := strings.Fields(line)
			if len(fields) != 4 {
				continue
			}
			want, err := strconv.ParseUint(fields[2], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := floatOf(fields[3]); err != nil || got != want {
				t.Fatalf("%s:%d: %s = %#x, %v, want %#x", name, n+1, fields[3], got, err, want)
			}
			read++
		}
	}
	if read < 1000 {
		t.Errorf("%d decimals", read)
	}
}

// TestPath walks the steps of a field's name.
func TestPath(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"0.a.b", "0 .a .b"},
		{"x[1][k].y", "x [1] [k] .y"},
		{"0[-1]", "0 [-1]"},
		{"[0]", "0 [0]"},
		{".a", "0 .a"},
		{"0[\u0663]", "0 [3]"},
		{"0[01]", "0 [1]"},
		{"a.b]", "a .b]"},
		{"0.", "0 ValueError: Empty attribute in format string"},
		{"0[]", "0 ValueError: Empty attribute in format string"},
		{"0..a", "0 ValueError: Empty attribute in format string"},
		{"0[a", "0 ValueError: Missing ']' in format string"},
		{"0[a]b", "0 [a] ValueError: Only '.' or '[' may follow ']' in format field specifier"},
		{"0[99999999999999999999]", "0 ValueError: Too many decimal digits in format string"},
	} {
		var n Numbering
		index, key, path, err := n.Split(c.name)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{key}
		if index >= 0 {
			got[0] = strconv.FormatInt(index, 10)
		}
		for {
			s, more, err := path.Next()
			if err != nil {
				got = append(got, err.Error())
			}
			if err != nil || !more {
				break
			}
			name := s.Name
			if s.Index >= 0 {
				name = strconv.FormatInt(s.Index, 10)
			}
			if s.Attribute {
				got = append(got, "."+name)
			} else {
				got = append(got, "["+name+"]")
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestTooLarge: what passes MaxSize is refused before it is built, and what is
// under it is reserved first.
func TestTooLarge(t *testing.T) {
	for _, c := range []request{
		ask("format", "9223372036854775807", intOperand(big.NewInt(1))),
		ask("format", "9223372036854775807", floatOperand(0)),
		ask("format", "9223372036854775807", textOperand("x")),
		ask("format", "\u4e2d<67108864", textOperand("x")),
		ask("format", ".2147483647f", floatOperand(0)),
		ask("format", "09223372036854775807,", intOperand(big.NewInt(1))),
		ask("format", "x", intOperand(new(big.Int).Lsh(big.NewInt(1), 4*MaxSize))),
		ask("percent", "%9223372036854775807d", intOperand(big.NewInt(1))),
		ask("percent", "%67108865s", textOperand("")),
		ask("percent", "%.2147483640d", intOperand(big.NewInt(1))),
		ask("percent", "%.2147483647f", floatOperand(0)),
		ask("percent", "%*d", intOperand(big.NewInt(-1<<63)), intOperand(big.NewInt(1))),
		ask("percent", "%40000000d%40000000d", intOperand(big.NewInt(1)), intOperand(big.NewInt(1))),
	} {
		if got := c.answer(); got != "MemoryError: " {
			t.Errorf("%v: %.80s", c, got)
		}
	}
	refusal := errors.New("out of cycles")
	if out, err := AppendPercent([]byte("x"), "%1000d", &strict{tuple{args: []operand{intOperand(big.NewInt(1))}, at: -1}, refusal}); !errors.Is(err, refusal) || string(out) != "x" {
		t.Errorf("%s, %v", out, err)
	}
}

// strict is a tuple that refuses to reserve.
type strict struct {
	tuple
	err error
}

func (s *strict) Reserve(int64) error { return s.err }

// TestSurrogate: the machine's texts have none, so that c refuses them.
func TestSurrogate(t *testing.T) {
	if got := ask("format", "c", intOperand(big.NewInt(0xD800))).answer(); got != "OverflowError: %c arg not in range(0x110000)" {
		t.Error(got)
	}
}

func FuzzFormat(tf *testing.F) {
	f := soak.New(tf, strings.Fields("{ } {{ }} {0} {a} !r !s !a : > < ^ = + - # 0 , _ . b c d o x X e E f F g G n s % %% %(a)s * 3 12 1e5 0x 0b nan inf é \u0663")...)
	for _, spec := range []string{"", "*^+#012,.3f", "010_x", "{0.a[b]!r:>{1}}", "%(a)-+ #0*.*ld%%", "0x_1f", "1_0.5e-3", "\u0663", "\xff"} {
		f.Add(spec, int64(5), uint64(0x3ff8000000000000))
	}
	wide := regexp.MustCompile(`\p{Nd}{5}`)
	f.Fuzz(func(t *testing.T, spec string, n int64, x uint64) {
		if wide.MatchString(spec) {
			return // a width that takes long to fill
		}
		args := []operand{intOperand(big.NewInt(n)), floatOperand(x), textOperand("x\u4e2d")}
		for _, o := range args {
			if out, err := formatOne(spec, o, ""); err == nil && utf8.ValidString(spec) && !utf8.Valid(out) {
				t.Errorf("%q of %v: %q", spec, o, out)
			} else if err != nil && !errors.As(err, new(*Error)) {
				t.Error(err)
			}
		}
		for _, values := range []*tuple{{args: args, at: -1}, {args: args, at: -1, mapping: true}} {
			out, err := AppendPercent(nil, spec, values)
			if err == nil && int64(len(out)) > values.reserved {
				t.Errorf("%q: %d bytes, %d reserved", spec, len(out), values.reserved)
			}
		}
		if out, err := AppendPercentBytes(nil, spec, &tuple{args: args, at: -1, bytes: true}); err != nil && len(out) != 0 {
			t.Errorf("%q: %q beside an error", spec, out)
		}
		var numbering Numbering
		if out, err := build(spec, args, &numbering, MaxNesting); err == nil && utf8.ValidString(spec) && !utf8.Valid(out) {
			t.Errorf("%q: %q", spec, out)
		}
		_, _, path, err := numbering.Split(spec)
		for more := err == nil; more; {
			_, more, err = path.Next()
			more = more && err == nil
		}
		if i, err := ParseInt(spec, n); err == nil && i.Big != nil && i.Big.IsInt64() {
			t.Errorf("%q: %v is not small", spec, i.Big)
		}
		if y, err := floatOf(spec); err == nil && !softfloat.IsNaN(y) {
			if back, err := floatOf(softfloat.Repr(y)); err != nil || back != y {
				t.Errorf("%q: %#x reads back as %#x", spec, y, back)
			}
		}
		for i, out := range [][]byte{AppendBytesRepr(nil, spec), AppendRepr(nil, spec), AppendASCII(nil, spec)} {
			if int64(len(out)) > QuoteBound(len(spec)) && (i == 0 || utf8.ValidString(spec)) {
				t.Errorf("%q: %q passes the bound", spec, out)
			}
		}
	})
}

func floatOf(text string) (uint64, error) {
	n, err := ScanFloat(text)
	return n.Value(), err
}

func floatOfBytes(text string) (uint64, error) {
	n, err := ScanFloatBytes(text)
	return n.Value(), err
}
