package results

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// plainNumber is appendNumber with integers without a bound, as resolution 12.55 has it.
func plainNumber(d strictjson.Decimal) ([]byte, bool) {
	num, den := ratio(d)
	if den.IsInt64() && den.Int64() == 1 {
		switch {
		case num.IsUint64():
			return cbor.AppendUint(nil, num.Uint64()), true
		case num.IsInt64():
			return cbor.AppendInt(nil, num.Int64()), true
		}
	}
	f, ok := softfloat.FromRatio(num, den)
	return binary.BigEndian.AppendUint64([]byte{floatHead}, f), ok
}

// ratio returns a number as a fraction whose denominator is a power of ten, 1 for an integer.
func ratio(d strictjson.Decimal) (num, den *big.Int) {
	num, den = new(big.Int), big.NewInt(1)
	if len(d.Digits) == 0 {
		return num, den
	}
	num.SetString(string(d.Digits), 10)
	if d.Negative {
		num.Neg(num)
	}
	power := d.Exponent - len(d.Digits) // of ten
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(power, -power))), nil)
	if power < 0 {
		return num, ten
	}
	return num.Mul(num, ten), den
}

var numbers = []string{
	"0", "-0", "-0.0", "0e5", "1", "-1", "10e-1", "1.50", "1e19", "1e20", "18446744073709551615", "18446744073709551616",
	"-9223372036854775808", "-9223372036854775809", "9223372036854775808", "1844674407370955161.5e1", "1e-400", "-1e-400", "1e-324", "2.4703282292062328e-324",
	"2.4703282292062327e-324", "-4.9e-324", "1e-310", "2.2250738585072011e-308", "1.7976931348623157e308", "1.7976931348623159e308",
	"1e308", "1e309", "-1e400", "1e23", "9007199254740993.0", "9007199254740993.5", "1.5", "-2.75", "0.0009765625", "123456789012345678.5", "0.000000000000000000000000007450580596923828125", "9007199254740992.99999999999999999",
	"0.00000000000000000000000000000000000001e40", strings.Repeat("9", 400), "0." + strings.Repeat("1", 399), strings.Repeat("9", 308) + ".5e0", "1" + strings.Repeat("0", 308),
}

func matchesPlain(t *testing.T, text string) {
	t.Helper()
	v, err := strictjson.Read([]byte(text), strictjson.NewSteps(1<<20))
	if err != nil || v.Kind() != strictjson.Number {
		return
	}
	got, ok := appendNumber(nil, v, strictjson.NewSteps(numeralSteps+400+floatSteps+hardFloatSteps))
	want, fits := plainNumber(v.Number())
	if ok != fits || ok && !bytes.Equal(got, want) {
		t.Fatalf("%s: %x, %v; plainly %x, %v", text, got, ok, want, fits)
	}
}

// TestNumbersInAnswers: each number is what unbounded integers make of it.
func TestNumbersInAnswers(t *testing.T) {
	for _, text := range numbers {
		if _, err := strictjson.Read([]byte(text), strictjson.NewSteps(1<<20)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		matchesPlain(t, text)
	}
}

func FuzzNumbersInAnswers(f *testing.F) {
	for _, text := range numbers {
		f.Add(text)
	}
	f.Fuzz(matchesPlain)
}

// TestStepsOfAnswers: what takes more steps than were paid is no answer, and numbers that are
// hard to round take more than others.
func TestStepsOfAnswers(t *testing.T) {
	fits := func(text string, limit uint64) bool {
		return appendOutput(nil, chain.FormatJSON, []byte(text), strictjson.NewSteps(limit)) != nil
	}
	last := uint64(0)
	for _, one := range []string{"7", "1.5", "1e-310"} { // in this order
		text := listOf(one, 1_000)
		steps := strictjson.NewSteps(1 << 30)
		if appendOutput(nil, chain.FormatJSON, []byte(text), steps) == nil || steps.Used() <= last {
			t.Errorf("%s: %d steps, less than %d", one, steps.Used(), last)
		}
		last = steps.Used()
		if !fits(text, last) {
			t.Errorf("%s does not do with what it has used", one)
		}
		if fits(text, last-1) {
			t.Errorf("%s does with one step less than it has used", one)
		}
	}
}

func listOf(one string, n int) string {
	return "[" + strings.Repeat(one+",", n-1) + one + "]"
}

// BenchmarkAnswers reads the texts of 64 KiB that are the most work for their steps; ns/step
// is to be at most 50.
func BenchmarkAnswers(b *testing.B) {
	for _, one := range []string{
		"1e-400", "1e-310", "1e-308", "1.5", "1e400", "0.1", "1e23", "7", "1e300", "18446744073709551616",
		"2.4703282292062328e-324", "9007199254740993.0", "1" + strings.Repeat("3", 398) + "e-400", "0." + strings.Repeat("1", 399), strings.Repeat("9", 308), "null", `"x"`, `{"a":0}`, "[]", `"` + strings.Repeat("x", 1_000) + `"`,
	} {
		b.Run(one[:min(len(one), 12)]+"x"+strconv.Itoa(len(one)), func(b *testing.B) {
			text := []byte(listOf(one, strictjson.MaxBytes/(len(one)+1)-1))
			var used uint64
			for b.Loop() {
				steps := strictjson.NewSteps(1 << 30)
				appendOutput(nil, chain.FormatJSON, text, steps)
				used = steps.Used()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(used), "ns/step")
		})
	}
}
