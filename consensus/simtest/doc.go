// Package simtest runs whole networks of [simplex.Machine] in one goroutine, on
// a virtual clock, from one seed.
//
// Everything that happens follows from [Config]: links delay, lose, repeat and
// reorder messages and split into parts; validators crash before, in, between
// and after the syncs of their journal and lose, wholly or in part, what was not
// synced, and renames; clocks run apart; one of four may be a faulty player with
// a name. The machines, the tally, the codecs and the threshold scheme are those
// that ship. What is simulated is the driver around them, which follows the
// duties that package simplex puts on it, as package engine does.
//
// A run ends with a quiet period without faults, other than those of the
// player, in which every honest validator must make progress. [Run] checks
// while it goes, and reports the first breach of:
//
//   - agreement: no two honest validators finalize different blocks at a height;
//   - ancestry: a finalized block extends the one before it, and a restart
//     loses none;
//   - one notarize per view and validator, and no finalize beside a nullify or
//     beside another digest, across crashes;
//   - certificates verify, never contradict each other, and all certificates of
//     a round carry one seed;
//   - liveness after the faults end.
//
// Equal configurations give equal audit hashes, which a test checks: what
// cannot be repeated cannot be debugged.
package simtest
