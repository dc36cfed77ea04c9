package vm

import "strings"

// Lines of a traceback that repeat are folded, as CPython does from the fourth on.
const traceRepeats = 3

// groupWidth and groupDepth bound how much of an exception group is printed.
const (
	groupWidth = 15
	groupDepth = 10
)

// What is printed at most: nobody pays for the text, and one string may be in it any number of
// times.
const (
	textMost = 64 << 10 // bytes, and a line
	partMost = 8 << 10  // bytes of one string
)

// TracebackText is the exception as Python prints one that nobody caught: what
// led to it first, and 64 KiB at most. Source lines are not known here.
func (m *Machine) TracebackText(e *Exception) string {
	p := &tracePrinter{m: m, seen: map[*Exception]bool{}}
	if p.chain(e); p.full() {
		p.out.WriteString("... (this is longer than what is printed)\n" + shortened(p.headline(e)) + "\n")
	}
	return p.out.String()
}

type tracePrinter struct {
	m      *Machine
	out    strings.Builder
	indent string
	margin string // before each line within a group
	depth  int
	open   bool                // the last member of a group has no line below it yet
	seen   map[*Exception]bool // looked up, never iterated
}

func (p *tracePrinter) full() bool { return p.out.Len() >= textMost }

func (p *tracePrinter) line(text string) {
	if p.full() {
		return
	}
	text = shortened(text)
	// Bounded: by partMost; no block makes this text (Brief).
	for _, l := range strings.Split(text, "\n") {
		p.out.WriteString(p.indent + p.margin + l + "\n")
	}
}

// shortened ends a string that is long.
func shortened(text string) string {
	if len(text) > partMost {
		// Bounded: by partMost.
		text = strings.ToValidUTF8(text[:partMost], "") + "..."
	}
	return text
}

// chain prints the exceptions behind e, then e.
func (p *tracePrinter) chain(e *Exception) {
	p.seen[e] = true
	var links []*Exception
	var joints []string
	// Bounded: by what is to be explained to who asks; no block makes this text (Brief).
	for cur := e; ; {
		next, joint := p.behind(cur)
		if next == nil || p.seen[next] {
			break
		}
		p.seen[next] = true
		links, joints = append(links, next), append(joints, joint)
		cur = next
	}
	// Bounded: by what is to be explained to who asks; no block makes this text (Brief).
	for i := len(links) - 1; i >= 0 && !p.full(); i-- {
		p.one(links[i])
		p.line("")
		p.line(joints[i])
		p.line("")
	}
	p.one(e)
}

// behind is the cause or context that is printed before e.
func (p *tracePrinter) behind(e *Exception) (*Exception, string) {
	if c, ok := e.cause.exception(); ok {
		return c, "The above exception was the direct cause of the following exception:"
	}
	if c, ok := e.context.exception(); ok && !e.suppress {
		return c, "During handling of the above exception, another exception occurred:"
	}
	return nil, ""
}

// one prints a single exception or group.
func (p *tracePrinter) one(e *Exception) {
	if p.full() {
		return
	}
	if len(e.group) > 0 {
		p.grouped(e)
		return
	}
	if len(e.trace) > 0 {
		p.line("Traceback (most recent call last):")
		p.entries(e.trace)
	}
	p.final(e)
}

func (p *tracePrinter) entries(trace []TraceEntry) {
	repeats := 0
	var last TraceEntry
	// Bounded: by what is to be explained to who asks; no block makes this text (Brief).
	for i := len(trace) - 1; i >= 0 && !p.full(); i-- {
		t := trace[i]
		if t != last {
			p.repeated(repeats)
			last, repeats = t, 0
		}
		repeats++
		if repeats <= traceRepeats {
			p.line("  File \"" + t.Code.File + "\", line " + decimalText(int(t.Line)) + ", in " + t.Code.Name)
		}
	}
	p.repeated(repeats)
}

func (p *tracePrinter) repeated(n int) {
	if n -= traceRepeats; n > 0 {
		p.line("  [Previous line repeated " + decimalText(n) + " more time" + plural(n) + "]")
	}
}

// headline is the line of the exception itself.
func (p *tracePrinter) headline(e *Exception) string {
	name := e.class.qualName
	if e.class.module != "builtins" && e.class.module != "__main__" {
		name = e.class.module + "." + name
	}
	s, err := p.m.Str(e.val())
	switch {
	case err != nil:
		return name + ": <exception str() failed>"
	case s.s == "":
		return name
	}
	return name + ": " + s.s
}

// final prints the line of the exception itself, and its notes.
func (p *tracePrinter) final(e *Exception) {
	p.line(p.headline(e))
	notes, ok, err := p.m.LookupAttr(e.val(), p.m.intern("__notes__"))
	if err != nil || !ok {
		return
	}
	items, _ := notes.Items()
	// Bounded: by what is to be explained to who asks; no block makes this text (Brief).
	for _, note := range items {
		if p.full() {
			return
		}
		if s, err := p.m.Str(note); err == nil {
			p.line(s.s)
		}
	}
}

// grouped prints an exception group as a tree.
func (p *tracePrinter) grouped(e *Exception) {
	indent, margin := p.indent, p.margin
	if p.depth == 0 {
		p.indent = "  "
		if len(e.trace) > 0 {
			p.out.WriteString(p.indent + "+ Exception Group Traceback (most recent call last):\n")
		}
		p.margin = "| "
	} else if len(e.trace) > 0 {
		p.line("Exception Group Traceback (most recent call last):")
	}
	p.entries(e.trace)
	p.final(e)
	if p.depth < groupDepth {
		p.members(e)
	} else {
		p.line("... (max_group_depth is " + decimalText(groupDepth) + ")")
	}
	p.indent, p.margin = indent, margin
}

func (p *tracePrinter) members(e *Exception) {
	base := p.indent
	n := min(len(e.group), groupWidth)
	left := len(e.group) - n
	// Bounded: by groupWidth, 15.
	for i, v := range e.group[:n] {
		if p.full() {
			break
		}
		p.open = p.open || i == len(e.group)-1
		p.rule(base, i, decimalText(i+1))
		p.member(v, base)
	}
	if left > 0 {
		p.open = true
		p.rule(base, n, "...")
		p.indent, p.margin = base+"  ", "| "
		p.line("and " + decimalText(left) + " more exception" + plural(left))
	}
	if p.open {
		p.out.WriteString(base + "  +------------------------------------\n")
		p.open = false
	}
	p.indent = base
}

// rule is the line above a member.
func (p *tracePrinter) rule(base string, i int, title string) {
	start := "  "
	if i == 0 {
		start = "+-"
	}
	p.out.WriteString(base + start + "+---------------- " + title + " ----------------\n")
}

func (p *tracePrinter) member(v Value, base string) {
	sub, ok := v.exception()
	if !ok {
		return
	}
	p.indent, p.margin = base+"  ", "| "
	p.depth++
	p.chain(sub)
	p.depth--
	p.indent = base
}
