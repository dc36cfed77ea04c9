package decimal_test

import (
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	. "github.com/cowboy-foundation/cowboy/exec/pvm/decimal"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
)

type operation = func(c Context, x ...Decimal) (Decimal, Signal)

func unary(f func(Context, Decimal) (Decimal, Signal)) operation {
	return func(c Context, x ...Decimal) (Decimal, Signal) { return f(c, x[0]) }
}

func binary(f func(Context, Decimal, Decimal) (Decimal, Signal)) operation {
	return func(c Context, x ...Decimal) (Decimal, Signal) { return f(c, x[0], x[1]) }
}

func quiet(f func(Decimal, Decimal) int) operation {
	return func(_ Context, x ...Decimal) (Decimal, Signal) { return ofInt(f(x[0], x[1])), 0 }
}

func is(f func(Context, Decimal) bool) operation {
	return func(c Context, x ...Decimal) (Decimal, Signal) {
		if f(c, x[0]) {
			return ofInt(1), 0
		}
		return ofInt(0), 0
	}
}

func ofInt(i int) Decimal { return FromBig(big.NewInt(int64(i))) }

var operations = map[string]operation{
	"plus": unary(Context.Plus), "minus": unary(Context.Minus), "abs": unary(Context.Abs), "reduce": unary(Context.Reduce),
	"tointegral": unary(Context.ToIntegral), "tointegralx": unary(Context.ToIntegralExact), "squareroot": unary(Context.Sqrt),
	"exp": unary(Context.Exp), "ln": unary(Context.Ln), "log10": unary(Context.Log10), "logb": unary(Context.LogB),
	"nextplus": unary(Context.NextPlus), "nextminus": unary(Context.NextMinus), "invert": unary(Context.Invert),
	"apply": unary(Context.CreateDecimal),
	"add":   binary(Context.Add), "subtract": binary(Context.Sub), "multiply": binary(Context.Mul), "divide": binary(Context.Quo),
	"divideint": binary(Context.QuoInt), "remainder": binary(Context.Rem), "remaindernear": binary(Context.RemNear),
	"quantize": binary(Context.Quantize), "compare": binary(Context.Compare), "comparesig": binary(Context.CompareSignal),
	"max_mag": binary(Context.MaxMag), "min_mag": binary(Context.MinMag), "max": binary(Context.Max), "min": binary(Context.Min), "maxmag": binary(Context.MaxMag), "minmag": binary(Context.MinMag),
	"and": binary(Context.And), "or": binary(Context.Or), "xor": binary(Context.Xor), "shift": binary(Context.Shift), "rotate": binary(Context.Rotate),
	"scaleb": binary(Context.ScaleB), "nexttoward": binary(Context.NextToward),
	"comparetotal": quiet(CmpTotal), "comparetotmag": quiet(CmpTotalMag),
	"power": func(c Context, x ...Decimal) (Decimal, Signal) {
		if len(x) == 3 {
			return c.PowMod(x[0], x[1], x[2])
		}
		return c.Pow(x[0], x[1])
	},
	"iscanonical": is(func(_ Context, d Decimal) bool { return d.IsCanonical() }),
	"isfinite":    is(func(_ Context, d Decimal) bool { return d.IsFinite() }),
	"isinfinite":  is(func(_ Context, d Decimal) bool { return d.IsInf() }),
	"isnan":       is(func(_ Context, d Decimal) bool { return d.IsNaN() }),
	"isqnan":      is(func(_ Context, d Decimal) bool { return d.IsQNaN() }),
	"issnan":      is(func(_ Context, d Decimal) bool { return d.IsSNaN() }),
	"issigned":    is(func(_ Context, d Decimal) bool { return d.Signbit() }),
	"iszero":      is(func(_ Context, d Decimal) bool { return d.IsZero() }),
	"isnormal":    is(Context.IsNormal),
	"issubnormal": is(Context.IsSubnormal),
	"samequantum": func(_ Context, x ...Decimal) (Decimal, Signal) {
		if SameQuantum(x[0], x[1]) {
			return ofInt(1), 0
		}
		return ofInt(0), 0
	},
	"copy":       func(_ Context, x ...Decimal) (Decimal, Signal) { return x[0].Canonical(), 0 },
	"copyabs":    func(_ Context, x ...Decimal) (Decimal, Signal) { return x[0].CopyAbs(), 0 },
	"copynegate": func(_ Context, x ...Decimal) (Decimal, Signal) { return x[0].CopyNegate(), 0 },
	"copysign":   func(_ Context, x ...Decimal) (Decimal, Signal) { return x[0].CopySign(x[1]), 0 },
	"fma":        func(c Context, x ...Decimal) (Decimal, Signal) { return c.FMA(x[0], x[1], x[2]) },
}

