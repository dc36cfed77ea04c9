package softfloat_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	. "github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// oracle prints for each pair of operands what Python makes of them.
const oracle = `
import sys, struct, math
def f(h): return struct.unpack('>d', bytes.fromhex(h))[0]
def b(x): return 'nan' if x != x else struct.pack('>d', x).hex()
def attempt(g):
    try: return g()
    except (OverflowError, ZeroDivisionError, ValueError) as e: return type(e).__name__
def narrow(f, x): return 'nan' if x != x else attempt(lambda: struct.pack(f, x).hex())
for line in sys.stdin:
    h, k, n, p = line.split()
    x, y, n, p = f(h), f(k), int(n), int(p)
    out = [attempt(lambda: b(x // y)), attempt(lambda: b(x % y)), attempt(lambda: ','.join(map(b, divmod(x, y)))),
        'nan' if x != x else str(hash(x)), repr(x), attempt(lambda: b(round(x, n))), attempt(lambda: str(round(x))), x.hex(),
        format(x, '.%dg' % p), format(x, '#.%dg' % p), format(x, '.%d' % p), format(x, '.%d%%' % p), format(x, 'z.%df' % p), format(x, ''),
        '%.17g' % x, b(math.ulp(x)), narrow('>f', x), narrow('>e', x),
        attempt(lambda: b(math.remainder(x, y))), str(x == n), str(x < n * 2**p)]
    print('|'.join(out))
`

func hex64(x uint64) string {
	if IsNaN(x) {
		return "nan"
	}
	return fmt.Sprintf("%016x", x)
}

// TestFloatsEqualCPython compares Python's operators, round, hash, format and
// struct on random operands.
func TestFloatsEqualCPython(t *testing.T) {
	const count = 20_000
	r := rand.New(rand.NewPCG(*seed, 11))
	type row struct {
		x, y uint64
		n, p int
	}
	rows := make([]row, count)
	var in bytes.Buffer
	for i := range rows {
		x := operand(r, One)
		if i%3 == 0 { // ordinary magnitudes
			x = x&^(0x7ff<<52) | uint64(1023-20+r.IntN(50))<<52
		}
		rows[i] = row{x, operand(r, x), r.IntN(700) - 350, r.IntN(20)}
		if i%2 == 0 {
			rows[i].n = r.IntN(30) - 10
		}
		fmt.Fprintf(&in, "%016x %016x %d %d\n", rows[i].x, rows[i].y, rows[i].n, rows[i].p)
	}
	lines := bufio.NewScanner(bytes.NewReader(cpython.Run(t, oracle, in.Bytes())))
	for i, c := range rows {
		if !lines.Scan() {
			t.Fatalf("CPython printed %d lines", i)
		}
		want := strings.Split(lines.Text(), "|")
		got := mine(c.x, c.y, c.n, c.p)
		for j := range got {
			if got[j] != want[j] {
				t.Fatalf("seed %d: x = %#x (%s), y = %#x, n = %d, p = %d: column %d is %s, CPython says %s", *seed, c.x, Repr(c.x), c.y, c.n, c.p, j, got[j], want[j])
			}
		}
	}
}

