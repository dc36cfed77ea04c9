//spec:implements entitlements 3.1-3.3
//spec:implements resolutions 8
//spec:implements whitepaper 15

// Package manifest is what actors may do: the registry of entitlements, the
// manifests that grant them, what a child inherits, and which runner offers what
// an actor requires (entitlements §3, §6-§11; resolutions 8.7, 8.9, 8.10, 11.7,
// 11.25).
//
// In: canonical lists of grants, and the chain's parameters, which hold the
// curated domain sets, the regions, the types of enclaves, who may deploy system
// actors, and what governance has announced to go. Out: [Grants] to ask, or an
// [*Error] with the code of the receipt. The gate before each call of an actor
// that needs a grant is package actor's.
//
// # Invariants
//
//   - A list that [Admit] took is in ascending order of id, holds each id once,
//     and only ids and parameters of the [Registry].
//   - Names are compared by their bytes: nothing is folded, trimmed or sorted on
//     the way.
//   - An absent parameter is no limit (resolution 11.7).
//
// The package is pure.
package manifest
