// Package bars measures our code beside a peer's and says how far ahead it is.
//
// A [Bar] is a claim: this operation is at least Must times as fast as the
// peer's, and we aim at Aim times. Both sides run in one process in alternating
// rounds, so that a slow minute of the machine hits both alike; within a round
// a seeded coin decides who goes first. Each round gives one ratio (the peer's
// time over ours: above 1 means ours is better), and the median of the rounds
// is the bar's ratio.
//
// What flows in: a list of bars. What flows out: exactly one line for each on
// standard output, and one JSON file for the suite with every sample and the
// environment it was taken in. Two such files are compared by [Compare].
//
// Invariants: a ratio never blocks a build, so SHORT leaves the exit code at 0;
// a bar that could not be measured does fail, because a check that silently
// stops running is worse than a slow one. A bar the machine cannot run (a CPU
// feature, a number of cores) says so in Absent and is printed, not failed.
package bars
