// Command lanes holds our ingress, from bytes to a packed block, against
// go-ethereum's legacy pool. Signatures are out of the pool bars: both sides get
// transactions whose senders are known. CometBFT's mempool is no peer here: it
// needs an application behind it and checks nothing by itself.
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
	os.Exit(bars.Main("lanes", list, os.Args[1:], os.Stdout, os.Stderr))
}
