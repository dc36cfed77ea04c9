package attacks

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed testdata/*.txt
var files embed.FS

// Corpus returns all attacks, file by file in the order of their names.
func Corpus() ([]Attack, error) {
	entries, err := files.ReadDir("testdata")
	if err != nil {
		return nil, fmt.Errorf("corpus of attacks: %w", err)
	}
	var all []Attack
	for _, e := range entries {
		text, err := files.ReadFile("testdata/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("corpus of attacks: %w", err)
		}
		as, err := Parse(strings.TrimSuffix(e.Name(), ".txt"), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, as...)
	}
	return all, nil
}

// Attack is one hostile program.
type Attack struct {
	Name   string
	Want   Verdict
	Source string
}

// Verdict is how a program must end. Text is the last line of its output for
// Prints, the exception's class for Raises.
type Verdict struct {
	Kind Kind
	Text string
}

// Kind is one of the ways a program ends.
type Kind string

// The ways. Bounded is for programs whose end depends on the limits alone: any
// but Internal will do.
const (
	Prints  Kind = "prints"
	Raises  Kind = "raises"
	Cycles  Kind = "cycles" // out of them
	Memory  Kind = "memory" // beyond the heap's limit
	Refused Kind = "refused"
	Bounded Kind = "bounded"
)

// marker begins an attack: "#### name | kind text".
const marker = "#### "

// Parse reads a file of attacks.
func Parse(file, text string) ([]Attack, error) {
	var out []Attack
	for i, part := range strings.Split("\n"+text, "\n"+marker) {
		if i == 0 {
			if strings.TrimSpace(part) != "" {
				return nil, fmt.Errorf("%s: text before the first attack", file)
			}
			continue
		}
		head, source, _ := strings.Cut(part, "\n")
		name, want, ok := strings.Cut(head, " | ")
		kind, arg, _ := strings.Cut(want, " ")
		a := Attack{Name: file + "/" + name, Want: Verdict{Kind(kind), arg}, Source: source}
		switch a.Want.Kind {
		case Cycles, Memory, Refused, Bounded, Raises, Prints:
		default:
			ok = false
		}
		if !ok {
			return nil, fmt.Errorf("%s: bad head %q", file, head)
		}
		out = append(out, a)
	}
	return out, nil
}