// mine is the line of the oracle from our functions.
func mine(x, y uint64, n, p int) []string {
	text := func(x uint64, s Style) string { return string(AppendText(nil, x, s)) }
	div, mod, both := "ZeroDivisionError", "ZeroDivisionError", "ZeroDivisionError"
	if !IsZero(y) {
		q, m := DivMod(x, y)
		div, mod, both = hex64(FloorDiv(x, y)), hex64(FloorMod(x, y)), hex64(q)+","+hex64(m)
	}
	hash := "nan"
	if !IsNaN(x) {
		hash = strconv.FormatInt(Hash(x), 10)
	}
	rounded := "OverflowError"
	if v, ok := RoundTo(x, n); ok {
		rounded = hex64(v)
	}
	whole := "ValueError"
	if IsInf(x) {
		whole = "OverflowError"
	} else if i, ok := ToBig(RoundEven(x)); ok {
		whole = i.String()
	}
	f32, f16 := "OverflowError", "OverflowError"
	if e, ok := ToBinary32(x); ok {
		f32 = fmt.Sprintf("%08x", e)
	}
	if e, ok := ToBinary16(x); ok {
		f16 = fmt.Sprintf("%04x", e)
	}
	if IsNaN(x) { // CPython keeps sign and payload
		f32, f16 = "nan", "nan"
	}
	remainder := hex64(Remainder(x, y))
	if (IsInf(x) && !IsNaN(y)) || (IsZero(y) && !IsNaN(x)) {
		remainder = "ValueError"
	}
	eq, _ := CompareInt64(x, int64(n))
	lt, ordered := CompareBig(x, new(big.Int).Lsh(big.NewInt(int64(n)), uint(p)))
	percent := text(Mul(x, FromInt64(100)), Style{Verb: 'f', Prec: p}) + "%"
	return []string{
		div, mod, both, hash, Repr(x), rounded, whole, Hex(x),
		text(x, Style{Verb: 'g', Prec: p}), text(x, Style{Verb: 'g', Prec: p, Alt: true}),
		text(x, Style{Verb: 'g', Prec: p, Dot0: true}), percent,
		text(x, Style{Verb: 'f', Prec: p, NoNegZero: true}), Repr(x),
		text(x, Style{Verb: 'g', Prec: 17}), hex64(Ulp(x)), f32, f16, remainder,
		title(eq == 0 && ordered), title(lt < 0 && ordered),
	}
}

func title(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// TestWebAssemblyVectors runs the operations of WebAssembly's test suite that
// the package has, with infinities, zeros and NaNs of every kind.
func TestWebAssemblyVectors(t *testing.T) {
	type operation struct {
		Op   string      `json:"op"`
		Args [][2]string `json:"args"`
		Want [2]string   `json:"want"`
	}
	binary := map[string]func(a, b uint64) uint64{"add": Add, "sub": Sub, "mul": Mul, "div": Div}
	unary := map[string]func(a uint64) uint64{"sqrt": Sqrt, "floor": Floor, "ceil": Ceil, "trunc": Trunc, "nearest": RoundEven}
	order := map[string]func(a, b uint64) bool{
		"eq": Equal, "lt": Less, "le": LessEqual,
		"ne": func(a, b uint64) bool { return !Equal(a, b) },
		"gt": func(a, b uint64) bool { return Less(b, a) },
		"ge": func(a, b uint64) bool { return LessEqual(b, a) },
	}
	ran := 0
	for _, file := range []string{"f64", "f64_cmp"} {
		var ops []operation
		vectors.Decode(t, "float/wasm/"+file+".json", &ops)
		for _, op := range ops {
			var args []uint64
			for _, a := range op.Args {
				args = append(args, wasmValue(t, a[1]))
			}
			var got, want uint64
			if f := binary[op.Op]; f != nil {
				got, want = f(args[0], args[1]), wasmValue(t, op.Want[1])
			} else if f := unary[op.Op]; f != nil {
				got, want = f(args[0]), wasmValue(t, op.Want[1])
			} else if f := order[op.Op]; f != nil {
				if f(args[0], args[1]) {
					got = 1
				}
				want, _ = strconv.ParseUint(op.Want[1], 10, 64)
			} else {
				continue
			}
			if got != want {
				t.Errorf("%s%v = %#x, want %#x", op.Op, op.Args, got, want)
			}
			ran++
		}
	}
	if ran < 1900 {
		t.Errorf("%d vectors ran", ran)
	}
	t.Logf("%d vectors", ran)
}

func wasmValue(t *testing.T, text string) uint64 {
	t.Helper()
	if strings.Contains(text, "nan") {
		return NaN
	}
	if strings.Contains(text, "0x") && !strings.Contains(text, "p") {
		text += "p0"
	}
	if strings.Contains(text, "0x") || strings.Contains(text, "inf") {
		x, err := ParseHex(text)
		if err != HexOK {
			t.Fatalf("value %q", text)
		}
		return x
	}
	x, ok := Parse(text)
	if !ok {
		t.Fatalf("value %q", text)
	}
	return x
}
