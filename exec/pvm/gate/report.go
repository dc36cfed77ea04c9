package gate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// Finding is one place that a program may not have.
type Finding struct {
	syntax.Pos        // where the expression, statement or pattern begins
	Rule       Rule   // what it breaks
	What       string // the offending part, as "import of random"
}

// String returns the finding on one line.
func (f Finding) String() string {
	return fmt.Sprintf("line %d, column %d: DeterminismError: %s is forbidden: %s [%s; %s]", f.Line, f.Col+1, f.What, f.Rule.What, f.Rule.ID, f.Rule.Source)
}

// Report is what the gate says of one program.
type Report struct {
	Findings []Finding // by place, then by rule and by What
	More     int       // findings beyond the limit, not kept
	Imports  []Import  // of [LibraryModules], each module once, where it is first named
}

// Import is the first place that names a module of the library.
type Import struct {
	syntax.Pos
	Module string
}

// Unlisted are the findings of imports that a chain does not list, by place.
func Unlisted(imports []Import, listed map[string]bool) *Report {
	r := &Report{}
	// Bounded: by the modules of the library, some twenty.
	for _, i := range imports {
		if !listed[i.Module] {
			r.Findings = append(r.Findings, Finding{Pos: i.Pos, Rule: rule(ModuleUnlisted), What: "import of " + i.Module})
		}
	}
	r.sort()
	return r
}

// Clean reports whether the program may pass.
func (r *Report) Clean() bool { return len(r.Findings) == 0 }

// Limits bound a report.
type Limits struct {
	Findings int // kept, the first that the walk meets; the rest is counted
}

// DefaultLimits returns the limits of the protocol. Whether a program passes
// does not depend on them.
func DefaultLimits() Limits { return Limits{Findings: 256} }

// Check reports the first limit that cannot work: one finding has to be kept, or
// every program would look clean.
func (l Limits) Check() error {
	if l.Findings < 1 {
		return fmt.Errorf("limit of findings is %d, want at least 1", l.Findings)
	}
	return nil
}

func (r *Report) sort() {
	// Bounded: by the findings that are kept, 256.
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Col, b.Col),
			cmp.Compare(a.Rule.ID, b.Rule.ID),
			cmp.Compare(a.What, b.What),
		)
	})
}
