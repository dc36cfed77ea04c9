// Command consensus holds the making of certificates against checking each vote
// on its own, the coding of large blocks against hashing them, on one core, and
// whole chains of four validators beside those of others.
package main

import (
	"os"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

func main() {
	var list []bars.Bar
	list = append(list, quorumBars()...)
	list = append(list, blockBars()...)
	list = append(list, chainBars()...)
	os.Exit(bars.Main("consensus", list, os.Args[1:], os.Stdout, os.Stderr))
}
