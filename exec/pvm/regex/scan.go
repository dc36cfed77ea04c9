package regex

// Scanner finds matches that do not overlap, by the rules of Python since 3.7:
// an empty match may follow a match, but not at the place of another empty one.
// findall, finditer, split and sub walk with it.
type Scanner struct {
	p          *Program
	s          *Subject
	pos, end   int
	notEmptyAt int
}

// Scan returns a scanner of the subject from pos up to endpos.
func (p *Program) Scan(s *Subject, pos, endpos int) *Scanner {
	endpos = min(max(endpos, 0), s.n)
	return &Scanner{p, s, min(max(pos, 0), s.n), endpos, -1}
}

// Next finds the next match anywhere after the last. After an error or no match
// there are no more.
func (sc *Scanner) Next(b *Budget) (Groups, bool, error) { return sc.scanNext(anywhere, b) }

// NextAdjacent finds a match that begins where the last ended: the match method
// of Python's scanner.
func (sc *Scanner) NextAdjacent(b *Budget) (Groups, bool, error) { return sc.scanNext(prefixed, b) }

func (sc *Scanner) scanNext(how manner, b *Budget) (Groups, bool, error) {
	if sc.p == nil {
		return Groups{}, false, nil
	}
	g, ok, err := sc.p.find(sc.s, sc.pos, sc.end, sc.notEmptyAt, how, b)
	if err != nil || !ok {
		sc.p = nil
		return g, false, err
	}
	sc.notEmptyAt = -1
	if g.Start() == g.End() {
		sc.notEmptyAt = g.End()
	}
	sc.pos = g.End()
	return g, true, nil
}
