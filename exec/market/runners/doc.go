//spec:implements CIP-2 4
//spec:implements CIP-11 7.1
//spec:implements resolutions 12.A

// Package runners is the Runner Registry at address 0x01: who offers to do work off the
// chain, on what terms, with how much at stake, and whether it was heard lately (CIP-2 §4;
// resolutions 12.A).
//
// In: an overlay of the state, parameters, the height, and the arguments of instructions;
// from the passes of a block, what results say of a runner. Out: writes under
// [chain.AddrRunnerRegistry], whose balance holds all stakes, and verdicts. Every other
// error is a fault of this node or a contradiction in the state ([ErrRecord]).
//
// # What is kept
//
//	count               entries of the active list
//	runner/address      a [Runner]: stake, counters, reputation, what unbonds
//	offer/address       an [Offer]: prices, abilities, what is attested, where it is reached
//	seen/address        height at which it was last heard
//	beat/height index   nothing: who was heard at a height and not since, so that who falls
//	                    silent is found without looking at all
//	active/page         64 addresses in the order in which they joined (resolution 12.1)
//	offers/page         64 hashes of offers
//	load/page           64 of what the filters ask first: work at hand, the most that it
//	                    takes, flags, kinds of jobs, successes, bonds
//	standing/page       32 of what weights are made of: stake, reputation, its height; before
//	                    them since when they stand
//	was/page height     a page of standings as it was before a block changed it, while a job
//	                    may still be drawn for that asks for it (resolution 12.16)
//	wasq/height page    nothing: in which order these go
//	repconf/n           what weights depend on, numbered as it changes (resolution 12.17);
//	                    how many there are stands under repconfs
//
// # Who writes what
//
// Instructions write the rows of one runner, so that those of two runners in one block do
// not conflict; the first registration also raises count. The pages are copies for who
// reads all runners at once. [Book.Fold] alone writes them, once in a block, behind all
// that changes a runner in it: from the records that the block has written.
//
// # Invariants
//
//   - The balance of the registry is the sum of all stakes, of all that unbonds, and of what
//     is slashed and frozen with seats of jobs.
//   - An index is given once and is its runner's for ever (resolution 12.2).
//   - A runner that is healthy has exactly one row under beat/, at the height under seen/.
//   - After Fold the pages say what the rows say.
//
// The package is pure.
package runners
