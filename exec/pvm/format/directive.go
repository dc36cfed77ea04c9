package format

// directive is what stands between % and the verb.
type directive struct {
	left, plus, blank, alt, zero bool
	width, prec                  int64 // -1 for none
}

func (p *percent) directive() (d directive, verb rune, err error) {
	d.width, d.prec = -1, -1
	c := p.read()
	if c == '(' {
		if err := p.mappingKey(); err != nil {
			return d, 0, err
		}
		c = p.read()
	}
	// Paid: by textPercent, a character each of the format before.
	for ; ; c = p.read() {
		switch c {
		case '-':
			d.left = true
			continue
		case '+':
			d.plus = true
			continue
		case ' ':
			d.blank = true
			continue
		case '#':
			d.alt = true
			continue
		case '0':
			d.zero = true
			continue
		}
		break
	}
	if d.width, c, err = p.widthOrPrecision(c, false); err != nil {
		return d, 0, err
	}
	if d.width < -1 {
		d.left, d.width = true, -(d.width + 1)
	}
	if c == '.' {
		if d.prec, c, err = p.widthOrPrecision(p.read(), true); err != nil {
			return d, 0, err
		}
		d.prec = max(d.prec, 0)
	}
	if c == 'h' || c == 'l' || c == 'L' {
		c = p.read()
	}
	if c < 0 {
		return d, 0, valueError("incomplete format")
	}
	return d, c, nil
}

// mappingKey reads up to the parenthesis that closes and looks the key up.
func (p *percent) mappingKey() error {
	if !p.values.Mapping() {
		return &Error{TypeError, "format requires a mapping"}
	}
	from, depth := p.at, 1
	// Paid: likewise.
	for ; p.at < len(p.format); p.at++ {
		switch p.format[p.at] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			p.at++
			return p.values.Key(p.format[from : p.at-1])
		}
	}
	return valueError("incomplete format key")
}

// widthOrPrecision reads a width or precision that c begins, -1 for none, and the character
// after it. A negative width w from a star comes as w-1.
func (p *percent) widthOrPrecision(c rune, precision bool) (n int64, after rune, err error) {
	if c == '*' {
		if err := p.formatNext(); err != nil {
			return 0, 0, err
		}
		if n, err = p.star(precision); err != nil {
			return 0, 0, err
		}
		return n, p.read(), nil
	}
	if c < '0' || c > '9' {
		return -1, c, nil
	}
	limit, name := int64(ssizeMax), "width"
	if precision {
		limit, name = intMax, "precision"
		if p.bytes {
			name = "prec"
		}
	}
	// Paid: likewise.
	for ; c >= '0' && c <= '9'; c = p.read() {
		if n > (limit-int64(c-'0'))/10 {
			return 0, 0, valueError("%s too big", name)
		}
		n = n*10 + int64(c-'0')
	}
	return n, c, nil
}

func (p *percent) star(precision bool) (int64, error) {
	arg, ok := p.values.Star()
	if !ok {
		return 0, &Error{TypeError, "* wants int"}
	}
	n, fits := arg.int64()
	if precision {
		if !fits || n != int64(int32(n)) {
			return 0, &Error{OverflowError, "Python int too large to convert to C int"}
		}
		return max(n, 0), nil
	}
	if !fits {
		return 0, &Error{OverflowError, "Python int too large to convert to C ssize_t"}
	}
	if n < 0 {
		n = max(n, -ssizeMax) - 1
	}
	return n, nil
}
