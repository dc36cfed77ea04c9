// Command consensus holds the making of certificates against checking each vote
// on its own, and the coding of large blocks against hashing them, on one core.
package main

import (
	"os"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

func main() {
	var list []bars.Bar
	list = append(list, quorumBars()...)
	list = append(list, blockBars()...)
	os.Exit(bars.Main("consensus", list, os.Args[1:], os.Stdout, os.Stderr))
}
