//spec:implements resolutions 9
//spec:implements whitepaper 11

// Package governance is the launch multisig at address 0x09: members propose an
// action, enough of them approve it, and after the timelock one of them has it
// carried out (whitepaper §11; resolutions 9.1, 9.2, 11.11).
//
// In: an overlay of the state, the parameters in force, and the instructions'
// arguments. Out: writes under [chain.AddrGovernance], events, an [Effect] where
// more than those writes is to be done; or one of the errors, each a verdict.
//
// # What is kept
//
//	settings            parameters that differ from the genesis, each by its path, in one form
//	count               proposals so far
//	action/id           what a proposal asks for, written once
//	proposal/id         the rest of a [Proposal]
//	number/n            its id, by number from 0
//	table/name/key      an entry of a registry: enclave keys, measurements, bans
//
// # Parameters in force
//
// The parameters of a block are those of the genesis with the settings that the
// parent's state holds: [Force]. So what a block decides is in force from the
// next block on, for its base fees as for its execution, and every node reads it
// out of the state alone.
//
// # Invariants
//
//   - The settings together with the genesis pass [params.Params.Check] after
//     every action: an action that would break them fails and changes nothing. What
//     was voted is in force without a second check: a build with narrower rules
//     follows the chain, and refuses the next action that leaves them broken.
//   - Under whatever parameters an action sets, members can decide on others: that is
//     their number, the short timelock, the room in the system lane and the least
//     base fee.
//   - A proposal is carried out at most once, never before its timelock, and only
//     while enough of those who approved are members.
//
// # What it costs
//
// Besides the instruction itself, its rows: a new one the price of an entry and its
// bytes, one that was there the bytes that are written ([Book.Overwritten]). The bytes
// of an action were paid with the payload that brought them. The price does not rise
// with the state (ADR 88): members can raise the limit of a full one.
//
// The package is pure.
package governance
