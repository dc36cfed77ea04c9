// Command exec holds our state transition against go-ethereum's: a block of
// signed transfers whose senders are known, from the parent's state to receipts
// and writes, without the root. And it holds exec/parallel against exec.Apply.
package main

import (
	"os"
	"slices"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

func main() {
	os.Exit(bars.Main("exec", slices.Concat(transferBars(), parallelBars(), efficiencyBars(), worstBars(), fillBar()), os.Args[1:], os.Stdout, os.Stderr))
}
