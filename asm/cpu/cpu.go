// Package cpu says which vector instructions the machine has, and limits them
// on request.
//
// The processor's feature bits go in, a [Features] value comes out; kernels are
// chosen from it. [Chosen] is what a program uses: the machine's features less
// what COWBOY_CPU forbids. Tests take [Detect] and [Features.Limit] and run on
// every path that the machine has. Results never depend on the path, so this is
// the one pure package that may look at the environment.
package cpu

import (
	"errors"
	"fmt"
	"strings"
)

// ErrLevel means a name that is no level.
var ErrLevel = errors.New("unknown CPU level, want auto, generic, avx2 or avx512")

// Level names a set of kernels that may be used.
type Level uint8

// Levels in rising order. A machine may have less than a level allows.
const (
	Generic Level = iota // plain Go, the same on every machine
	AVX2                 // 256-bit integer vectors, and BMI
	AVX512               // 512-bit vectors with IFMA
	Auto                 // whatever the machine has
)

// levelNames are the values of COWBOY_CPU, in the order of the levels.
var levelNames = [...]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512", Auto: "auto"}

// Parse reads the name of a level. The empty name is Auto.
func Parse(name string) (Level, error) {
	if name == "" {
		return Auto, nil
	}
	for level, known := range levelNames {
		if name == known {
			return Level(level), nil
		}
	}
	return Generic, fmt.Errorf("%q: %w", name, ErrLevel)
}

// String returns the name that Parse reads.
func (l Level) String() string {
	if int(l) >= len(levelNames) {
		return fmt.Sprintf("level %d", uint8(l))
	}
	return levelNames[l]
}

// Features are the instruction sets that kernels ask for. A true value means
// that processor and operating system both support it.
type Features struct {
	BMI        bool // BMI1 and BMI2: and-not and rotations with three operands
	AVX2       bool
	AVX512F    bool // foundation; implies AVX2 on every real processor
	AVX512BW   bool // byte and word lanes
	AVX512VL   bool // the 512-bit instruction forms on narrower registers
	AVX512IFMA bool // 52-bit multiply-add, the heart of field arithmetic
	// ShortShuffles means that a word crosses a 512-bit register in 3 cycles and
	// not in 5: Intel's cores against AMD's. It decides between kernels that
	// both run.
	ShortShuffles bool
}

// Detect returns the features of this machine. On architectures without
// kernels of ours all are false.
func Detect() Features { return detect() }

// Limit returns f without what lies above level. It never adds a feature.
func (f Features) Limit(level Level) Features {
	if level < AVX512 {
		f = Features{BMI: f.BMI, AVX2: f.AVX2}
	}
	if level < AVX2 {
		f = Features{}
	}
	return f
}

// Level returns the highest level of which the machine has every part: what a
// log line or a bench report should name.
func (f Features) Level() Level {
	switch {
	case f.AVX2 && f.AVX512F && f.AVX512BW && f.AVX512VL && f.AVX512IFMA:
		return AVX512
	case f.AVX2:
		return AVX2
	default:
		return Generic
	}
}

// String lists the features that are present.
func (f Features) String() string {
	var present []string
	for _, one := range []struct {
		name string
		has  bool
	}{
		{"bmi", f.BMI},
		{"avx2", f.AVX2},
		{"avx512f", f.AVX512F},
		{"avx512bw", f.AVX512BW},
		{"avx512vl", f.AVX512VL},
		{"avx512ifma", f.AVX512IFMA},
	} {
		if one.has {
			present = append(present, one.name)
		}
	}
	if len(present) == 0 {
		return Generic.String()
	}
	return strings.Join(present, " ")
}
