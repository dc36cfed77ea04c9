package attacks_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// grammar is what programs of TestEvolve are made of: forms by the letter of their kind.
// A form is text with holes, "$" and the kind that stands there.
type grammar struct {
	forms map[byte][]*form
}

type form struct {
	kind  byte
	parts []string // one more than holes
	holes []byte
}

// part is a form with its holes filled.
type part struct {
	*form
	kids []*part
}

// evolveDepth is how deep a new part may be; evolveParts how many a program may have.
const (
	evolveDepth = 5
	evolveParts = 220
)

func readGrammar(t *testing.T, files ...string) *grammar {
	t.Helper()
	text := ""
	for _, file := range files {
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += "\n" + string(part)
	}
	g := &grammar{forms: map[byte][]*form{}}
	sections := strings.Split(text, "\n=")
	for _, section := range sections[1:] {
		head, body, _ := strings.Cut(strings.TrimRight(section, "\n"), "\n")
		kind, between := head[len(head)-1], "\n"
		if head[0] == '=' {
			between = "\n--\n"
		}
		for _, line := range strings.Split(body, between) {
			g.forms[kind] = append(g.forms[kind], newForm(kind, line))
		}
	}
	if len(g.forms) < 10 {
		t.Fatalf("%s: %d kinds", files, len(g.forms))
	}
	return g
}

func newForm(kind byte, text string) *form {
	f := &form{kind: kind}
	start := 0
	for i := 0; i+1 < len(text); i++ {
		switch {
		case text[i] != '$':
		case text[i+1] == '$':
			text = text[:i] + text[i+1:]
		default:
			f.parts = append(f.parts, text[start:i])
			f.holes = append(f.holes, text[i+1])
			start = i + 2
			i++
		}
	}
	f.parts = append(f.parts, text[start:])
	return f
}

// words makes a kind of words.
func (g *grammar) words(kind byte, words []string) {
	for _, w := range words {
		g.forms[kind] = append(g.forms[kind], &form{kind: kind, parts: []string{w}})
	}
}

// grow makes a part of a kind, of few levels.
func (g *grammar) grow(rng *rand.Rand, kind byte, depth int) *part {
	forms := g.forms[kind]
	f := forms[rng.IntN(len(forms))]
	if kind == 'B' && depth > 2 {
		f = forms[0]
	}
	for try := 0; depth >= evolveDepth && len(f.holes) > 0 && try < 12; try++ {
		switch {
		case kind == 'S' && try > 6:
			return g.grow(rng, 'E', depth)
		case kind == 'E' && try > 6:
			return g.grow(rng, 'D', depth)
		}
		f = forms[rng.IntN(len(forms))]
	}
	return g.fill(rng, f, depth)
}

func (g *grammar) fill(rng *rand.Rand, f *form, depth int) *part {
	p := &part{form: f}
	for _, kind := range f.holes {
		p.kids = append(p.kids, g.grow(rng, kind, depth+1))
	}
	return p
}

// text writes a part; the lines of a hole are indented as its own.
func (p *part) text(b *strings.Builder) {
	for i, kid := range p.kids {
		b.WriteString(p.parts[i])
		so := b.String()
		line := so[strings.LastIndexByte(so, '\n')+1:]
		margin := line[:len(line)-len(strings.TrimLeft(line, " "))]
		var inner strings.Builder
		kid.text(&inner)
		b.WriteString(strings.ReplaceAll(inner.String(), "\n", "\n"+margin))
	}
	b.WriteString(p.parts[len(p.parts)-1])
}

func (p *part) String() string {
	var b strings.Builder
	p.text(&b)
	return b.String()
}

// walk visits a part and all below it with their places.
func walk(place **part, visit func(**part)) {
	visit(place)
	p := *place
	for i := range p.kids {
		walk(&p.kids[i], visit)
	}
}

func (p *part) clone() *part {
	c := &part{form: p.form, kids: make([]*part, len(p.kids))}
	for i, k := range p.kids {
		c.kids[i] = k.clone()
	}
	return c
}

func (p *part) size() int {
	n := 1
	for _, k := range p.kids {
		n += k.size()
	}
	return n
}

// mutate returns a program with one to four changes; other is where parts come from.
func (g *grammar) mutate(rng *rand.Rand, p, other *part) *part {
	p = p.clone()
	for range 1 + rng.IntN(4) {
		g.change(rng, &p, other)
	}
	if p.size() > evolveParts {
		return g.fill(rng, p.form, 0)
	}
	return p
}

func (g *grammar) change(rng *rand.Rand, root **part, other *part) {
	var places []**part
	walk(root, func(at **part) { places = append(places, at) })
	if (*root).kind == 'R' {
		places = places[1:]
	}
	at := places[rng.IntN(len(places))]
	old := *at
	switch rng.IntN(6) {
	case 0: // a new part
		*at = g.grow(rng, old.kind, 2+rng.IntN(evolveDepth-1))
	case 1: // one of another program
		*at = pick(rng, other, old.kind, old).clone()
	case 2: // a part of itself
		*at = pick(rng, old, old.kind, old)
	case 3: // within another form
		forms := g.forms[old.kind]
		p := g.fill(rng, forms[rng.IntN(len(forms))], evolveDepth-1)
		for i, kind := range p.holes {
			if kind == old.kind {
				p.kids[i] = old
				*at = p
				break
			}
		}
	case 4: // the same parts in another form
		forms := g.forms[old.kind]
		for range 20 {
			if f := forms[rng.IntN(len(forms))]; string(f.holes) == string(old.holes) {
				*at = &part{form: f, kids: old.kids}
				break
			}
		}
	default: // two parts of one kind change places
		with := places[rng.IntN(len(places))]
		if q := *with; q.kind == old.kind {
			*at = q.clone()
		}
	}
}

// pick chooses a part of a kind at or below p.
func pick(rng *rand.Rand, p *part, kind byte, none *part) *part {
	chosen, n := none, 0
	walk(&p, func(at **part) {
		if (*at).kind == kind {
			if n++; rng.IntN(n) == 0 {
				chosen = *at
			}
		}
	})
	return chosen
}
