package ucd

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
)

// frozenMatching is the SHA-256 of matching_tables.go.
const frozenMatching = "6cb61ebccc0d6c6508eae0ca8908a26dad2da570a24673eaace3dd384694e270"

// TestMatchingTablesAreFrozen: the tables are consensus, whoever changes them
// changes the protocol.
func TestMatchingTablesAreFrozen(t *testing.T) {
	src, err := os.ReadFile("matching_tables.go")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(src); hex.EncodeToString(sum[:]) != frozenMatching {
		t.Fatalf("the tables hash to %x", sum)
	}
}

// TestMatchingEqualsCPython asks CPython about every code point.
func TestMatchingEqualsCPython(t *testing.T) {
	out := cpython.Run(t, `
import _sre
for c in range(0x110000):
    s = chr(c)
    low = _sre.unicode_tolower(c)
    k = s.isalnum() + 2*s.isdecimal() + 4*s.isspace()
    if 0xD800 <= c < 0xE000: k = 0
    if k or low != c: print(c, k, low)
`, nil)
	want := map[rune][2]int{}
	for line := range strings.Lines(string(out)) {
		var n [3]int
		for i, field := range strings.Fields(line) {
			n[i], _ = strconv.Atoi(field)
		}
		want[rune(n[0])] = [2]int{n[1], n[2]}
	}
	lowered := map[rune]rune{}
	EachLowered(0, 0x10ffff, func(from, to rune) { lowered[from] = to })
	for r := rune(0); r <= 0x10ffff; r++ {
		w, ok := want[r]
		if !ok {
			w[1] = int(r)
		}
		kind := 0
		for i, has := range []bool{Has(r, Alphanumeric), Has(r, Decimal), IsSpace(r)} {
			if has {
				kind |= 1 << i
			}
		}
		if kind != w[0] || int(SimpleLower(r)) != w[1] {
			t.Fatalf("%U: kind %d, lower %U, CPython has %d, %U", r, kind, SimpleLower(r), w[0], w[1])
		}
		if low, ok := lowered[r]; ok != (w[1] != int(r)) || ok && int(low) != w[1] {
			t.Fatalf("%U: the run gives %U, %v", r, low, ok)
		}
	}
}

// TestEachLoweredMeetsItsEnds holds windows of the runs to the whole.
func TestEachLoweredMeetsItsEnds(t *testing.T) {
	for lo := rune(0); lo < 0x2000; lo += 7 {
		var got, want []rune
		EachLowered(lo, lo+11, func(from, _ rune) { got = append(got, from) })
		for r := lo; r <= lo+11; r++ {
			if SimpleLower(r) != r {
				want = append(want, r)
			}
		}
		if string(got) != string(want) {
			t.Fatalf("%U to %U: %U, want %U", lo, lo+11, got, want)
		}
	}
}

// TestCaseMatesAreMutual: if a matches b, b matches a.
func TestCaseMatesAreMutual(t *testing.T) {
	mates := map[[2]rune]bool{}
	EachCaseMate(0, 0x10ffff, func(lower, mate rune) { mates[[2]rune{lower, mate}] = true })
	if len(mates) < 50 {
		t.Fatalf("%d pairs", len(mates))
	}
	for pair := range mates {
		if !mates[[2]rune{pair[1], pair[0]}] {
			t.Errorf("%U matches %U but not the reverse", pair[0], pair[1])
		}
	}
}
