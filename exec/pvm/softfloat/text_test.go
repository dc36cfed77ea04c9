package softfloat_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	. "github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// hostRepr is repr(float) from Go's shortest digits.
func hostRepr(f float64) string {
	switch {
	case f != f:
		return "nan"
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	e, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	if e < -4 || e >= 16 {
		return s
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func TestReprAndParse(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 7))
	check := func(a uint64) {
		f := math.Float64frombits(a)
		text := Repr(a)
		if want := hostRepr(f); text != want {
			t.Fatalf("seed %d: repr(%#x) = %s, want %s", *seed, a, text, want)
		}
		back, ok := Parse(text)
		if !ok || back != canonical(f) {
			t.Fatalf("seed %d: %s reads back as %#x, was %#x", *seed, text, back, a)
		}
	}
	for range *pairs {
		check(operand(r, One))
	}
	for exp := range uint64(2047) { // the first and last of each binade
		for _, frac := range []uint64{0, 1, 1<<52 - 1} {
			check(exp<<52 | frac)
		}
	}
}

func TestFormatEqualsGo(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 8))
	for range *pairs / 2 {
		a := operand(r, One)
		if r.IntN(2) == 0 { // ordinary magnitudes
			a = a&^(0x7ff<<52) | uint64(1023-60+r.IntN(120))<<52
		}
		prec := r.IntN(24)
		if r.IntN(20) == 0 {
			prec = r.IntN(400)
		}
		if !IsFinite(a) {
			continue
		}
		f := math.Float64frombits(a)
		for _, verb := range []byte{'e', 'f', 'E'} {
			got := string(AppendText(nil, a, Style{Verb: verb, Prec: prec}))
			if want := strconv.FormatFloat(f, verb, prec, 64); got != want {
				t.Fatalf("seed %d: %%.%d%c of %#x = %s, want %s", *seed, prec, verb, a, got, want)
			}
		}
		got := string(AppendText(nil, a, Style{Verb: 'g', Prec: prec}))
		if want := fmt.Sprintf("%.*g", prec, f); got != want {
			t.Fatalf("seed %d: %%.%dg of %#x = %s, want %s", *seed, prec, a, got, want)
		}
		alt := string(AppendText(nil, a, Style{Verb: 'g', Prec: prec + 1, Alt: true}))
		if want := fmt.Sprintf("%#.*g", prec+1, f); alt != want {
			t.Fatalf("seed %d: %%#.%dg of %#x = %s, want %s", *seed, prec+1, a, alt, want)
		}
		n := prec - 6
		if y, ok := RoundTo(a, n); ok && n >= 0 {
			if want, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64); y != math.Float64bits(want) {
				t.Fatalf("seed %d: round(%v, %d) = %#x, want %v", *seed, f, n, y, want)
			}
		}
	}
}

func TestParseEqualsGo(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 9))
	for i := range *pairs {
		text := randomDecimal(r, i)
		want, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(want, 0) {
			t.Fatal(err)
		}
		if got, ok := Parse(text); !ok || got != math.Float64bits(want) {
			t.Fatalf("seed %d: %s = %#x, %v, want %#x", *seed, text, got, ok, math.Float64bits(want))
		}
	}
}

// randomDecimal writes random digits, or a midpoint between two values, which
// needs every digit, sometimes moved by the last.
func randomDecimal(r *rand.Rand, i int) string {
	if i%10 == 0 {
		a := operand(r, One) & (1<<63 - 1)
		if a >= Max {
			a = One
		}
		lo := new(big.Float).SetPrec(2000).SetFloat64(math.Float64frombits(a))
		hi := new(big.Float).SetPrec(2000).SetFloat64(math.Float64frombits(a + 1))
		mid := lo.Mul(lo.Add(lo, hi), big.NewFloat(0.5))
		text := mid.Text('e', 780)
		if i%20 == 0 {
			at := strings.IndexByte(text, 'e')
			text = text[:at] + strings.Repeat("0", r.IntN(40)) + strconv.Itoa(r.IntN(2)) + text[at:]
		}
		return text
	}
	var digits []byte
	for range 1 + r.IntN(30) {
		digits = append(digits, byte('0'+r.IntN(10)))
	}
	at := r.IntN(len(digits) + 1)
	text := string(digits[:at]) + "." + string(digits[at:])
	return text + "e" + strconv.Itoa(r.IntN(700)-350)
}

