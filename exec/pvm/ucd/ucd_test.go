package ucd

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
)

// TestTablesAreFrozen holds the generated tables to their hash: they are
// consensus, and changing them is a hard fork.
func TestTablesAreFrozen(t *testing.T) {
	for name, want := range frozenTables {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(src)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s has hash %s, want %s", name, got, want)
		}
	}
}

func TestIdentifiers(t *testing.T) {
	for _, c := range []struct {
		r                rune
		start, following bool
	}{
		{'a', true, true},
		{'Z', true, true},
		{'_', true, true},
		{'0', false, true},
		{'-', false, false},
		{0x00AA, true, true},   // feminine ordinal
		{0x00B7, false, true},  // middle dot: Other_ID_Continue
		{0x0301, false, true},  // combining acute
		{0x037A, false, false}, // not closed under NFKC
		{0x2118, true, true},   // Weierstrass p: Other_ID_Start
		{0x4E00, true, true},
		{0xD800, false, false},
		{0x1F600, false, false},
		{0x10FFFF, false, false},
		{-1, false, false},
	} {
		if IsIdentStart(c.r) != c.start || IsIdentContinue(c.r) != c.following {
			t.Errorf("U+%04X: start %v, continue %v", c.r, IsIdentStart(c.r), IsIdentContinue(c.r))
		}
	}
}

func TestNormalForms(t *testing.T) {
	for _, c := range []struct{ name, in, nfc, nfkc string }{
		{"empty", "", "", ""},
		{"ascii", "abc", "abc", "abc"},
		{"compose", "e\u0301", "\u00e9", "\u00e9"},
		{"order", "d\u0307\u0323", "\u1e0d\u0307", "\u1e0d\u0307"},
		{"blocked", "a\u0327\u0327\u0301", "\u00e1\u0327\u0327", "\u00e1\u0327\u0327"},
		{"hangul", "\u1112\u1161\u11ab", "\ud55c", "\ud55c"},
		{"excluded", "\u0958", "\u0915\u093c", "\u0915\u093c"},
		{"ligature", "\ufb01", "\ufb01", "fi"},
		{"singleton", "\u212b", "\u00c5", "\u00c5"},
		{"ordinal", "\u00aa", "\u00aa", "a"},
		{"surrogate", "\xed\xa0\x80\u0301", "\xed\xa0\x80\u0301", "\xed\xa0\x80\u0301"},
		{"broken", "\xff\xcc", "\xff\xcc", "\xff\xcc"},
	} {
		if got := NFC(c.in); got != c.nfc {
			t.Errorf("%s: NFC %q, want %q", c.name, got, c.nfc)
		}
		if got := NFKC(c.in); got != c.nfkc {
			t.Errorf("%s: NFKC %q, want %q", c.name, got, c.nfkc)
		}
	}
}

// TestNormalizationVectors runs the lines of Unicode's NormalizationTest:
// columns source, NFC, NFD, NFKC, NFKD.
func TestNormalizationVectors(t *testing.T) {
	src := vectors.Read(t, "unicode/normalization_3_2.txt")
	lines := 0
	for _, line := range strings.Split(strings.TrimSpace(string(src)), "\n") {
		var cols [5]string
		for i, col := range strings.Split(strings.TrimSuffix(line, ";"), ";") {
			for _, point := range strings.Fields(col) {
				r, err := strconv.ParseUint(point, 16, 32)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				cols[i] += string(rune(r))
			}
		}
		for i, col := range cols {
			want := cols[1]
			if i >= 3 {
				want = cols[3]
			}
			if got := NFC(col); got != want {
				t.Errorf("%s: NFC of column %d is %+q", line, i+1, got)
			}
			if got := NFKC(col); got != cols[3] {
				t.Errorf("%s: NFKC of column %d is %+q", line, i+1, got)
			}
			if got := NFKD(col); got != cols[4] {
				t.Errorf("%s: NFKD of column %d is %+q", line, i+1, got)
			}
		}
		lines++
	}
	if lines < 1000 {
		t.Errorf("only %d lines", lines)
	}
}

// TestAgainstPython compares every code point, alone and before a mark, with
// CPython 3.11, whose Unicode is the same version. Of the planes without
// characters only every 251st point is asked for.
func TestAgainstPython(t *testing.T) {
	const script = `
import unicodedata as u, sys
assert u.unidata_version == "14.0.0"
w = sys.stdout
for c in range(0x110000):
    if 0xd800 <= c < 0xe000 or (0x32000 <= c < 0xe0000 or c >= 0xf0000) and c % 251: continue
    s = chr(c)
    m = "a" + s + "\u0301\u0323" + s
    f = s.isidentifier() + 2 * ("a" + s).isidentifier()
    k, n, o = u.normalize("NFKC", s), u.normalize("NFC", s), u.normalize("NFC", m)
    if f or k != s or n != s or o != m:
        w.write("%d %d %s %s %s\n" % (c, f, k.encode().hex(), n.encode().hex(), o.encode().hex()))
`
	out := cpython.Run(t, script, nil)
	next := rune(0)
	plain := func(to rune) { // what the oracle left out is unremarkable
		for ; next < to; next++ {
			if s := string(next); next < 0xD800 || next > 0xDFFF {
				if IsIdentStart(next) || IsIdentContinue(next) || NFC(s) != s || NFKC(s) != s {
					t.Errorf("U+%04X is unremarkable to CPython", next)
				}
			}
		}
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		f := strings.Fields(lines.Text())
		point, _ := strconv.Atoi(f[0])
		r := rune(point)
		plain(r)
		next = r + 1
		s := string(r)
		flags := 0
		if IsIdentStart(r) {
			flags++
		}
		if IsIdentContinue(r) {
			flags += 2
		}
		got := []string{strconv.Itoa(flags), NFKC(s), NFC(s), NFC("a" + s + "\u0301\u0323" + s)}
		for i, g := range got[1:] {
			got[i+1] = hex.EncodeToString([]byte(g))
		}
		if strings.Join(got, " ") != strings.Join(f[1:], " ") {
			t.Errorf("U+%04X: got %v, want %v", r, got, f[1:])
		}
	}
	plain(0x110000)
}

func FuzzNormalFormsAreStable(tf *testing.F) {
	f := soak.New(tf)
	f.Add("e\u0301\u0323\u1112\u1161\u11ab\xed\xa0\x80\xff")
	f.Fuzz(func(t *testing.T, s string) {
		c, k := NFC(s), NFKC(s)
		if NFC(c) != c || NFKC(k) != k || NFC(k) != k || NFKC(c) != k {
			t.Errorf("%+q: NFC %+q, NFKC %+q", s, c, k)
		}
	})
}
