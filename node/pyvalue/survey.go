package pyvalue

// survey walks over the value at pos, notes of each dict whether it is an object of JSON,
// and refuses what no tag may hold. What a scalar says is judged when it is written.
func (d *decoder) survey(depth int) error {
	if depth == 0 {
		return ErrBounds
	}
	major, _, arg, err := d.head()
	if err != nil {
		return err
	}
	switch major {
	case majorBytes, majorText:
		_, err = d.readBytes(arg)
	case majorArray:
		for ; arg > 0 && err == nil; arg-- { // each takes a byte at least
			err = d.survey(depth - 1)
		}
	case majorMap:
		err = d.surveyDict(arg, depth)
	case majorTag:
		err = d.surveyTag(arg, depth)
	}
	return err
}

func (d *decoder) surveyDict(n uint64, depth int) error {
	at := len(d.objects)
	d.objects = append(d.objects, true)
	for range n { // each takes two bytes at least
		if !d.plainKey() {
			d.objects[at] = false
		}
		if err := d.survey(depth - 1); err != nil {
			return err
		}
		if err := d.survey(depth - 1); err != nil {
			return err
		}
	}
	return nil
}

// plainKey reports whether text is at pos that does not look like one of our names.
func (d *decoder) plainKey() bool {
	from := d.pos
	defer func() { d.pos = from }()
	major, _, n, err := d.head()
	return err == nil && major == majorText && (n == 0 || d.pos < len(d.data) && d.data[d.pos] != '$')
}

func (d *decoder) surveyTag(tag uint64, depth int) error {
	switch tag {
	case tagPositive, tagNegative:
		if d.pos < len(d.data) && d.data[d.pos]>>5 != majorBytes {
			return d.fail("a large int holds bytes")
		}
	case tagSet, tagObject:
		if d.pos < len(d.data) && d.data[d.pos]>>5 != majorArray {
			return d.fail("this tag holds a list")
		}
	default:
		return d.fail("unknown tag")
	}
	return d.survey(depth - 1)
}
