package cpu

import (
	"os"
	"sync"
)

// LevelVariable is the environment variable that forces a path: generic, avx2
// or avx512. It can only take instructions away.
const LevelVariable = "COWBOY_CPU"

// Chosen returns the features that kernels may use in this process: those of
// the machine, less what COWBOY_CPU forbids. It is the one place where that is
// read, once. A name that is no level forbids nothing here; programs refuse it
// at their start with [CheckVariable].
func Chosen() Features { return chosen() }

var chosen = sync.OnceValue(func() Features {
	level, err := Parse(os.Getenv(LevelVariable))
	if err != nil {
		level = Auto
	}
	return Detect().Limit(level)
})

// CheckVariable reports a value of COWBOY_CPU that is no level.
func CheckVariable() error {
	_, err := Parse(os.Getenv(LevelVariable))
	return err
}
