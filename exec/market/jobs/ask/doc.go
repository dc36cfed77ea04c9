// Package ask turns what an actor asks runners for, a dictionary in the spellings of the
// whitepaper and the SDK, into the one form that a job has: a specification and terms
// (CIP-11 §12.6; resolutions 11.5, 12.56-12.58). The gate of entitlements and the dispatcher
// read that form and nothing else, so that no spelling passes one of them and means
// something to the other.
//
// In: the canonical bytes of the dictionary, who asks, and the chain's parameters, which
// fill in what the dictionary does not say. Out: an [Asked], or a [*KeyError] that names the
// key. What the result says can be encoded and decodes again; whether the job may be
// submitted is for the dispatcher to judge.
//
// # Invariants
//
// A key that is not known where it stands is refused, and so is one that is said twice in
// two spellings: nothing that an actor asks for is dropped in silence. A key whose value is
// null counts as not said. The answer depends on the arguments alone; a dictionary has no
// more than 64 KiB, and each part of it is looked at a bounded number of times.
//
// The package is pure.
package ask