func TestParseForms(t *testing.T) {
	cases := []struct {
		text string
		want string // repr, empty for refused
	}{
		{"1", "1.0"},
		{" 1_000.5 ", "1000.5"},
		{"\t-.5e-3\n", "-0.0005"},
		{"1.", "1.0"},
		{"1.e2", "100.0"},
		{"+Infinity", "inf"},
		{"-inf", "-inf"},
		{"NaN", "nan"},
		{"-nan", "nan"},
		{"0x10", ""},
		{"", ""},
		{" ", ""},
		{"1__0", ""},
		{"_1", ""},
		{"1_", ""},
		{"1_.0", ""},
		{"1._0", ""},
		{"1e_5", ""},
		{"1e5_", ""},
		{"1_e5", ""},
		{"1e1_0", "10000000000.0"},
		{"1e", ""},
		{"e5", ""},
		{".", ""},
		{"1..2", ""},
		{"+-1", ""},
		{"1 2", ""},
		{"infinit", ""},
		{"nan1", ""},
		{"1e99999999999999999999", "inf"},
		{"-1e-99999999999999999999", "-0.0"},
		{"0e99999999999999999999", "0.0"},
		{"0." + strings.Repeat("0", 400) + "1e401", "1.0"},
		{"1" + strings.Repeat("0", 400) + "e-400", "1.0"},
		{"\x1c1", ""},
	}
	for _, c := range cases {
		x, ok := Parse(c.text)
		if ok != (c.want != "") || ok && Repr(x) != c.want {
			t.Errorf("float(%q) = %s, %v, want %q", c.text, Repr(x), ok, c.want)
		}
	}
}

// TestParseVectors reads the public files of hard decimals.
func TestParseVectors(t *testing.T) {
	files := []string{"freetype-2-7", "google-wuffs", "lemire-fast-float", "more-test-cases", "tencent-rapidjson"}
	for _, name := range files {
		for n, line := range strings.Split(string(vectors.Read(t, "float/parse_f64/"+name+".txt")), "\n") {
			fields := strings.Fields(line)
			if len(fields) != 4 {
				continue
			}
			want32, _ := strconv.ParseUint(fields[1], 16, 32)
			want, err := strconv.ParseUint(fields[2], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := Parse(fields[3])
			if !ok || got != want {
				t.Fatalf("%s:%d: %s = %#x, want %#x", name, n+1, fields[3], got, want)
			}
			// Rounding twice may differ from rounding once by one unit.
			if enc, _ := ToBinary32(got); uint64(enc)-want32+1 > 2 {
				t.Fatalf("%s:%d: %s as binary32 = %#x, want %#x", name, n+1, fields[3], enc, want32)
			}
		}
	}
}

// TestPythonVectors runs CPython's format and repr cases.
func TestPythonVectors(t *testing.T) {
	cases := 0
	for _, line := range strings.Split(string(vectors.Read(t, "float/cpython/formatfloat_testcases.txt")), "\n") {
		line, _, _ = strings.Cut(line, "--")
		left, want, ok := strings.Cut(line, "->")
		if !ok {
			continue
		}
		spec, arg, _ := strings.Cut(strings.TrimSpace(left), " ")
		want = strings.TrimSpace(want)
		x, ok := Parse(arg)
		if !ok {
			t.Fatalf("%q", line)
		}
		var got string
		if spec == "%r" {
			got = Repr(x)
		} else {
			style := Style{Verb: spec[len(spec)-1], Prec: 6, Alt: strings.Contains(spec, "#")}
			if _, p, ok := strings.Cut(spec[:len(spec)-1], "."); ok {
				style.Prec, _ = strconv.Atoi(p)
			}
			got = string(AppendText(nil, x, style))
		}
		if got != want {
			t.Errorf("%s of %s = %s, want %s", spec, arg, got, want)
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
		if got, ok := Parse(text); !ok || got != math.Float64bits(want) {
			t.Errorf("%s = %#x, want %v", text, got, want)
		}
		hard++
	}
	if hard < 300 {
		t.Errorf("%d hard decimals", hard)
	}
}

func TestReprRules(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"1e16", "1e+16"},
		{"9999999999999998", "9999999999999998.0"},
		{"1e-5", "1e-05"},
		{"0.0001", "0.0001"},
		{"123456789012345680", "1.2345678901234568e+17"},
		{"5e-324", "5e-324"},
		{"-0.0", "-0.0"},
		{"1e22", "1e+22"},
		{"2e100", "2e+100"},
		{"1.7976931348623157e308", "1.7976931348623157e+308"},
		{"2.2250738585072014e-308", "2.2250738585072014e-308"},
	} {
		x, _ := Parse(c.text)
		if got := Repr(x); got != c.want {
			t.Errorf("repr(%s) = %s, want %s", c.text, got, c.want)
		}
	}
	x, _ := Parse("-0.04")
	if got := string(AppendText(nil, x, Style{Verb: 'f', Prec: 1, NoNegZero: true})); got != "0.0" {
		t.Errorf("z: %s", got)
	}
	x, _ = Parse("1234.5")
	if got := string(AppendText(nil, x, Style{Verb: 'g', Prec: 4, Dot0: true})); got != "1.234e+03" {
		t.Errorf("format(1234.5, '.4') = %s", got)
	}
}

