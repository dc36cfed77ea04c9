package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
)

// Limit is what a bench is held to.
type Limit struct {
	Kind  Kind    `json:"kind"`
	Limit float64 `json:"limit"`
}

// Limits are those of all benches, by name.
type Limits map[string]Limit

// limitsBytesMax bounds the file that is read.
const limitsBytesMax = 1 << 20

// ErrLimits means that a file of limits says something that no gate can hold.
var ErrLimits = errors.New("gate limits")

// document is the file.
type document struct {
	Kind    string `json:"kind"` // "gate"
	About   string `json:"about"`
	Benches Limits `json:"benches"`
}

const (
	documentKind  = "gate"
	documentAbout = "Written by `cowboy-bench gate --write`: a quarter above what was measured, ratios at two fifths of it. Lower a limit when work was saved; raise one in the commit that explains why."
)

// ReadLimits reads a file of limits.
func ReadLimits(path string) (Limits, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open gate limits: %w", err)
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, limitsBytesMax))
	d.DisallowUnknownFields()
	var doc document
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrLimits, path, err)
	}
	if doc.Kind != documentKind {
		return nil, fmt.Errorf("%w: %s is of kind %q, want %q", ErrLimits, path, doc.Kind, documentKind)
	}
	for name, l := range doc.Benches {
		if !slices.Contains(Kinds(), l.Kind) || !(l.Limit > 0) || math.IsInf(l.Limit, 0) {
			return nil, fmt.Errorf("%w: %s: bench %s: %q at %g, want a kind of %v and a limit above 0", ErrLimits, path, name, l.Kind, l.Limit, Kinds())
		}
	}
	return doc.Benches, nil
}

// Above is how far a limit stands above what was measured, and a ratio's below it.
const (
	above = 1.25
	below = 0.4
)

// Of returns limits for what was measured. It refuses a report with a bench that could not
// be.
func Of(report *Report) (Limits, error) {
	limits := Limits{}
	for i := range report.Rows {
		r := &report.Rows[i]
		if r.Absent != "" {
			continue
		}
		if r.Figure.Operations <= 0 || !(r.Figure.Value > 0) {
			return nil, fmt.Errorf("%w: bench %s was not measured: %s", ErrLimits, r.Name, r.Red)
		}
		factor := above
		if r.Kind == Ratio {
			factor = below
		}
		limits[r.Name] = Limit{Kind: r.Kind, Limit: round3(r.Figure.Value * factor)}
	}
	return limits, nil
}

// round3 keeps three digits.
func round3(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// Write writes a file of limits, over limits that stay where a bench was not measured.
func (l Limits) Write(path string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(document{documentKind, documentAbout, l}); err != nil {
		return fmt.Errorf("encode gate limits: %w", err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write gate limits: %w", err)
	}
	return nil
}

// without returns the names that no bench has, in order.
func (l Limits) without(benches []Bench) (names []string) {
	for name := range l {
		if !slices.ContainsFunc(benches, func(b Bench) bool { return b.Name == name }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
