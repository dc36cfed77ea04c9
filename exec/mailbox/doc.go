// Package mailbox keeps the messages that wait: for a receiver that has used up
// its cycles of a block, for a nesting that went too deep, for those that wait
// before them, or for the height to which they were deferred (whitepaper §3.3;
// resolutions 7.7, 7.8, 11.21, 11.22).
//
// In: an overlay of the state, items, a height. Out: writes under
// [chain.AddrMailbox], or a verdict that leaves the state as it was; any other
// error is a fault of this node. The values of the items lie in the balance of
// that address: the caller moves them.
//
// # What is kept
//
//	box/receiver             places of its first item and behind its last
//	item/receiver place      an [Item]
//	seen/receiver sender     number behind the sender's last message taken
//	ring/place               a receiver whose turn comes
//	ring                     places of the first turn and behind the last
//	day/height               how many items are deferred to a height
//	late/height place        an [Item] that is deferred
//	clock                    lowest height with deferred items, and how many there are
//
// Receivers stand in a circle and each takes its turn, so that no crowd before
// one of them holds up another; what waits for one receiver keeps its order. All
// steps are point reads and writes: no step depends on how much waits.
//
// # Invariants
//
//   - A receiver stands in the ring exactly as long as it has a box.
//   - Places only rise. A message that was taken is behind its sender's number
//     and is taken no second time; an item that was handed out is gone. The
//     sender's numbers are a watermark instead of a set that grows for ever: a
//     sender's messages to a receiver come in the order of their numbers.
//   - A deferred item moves into its receiver's box when its height has come, and
//     is gone from that height at the same time.
//
// The package is pure and knows nothing of programs.
package mailbox