func TestHex(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 10))
	for range 20_000 {
		a := operand(r, One)
		back, err := ParseHex(Hex(a))
		if IsNaN(a) {
			a = NaN
		}
		if err != HexOK || back != a {
			t.Fatalf("%#x is %s and reads back as %#x", a, Hex(a), back)
		}
	}
	for _, c := range []struct {
		text string
		want uint64
		err  HexError
	}{
		{"0x1.8p+1", 0x4008000000000000, HexOK},
		{" -0X.8p1 ", One | 1<<63, HexOK},
		{"1", One, HexOK},
		{"0x", 0, HexInvalid},
		{"0x1p", 0, HexInvalid},
		{"0x1p1_0", 0, HexInvalid},
		{"0x1p1024", 0, HexOverflow},
		{"0x1.fffffffffffff8p1023", 0, HexOverflow},
		{"0x1.fffffffffffff7fffp1023", Max, HexOK},
		{"0x1p-1075", 0, HexOK},
		{"0x1.0000000001p-1075", 1, HexOK},
		{"-inf", NegInf, HexOK},
		{"0x0p99999999999999", 0, HexOK},
		{"0x1.00000000000008p0", One, HexOK},
		{"0x1.00000000000018p0", One + 2, HexOK},
	} {
		if got, err := ParseHex(c.text); got != c.want || err != c.err {
			t.Errorf("fromhex(%q) = %#x, %d, want %#x, %d", c.text, got, err, c.want, c.err)
		}
	}
}

// FuzzParse: no text panics, and what is read is written and read again equal;
// where Go reads the text too, it reads the same.
func FuzzParse(tf *testing.F) {
	f := soak.New(tf, strings.Fields("1 0 . e E + - _ 0x p inf nan 1e308 4.9e-324 9007199254740993 17976931348623157")...)
	for _, s := range []string{"1.5", "1e400", "1_0", "0x1p3", "nan", "-.0e-0", "9007199254740993"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ParseHex(text)
		x, ok := Parse(text)
		if !ok {
			return
		}
		f.Past()
		if back, ok := Parse(Repr(x)); !ok || back != x {
			t.Fatalf("%q: %#x reads back as %#x", text, x, back)
		}
		plain := strings.ReplaceAll(text, "_", "")
		if want, err := strconv.ParseFloat(plain, 64); err == nil && !strings.ContainsAny(plain, "xXpP") && x != canonical(want) {
			t.Fatalf("%q = %#x, want %#x", text, x, math.Float64bits(want))
		}
	})
}

// FuzzArithmetic holds every operation to the processor's.
func FuzzArithmetic(tf *testing.F) {
	f := soak.New(tf)
	f.Add(One, One, Half)
	f.Add(uint64(1), Max, NaN)
	f.Fuzz(func(t *testing.T, a, b, c uint64) {
		x, y, z := math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)
		for _, r := range []struct {
			name      string
			got, want uint64
		}{
			{"add", Add(a, b), canonical(x + y)},
			{"sub", Sub(a, b), canonical(x - y)},
			{"mul", Mul(a, b), canonical(x * y)},
			{"div", Div(a, b), canonical(x / y)},
			{"fma", FMA(a, b, c), canonical(math.FMA(x, y, z))},
			{"sqrt", Sqrt(a), canonical(math.Sqrt(x))},
			{"rem", Rem(a, b), canonical(math.Mod(x, y))},
		} {
			if r.got != r.want {
				t.Errorf("%s(%#x, %#x, %#x) = %#x, want %#x", r.name, a, b, c, r.got, r.want)
			}
		}
	})
}

// TestRoundToFarPlaces: what is answered without a look at the digits is what they say,
// of small and large values and of those without an exponent.
func TestRoundToFarPlaces(t *testing.T) {
	g := rand.New(rand.NewPCG(*seed, 11))
	for range 20_000 {
		f := math.Float64frombits(g.Uint64() &^ (1 << 63) % math.Float64bits(math.Inf(1)))
		if g.IntN(3) == 0 {
			f = math.Float64frombits(g.Uint64() & (1<<uint(1+g.IntN(53)) - 1))
		}
		if f == 0 {
			continue
		}
		n := min(max(18-int(math.Log10(f))+g.IntN(9)-6, 0), 323) // about the last place that matters
		y, _ := RoundTo(math.Float64bits(f), n)
		if want, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64); y != math.Float64bits(want) {
			t.Fatalf("round(%v, %d) = %v, want %v", f, n, math.Float64frombits(y), want)
		}
	}
}
