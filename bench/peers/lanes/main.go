// Command lanes holds our ingress, from bytes to a packed block, against
// go-ethereum's legacy pool and CometBFT's mempool. Signatures are out of the
// pool bars: ours and go-ethereum's get transactions whose senders are known,
// and CometBFT's leaves all checks to its application.
package main

import (
	"os"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

func main() {
	list := admitBars()
	list = append(list, pickBars()...)
	list = append(list, handOffBars()...)
	list = append(list, pipelineBars()...)
	list = append(list, efficiencyBars()...)
	os.Exit(bars.Main("lanes", list, os.Args[1:], os.Stdout, os.Stderr))
}
