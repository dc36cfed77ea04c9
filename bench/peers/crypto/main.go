// Command crypto holds our signatures and hashes against go-ethereum, blst and
// the standard library, on one core. Both sides of a bar are first shown to
// agree on the inputs they are timed with.
package main

import (
	"os"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

func main() {
	var list []bars.Bar
	list = append(list, hashBars()...)
	list = append(list, recoverBars()...)
	list = append(list, voteBars()...)
	list = append(list, identityBars()...)
	list = append(list, serviceBars()...)
	os.Exit(bars.Main("crypto", list, os.Args[1:], os.Stdout, os.Stderr))
}