var roundings = map[string]Rounding{
	"half_even": HalfEven, "half_up": HalfUp, "half_down": HalfDown, "up": Up, "down": Down, "ceiling": Ceiling, "floor": Floor, "05up": ZeroFiveUp,
}

var conditions = map[string]Signal{
	"invalid_operation": Invalid, "division_impossible": Invalid, "division_undefined": Invalid, "invalid_context": Invalid,
	"conversion_syntax": Invalid, "division_by_zero": DivisionByZero, "overflow": Overflow, "underflow": Underflow,
	"inexact": Inexact, "rounded": Rounded, "subnormal": Subnormal, "clamped": Clamped,
}

// restricted are cases about limits of the reference implementation, which the
// specification does not have: CPython's runner leaves out the same ones.
var restricted = strings.Fields(`scbx164 scbx165 expx901 expx902 expx903 expx905 lnx901 lnx902 lnx903 lnx905
	logx901 logx902 logx903 logx905 powx1183 powx1184 powx4001 powx4002 powx4003 powx4005 powx4008 powx4010 powx4012 powx4014`)

// report counts the cases of a run.
type report struct {
	ran, skipped map[string]int
	failed       int
}

// TestVectors runs the specification's decTest files.
func TestVectors(t *testing.T) { runFolder(t, vectors.Path(t, "decimal"), 16_500) }

// TestCPythonCases runs the files of CPython's own test package, where it has
// one: those of the fixed-size formats as well.
func TestCPythonCases(t *testing.T) {
	out := cpython.Run(t, "import os, test; print(os.path.join(os.path.dirname(test.__file__), 'decimaltestdata'))", nil)
	folder := strings.TrimSpace(string(out))
	if _, err := os.Stat(folder); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CPython's test package is required in CI:", err)
		}
		t.Skip("SKIPPED, this CPython has no test package:", err)
	}
	runFolder(t, folder, 50_000)
}

