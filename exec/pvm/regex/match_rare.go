package regex

import "github.com/cowboy-foundation/cowboy/exec/pvm/ucd"

// rare carries out the instructions that the main loop leaves out. It returns
// where to go on, or 0 to fail.
func (m *machine[C]) rare(in *inst, pc, pos int32) (next, at int32) {
	ok := false
	switch in.op {
	case opString:
		s := m.p.strings[in.a]
		ok = m.literal(s, pos)
		pos += int32(len(s))
	case opRepeatLazy:
		pos, ok = m.few(in, pc, pos)
	case opLoopInit:
		ok = m.enterLoop(in.a)
	case opLoopLazy:
		return m.lazy(in, pc, pos), pos
	case opLoopTight:
		return m.tight(in, pc, pos), pos
	case opTightEnd:
		m.close()
		return in.a, pos
	case opAtomic:
		ok = m.openGroup(0, pos)
	case opAtomicEnd:
		m.close()
		ok = m.err == nil
	case opLook, opLookNot:
		if pos < in.b {
			if in.op == opLookNot {
				return in.a, pos
			}
			break
		}
		ok = m.openGroup(in.a, pos)
		pos -= in.b
	case opLookEnd:
		pos = m.close()
		ok = m.err == nil
	case opLookNotEnd:
		m.discardToBarrier()
	case opBackref:
		pos, ok = m.backref(in, pos)
	case opCond:
		if from, to := m.marks[2*in.a], m.marks[2*in.a+1]; from < 0 || to < from { // unset, or open again
			return in.b, pos
		}
		ok = true
	case opAt:
		ok = m.place(in, pos)
	case opAtWord:
		ok = m.boundary(in, pos)
	}
	if ok {
		return pc + 1, pos
	}
	return 0, pos
}

func (m *machine[C]) literal(s []rune, pos int32) bool {
	if int(m.end-pos) < len(s) || !m.spend(len(s)) {
		return false
	}
	// Paid: by the steps spent above.
	for i, c := range m.text[pos:][:len(s)] {
		if rune(c) != s[i] {
			return false
		}
	}
	return true
}

// few takes the least that a lazy repeat must.
func (m *machine[C]) few(in *inst, pc, pos int32) (int32, bool) {
	r := &m.p.repeats[in.a]
	if m.end-pos < r.min {
		return 0, false
	}
	if r.min > 0 {
		to := m.run(&r.unit, pos, pos+r.min)
		if m.err != nil || to-pos < r.min {
			return 0, false
		}
		pos = to
	}
	left := int32(maxSubject)
	if r.max >= 0 {
		left = r.max - r.min
	}
	if left == 0 || m.starts(r, pos) {
		return pos, left == 0 || m.push(entry{kLazy | uint32(pc), pos, left, 0})
	}
	return m.more(pc, pos, left)
}

// starts reports whether what follows a repeat may begin at pos.
func (m *machine[C]) starts(r *repeat, pos int32) bool {
	return r.next < 0 || pos < m.end && m.p.firsts[r.next].has(rune(m.text[pos]))
}

// more takes at least one more character, as many as it needs to come to where
// what follows can begin.
func (m *machine[C]) more(pc, pos, left int32) (int32, bool) {
	r := &m.p.repeats[m.p.code[pc].a]
	for left > 0 && pos < m.end && r.takes(rune(m.text[pos])) {
		if !m.spend(1) {
			return 0, false
		}
		pos++
		left--
		if m.starts(r, pos) {
			return pos, left == 0 || m.push(entry{kLazy | uint32(pc), pos, left, 0})
		}
	}
	return 0, false
}

func (u *unit) takes(c rune) bool {
	switch u.kind {
	case opChar:
		return c == u.c
	case opAny:
		return c != '\n'
	case opClass:
		return u.class.has(c)
	}
	return true
}

// enterLoop clears the registers of a loop; inside another they are needed again.
func (m *machine[C]) enterLoop(id int32) bool {
	reg := m.loops[2*id : 2*id+2]
	if m.p.loops[id].nested && len(m.stack) > 0 && !m.push(entry{kLoop | uint32(id), 0, reg[0], reg[1]}) {
		return false
	}
	reg[0], reg[1] = 0, -1
	return true
}

// lazy decides at the head of a lazy loop: what follows comes first.
func (m *machine[C]) lazy(in *inst, pc, pos int32) int32 {
	if reg := m.loops[2*in.a : 2*in.a+2]; reg[0] < m.p.loops[in.a].min {
		if !m.push(entry{kLoop | uint32(in.a), pos, reg[0], reg[1]}) {
			return 0
		}
		reg[0]++
		return pc + 1
	}
	if !m.push(entry{kLoopLazy | uint32(pc), pos, 0, 0}) {
		return 0
	}
	return in.b
}

