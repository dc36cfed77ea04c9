package vm

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFilesHaveAGroup holds the table of file groups in doc.go to the folder: every file
// is in one group, every word of the table is the first of a file's name, and the file
// that a group begins with tells what the group is.
func TestFilesHaveAGroup(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "// # Files\n")
	table, _, _ = strings.Cut(table, "\n// # ")
	words, firsts := map[string]bool{}, []string{}
	for line := range strings.Lines(table) {
		row := strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(row, "//\t") || len(row) < 17 {
			continue
		}
		group, files := strings.TrimSpace(row[3:16]), row[16:min(44, len(row))]
		for i, word := range regexp.MustCompile(`[a-z]+`).FindAllString(files, -1) {
			if words[word] {
				t.Errorf("%q is in two groups", word)
			}
			words[word] = true
			if group != "" && i == 0 {
				firsts = append(firsts, word)
			}
		}
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{} // word: its first file
	for _, name := range names {
		if name == "doc.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		word, _, _ := strings.Cut(strings.TrimSuffix(name, ".go"), "_")
		if !words[word] {
			t.Errorf("%s is in no group of the table in doc.go", name)
		}
		if found[word] == "" || len(name) < len(found[word]) {
			found[word] = name
		}
	}
	for word := range words {
		if found[word] == "" {
			t.Errorf("no file's name begins with %q", word)
		}
	}
	if len(firsts) < 10 {
		t.Fatalf("the table has %d groups", len(firsts))
	}
	for _, word := range firsts {
		if !slices.ContainsFunc(names, func(name string) bool { return tellsItsGroup(t, name, word) }) {
			t.Errorf("no file of %q begins with an account of its group", word)
		}
	}
}

// tellsItsGroup tells whether a file of the word begins with a comment of its own, which
// documents no declaration.
func tellsItsGroup(t *testing.T, name, word string) bool {
	first, _, _ := strings.Cut(strings.TrimSuffix(name, ".go"), "_")
	if first != word || strings.HasSuffix(name, "_test.go") {
		return false
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m:^)package vm\n\n(// .*\n)+\n`).Match(text)
}
