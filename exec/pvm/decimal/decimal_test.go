package decimal_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	. "github.com/cowboy-foundation/cowboy/exec/pvm/decimal"
)

type operation = func(c Context, x ...Decimal) (Decimal, Signal)

func unary(f func(Context, Decimal) (Decimal, Signal)) operation {
	return func(c Context, x ...Decimal) (Decimal, Signal) { return f(c, x[0]) }
}

func binary(f func(Context, Decimal, Decimal) (Decimal, Signal)) operation {
	return func(c Context, x ...Decimal) (Decimal, Signal) { return f(c, x[0], x[1]) }
}

var operations = map[string]operation{
	"plus": unary(Context.Plus), "minus": unary(Context.Minus), "abs": unary(Context.Abs), "reduce": unary(Context.Reduce),
	"tointegral": unary(Context.ToIntegral), "squareroot": unary(Context.Sqrt),
	"add": binary(Context.Add), "subtract": binary(Context.Sub), "multiply": binary(Context.Mul), "divide": binary(Context.Quo),
	"divideint": binary(Context.QuoInt), "remainder": binary(Context.Rem), "quantize": binary(Context.Quantize),
	"fma": func(c Context, x ...Decimal) (Decimal, Signal) { return c.FMA(x[0], x[1], x[2]) },
	"compare": func(c Context, x ...Decimal) (Decimal, Signal) {
		order, ordered := Cmp(x[0], x[1])
		if !ordered {
			return c.Add(x[0], x[1]) // the rules for NaNs
		}
		d, _ := Parse(strconv.Itoa(order))
		return d, 0
	},
}

var roundings = map[string]Rounding{
	"half_even": HalfEven, "half_up": HalfUp, "half_down": HalfDown, "up": Up, "down": Down, "ceiling": Ceiling, "floor": Floor, "05up": ZeroFiveUp,
}

// TestVectors runs the decTest files for the operations that there are.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vectors.Path(t, "decimal"), "*.decTest"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	ran, failed := map[string]int{}, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := DefaultContext()
		for _, line := range strings.Split(string(text), "\n") {
			if directive(&c, strings.ToLower(line)) {
				continue
			}
			name, want, got, ok := runCase(c, line)
			if !ok {
				continue
			}
			ran[name]++
			if want != got {
				if failed++; failed < 30 {
					t.Errorf("%s: %s: got %s, want %s", filepath.Base(file), line, got, want)
				}
			}
		}
	}
	total := 0
	for _, n := range ran {
		total += n
	}
	t.Logf("%d cases, %d failed: %v", total, failed, ran)
	if total < 7000 {
		t.Errorf("%d cases ran", total)
	}
}

func directive(c *Context, line string) bool {
	line, _, _ = strings.Cut(line, " --")
	key, value, ok := strings.Cut(line, ":")
	if !ok || strings.Contains(line, "->") {
		return false
	}
	value = strings.TrimSpace(value)
	n, _ := strconv.Atoi(value)
	switch strings.TrimSpace(key) {
	case "precision":
		c.Prec = n
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

// runCase gives results with the conditions that are reported.
func runCase(c Context, line string) (name, want, got string, ok bool) {
	line, _, _ = strings.Cut(line, "--")
	left, right, found := strings.Cut(line, "->")
	in, out := strings.Fields(left), strings.Fields(right)
	if !found || len(in) < 3 || len(out) == 0 {
		return "", "", "", false
	}
	op := operations[strings.ToLower(in[1])]
	if op == nil {
		return "", "", "", false
	}
	var args []Decimal
	for _, text := range in[2:] {
		d, valid := Parse(strings.Trim(text, `'"`))
		if !valid {
			return "", "", "", false
		}
		args = append(args, d)
	}
	result := strings.Trim(out[0], `'"`)
	if _, valid := Parse(result); !valid {
		return "", "", "", false // "?": any result
	}
	var conditions Signal
	for _, flag := range out[1:] {
		switch strings.ToLower(flag) {
		case "invalid_operation", "division_impossible", "division_undefined":
			conditions |= Invalid
		case "division_by_zero":
			conditions |= DivisionByZero
		case "overflow":
			conditions |= Overflow
		}
	}
	d, s := op(c, args...)
	return strings.ToLower(in[1]), result + " " + strconv.Itoa(int(conditions)), d.String() + " " + strconv.Itoa(int(s)), true
}

// FuzzText: what is read is written and read again equal, and operations on it
// end within the context.
func FuzzText(f *testing.F) {
	for _, s := range []string{"1.50", "-0E-7", "sNaN12", "Infinity", "9e399999999", "1e-400000000"} {
		f.Add(s, "-3.7e20")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, ok := Parse(a)
		y, valid := Parse(b)
		if !ok || !valid {
			return
		}
		if back, ok := Parse(x.String()); ok && back.String() != x.String() {
			t.Fatalf("%q is %s and reads back as %s", a, x, back)
		}
		c := DefaultContext()
		for name, op := range operations {
			d, _ := op(c, x, y, x)
			if name != "tointegral" && !d.IsNaN() && !d.IsInf() && (d.Adjusted() > c.Emax || d.Adjusted() < c.Emin-c.Prec) {
				if name == "compare" || name == "divideint" {
					continue
				}
				t.Errorf("%s(%s, %s) = %s", name, a, b, d)
			}
		}
	})
}
