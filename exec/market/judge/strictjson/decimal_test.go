package strictjson_test

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestText writes numbers in their one way.
func TestText(t *testing.T) {
	for _, c := range [][2]string{
		{"0", "0"},
		{"-0.0e7", "0"},
		{"12.50", "12.5"},
		{"-12", "-12"},
		{"1e20", "1" + repeat("0", 20)},
		{"1e21", "1e21"},
		{"123456789012345678901", "123456789012345678901"},
		{"1234567890123456789012", "1.234567890123456789012e21"},
		{"0.000001", "0.000001"},
		{"0.00000123", "0.00000123"},
		{"0.0000001", "1e-7"},
		{"1e400", "1e400"},
		{"12.5e400", "12.5e400"},
		{"1" + repeat("0", 399) + "e400", "1" + repeat("0", 399) + "e400"},
		{repeat("9", 400) + "e400", repeat("9", 400) + "e400"},
		{"1e-400", "1e-400"},
		{"0." + repeat("0", 398) + "1e-400", "0." + repeat("0", 398) + "1e-400"},
	} {
		got := string(read(t, c[0]).Number().AppendText(nil))
		if got != c[1] {
			t.Errorf("%.30s: %s, want %s", c[0], got, c[1])
		}
		if again := read(t, got).Number(); again.Compare(read(t, c[0]).Number()) != 0 {
			t.Errorf("%.30s is another number as %s", c[0], got)
		}
	}
}

// TestBeyond holds distances to the edge, with numbers at both ends of what a text can say.
func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		d, from    string
		millionths uint64
		want       bool
	}{
		{"101", "100", 10_000, false},
		{"101.0000000000000000000001", "100", 10_000, true},
		{"99", "100", 10_000, false},
		{"98.99", "100", 10_000, true},
		{"-101", "-100", 10_000, false},
		{"-101.1", "-100", 10_000, true},
		{"0", "0", 0, false},
		{"1e-400", "0", 1_000_000, true},
		{"0", "5", 1_000_000, false},
		{"-1e-400", "5", 1_000_000, true},
		{"5", "5.0", 0, false},
		{"5." + repeat("0", 398) + "1", "5", 0, true},
		{repeat("9", 400) + "e400", "0." + repeat("0", 398) + "1e-400", 1<<64 - 1, true},
		{"0." + repeat("0", 398) + "1e-400", repeat("9", 400) + "e400", 999_999, true},
		{"0." + repeat("0", 398) + "1e-400", repeat("9", 400) + "e400", 1_000_000, false},
	} {
		if got := read(t, c.d).Number().Beyond(read(t, c.from).Number(), c.millionths); got != c.want {
			t.Errorf("%.30s beyond %.30s by %d: %v", c.d, c.from, c.millionths, got)
		}
	}
}

// TestDecimalsAsFractions holds numbers of random texts to fractions: their order, their
// distance, and the text that is written of each.
func TestDecimalsAsFractions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = '0' + byte(rng.IntN(10))*byte(rng.IntN(2))
		}
		return string(b)
	}
	random := func() (string, *big.Rat) {
		for {
			text := []string{"", "-"}[rng.IntN(2)] + []string{"0", "1" + digits(rng.IntN(30)), "7" + digits(rng.IntN(399))}[rng.IntN(3)]
			if rng.IntN(2) == 0 {
				text += "." + digits(1+rng.IntN(60))
			}
			if rng.IntN(2) == 0 {
				text += []string{"e", "E-", "e+"}[rng.IntN(3)] + []string{"0", "1", "39", "400"}[rng.IntN(4)]
			}
			if v, ok := plainRead([]byte(text)); ok {
				return text, v.(*big.Rat)
			}
		}
	}
	million := new(big.Rat).SetInt64(1_000_000)
	for range 3_000 {
		a, plainA := random()
		b, plainB := random()
		x, y := read(t, a).Number(), read(t, b).Number()
		if x.Compare(y) != plainA.Cmp(plainB) || y.Compare(x) != plainB.Cmp(plainA) {
			t.Fatalf("%s and %s compare as %d", a, b, x.Compare(y))
		}
		millionths := []uint64{0, 1, 10_000, 999_999, 1_000_000, 1_000_001, 1 << 40, 1<<64 - 1}[rng.IntN(8)]
		distance := new(big.Rat).Sub(plainA, plainB)
		limit := new(big.Rat).SetInt(new(big.Int).SetUint64(millionths))
		want := distance.Mul(distance.Abs(distance), million).Cmp(limit.Mul(limit, new(big.Rat).Abs(plainB))) > 0
		if x.Beyond(y, millionths) != want {
			t.Fatalf("%s beyond %s by %d: %v", a, b, millionths, !want)
		}
		if back := read(t, string(x.AppendText(nil))).Number(); back.Compare(x) != 0 || x.Compare(x) != 0 {
			t.Fatalf("%s is written as %s", a, x.AppendText(nil))
		}
	}
}
