package regex

import "sort"

// op is what an instruction does. Each either goes on or fails, and a failure
// takes the newest entry of the stack.
type op uint8

const (
	opMatch       op = iota // the whole pattern has matched
	opChar                  // a: the character
	opString                // a: index in strings
	opAny                   // anything but a newline
	opAll                   // anything
	opClass                 // a: index in classes
	opRepeat                // a: index in repeats; greedy, of one character
	opRepeatLazy            // likewise
	opRepeatTight           // likewise, gives nothing back
	opBranch                // a: the next alternative; b: index in firsts of this one, or -1
	opJump                  // a: where to
	opMark                  // a: 2*group for its start, +1 for its end
	opLoopInit              // a: index in loops
	opLoop                  // a: index in loops; b: where it ends; body follows
	opLoopLazy              // likewise
	opLoopTight             // likewise, each turn atomic
	opTightEnd              // a: the opLoopTight
	opAtomic                // up to its opAtomicEnd
	opAtomicEnd             //
	opLook                  // b: characters to step back; up to its opLookEnd
	opLookEnd               //
	opLookNot               // a: after its opLookNotEnd; b as for opLook
	opLookNotEnd            //
	opBackref               // a: group; b: caseExact, caseASCII or caseUnicode
	opCond                  // a: group; b: where to if it has not matched
	opAt                    // a: the place
	opAtWord                // likewise for \b and \B; b: 1 for words of ASCII
	opFail                  // always
)

// The ways in which a reference compares.
const (
	caseExact = iota
	caseASCII
	caseUnicode
)

// inst is an instruction.
type inst struct {
	op   op
	a, b int32
}

// unit matches one character.
type unit struct {
	kind  op // opChar, opAny, opAll, opClass
	c     rune
	class *class
}

// repeat is a unit taken min to max times.
type repeat struct {
	unit
	min, max int32 // max is unbounded or more
	next     int32 // index in firsts of what follows, or -1
}

// loop is a body of any width taken min to max times.
type loop struct {
	min, max int32
	nested   bool // inside another loop: its registers outlive a turn of that
	solid    bool // no turn is empty
}

// first says with which characters a match can begin.
type first struct {
	low  [8]uint32
	wide bool // perhaps with some of 256 and above
}

func (f *first) has(r rune) bool {
	if r < 256 {
		return f.low[r>>5]>>(r&31)&1 != 0
	}
	return f.wide
}

// Program is a compiled pattern. It does not change: any number of runs may
// share it.
type Program struct {
	flags   Flag
	bytes   bool
	groups  int
	names   []name         // by group
	numbers map[string]int // of names; looked up, never iterated
	code    []inst
	strings [][]rune
	classes []*class
	repeats []repeat
	loops   []loop
	firsts  []first

	least    int    // characters of the shortest match
	anchored bool   // can only match at the start of the subject
	prefix   []byte // what every match begins with, if that is of ASCII
	start    int32  // index in firsts for every match, or -1
	cost     int
	size     int
}

// Flags returns the flags of the pattern: those given, those inside it, and
// UNICODE for a str pattern without ASCII.
func (p *Program) Flags() Flag { return p.flags }

// IsBytes reports whether the pattern is one for bytes.
func (p *Program) IsBytes() bool { return p.bytes }

// Groups returns the number of capturing groups.
func (p *Program) Groups() int { return p.groups }

// EachName calls f with every named group, in the order of their numbers.
func (p *Program) EachName(f func(name string, group int)) {
	// Paid: by callers in lib, who charge a look-up for each group.
	for _, n := range p.names {
		f(n.text, n.group)
	}
}

// GroupNumber returns the group of that name.
func (p *Program) GroupNumber(text string) (int, bool) {
	group, ok := p.numbers[text]
	return group, ok
}

// GroupName returns the name of a group, "" for one without.
func (p *Program) GroupName(group int) string {
	// Bounded: by the logarithm of Limits.Groups: twelve rounds.
	i := sort.Search(len(p.names), func(i int) bool { return p.names[i].group >= group })
	if i < len(p.names) && p.names[i].group == group {
		return p.names[i].text
	}
	return ""
}

// Cost returns a measure of the work of compiling and of the size of the
// result, a function of pattern, flags and limits alone: characters,
// instructions, and the ranges of classes.
func (p *Program) Cost() int { return p.cost }

// Bytes returns the modelled size of the program in memory.
func (p *Program) Bytes() int { return p.size }

// measure is Bytes, once.
func (p *Program) measure() int {
	n := 256 + 12*len(p.code) + 40*len(p.repeats) + 12*len(p.loops) + 36*len(p.firsts) + len(p.prefix)
	// Paid: by the characters of the pattern that made each.
	for _, s := range p.strings {
		n += 24 + 4*len(s)
	}
	// Paid: by the characters of the pattern that made each.
	for _, c := range p.classes {
		n += 72 + 8*len(c.spans)
		if c.pages != nil {
			n += c.pages.pageBytes()
		}
	}
	// Paid: by the characters of the pattern that made each.
	for _, m := range p.names {
		n += 24 + len(m.text)
	}
	return n
}
