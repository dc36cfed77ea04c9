package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed operands.py
var operandText string

//go:embed operations.txt
var operationText string

// operand is a name that operations use, bound once outside the loop.
type operand struct {
	name, kind string
	needs      []string // other operands
	code       string
}

// operation is one statement of Python, of one or more lines.
type operation struct {
	group string
	code  string
}

// name is the operation as one word.
func (o operation) name() string {
	return strings.Join(strings.Fields(strings.ReplaceAll(o.code, "\n", ";")), "_")
}

// table is what is measured.
type table struct {
	operands map[string]operand
	order    []string // names of operands
	ops      []operation
}

var (
	words = regexp.MustCompile(`\b[A-Za-z_]\w*\b`)
	// neither attributes, nor texts without a prefix that reads names
	notNames = regexp.MustCompile(`[^f\pL]'(?:[^'\\\n]|\\.)*'|\.[A-Za-z_]\w*`)
)

// readTable reads the two files: operands as "#### name kind needs..." and code,
// operations one a line under "## group", with further lines indented.
func readTable() (*table, error) {
	t := &table{operands: map[string]operand{}}
	for i, part := range strings.Split("\n"+operandText, "\n#### ") {
		if i == 0 {
			continue
		}
		head, code, _ := strings.Cut(part, "\n")
		f := strings.Fields(head)
		if _, twice := t.operands[f[0]]; len(f) < 2 || twice {
			return nil, fmt.Errorf("operand %q: want a name that is new, and a kind", head)
		}
		t.operands[f[0]] = operand{f[0], f[1], f[2:], code}
		t.order = append(t.order, f[0])
	}
	group := ""
	for _, line := range strings.Split(operationText, "\n") {
		switch head, isGroup := strings.CutPrefix(line, "## "); {
		case isGroup:
			group = head
		case strings.HasPrefix(line, " "):
			t.ops[len(t.ops)-1].code += "\n" + strings.TrimPrefix(line, "    ")
		case line != "":
			t.ops = append(t.ops, operation{group, line})
		}
	}
	return t, nil
}

// uses lists the operands that code names, those they need first.
func (t *table) uses(names []string, seen map[string]bool) []string {
	var out []string
	for _, w := range names {
		if o, ok := t.operands[w]; ok && !seen[w] {
			seen[w] = true
			out = append(append(out, t.uses(o.needs, seen)...), w)
		}
	}
	return out
}

// namesIn are the identifiers of a body that may be operands.
func namesIn(body string) []string {
	return words.FindAllString(notNames.ReplaceAllString(body, " "), -1)
}

// program is the source whose function run(n) executes each body n times.
func (t *table) program(body string, copies int) string {
	var src strings.Builder
	names := t.uses(namesIn(body), map[string]bool{})
	for _, name := range names {
		src.WriteString(t.operands[name].code + "\n")
	}
	src.WriteString("def run(count_, ")
	for _, name := range names {
		fmt.Fprintf(&src, "%[1]s=%[1]s, ", name)
	}
	src.WriteString("):\n    for _ in range(count_):\n        pass\n")
	indented := "        " + strings.ReplaceAll(body, "\n", "\n        ") + "\n"
	src.WriteString(strings.Repeat(indented, copies))
	return src.String()
}
