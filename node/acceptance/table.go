package acceptance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Held says who holds a rule.
type Held string

const (
	OnDevnet      Held = "devnet"         // a test of this package, of its number
	Elsewhere     Held = "elsewhere"      // tests of other packages
	Broken        Held = "broken"         // a test of this package sees that it does not hold
	NotBuilt      Held = "not built"      // what it is about does not run yet
	NotApplicable Held = "not applicable" // nothing of it can be seen, or a resolution lifts it
)

// Rule is a row of the list of rules.
type Rule struct {
	Number string // a letter and a number, such as R12
	Held   Held
	// Tests are those of other packages that hold it, or a part of it, as folder.Name.
	Tests []string
	// Note is what is seen, or why nothing is.
	Note string
}

// groups are the letters of the rules and how many each has.
var groups = []struct {
	letter string
	count  int
}{{"E", 27}, {"R", 28}, {"C", 82}, {"W", 15}}

// Numbers returns all rules' numbers in their order.
func Numbers() (list []string) {
	for _, g := range groups {
		for n := 1; n <= g.count; n++ {
			list = append(list, fmt.Sprintf("%s%d", g.letter, n))
		}
	}
	return list
}

// Rules returns the rows of all rules, in their order.
func Rules() (list []Rule) {
	for _, rows := range [][]Rule{entitlementRules, computeRules, linkRules, whitepaperRules} {
		list = append(list, rows...)
	}
	return list
}

// Seen is what a test of a rule found out.
type Seen struct {
	Wrong []string // empty: the rule holds
}

// ErrTable means a table that does not say of every rule what is the case.
var ErrTable = errors.New("the table of the rules is not whole")

// Table lists all rules with what became of them. seen are the rules whose test of this
// package ran, others the tests of other packages that ran, with whether they passed. The
// error, an [ErrTable], is for numbers that are missing, twice or out of order, and for rules
// whose tests did not run; the table is made all the same.
func Table(seen map[string]Seen, others map[string]bool) (string, error) {
	var out strings.Builder
	var missing []string
	counts := map[string]int{}
	rules := Rules()
	if got := numbersOf(rules); !slices.Equal(got, Numbers()) {
		missing = append(missing, fmt.Sprintf("rows %v for numbers %v", got, Numbers()))
	}
	for _, r := range rules {
		status, reason := r.judge(seen, others)
		if status == didNotRun {
			missing = append(missing, r.Number)
		}
		counts[status]++
		fmt.Fprintf(&out, "%-4s %-14s %s\n", r.Number, status, reason)
	}
	fmt.Fprintf(&out, "%d rules:", len(rules))
	for _, status := range []string{passed, failed, string(NotBuilt), string(NotApplicable), didNotRun} {
		if counts[status] > 0 || status != didNotRun {
			fmt.Fprintf(&out, " %d %s", counts[status], status)
		}
	}
	out.WriteString("\n")
	if len(missing) > 0 {
		return out.String(), fmt.Errorf("%w: %s", ErrTable, strings.Join(missing, ", "))
	}
	return out.String(), nil
}

// What the table says of a rule, besides what [Held] says.
const (
	passed    = "passed"
	failed    = "failed"
	didNotRun = "did not run"
)

// judge says what became of a rule, and why.
func (r *Rule) judge(seen map[string]Seen, others map[string]bool) (status, reason string) {
	switch r.Held {
	case NotBuilt, NotApplicable:
		return string(r.Held), r.Note
	case OnDevnet, Broken:
		s, ran := seen[r.Number]
		if !ran {
			return didNotRun, r.Note
		}
		if len(s.Wrong) > 0 {
			return failed, strings.Join(s.Wrong, "; ")
		}
	}
	for _, name := range r.Tests {
		ok, ran := others[name]
		if !ran {
			return didNotRun, name
		}
		if !ok {
			return failed, name
		}
	}
	return passed, r.describe()
}

// describe says where a rule is held.
func (r *Rule) describe() string {
	var parts []string
	if r.Held == OnDevnet {
		parts = append(parts, string(OnDevnet))
	}
	parts = append(parts, r.Tests...)
	if where := strings.Join(parts, ", "); r.Note == "" {
		return where
	} else {
		return where + ": " + r.Note
	}
}

func numbersOf(rules []Rule) (list []string) {
	for i := range rules {
		list = append(list, rules[i].Number)
	}
	return list
}
