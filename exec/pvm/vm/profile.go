package vm

import (
	"cmp"
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// Profile says which lines the cycles of a machine went to. It changes neither
// results nor charges: while one is kept, all cycles are put aside as they are
// when a measurement is due, so that the interpreter stops before each
// instruction; what was used since the last stop belongs to the line of then.
type Profile struct {
	lines map[place]*Line // looked up; Lines sorts
	last  *Line
	left  code.Cycles // at the last stop
}

// Line is a line of the program, or of the library's Python, and its cycles:
// those of its instructions and of the natives that they call. What a function
// of the program costs is at the function's lines.
type Line struct {
	File   string
	Number int32 // from 1
	Cycles code.Cycles
}

type place struct {
	file string
	line int32
}

// NewProfile makes m tell where its cycles go, until Reset. The sum over all
// lines is what results of the calls say that were used.
func (m *Machine) NewProfile() *Profile {
	m.profile = &Profile{lines: make(map[place]*Line)}
	return m.profile
}

// startCall is the start of a call: cycles of before the first instruction belong to
// no line.
func (p *Profile) startCall(m *Machine) {
	p.last, p.left = p.at(place{}), m.CyclesLeft()
	m.putAside()
}

// chargeLine gives what was used since the last stop to the line of then and goes on
// at the one where the machine is.
func (p *Profile) chargeLine(m *Machine) {
	left := m.CyclesLeft()
	p.last.Cycles += p.left - left
	p.left = left
	if f := m.frame; f != nil {
		p.last = p.at(place{f.unit.obj.File, f.line()})
	}
}

func (p *Profile) at(where place) *Line {
	l := p.lines[where]
	if l == nil {
		l = &Line{File: where.file, Number: where.line}
		p.lines[where] = l
	}
	return l
}

// Lines returns the lines that cost anything, the dearest first, equal ones in
// the order of files and lines. A line without a file stands for what was
// charged before the first instruction.
func (p *Profile) Lines() []Line {
	out := make([]Line, 0, len(p.lines))
	// Bounded: by the lines of a program whose author asks for them; no block does.
	for _, l := range p.lines {
		if l.Cycles > 0 {
			out = append(out, *l)
		}
	}
	// Bounded: as above.
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Cycles, a.Cycles), cmp.Compare(a.File, b.File), cmp.Compare(a.Number, b.Number))
	})
	return out
}
