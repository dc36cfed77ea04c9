// Package builds measures two builds of this repository beside each other and says of every
// bar whether the second is better, worse, the same, or whether that cannot be told.
//
// In: two commits, or a working tree as it stands, and the names of suites of bars (folders
// of bench/peers). Out: a line for each bar, progress on the side, and a verdict.
//
// # Method
//
// Both builds are exported and compiled before anything is measured. A round runs each
// suite three times, in an order drawn from a seed: A, A again, and B, each a process of
// its own. Of every run the median ratio to the peer counts, which ran in the same process:
// a slow minute of the machine hits both. What A differs from itself by is the floor: B is
// better or worse only where the whole 95 % interval of the change lies beyond it and the
// change exceeds the margin (package bars, [bars.CompareRuns]).
package builds
