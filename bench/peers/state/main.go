// Command state holds our state root against go-ethereum's trie kept in memory.
// Both sides apply the same updates to the same accounts and must reach the
// same root before anything is timed.
package main

import (
	"os"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

func main() {
	os.Exit(bars.Main("state", append(rootBars(), durableBars()...), os.Args[1:], os.Stdout, os.Stderr))
}
