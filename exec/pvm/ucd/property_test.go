package ucd

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
)

var every = flag.Bool("every", false, "compare every code point with CPython's, those of planes where nothing is assigned, too")

// looked says which code points are compared: all where any are assigned; of the planes
// without any and of private use one in sixteen and the ends, or with -every all.
func looked(r rune) bool {
	return *every || r < 0x40000 || r >= 0xe0000 && r < 0xe1000 || r&0xffff >= 0xfff0 || r%16 == 0
}

// propertyOracle prints a line for each run of code points that are alike, of those that
// are looked at (EVERY: all).
const propertyOracle = `
import _sre, sys, unicodedata as u
assert u.unidata_version == "14.0.0"
def enc(s): return s.encode("utf-8", "surrogatepass").hex()
last, out = None, []
def looked(c): return EVERY or c < 0x40000 or 0xe0000 <= c < 0xe1000 or c & 0xffff >= 0xfff0 or c % 16 == 0
for c in range(0x110000):
    if not looked(c): continue
    s = chr(c)
    flags = 0
    for bit, holds in enumerate((s.isalpha(), s.isdecimal(), s.isdigit(), s.isnumeric(), s.isspace(), s.isprintable(),
            s.islower(), s.isupper(), s.istitle(), s.isalnum(), ("a" + s + "b").splitlines() != ["a" + s + "b"])):
        flags |= holds << bit
    full = (s.lower(), s.upper(), s.title(), s.casefold(), s.swapcase(), s.capitalize(), ("A" + s + "\u03a3").lower(), ("\u00e9" + s + "q").title())
    row = (flags, u.category(s), u.decimal(s, -1), _sre.unicode_tolower(c) - c)
    row = " ".join(map(str, row))
    if full != (s,) * 6 + ("a" + s + "\u03c3", "\u00c9" + s + "Q"):
        row += " " + " ".join(map(enc, full))
    if row != last:
        out.append("%d %s\n" % (c, row))
        last = row
sys.stdout.write("".join(out))
`

func pythonFlags(r rune) int {
	s := string(appendRunes(nil, []rune{r}))
	flags := 0
	for bit, holds := range []bool{
		All(s, Alpha), All(s, Decimal), All(s, Digit), All(s, Numeric), All(s, Space), IsPrintable(r),
		IsLower(s), IsUpper(s), IsTitle(s), All(s, Alphanumeric), IsLineBreak(r),
	} {
		if holds {
			flags |= 1 << bit
		}
	}
	if IsSpace(r) != Has(r, Space) {
		return -1
	}
	return flags
}

// propertyRow is a line of the oracle from our functions.
func propertyRow(r rune) string {
	s := string(appendRunes(nil, []rune{r}))
	row := fmt.Sprintf("%d %s %d %d", pythonFlags(r), CategoryOf(r), DecimalValue(r), SimpleLower(r)-r)
	full := []string{
		ToLower(s), ToUpper(s), ToTitle(s), Casefold(s), SwapCase(s), Capitalize(s),
		ToLower("A" + s + "\u03a3"), ToTitle("\u00e9" + s + "q"),
	}
	plain := []string{s, s, s, s, s, s, "a" + s + "\u03c3", "\u00c9" + s + "Q"}
	same := true
	for i, f := range full {
		same = same && f == plain[i]
	}
	if same {
		return row
	}
	for _, f := range full {
		row += " " + hex.EncodeToString([]byte(f))
	}
	return row
}

// TestPropertiesAgainstPython asks CPython 3.11 for every code point that is assigned, and
// with -every for all.
func TestPropertiesAgainstPython(t *testing.T) {
	lines := bufio.NewScanner(bytes.NewReader(cpython.Run(t, strings.Replace(propertyOracle, "EVERY", map[bool]string{true: "True", false: "False"}[*every], 1), nil)))
	lines.Scan()
	_, want, _ := strings.Cut(lines.Text(), " ")
	next, nextRow := rune(-1), ""
	advance := func() {
		next = 0x110000
		if lines.Scan() {
			point, row, _ := strings.Cut(lines.Text(), " ")
			n, err := strconv.Atoi(point)
			if err != nil {
				t.Fatal(err)
			}
			next, nextRow = rune(n), row
		}
	}
	advance()
	for r := rune(0); r < 0x110000; r++ {
		if !looked(r) {
			continue
		}
		if r == next {
			want = nextRow
			advance()
		}
		if got := propertyRow(r); got != want {
			t.Fatalf("U+%04X: %s, CPython says %s", r, got, want)
		}
	}
}