func runFolder(t *testing.T, folder string, least int) {
	files, err := filepath.Glob(filepath.Join(folder, "*.decTest"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	r := report{map[string]int{}, map[string]int{}, 0}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := DefaultContext()
		for _, line := range strings.Split(string(text), "\n") {
			line, _, _ = strings.Cut(line, " --")
			if strings.HasPrefix(line, "--") || directive(&c, strings.ToLower(line)) {
				continue
			}
			r.line(t, c, filepath.Base(file), line)
		}
	}
	total := 0
	for _, n := range r.ran {
		total += n
	}
	t.Logf("%d cases, %d failed: %v\nskipped: %v", total, r.failed, r.ran, r.skipped)
	if total < least {
		t.Errorf("only %d cases ran", total)
	}
}

func directive(c *Context, line string) bool {
	key, value, ok := strings.Cut(line, ":")
	if !ok || strings.Contains(line, "->") {
		return false
	}
	value = strings.TrimSpace(value)
	n, _ := strconv.ParseInt(value, 10, 64)
	switch strings.TrimSpace(key) {
	case "precision":
		c.Prec = int(n)
	case "maxexponent":
		c.Emax = n
	case "minexponent":
		c.Emin = n
	case "clamp":
		c.Clamp = n == 1
	case "rounding":
		c.Rounding = roundings[value]
	}
	return true
}

// line runs one case; it skips only for the reasons that it counts.
func (r *report) line(t *testing.T, c Context, file, line string) {
	left, right, found := strings.Cut(line, "->")
	in, out := strings.Fields(left), strings.Fields(right)
	if !found || len(in) < 3 || len(out) == 0 {
		return
	}
	name := strings.ToLower(in[1])
	if slices.Contains(restricted, in[0]) {
		r.skipped["a limit of the reference implementation"]++
		return
	}
	if strings.Contains(left, "#") || strings.Contains(right, "#") || out[0] == "?" {
		r.skipped["encodings of fixed-size formats"]++
		return
	}
	var want Signal
	for _, flag := range out[1:] {
		want |= conditions[strings.ToLower(flag)]
	}
	got, s, reason := r.evaluate(c, name, unquote(out[0]), in[2:])
	if reason != "" {
		r.skipped[reason]++
		return
	}
	r.ran[name]++
	if result := unquote(out[0]); got != result || s != want {
		if r.failed++; r.failed < 30 {
			t.Errorf("%s: %s: got %s %b, want %s %b (prec %d %d..%d)", file, line, got, s, result, want, c.Prec, c.Emin, c.Emax)
		}
	}
}

func unquote(text string) string { return strings.Trim(text, `'"`) }

func (r *report) evaluate(c Context, name, result string, operands []string) (got string, s Signal, skip string) {
	if strings.ContainsAny(strings.Join(operands, ""), "'\"") && strings.Count(strings.Join(operands, ""), "'")%2 != 0 {
		return "", 0, "quoted blanks"
	}
	var args []Decimal
	for _, text := range operands {
		d, ok := Parse(unquote(text))
		if !ok {
			if (name == "tosci" || name == "toeng") && result == "NaN" {
				return "NaN", Invalid, ""
			}
			return "", 0, "malformed operands"
		}
		args = append(args, d)
	}
	switch name {
	case "class":
		return c.Class(args[0]), 0, ""
	case "tosci", "toeng":
		d, s := c.CreateDecimal(args[0])
		if name == "toeng" {
			return d.EngString(), s, ""
		}
		return d.String(), s, ""
	}
	op := operations[name]
	if op == nil {
		return "", 0, "no such operation in Python: " + name
	}
	d, s := op(c, args...)
	return d.String(), s, ""
}

// unrounded are operations whose result may lie outside of the context.
var unrounded = strings.Fields("tointegral tointegralx copy copyabs copynegate copysign shift rotate nexttoward divideint")

// FuzzText: what is read is written and read again equal, and operations on it
// end within the context.
func FuzzText(tf *testing.F) {
	f := soak.New(tf, strings.Fields("0 1 9 . E e + - NaN sNaN Infinity 999999999 E-425 E+999999 10 00000000000000000000 5 _")...)
	for _, s := range []string{"1.50", "-0E-7", "sNaN12", "Infinity", "9e399999999", "1e-400000000", "9e999999999999999999", "1E-1999999999999999997", "0e99999999999999999999"} {
		f.Add(s, "-3.7e20")
	}
	for _, s := range []string{"10e7000000000000000000", "-1.25e-9223372036854775808", "1000e9223372036854775807", "0e-7000000000000000000", "0.00e7000000000000000000"} {
		f.Add(s, "0")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, ok := Parse(a)
		y, valid := Parse(b)
		if !ok || !valid {
			return
		}
		f.Past()
		if back, ok := Parse(x.String()); ok && back.String() != x.String() {
			t.Fatalf("%q is %s and reads back as %s", a, x, back)
		}
		c := DefaultContext()
		for name, op := range operations {
			d, _ := op(c, x, y, x)
			if slices.Contains(unrounded, name) || d.IsNaN() || d.IsInf() {
				continue
			}
			if d.Adjusted() > c.Emax || d.Adjusted() < c.Emin-int64(c.Prec) {
				t.Errorf("%s(%s, %s) = %s", name, a, b, d)
			}
		}
	})
}
