// Command costs holds the Python machine's cost table to the time that what it
// prices takes: every operation, mixes of them, the kernels and the corpus of
// attacks, each as nanoseconds for a cycle and as a ratio to the median operation
// of the same run; and beside it what host calls, instructions and deliveries take
// on the worst state. With -hunt it looks for outliers among random programs.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

func main() {
	var (
		rounds = flag.Int("rounds", 5, "samples of each operation, taken in turns; the least counts")
		sample = flag.Duration("sample", 2*time.Millisecond, "least time of a sample")
		only   = flag.String("only", "", "measure operations whose text contains this")
		all    = flag.Bool("all", true, "print every operation, not only the worst")
		hunt   = flag.Int64("hunt", 0, "hunt outliers among random programs from this seed")
		host   = flag.Bool("host", true, "measure host calls, instructions and deliveries too")
		length = flag.Duration("for", 30*time.Second, "how long to hunt")
	)
	flag.Parse()
	runtime.GOMAXPROCS(1) // time is the processor's: the collector works for us too
	runtime.LockOSThread()
	t, err := readTable()
	if err == nil {
		r := &runner{table: t, rounds: *rounds, least: *sample}
		if err = r.start(); err == nil {
			if *hunt != 0 {
				err = r.hunt(os.Stdout, *hunt, *length)
			} else {
				err = r.report(os.Stdout, *only, *all)
				if err == nil && *host && *only == "" {
					err = r.boundary(os.Stdout, *all)
				}
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "costs:", err)
		os.Exit(1)
	}
}
