package ucd

import "sort"

//go:generate bash -c "python3.11 matching.py > matching_tables.go"

// lowerRun is a run of code points with one distance to their lowercase.
type lowerRun struct{ lo, hi, step, delta rune }

// raise is a lowercase and a code point that is lowered to it.
type raise struct{ lower, from rune }

// caseMate is a lowercase letter and those that match it besides, zero-filled.
type caseMate struct {
	lower rune
	mates [2]rune
}

// EachLowered calls f for every code point from lo to hi that [SimpleLower]
// changes, in ascending order.
func EachLowered(lo, hi rune, f func(from, to rune)) {
	i := sort.Search(len(lowers), func(i int) bool { return lowers[i].hi >= lo })
	for ; i < len(lowers) && lowers[i].lo <= hi; i++ {
		run := lowers[i]
		r := run.lo
		if r < lo {
			r += (lo - r + run.step - 1) / run.step * run.step
		}
		for ; r <= min(run.hi, hi); r += run.step {
			f(r, r+run.delta)
		}
	}
}

// EachRaised calls f for every code point that [SimpleLower] changes into one
// from lo to hi.
func EachRaised(lo, hi rune, f func(lower, from rune)) {
	i := sort.Search(len(raises), func(i int) bool { return raises[i].lower >= lo })
	for ; i < len(raises) && raises[i].lower <= hi; i++ {
		f(raises[i].lower, raises[i].from)
	}
}

// EachCaseMate calls f for every letter from lo to hi, itself lowercase, that
// matches mate although both are their own lowercase: they share an uppercase.
func EachCaseMate(lo, hi rune, f func(lower, mate rune)) {
	i := sort.Search(len(caseMates), func(i int) bool { return caseMates[i].lower >= lo })
	for ; i < len(caseMates) && caseMates[i].lower <= hi; i++ {
		for _, mate := range caseMates[i].mates {
			if mate != 0 {
				f(caseMates[i].lower, mate)
			}
		}
	}
}
