package regex

// Where entries of the stack lead. The kind is above the instruction.
const (
	kBranch   = iota << 24 // at pc, from a
	kMark                  // pc: mark, a: what it was, b: what lastIndex was
	kLoop                  // pc: loop, b and c: what its registers were
	kLoopExit              // pc: opLoop; a: position, b and c: what its registers were
	kLoopLazy              // pc: opLoopLazy; a: position
	kRepeat                // pc: opRepeat; may give back from b down to a
	kLazy                  // pc: opRepeatLazy; a: position, b: how many more
	kBarrier               // pc: where to go if all above fail, 0 for nowhere; a: position, b: the barrier below

	kindMask = 0xff << 24
	pcMask   = 1<<24 - 1
)

// entryBytes is the modelled size of an entry.
const entryBytes = 16

// entry is undone or tried when what came after it has failed.
type entry struct {
	code    uint32
	a, b, c int32
}

// machine runs one program on characters of one size.
type machine[C byte | rune] struct {
	p          *Program
	text       []C
	end        int32
	whole      bool  // only a match up to end counts
	notEmptyAt int32 // an empty match here does not count; -1 for none
	lastIndex  int32 // the group closed last, 0 for none
	barrier    int32 // index of the newest barrier, -1 for none
	dirty      bool  // marks may be set
	marks      []int32
	loops      []int32 // per loop: turns taken, position of the last
	stack      []entry
	most       int // entries of the stack
	peak       int
	steps      int64
	err        error
}

// push reports false when the stack is full.
func (m *machine[C]) push(e entry) bool {
	if len(m.stack) >= m.most {
		m.err = ErrStack
		return false
	}
	m.stack = append(m.stack, e)
	return true
}

// spend charges n steps.
func (m *machine[C]) spend(n int) bool {
	if m.steps -= int64(n); m.steps < 0 {
		m.steps = 0
		m.err = ErrBudget
		return false
	}
	return true
}

// attempt runs the program from pos and returns where the match ends, or -1.
// Each instruction is a step; one that takes several characters, or looks at
// several, is as many more.
func (m *machine[C]) attempt(pos int32) int32 {
	p := m.p
	code, pc := p.code, int32(0)
	// Paid: by a step each round, which budgetFor in lib gives out of the cycles left.
	for {
		if m.steps <= 0 {
			m.err = ErrBudget
			return -1
		}
		m.steps--
		in := &code[pc]
		ok := false
		switch in.op {
		case opChar:
			ok = pos < m.end && rune(m.text[pos]) == in.a
			pos++
		case opClass:
			ok = pos < m.end && p.classes[in.a].has(rune(m.text[pos]))
			pos++
		case opAny:
			ok = pos < m.end && m.text[pos] != '\n'
			pos++
		case opAll:
			ok = pos < m.end
			pos++
		case opMark:
			ok = m.mark(in.a, pos)
		case opJump:
			pc = in.a
			continue
		case opBranch:
			if in.b < 0 || pos < m.end && p.firsts[in.b].has(rune(m.text[pos])) {
				ok = m.push(entry{kBranch | uint32(in.a), pos, 0, 0})
				break
			}
			pc = in.a
			continue
		case opRepeat, opRepeatTight:
			pos, ok = m.repeat(in, pc, pos)
		case opLoop:
			if next := m.loop(in, pc, pos); next > 0 {
				pc = next
				continue
			}
		case opMatch:
			if !(m.whole && pos != m.end || pos == m.notEmptyAt) {
				return pos
			}
		default:
			var next int32
			if next, pos = m.rare(in, pc, pos); next > 0 {
				pc = next
				continue
			}
		}
		if ok {
			pc++
			continue
		}
		if m.err != nil {
			return -1
		}
		if pc, pos = m.back(); pc <= 0 {
			return -1
		}
	}
}

// mark sets a mark. With nothing to go back to there is nothing to undo.
func (m *machine[C]) mark(i, pos int32) bool {
	if len(m.stack) > 0 && !m.push(entry{kMark | uint32(i), m.marks[i], m.lastIndex, 0}) {
		return false
	}
	m.dirty = true
	m.marks[i] = pos
	if i&1 != 0 {
		m.lastIndex = i / 2
	}
	return true
}

// repeat takes as many characters as it can.
func (m *machine[C]) repeat(in *inst, pc, pos int32) (int32, bool) {
	r := &m.p.repeats[in.a]
	limit := m.end
	if r.max >= 0 && r.max < m.end-pos {
		limit = pos + r.max
	}
	if pos > limit { // a run that began after its end: CPython fails here too
		return pos, false
	}
	to := m.run(&r.unit, pos, limit)
	if m.err != nil || to-pos < r.min {
		return pos, false
	}
	if in.op == opRepeatTight || to-pos == r.min {
		return to, true
	}
	return m.give(r, pc, pos+r.min, to)
}

