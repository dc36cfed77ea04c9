package cowboy_test

import (
	"flag"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var rewriteMap = flag.Bool("rewrite", false, "write docs/spec-map.md from the markers in the code")

const specMapFile = "docs/spec-map.md"

// specMarker stands at the top of a file: sections of a text that are done there.
const specMarker = "//spec:implements "

// specTexts are the texts by the names that markers and doc comments use, with their
// headings in docs/coverage.md; those without one are not ours to cover.
var specTexts = map[string]string{
	"whitepaper": "Whitepaper, second part", "CIP-2": "CIP-2, the revision in force", "CIP-11": "CIP-11", "entitlements": "Entitlements",
	"restored": "Restored definitions", "resolutions": "Resolutions", "CIP-20": "", "neighbours": "",
}

// specCitation matches a reference as doc comments write it: the text's name and one or
// more sections.
var specCitation = regexp.MustCompile(`\b(CIP-2|CIP-11|CIP-20|whitepaper|entitlements|RFC \d{4}|FIPS \d{3}|[Rr]esolutions?|neighbours) (§§?)?(\d+(?:\.\d+)*[a-z]?)((?:(?:, | and |-)§?\d+(?:\.\d+)*[a-z]?)*)`)

var (
	sectionNumber = regexp.MustCompile(`\d+(?:\.\d+)*[a-z]?`)
	sectionList   = regexp.MustCompile(`^\d[\dA-Z.]*(?:-\d[\d.]*)?(?:, \d[\dA-Z.]*(?:-\d[\d.]*)?)*`)
)

// places are files by text and section.
type places map[string]map[string][]string

func (p places) add(text, section, file string) {
	if p[text] == nil {
		p[text] = map[string][]string{}
	}
	if !slices.Contains(p[text][section], file) {
		p[text][section] = append(p[text][section], file)
	}
}

// TestSpecMap holds the markers in the code to docs/coverage.md: a section that is built,
// or in part, is marked where it is done, and nothing else is. The map itself is written
// by `make spec-map`, for a release: no change has to renew it.
func TestSpecMap(t *testing.T) {
	implements, cites := specPlaces(t)
	rows := coveredSections(t)
	for text, sections := range implements {
		for section, files := range sections {
			if specTexts[text] != "" && !slices.ContainsFunc(rows[text], func(row []string) bool { return slices.Contains(row, section) }) {
				t.Errorf("%v say that they implement %s %s; docs/coverage.md has no row of it that is built or partly built", files, text, section)
			}
		}
	}
	for text, list := range rows {
		for _, row := range list {
			if !slices.ContainsFunc(row, func(section string) bool { return len(implements[text][section]) > 0 }) {
				t.Errorf("docs/coverage.md has %s %v as built or partly built; no file says %s%s", text, row, specMarker, text)
			}
		}
	}
	if *rewriteMap {
		if err := os.WriteFile(specMapFile, []byte(renderSpecMap(implements, cites)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// specPlaces returns what files say that they implement, and what doc comments cite.
func specPlaces(t *testing.T) (implements, cites places) {
	t.Helper()
	implements, cites = places{}, places{}
	for _, f := range parseModule(t) {
		if f.gen {
			continue
		}
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if rest, ok := strings.CutPrefix(c.Text, specMarker); ok {
					addMarker(t, implements, rest, f.path)
				}
			}
		}
		if f.test {
			continue
		}
		cite := func(doc *ast.CommentGroup) { addCitations(cites, strings.ReplaceAll(doc.Text(), "\n", " "), f.path) }
		cite(f.ast.Doc)
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				cite(d.Doc)
			case *ast.GenDecl:
				cite(d.Doc)
			}
		}
	}
	return implements, cites
}

func addMarker(t *testing.T, to places, rest, file string) {
	t.Helper()
	text, list, _ := strings.Cut(rest, " ")
	if _, known := specTexts[text]; !known || sectionList.FindString(list) != list || list == "" {
		t.Errorf("%s: %s%s names no sections of a text", file, specMarker, rest)
		return
	}
	for _, section := range expandSections(list) {
		to.add(text, section, file)
	}
}

func addCitations(to places, comment, file string) {
	for _, m := range specCitation.FindAllStringSubmatch(comment, -1) {
		text := m[1]
		if strings.HasPrefix(strings.ToLower(text), "resolution") {
			text = "resolutions"
		}
		for _, section := range append([]string{m[3]}, sectionNumber.FindAllString(m[4], -1)...) {
			to.add(text, section, file)
		}
	}
}

// expandSections turns "8.1-8.3, 9" into 8.1, 8.2, 8.3 and 9.
func expandSections(list string) (out []string) {
	for item := range strings.SplitSeq(list, ", ") {
		from, to, isRange := strings.Cut(item, "-")
		out = append(out, from)
		dot := strings.LastIndex(from, ".") + 1
		first, _ := strconv.Atoi(from[dot:])
		last, _ := strconv.Atoi(to[strings.LastIndex(to, ".")+1:])
		for n := first + 1; isRange && n <= last; n++ {
			out = append(out, from[:dot]+strconv.Itoa(n))
		}
	}
	return out
}

// coveredSections returns the rows of docs/coverage.md that are built or partly built.
func coveredSections(t *testing.T) map[string][][]string {
	t.Helper()
	raw, err := os.ReadFile("docs/coverage.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][][]string{}
	text := ""
	for line := range strings.SplitSeq(string(raw), "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			text = ""
			for name, of := range specTexts {
				if of == heading {
					text = name
				}
			}
		}
		cells := strings.Split(line, " | ")
		if text == "" || len(cells) < 2 || cells[1] != "built" && cells[1] != "partly" {
			continue
		}
		var row []string
		for clause := range strings.SplitSeq(strings.TrimPrefix(cells[0], "| "), "; ") {
			if list := sectionList.FindString(clause); list != "" {
				row = append(row, expandSections(list)...)
			}
		}
		if len(row) > 0 {
			out[text] = append(out[text], row)
		}
	}
	if len(out) < 5 {
		t.Fatalf("docs/coverage.md has rows of %d texts", len(out))
	}
	return out
}

func renderSpecMap(implements, cites places) string {
	var out strings.Builder
	out.WriteString("# Which section of the specification is where\n\nWritten by `make spec-map` at a release: a file *implements* a section that a marker at its top names (`//spec:implements`, held to [coverage.md](coverage.md) by a test), and *cites* one that a doc comment of it names.\n")
	texts := map[string]bool{}
	for text := range implements {
		texts[text] = true
	}
	for text := range cites {
		texts[text] = true
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&out, "\n## %s\n\n| section | implemented in | cited in |\n|---|---|---|\n", text)
		sections := slices.Collect(maps.Keys(implements[text]))
		for s := range cites[text] {
			if len(implements[text][s]) == 0 {
				sections = append(sections, s)
			}
		}
		slices.SortFunc(sections, compareSections)
		for _, s := range sections {
			done, named := implements[text][s], cites[text][s]
			named = slices.DeleteFunc(named, func(file string) bool { return slices.Contains(done, file) })
			slices.Sort(done)
			slices.Sort(named)
			fmt.Fprintf(&out, "| %s | %s | %s |\n", s, strings.Join(done, ", "), strings.Join(named, ", "))
		}
	}
	return out.String()
}

// compareSections orders 2.9 before 2.10.
func compareSections(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		if len(as[i]) != len(bs[i]) {
			return len(as[i]) - len(bs[i])
		}
		if c := strings.Compare(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return len(as) - len(bs)
}
