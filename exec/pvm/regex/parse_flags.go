package regex

import "github.com/cowboy-foundation/cowboy/exec/pvm/ucd"

// scopedFlags reads inline flags from the first on. Those of the whole pattern
// go into p.flags.
func (p *parser) scopedFlags(char token) (add, del Flag, whole bool) {
	if !char.is('-') {
		if add, char = p.addedFlags(char); p.err != nil {
			return 0, 0, false
		}
	}
	if char.is(')') {
		p.flags |= add
		return add, 0, true
	}
	if add&globalFlags != 0 {
		p.syntaxError("bad inline flags: cannot turn on global flag", 1)
	}
	if char.is('-') {
		del = p.removedFlags()
	}
	if del&globalFlags != 0 {
		p.syntaxError("bad inline flags: cannot turn off global flag", 1)
	}
	if add&del != 0 {
		p.syntaxError("bad inline flags: flag turned on and off", 1)
	}
	return add, del, false
}

// addedFlags returns the flags and the character after them: ) - or a colon.
func (p *parser) addedFlags(char token) (Flag, token) {
	var add Flag
	// Paid: by patternOf in lib, 22 cycles a character; each round takes one.
	for p.err == nil {
		flag := flagOf(char)
		switch {
		case !p.bytes && flag == Locale:
			p.syntaxError("bad inline flags: cannot use 'L' flag with a str pattern", 0)
		case p.bytes && flag == Unicode:
			p.syntaxError("bad inline flags: cannot use 'u' flag with a bytes pattern", 0)
		}
		add |= flag
		if flag&typeFlags != 0 && add&typeFlags != flag {
			p.syntaxError("bad inline flags: flags 'a', 'u' and 'L' are incompatible", 0)
		}
		char = p.get()
		switch {
		case p.err != nil:
		case char.n == 0:
			p.syntaxError("missing -, : or )", 0)
		case char.is(')') || char.is('-') || char.is(':'):
			return add, char
		case flagOf(char) == 0:
			p.badFlag(char, "missing -, : or )")
		}
	}
	return 0, token{}
}

// removedFlags reads the flags after a minus and the colon after them.
func (p *parser) removedFlags() Flag {
	var del Flag
	char := p.get()
	switch {
	case p.err != nil:
		return 0
	case char.n == 0:
		p.syntaxError("missing flag", 0)
	case flagOf(char) == 0:
		p.badFlag(char, "missing flag")
	}
	// Paid: likewise.
	for p.err == nil {
		flag := flagOf(char)
		if flag&typeFlags != 0 {
			p.syntaxError("bad inline flags: cannot turn off flags 'a', 'u' and 'L'", 0)
		}
		del |= flag
		char = p.get()
		switch {
		case p.err != nil:
		case char.n == 0:
			p.syntaxError("missing :", 0)
		case char.is(':'):
			return del
		case flagOf(char) == 0:
			p.badFlag(char, "missing :")
		}
	}
	return 0
}

func (p *parser) badFlag(char token, missing string) {
	if char.n == 1 && (isLetter(char.c) || char.c > 0x7f && ucd.Has(char.c, ucd.Alpha)) {
		missing = "unknown flag"
	}
	p.syntaxError(missing, char.n)
}
