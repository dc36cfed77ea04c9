package regex

import "bytes"

// Budget is what a run may use, and what it has used. It holds scratch memory
// as well: one after the other, any number of runs may share it.
type Budget struct {
	Steps int64 // left; a run takes away from it
	Stack int   // the most bytes of backtracking stack
	Peak  int   // the most bytes of it that any run has used

	stack []entry
	marks []int32
	loops []int32
}

// Groups are the places of a match: Spans[2*g] and Spans[2*g+1] are where group
// g begins and ends, or -1 if it took no part; group 0 is the whole.
type Groups struct {
	Spans     []int
	LastIndex int // the group closed last, 0 for none
}

// Start returns where the match begins.
func (g Groups) Start() int { return g.Spans[0] }

// End returns where it ends.
func (g Groups) End() int { return g.Spans[1] }

// manner is where a match must begin and end.
type manner uint8

const (
	anywhere manner = iota
	prefixed
	entire
)

// Match matches at pos. Positions outside the subject count as its ends;
// endpos is as if the subject ended there. The error is nil, [ErrBudget] or
// [ErrStack], and is a function of pattern, subject and budget alone.
func (p *Program) Match(s *Subject, pos, endpos int, b *Budget) (Groups, bool, error) {
	return p.find(s, pos, endpos, -1, prefixed, b)
}

// FullMatch matches from pos up to endpos.
func (p *Program) FullMatch(s *Subject, pos, endpos int, b *Budget) (Groups, bool, error) {
	return p.find(s, pos, endpos, -1, entire, b)
}

// Search finds the first place from pos on that matches.
func (p *Program) Search(s *Subject, pos, endpos int, b *Budget) (Groups, bool, error) {
	return p.find(s, pos, endpos, -1, anywhere, b)
}

func (p *Program) find(s *Subject, pos, endpos, notEmptyAt int, how manner, b *Budget) (Groups, bool, error) {
	if s.n > maxSubject {
		return Groups{}, false, ErrStack
	}
	pos, endpos = min(max(pos, 0), s.n), min(max(endpos, 0), s.n)
	if s.wide != nil {
		return find(p, s.wide, pos, endpos, notEmptyAt, how, b)
	}
	return find(p, s.narrow, pos, endpos, notEmptyAt, how, b)
}

func find[C byte | rune](p *Program, text []C, pos, end, notEmptyAt int, how manner, b *Budget) (Groups, bool, error) {
	n := 2 * (p.groups + 1)
	if cap(b.marks) < n {
		b.marks = make([]int32, n)
	}
	if cap(b.loops) < 2*len(p.loops) {
		b.loops = make([]int32, 2*len(p.loops))
	}
	m := machine[C]{
		p: p, text: text, end: int32(end), whole: how == entire, notEmptyAt: int32(notEmptyAt),
		barrier: -1, marks: b.marks[:n], loops: b.loops[:2*len(p.loops)],
		stack: b.stack[:0], most: b.Stack / entryBytes, steps: b.Steps, dirty: true,
	}
	to := int32(-1)
	from := int32(pos)
	if how == anywhere {
		from, to = m.search(from)
	} else if m.reset() {
		to = m.attempt(from)
	}
	b.Steps = max(m.steps, 0)
	b.stack = m.stack[:0]
	b.Peak = max(b.Peak, max(m.peak, len(m.stack))*entryBytes)
	if m.err != nil {
		if m.err == ErrBudget {
			b.Steps = 0
		}
		return Groups{}, false, m.err
	}
	if to < 0 {
		return Groups{}, false, nil
	}
	g := Groups{Spans: make([]int, n), LastIndex: int(m.lastIndex)}
	g.Spans[0], g.Spans[1] = int(from), int(to)
	// Paid: by the callers in lib, an element for each span of a match (newMatch, findall, split), or by reset, a step for each eight.
	for i := 2; i < n; i += 2 {
		if g.Spans[i], g.Spans[i+1] = int(m.marks[i]), int(m.marks[i+1]); m.marks[i] < 0 || m.marks[i+1] < 0 {
			g.Spans[i], g.Spans[i+1] = -1, -1
		}
	}
	return g, true, nil
}

// reset clears what an attempt has left, and charges for it.
func (m *machine[C]) reset() bool {
	if !m.dirty {
		return true
	}
	m.dirty = false
	m.lastIndex = 0
	if !m.spend(len(m.marks) / 8) {
		return false
	}
	// Paid: by the steps spent above, one for eight marks.
	for i := range m.marks {
		m.marks[i] = -1
	}
	return true
}

// search makes attempts from pos on. What it skips costs a step a character.
func (m *machine[C]) search(pos int32) (from, to int32) {
	last := int32(-1)
	if int(m.end) >= m.p.least {
		last = m.end - int32(m.p.least)
	}
	if m.p.anchored {
		last = min(last, 0)
	}
	for pos <= last {
		at := m.candidate(pos, last)
		skipped := int(min(at, last) - pos)
		if !m.spend(skipped) || at > last || !m.reset() {
			return 0, -1
		}
		if to = m.attempt(at); to >= 0 || m.err != nil {
			return at, to
		}
		m.stack, m.barrier, m.notEmptyAt = m.stack[:0], -1, -1
		pos = at + 1
	}
	return 0, -1
}

// candidate returns the first place from pos up to last where the program can
// match, or one past last. It looks no further than there are steps to pay for.
func (m *machine[C]) candidate(pos, last int32) int32 {
	most := last
	if m.steps < int64(last-pos) {
		most = pos + int32(m.steps)
	}
	switch p := m.p; {
	case len(p.prefix) > 0:
		return pos + int32(find1(m.text[pos:], int(most-pos)+1, p.prefix))
	case p.start >= 0:
		f := &p.firsts[p.start]
		// Paid: by search, a step for each character passed; no more than there are steps.
		for pos <= most && (pos == m.end || !f.has(rune(m.text[pos]))) {
			pos++
		}
	}
	return pos
}

// find1 returns the first i below n where s begins with prefix, or n.
func find1[C byte | rune](s []C, n int, prefix []byte) int {
	if narrow, ok := any(s).([]byte); ok {
		// Paid: by search likewise; the prefix has prefixMost characters at most.
		if i := bytes.Index(narrow[:min(len(narrow), n+len(prefix)-1)], prefix); i >= 0 {
			return i
		}
		return n
	}
	// Paid: by search likewise.
	for i := range n {
		if s[i] == C(prefix[0]) {
			return i
		}
	}
	return n
}
