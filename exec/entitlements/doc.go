//spec:implements CIP-2 7.1-7.2
//spec:implements resolutions 8

// Package entitlements is the Entitlement Registry at address 0x07: who may do what to
// what, by grants that can expire, be delegated and be taken back, and by roles
// that name several at once (CIP-2 §7; resolutions 8.4-8.7). It has nothing to do
// with the entitlements of manifests (package exec/manifest).
//
// In: an overlay of the state, the height, who answers for an actor or a token,
// and the instructions' arguments. Out: writes under [chain.AddrEntitlements] and
// an event, or one of the errors, each a verdict. [Book.Check] is for those that
// rely on grants, as the market does for pools of runners.
//
// # Who may grant
//
// Whoever answers for the scope: an actor's creator, a token's owner, a runner for
// itself, the first to grant in a pool or a namespace, and governance in every
// scope, which alone answers for the whole chain. A grant may be taken back by who
// made it, by who answers for its scope by then, and by who has it.
//
// # What is kept
//
//	e/id             a [Grant]
//	m/key            ids of the grants of one grantee, scope and action
//	c/address        numbers of an address's grants and roles, and of all grants
//	                 that it ever had
//	g/address/n      the id of its n-th grant, for readers
//	n/address scope  how many grants it has in a scope
//	o/scope hash     who answers for a pool or a namespace
//	r/id             a [Role]
//	a/address/role   an assignment, with its place in the list
//	l/address/n      the id of its n-th role, for readers
//	k/address scope  ids of its roles with a scope
//
// # Invariants
//
//   - An address has at most [MaxGrants] grants and [MaxRoles] roles in a scope; its
//     lists have no gaps.
//   - A delegated grant holds while all those above it do, and allows nothing that
//     they do not. When one of them has gone, by itself or taken back, the same one
//     made again does not bring it back: each is numbered ([Grant.Born]).
//   - A grant that has expired is as if it were not there, and goes when a check
//     finds it or somebody takes it back. A role that has expired permits nothing, and stays an
//     address's until it is taken from it.
//
// The package is pure.
package entitlements
