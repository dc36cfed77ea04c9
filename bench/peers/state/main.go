// Command state holds our state root against go-ethereum's trie kept in memory.
// Both sides apply the same updates to the same accounts and must reach the
// same root before anything is timed.
package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == serveArg {
		if err := serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	list := slices.Concat(rootBars(), forcedBars(), []bars.Bar{manyCoresBar()}, actorBars(), durableBars(), importBars(), []bars.Bar{
		{Name: "allocations-1m-10k", Gauge: allocations(1_000_000, 10_000)},
		{Name: "resident-bytes-1m", Gauge: residentBytes(1_000_000)},
		{Name: "synced-bytes-1m-10k", Gauge: syncedBytes(1_000_000, 10_000)},
		{Name: "rebuild-1m", Gauge: rebuild(1_000_000)},
		{Name: "growth-100k-to-10m", Gauge: growth(100_000, 10_000_000, 10_000)},
	})
	os.Exit(bars.Main("state", list, os.Args[1:], os.Stdout, os.Stderr))
}