// textOracle prints what the methods of str make of each line of hexadecimal.
const textOracle = `
import sys
for line in sys.stdin:
    s = bytes.fromhex(line).decode()
    out = [s.lower(), s.upper(), s.title(), s.casefold(), s.swapcase(), s.capitalize()] + s.splitlines() + s.splitlines(True)
    print(*[t.encode().hex() or "-" for t in out], s.islower(), s.isupper(), s.istitle())
`

// TestTextAgainstPython compares whole texts: words, final sigmas, lines.
func TestTextAgainstPython(t *testing.T) {
	const count = 4000
	seed := uint64(1)
	r := rand.New(rand.NewPCG(seed, 1))
	alphabet := []rune("aAzZ1 .'\n\r\u03a3\u03c3\u03c2\u00df\u01c5\u01c4\u0130\u0131\u02b0\u0301\u00ad\u2028\u0085\u1fb3\ufb03\u1e9e\U00010400\u0345")
	var in bytes.Buffer
	texts := make([]string, count)
	for i := range texts {
		for range r.IntN(9) {
			texts[i] += string(alphabet[r.IntN(len(alphabet))])
		}
		fmt.Fprintf(&in, "%x\n", texts[i])
	}
	lines := strings.Split(string(cpython.Run(t, textOracle, in.Bytes())), "\n")
	title := map[bool]string{true: "True", false: "False"}
	for i, s := range texts {
		out := []string{ToLower(s), ToUpper(s), ToTitle(s), Casefold(s), SwapCase(s), Capitalize(s)}
		var whole []string
		for rest := s; rest != ""; {
			line, end := NextLine(rest)
			out, whole = append(out, rest[:line]), append(whole, rest[:end])
			rest = rest[end:]
		}
		out = append(out, whole...)
		for j := range out {
			if out[j] = hex.EncodeToString([]byte(out[j])); out[j] == "" {
				out[j] = "-"
			}
		}
		out = append(out, title[IsLower(s)], title[IsUpper(s)], title[IsTitle(s)])
		if got := strings.Join(out, " "); got != lines[i] {
			t.Fatalf("seed %d: %+q: %s, CPython says %s", seed, s, got, lines[i])
		}
	}
}

// TestSimpleMappings holds a few of those that are not the full ones.
func TestSimpleMappings(t *testing.T) {
	for _, c := range []struct{ r, lower, upper, title, fold rune }{
		{'a', 'a', 'A', 'A', 'a'},
		{'A', 'a', 'A', 'A', 'a'},
		{0xDF, 0xDF, 0xDF, 0xDF, 0xDF},
		{0x130, 'i', 0x130, 0x130, 'i'},
		{0x149, 0x149, 0x149, 0x149, 0x149},
		{0x1C5, 0x1C6, 0x1C4, 0x1C5, 0x1C6},
		{0x1F80, 0x1F80, 0x1F88, 0x1F88, 0x1F80},
		{0x3C2, 0x3C2, 0x3A3, 0x3A3, 0x3C3},
		{0x10FFFF, 0x10FFFF, 0x10FFFF, 0x10FFFF, 0x10FFFF},
	} {
		if l, u, ti, f := SimpleLower(c.r), SimpleUpper(c.r), SimpleTitle(c.r), SimpleFold(c.r); l != c.lower || u != c.upper || ti != c.title || f != c.fold {
			t.Errorf("U+%04X: %04X %04X %04X %04X", c.r, l, u, ti, f)
		}
	}
	for _, r := range []rune{-1, 0x110000, invalidBase + 0xFF} {
		if CategoryOf(r) != Cn || SimpleLower(r) != r || Has(r, ^Property(0)) {
			t.Errorf("%#x has properties", r)
		}
	}
}

// FuzzCase: no text panics, and what comes out keeps the bound and the encoding.
func FuzzCase(tf *testing.F) {
	f := soak.New(tf)
	f.Add("\u03a3a\u0390\u0130\xff\xed\xa0\x80\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		for i, m := range []func(string) string{ToLower, ToUpper, ToTitle, Casefold, SwapCase, Capitalize} {
			out := m(s)
			if len(out) > CaseGrowth*len(s) || utf8.ValidString(s) && !utf8.ValidString(out) {
				t.Errorf("%d: %+q becomes %+q", i, s, out)
			}
		}
		for rest := s; rest != ""; {
			line, end := NextLine(rest)
			if end == 0 || line > end || end-line > 3 {
				t.Fatalf("%+q: line %d of %d", rest, line, end)
			}
			rest = rest[end:]
		}
		IsLower(s)
		IsUpper(s)
		IsTitle(s)
	})
}
