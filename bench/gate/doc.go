// Package gate refuses a change that makes the node do more work: it measures what does not
// depend on how busy the machine is, and holds it to limits that are committed.
//
// In: the limits of profiles/baselines/gate.json and this build of the node's packages.
// Out: one line for each bench, and a [Report] that says whether all are within.
//
// # Kinds
//
//   - allocations, bytes: what the heap gives for one operation, the collector's own left
//     out. Limits are a quarter above what was measured when they were written.
//   - counter: work that an algorithm counts itself: hashes and nodes of a state root,
//     products of pairings for a quorum, executions of a transaction.
//   - ratio: the plain way's time over the fast way's in the same run, in turns. The floor
//     is two fifths of what was measured: a fast path that is lost is seen, a busy machine is not.
//
// Time on the clock is in no limit: see [bars] for that, and `cowboy-bench compare`.
//
// # Invariants
//
// A bench without a limit, a limit without a bench, a bench that ran no operation and a
// figure that is not a number are red, as is one that cannot be measured: a check that
// silently stops running is worse than a slow one.
//
// With the build tag `plant` every kind measures slow code on purpose: the gate must turn
// red, and `make bench-gate` fails if it does not.
package gate
