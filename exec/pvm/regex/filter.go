package regex

import "slices"

// walkMost bounds how far the search for first characters looks.
const walkMost = 32

// walker finds the characters with which a match from some instruction on can
// begin. Assertions are passed over: the answer may hold too much, never too
// little.
type walker struct {
	p    *Program
	todo []int32
	seen []int32
	out  first
}

// freeSteps is how far a walk looks for the price of the instruction that it is for;
// farther, each walkShare count for one more.
const (
	freeSteps = 8
	walkShare = 8
)

// firstOf returns false if anything, or nothing, can follow.
func (c *compiler) firstOf(pc int32) (first, bool) {
	w := &walker{p: c.p, todo: []int32{pc}}
	defer func() { c.walks += max(0, len(w.seen)-freeSteps) / walkShare }()
	// Bounded: by walkMost, 32 instructions for each branch and repeat, which the 22 cycles of its instruction and of its characters pay.
	for len(w.todo) > 0 {
		pc := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		// Bounded: by walkMost.
		if slices.Contains(w.seen, pc) {
			continue
		}
		w.seen = append(w.seen, pc)
		if len(w.seen) > walkMost || !w.step(pc) {
			return first{}, false
		}
	}
	return w.out, true
}

func (w *walker) add(u unit) {
	switch u.kind {
	case opChar:
		w.char(u.c)
	case opClass:
		// Bounded: by eight words.
		for i, bits := range u.class.low {
			w.out.low[i] |= bits
		}
		w.out.wide = w.out.wide || u.class.wide()
	default:
		// Bounded: by eight words.
		for i := range w.out.low {
			w.out.low[i] |= ^uint32(0)
		}
		w.out.wide = true
	}
}

func (w *walker) char(c rune) {
	if c < 256 {
		w.out.low[c>>5] |= 1 << (c & 31)
	} else {
		w.out.wide = true
	}
}

// step notes what one instruction takes, or where it goes on without.
func (w *walker) step(pc int32) bool {
	in := w.p.code[pc]
	switch in.op {
	case opChar:
		w.char(in.a)
	case opString:
		w.char(w.p.strings[in.a][0])
	case opAny, opAll:
		w.add(unit{kind: in.op})
	case opClass:
		w.add(unit{kind: opClass, class: w.p.classes[in.a]})
	case opRepeat, opRepeatLazy, opRepeatTight:
		r := &w.p.repeats[in.a]
		if r.max != 0 {
			w.add(r.unit)
		}
		if r.min == 0 {
			w.todo = append(w.todo, pc+1)
		}
	case opBranch:
		w.todo = append(w.todo, in.a, pc+1)
	case opJump:
		w.todo = append(w.todo, in.a)
	case opMark, opAt, opAtWord, opAtomic:
		w.todo = append(w.todo, pc+1)
	case opLoopInit:
		// From outside the first turn is sure; at the head itself it may be over.
		if l := w.p.loops[in.a]; l.min > 0 && l.solid {
			w.todo = append(w.todo, pc+2)
		} else {
			w.todo = append(w.todo, pc+1)
		}
	case opLoop, opLoopLazy, opLoopTight:
		w.todo = append(w.todo, in.b)
		if w.p.loops[in.a].max != 0 {
			w.todo = append(w.todo, pc+1)
		}
	case opCond:
		w.todo = append(w.todo, in.b, pc+1)
	case opLookNot:
		w.todo = append(w.todo, in.a)
	default:
		// A match, a reference or an assertion says nothing of what comes. The end
		// of an atomic part ends the walk too: what is inside is chosen without
		// regard to what follows.
		return false
	}
	return true
}

func (p *Program) addFirst(f first) int32 {
	p.firsts = append(p.firsts, f)
	return int32(len(p.firsts) - 1)
}

// filters finds what lets a run skip attempts that cannot match. It is a
// function of the program alone, so that steps are.
func (c *compiler) filters() {
	p := c.p
	// Paid: by the instruction that each is, in Program.Cost.
	for pc := range p.code {
		in := &p.code[pc]
		switch in.op {
		case opBranch:
			if f, ok := c.firstOf(int32(pc) + 1); ok {
				in.b = p.addFirst(f)
			}
		case opRepeat, opRepeatLazy:
			f, ok := c.firstOf(int32(pc) + 1)
			if !ok {
				continue
			}
			r := &p.repeats[in.a]
			if in.op == opRepeat && r.apart(p, &f) {
				in.op = opRepeatTight
				continue
			}
			r.next = p.addFirst(f)
		}
	}
	p.head()
	if f, ok := c.firstOf(0); ok {
		p.start = p.addFirst(f)
	}
}

// apart reports that nothing which follows begins with a character of the
// repeat: giving one back is then of no use.
func (r *repeat) apart(p *Program, f *first) bool {
	w := &walker{p: p}
	w.add(r.unit)
	if w.out.wide && f.wide {
		return false
	}
	// Bounded: by eight words.
	for i, bits := range w.out.low {
		if r.kind == opAny && i == 0 {
			bits &^= 1 << '\n'
		}
		if bits&f.low[i] != 0 {
			return false
		}
	}
	return true
}

// prefixMost is how much of a literal at the head a search looks for: a long one is
// read as a whole even where little of the subject is left to be paid for.
const prefixMost = 32

// head finds the literal or the place that every match begins with.
func (p *Program) head() {
	// Paid: by the instruction that each is, in Program.Cost.
	for _, in := range p.code {
		switch in.op {
		case opMark:
			continue
		case opAt:
			p.anchored = in.a == int32(atStart) && len(p.prefix) == 0
		case opChar:
			if in.a < 0x80 {
				if p.prefix = append(p.prefix, byte(in.a)); len(p.prefix) < prefixMost {
					continue
				}
			}
		case opString:
			s := p.strings[in.a]
			// Paid: by the characters of the pattern.
			i := slices.IndexFunc(s, func(c rune) bool { return c >= 0x80 })
			if i < 0 {
				i = len(s)
			}
			// Bounded: by prefixMost, 32.
			for _, c := range s[:min(i, prefixMost)] {
				p.prefix = append(p.prefix, byte(c))
			}
			if i == len(s) && len(p.prefix) < prefixMost {
				continue
			}
		}
		return
	}
}