// give goes to the last place from hi down to lo where what follows can begin,
// and leaves the places below to be tried later.
func (m *machine[C]) give(r *repeat, pc, lo, hi int32) (int32, bool) {
	if r.next >= 0 {
		next, from := &m.p.firsts[r.next], hi
		if hi == m.end {
			hi--
		}
		// Paid: by the steps spent below; what is looked at was run over before, and is looked at once.
		for hi >= lo && !next.has(rune(m.text[hi])) {
			hi--
		}
		if !m.spend(int(from - max(hi, lo))) {
			return 0, false
		}
	}
	if hi < lo {
		return 0, false
	}
	if hi > lo && !m.push(entry{kRepeat | uint32(pc), lo, hi, 0}) {
		return 0, false
	}
	return hi, true
}

// run returns where the characters of a unit end, at limit at the latest. It
// spends a step for each, and looks at no more than it can pay for.
func (m *machine[C]) run(u *unit, pos, limit int32) int32 {
	most := limit
	if m.steps < int64(limit-pos) {
		most = pos + int32(m.steps)
	}
	s := m.text[pos:most]
	i := len(s)
	switch u.kind {
	case opAny:
		i = runUntil(s, '\n')
	case opChar:
		i = 0
		// Paid: by the steps taken away below; s is no longer than there are steps.
		for i < len(s) && rune(s[i]) == u.c {
			i++
		}
	case opClass:
		i = runClass(s, u.class)
	}
	to := pos + int32(i)
	m.steps -= int64(to - pos)
	if to == most && most < limit {
		m.err = ErrBudget
	}
	return to
}

func runUntil[C byte | rune](s []C, stop C) int {
	// Paid: by the caller, a step each; s is no longer than there are steps.
	for i, c := range s {
		if c == stop {
			return i
		}
	}
	return len(s)
}

func runClass[C byte | rune](s []C, class *class) int {
	low := &class.low
	// Paid: likewise.
	for i, c := range s {
		if r := uint32(c); r < 256 {
			if low[r>>5]>>(r&31)&1 == 0 {
				return i
			}
		} else if !class.high(rune(r)) {
			return i
		}
	}
	return len(s)
}

// loop decides at the head of a greedy loop. It returns where to go on, or 0.
func (m *machine[C]) loop(in *inst, pc, pos int32) int32 {
	l, reg := &m.p.loops[in.a], m.loops[2*in.a:2*in.a+2]
	e := entry{kLoop | uint32(in.a), pos, reg[0], reg[1]}
	switch {
	case reg[0] < l.min:
		if len(m.stack) > 0 && !m.push(e) {
			return 0
		}
	case (l.max < 0 || reg[0] < l.max) && pos != reg[1]:
		e.code = kLoopExit | uint32(pc)
		if !m.push(e) {
			return 0
		}
		reg[1] = pos
	default:
		return in.b
	}
	reg[0]++
	return pc + 1
}

// back undoes and tries entries until one leads somewhere.
func (m *machine[C]) back() (pc, pos int32) {
	m.peak = max(m.peak, len(m.stack))
	// Paid: by the step that pushed each entry.
	for len(m.stack) > 0 {
		top := len(m.stack) - 1
		e := m.stack[top]
		m.stack = m.stack[:top]
		pc := int32(e.code & pcMask)
		switch e.code & kindMask {
		case kBranch:
			return pc, e.a
		case kMark:
			m.marks[pc] = e.a
			m.lastIndex = e.b
		case kLoop:
			m.loops[2*pc], m.loops[2*pc+1] = e.b, e.c
		case kLoopExit:
			in := &m.p.code[pc]
			m.loops[2*in.a], m.loops[2*in.a+1] = e.b, e.c
			return in.b, e.a
		case kRepeat:
			if pos, ok := m.give(&m.p.repeats[m.p.code[pc].a], pc, e.a, e.b-1); ok {
				return pc + 1, pos
			}
		case kLazy:
			if pos, ok := m.more(pc, e.a, e.b); ok {
				return pc + 1, pos
			}
		case kLoopLazy:
			if next := m.again(pc, e.a); next > 0 {
				return next, e.a
			}
		case kBarrier:
			m.barrier = e.b
			if pc > 0 {
				return pc, e.a
			}
		}
		if m.err != nil {
			break
		}
	}
	return -1, 0
}
