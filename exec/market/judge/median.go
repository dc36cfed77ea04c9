package judge

import (
	"slices"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

// median takes the lower middle value of each numeric field over the valid readings
// (resolution 12.37). Those that lie beyond the outlier threshold in any field do not agree.
// Where too few agree, those are alike that lie within it, of the numbers that more than half
// have where threshold have none in common.
func (r *rules) median(d *Decision, valid []reading, threshold int) (near []reading, ok bool) {
	named := valid
	if len(r.fields) == 0 {
		if named = withCommon(valid, threshold); len(named) < threshold {
			named = withCommon(valid, len(valid)/2+1)
		}
	}
	if len(named) == 0 {
		return nil, false
	}
	medians := mediansOf(named)
	near = named
	if r.outlier() > 0 {
		near = nil
		for i := range named { // Bounded: 255 seats.
			if !beyond(named[i].numbers, medians, r.outlier()) {
				near = append(near, named[i])
			}
		}
	}
	if len(near) < threshold {
		return near, false
	}
	data := r.appendMedians(medians)
	if len(data) > int(r.terms.ResultSchema.MaxReturnBytes) {
		return near, false
	}
	d.settle(near, &near[0])
	d.Data, d.Key = data, chain.Hash{}
	return near, true
}

// withCommon leaves the numbers whose names at least threshold of the readings have, and the
// readings that have all of them: more than half have each, so that a minority can neither
// add a field nor take one away.
func withCommon(valid []reading, threshold int) []reading {
	var names []string
	for i := range valid { // Bounded: 255 seats with maxNumbers each.
		for _, n := range valid[i].numbers { // Bounded: as above.
			names = append(names, n.name)
		}
	}
	slices.Sort(names) // Paid: with each number (rules.appendNumber).
	var common []string
	run := 0
	// Bounded: as above.
	for i, name := range names {
		if i == 0 || names[i-1] != name {
			run = 0
		}
		if run++; run == threshold {
			common = append(common, name)
		}
	}
	if len(common) == 0 {
		return nil
	}
	var kept []reading
	for i := range valid { // Bounded: 255 seats.
		x := valid[i]
		x.numbers = slices.DeleteFunc(slices.Clone(x.numbers), func(n number) bool { // Bounded: maxNumbers.
			_, found := slices.BinarySearch(common, n.name) // Paid: with each number.
			return !found
		})
		if len(x.numbers) == len(common) {
			kept = append(kept, x)
		}
	}
	return kept
}

// mediansOf returns the lower middle value of each number. All readings have the same
// numbers in the same order.
func mediansOf(valid []reading) []number {
	medians := slices.Clone(valid[0].numbers) // Bounded: maxNumbers.
	column := make([]strictjson.Decimal, len(valid))
	// Bounded: maxNumbers.
	for k := range medians {
		for i := range valid { // Bounded: 255 seats.
			column[i] = valid[i].numbers[k].value
		}
		slices.SortFunc(column, strictjson.Decimal.Compare) // Paid: with each number.
		medians[k].value = column[(len(column)-1)/2]
	}
	return medians
}

// beyond reports whether a number lies too far from the median.
func beyond(numbers, medians []number, millionths uint64) bool {
	// Paid: by outlierSteps, for each number.
	for k := range numbers {
		if numbers[k].value.Beyond(medians[k].value, millionths) {
			return true
		}
	}
	return false
}

// appendMedians writes the object of the medians; the number alone, if it is the value itself
// that the job names.
func (r *rules) appendMedians(medians []number) []byte {
	if len(r.names) == 1 && r.names[0] == "$" {
		return medians[0].value.AppendText(nil)
	}
	dst := []byte{'{'}
	// Bounded: maxNumbers.
	for k, m := range medians {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, m.name), ':')
		dst = m.value.AppendText(dst)
	}
	return append(dst, '}')
}

// appendString writes a string of JSON.
func appendString(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	// Paid: with each number, by the length of its name.
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			dst = utf8.AppendRune(dst, c)
		}
	}
	return append(dst, '"')
}
