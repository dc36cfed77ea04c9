// Command pvm holds the Python machine, metering and heap model on, against
// CPython 3.11 and starlark-go: the fourteen kernels, each a script that prints
// one number, which both sides have to agree on.
package main

import (
	"os"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

func main() {
	os.Exit(bars.Main("pvm", machineBars(), os.Args[1:], os.Stdout, os.Stderr))
}
