// Command market holds the runner market against work that nobody can save: a draw against
// reading the candidates, a class of candidates against the hashes of its tree, instructions
// against as many plain writes, and a job on a full market against one on an empty one.
package main

import (
	"os"
	"slices"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

func main() {
	os.Exit(bars.Main("market", slices.Concat(selectionBars(), instructionBars(), lifeBars()), os.Args[1:], os.Stdout, os.Stderr))
}