// again takes another turn of a lazy loop after what follows has failed.
func (m *machine[C]) again(pc, pos int32) int32 {
	in := &m.p.code[pc]
	l, reg := &m.p.loops[in.a], m.loops[2*in.a:2*in.a+2]
	if l.max >= 0 && reg[0] >= l.max || pos == reg[1] {
		return 0
	}
	if !m.push(entry{kLoop | uint32(in.a), pos, reg[0], reg[1]}) {
		return 0
	}
	reg[0]++
	reg[1] = pos
	return pc + 1
}

// tight decides at the head of a possessive loop, each turn of which is atomic.
func (m *machine[C]) tight(in *inst, pc, pos int32) int32 {
	l, reg := &m.p.loops[in.a], m.loops[2*in.a:2*in.a+2]
	var exit int32
	if reg[0] >= l.min {
		if l.max >= 0 && reg[0] >= l.max || pos == reg[1] {
			return in.b
		}
		exit = in.b
	}
	if len(m.stack) > 0 && !m.push(entry{kLoop | uint32(in.a), pos, reg[0], reg[1]}) {
		return 0
	}
	if !m.openGroup(exit, pos) {
		return 0
	}
	reg[0]++
	reg[1] = pos
	return pc + 1
}

// openGroup sets a barrier: everything above it is forgotten when it closes.
func (m *machine[C]) openGroup(exit, pos int32) bool {
	at := int32(len(m.stack))
	if !m.push(entry{kBarrier | uint32(exit), pos, m.barrier, 0}) {
		return false
	}
	m.barrier = at
	return true
}

// close forgets what could be tried above the newest barrier, keeps what must
// be undone, and returns the position at the barrier.
func (m *machine[C]) close() int32 {
	m.peak = max(m.peak, len(m.stack))
	at := m.barrier
	wall := m.stack[at]
	keep := m.stack[:at]
	if !m.spend(len(m.stack) - int(at) - 1) {
		return 0
	}
	// Paid: by the steps spent above.
	for _, e := range m.stack[at+1:] {
		switch e.code & kindMask {
		case kLoopExit:
			e.code = kLoop | uint32(m.p.code[e.code&pcMask].a)
			keep = append(keep, e)
		case kMark, kLoop:
			keep = append(keep, e)
		}
	}
	m.stack = keep
	m.barrier = wall.b
	return wall.a
}

// discardToBarrier undoes everything above the newest barrier, and the barrier.
func (m *machine[C]) discardToBarrier() {
	m.peak = max(m.peak, len(m.stack))
	at := m.barrier
	if !m.spend(len(m.stack) - int(at) - 1) {
		return
	}
	// Paid: by the steps spent above.
	for i := len(m.stack) - 1; i > int(at); i-- {
		e := m.stack[i]
		pc := int32(e.code & pcMask)
		switch e.code & kindMask {
		case kMark:
			m.marks[pc] = e.a
			m.lastIndex = e.b
		case kLoopExit:
			pc = m.p.code[pc].a
			m.loops[2*pc], m.loops[2*pc+1] = e.b, e.c
		case kLoop:
			m.loops[2*pc], m.loops[2*pc+1] = e.b, e.c
		}
	}
	m.barrier = m.stack[at].b
	m.stack = m.stack[:at]
}

func (m *machine[C]) backref(in *inst, pos int32) (int32, bool) {
	from, to := m.marks[2*in.a], m.marks[2*in.a+1]
	if from < 0 || to < from || to > from && m.end-pos < to-from || !m.spend(int(to-from)) {
		return 0, false
	}
	// Paid: by the steps spent above.
	for i := from; i < to; i++ {
		a, b := rune(m.text[i]), rune(m.text[pos])
		if a != b && (in.b == caseExact || lower(a, in.b) != lower(b, in.b)) {
			return 0, false
		}
		pos++
	}
	return pos, true
}

func lower(c rune, how int32) rune {
	if how == caseUnicode || c < 0x80 {
		return ucd.SimpleLower(c)
	}
	return c
}

func (m *machine[C]) place(in *inst, pos int32) bool {
	switch at(in.a) {
	case atStart:
		return pos == 0
	case atEnd:
		return pos == m.end
	case atLine:
		return pos == 0 || m.text[pos-1] == '\n'
	}
	if in.b != 0 { // the end of any line
		return pos == m.end || pos < m.end && m.text[pos] == '\n'
	}
	return pos == m.end || pos == m.end-1 && m.text[pos] == '\n'
}

// boundary tells whether pos is where a word begins or ends. As in CPython,
// neither \b nor \B is anywhere in an empty subject.
func (m *machine[C]) boundary(in *inst, pos int32) bool {
	if m.end == 0 {
		return false
	}
	before := pos > 0 && isWord(rune(m.text[pos-1]), in.b != 0)
	after := pos < m.end && isWord(rune(m.text[pos]), in.b != 0)
	return (before != after) == (at(in.a) == atBoundary)
}
