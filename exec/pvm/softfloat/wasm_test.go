package softfloat_test

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	. "github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// wasmOp is a row of WebAssembly's test suite.
type wasmOp struct {
	Op   string      `json:"op"`
	Args [][2]string `json:"args"`
	Want [2]string   `json:"want"`
}

func wasmOps(t *testing.T, file string) (ops []wasmOp) {
	t.Helper()
	vectors.Decode(t, "float/wasm/"+file+".json", &ops)
	return ops
}

// wasmInt reads an integer of 32 or 64 bits, of either sign.
func wasmInt(t *testing.T, v [2]string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(v[1], 0, 64)
	if err != nil {
		u, err := strconv.ParseUint(v[1], 0, 64)
		if err != nil {
			t.Fatalf("integer %q", v[1])
		}
		n = int64(u)
	}
	if v[0] == "i32" {
		return int64(int32(n))
	}
	return n
}

// TestWebAssemblyBits: sign operations change no other bit.
func TestWebAssemblyBits(t *testing.T) {
	ops := wasmOps(t, "f64_bitwise")
	for _, op := range ops {
		if strings.Contains(op.Want[1], "nan:") || len(op.Args[0]) > 1 && strings.Contains(op.Args[0][1], "nan") {
			continue // the machine has one NaN, without sign (resolution 11.45)
		}
		var got uint64
		switch a := wasmValue(t, op.Args[0][1]); op.Op {
		case "abs":
			got = Abs(a)
		case "neg":
			got = Neg(a)
		case "copysign":
			if strings.Contains(op.Args[1][1], "nan") {
				continue
			}
			got = CopySign(a, wasmValue(t, op.Args[1][1]))
		}
		if want := wasmValue(t, op.Want[1]); got != want {
			t.Errorf("%s%v = %#x, want %#x", op.Op, op.Args, got, want)
		}
	}
	if len(ops) < 170 {
		t.Errorf("%d rows", len(ops))
	}
}

// TestWebAssemblyBinary32: arithmetic of binary32 is that of binary64 rounded once
// more, since 53 bits are more than twice 24 and two.
func TestWebAssemblyBinary32(t *testing.T) {
	binary := map[string]func(a, b uint64) uint64{"add": Add, "sub": Sub, "mul": Mul, "div": Div}
	unary := map[string]func(a uint64) uint64{"sqrt": Sqrt, "ceil": Ceil, "trunc": Trunc, "nearest": RoundEven}
	ran := 0
	for _, op := range wasmOps(t, "f32") {
		var got uint64
		if f := binary[op.Op]; f != nil {
			got = f(wasmValue(t, op.Args[0][1]), wasmValue(t, op.Args[1][1]))
		} else if f := unary[op.Op]; f != nil {
			got = f(wasmValue(t, op.Args[0][1]))
		} else {
			continue // min and max, which the machine has for Python's rules alone
		}
		enc, _ := ToBinary32(got)
		if want := wasmValue(t, op.Want[1]); FromBinary32(enc) != want {
			t.Errorf("%s%v = %#x, want %#x", op.Op, op.Args, FromBinary32(enc), want)
		}
		ran++
	}
	if ran < 200 {
		t.Errorf("%d vectors ran", ran)
	}
}

func TestWebAssemblyConversions(t *testing.T) {
	ran := 0
	for _, op := range wasmOps(t, "conversions") {
		to, name, _ := strings.Cut(op.Op, ".")
		arg := op.Args[0]
		var got uint64
		switch {
		case strings.HasPrefix(name, "convert_") && (to == "f64" || strings.Contains(name, "i32")):
			n := wasmInt(t, arg)
			switch {
			case strings.HasSuffix(name, "i32_u"):
				got = FromUint64(uint64(uint32(n)))
			case strings.HasSuffix(name, "i64_u"):
				got = FromUint64(uint64(n))
			default:
				got = FromInt64(n)
			}
			if to == "f32" {
				enc, _ := ToBinary32(got)
				got = FromBinary32(enc)
			}
		case strings.HasPrefix(name, "demote"):
			enc, _ := ToBinary32(wasmValue(t, arg[1]))
			got = FromBinary32(enc)
		case strings.HasPrefix(name, "promote"):
			enc, _ := ToBinary32(wasmValue(t, arg[1]))
			got = FromBinary32(enc)
		case strings.HasPrefix(name, "trunc_"):
			truncated(t, op, strings.Contains(name, "_sat_"), strings.HasSuffix(name, "_u"))
			ran++
			continue
		default:
			continue // of integers alone, or a change of type and not of bits
		}
		if want := rounded(t, to, op.Want[1]); got != want {
			t.Errorf("%s%v = %#x, want %#x", op.Op, op.Args, got, want)
		}
		ran++
	}
	if ran < 200 {
		t.Errorf("%d vectors ran", ran)
	}
}

// rounded is a value of the suite as its type holds it: some literals have digits
// that binary32 drops.
func rounded(t *testing.T, kind, text string) uint64 {
	x := wasmValue(t, text)
	if kind != "f32" {
		return x
	}
	enc, _ := ToBinary32(x)
	return FromBinary32(enc)
}

// truncated checks a conversion to an integer, with the bounds of its type if it
// saturates.
func truncated(t *testing.T, op wasmOp, saturates, unsigned bool) {
	t.Helper()
	x := rounded(t, op.Args[0][0], op.Args[0][1])
	n, ok := ToBig(x)
	least, most := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	if op.Want[0] == "i32" {
		least, most = big.NewInt(math.MinInt32), big.NewInt(math.MaxInt32)
	}
	if unsigned {
		least = new(big.Int)
		most = new(big.Int).SetUint64(math.MaxUint64)
		if op.Want[0] == "i32" {
			most = big.NewInt(math.MaxUint32)
		}
	}
	switch {
	case !ok && IsNaN(x):
		n = new(big.Int)
	case !ok && Signbit(x):
		n = least
	case !ok:
		n = most
	}
	if n.Cmp(least) < 0 {
		n = least
	}
	if n.Cmp(most) > 0 {
		n = most
	}
	want := wasmInt(t, op.Want)
	got := int64(new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
	if op.Want[0] == "i32" {
		got = int64(int32(got))
	}
	if got != want {
		t.Errorf("%s%v = %d, want %d", op.Op, op.Args, got, want)
	}
	if i, fits := ToInt64(x); fits && !saturates && !unsigned && i != want {
		t.Errorf("%s%v: ToInt64 is %d, want %d", op.Op, op.Args, i, want)
	}
}
