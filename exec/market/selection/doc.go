// Package selection decides who works for a job: which registered runners are its
// candidates, what each of them weighs, and whom a seed draws (CIP-2 §4-§6, CIP-11 §9).
//
// # Flow
//
//	registry at the end of S   → []Runner, once a block
//	a job                      → Wanted
//	Eligible                   → Bitmap of those who pass the filters, to the state
//	Config.Weigh               → candidates with their weights, ascending by address
//	Take                       → Snapshot: candidates, sums of weights, tree
//	Snapshot.CandidatesRoot    → the state
//	Snapshot.Prove             → whoever checks one candidate
//	Snapshot.Divide            → Presence: the candidates by who is present, once a block
//	Snapshot.DrawV2            → the committee of a round, with each step of the draw
//	Presence.DrawV3            → the same under CIP-11
//
// S is the height of the job's submission; all inputs are those of its end (resolution
// 12.10). A later round of the same job draws from the same snapshot without the runners
// that were silent. What a runner is worth besides its stake is kept as a [Standing],
// which decays when it is read.
//
// # Invariants
//
// Functions of their arguments alone: no state, no clock, no float, no map. Equal
// arguments give equal bytes on every node, so a committee can be drawn again by anybody
// who has the candidates and the seed.
//
// No input makes anything here panic or overflow silently: sums of weights are kept in
// 128 bits, and what may saturate says so and says why it does not. The parameters have
// passed chain/params.
//
// A draw of M from N candidates costs M hashes and M searches, not M walks over the
// candidates, and copies none of them; the plain draw that it is held to is in the tests.
package selection
