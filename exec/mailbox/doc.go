//spec:implements resolutions 7
//spec:implements whitepaper 3.3

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
// # Who comes first
//
// An item has a sender, a receiver and an origin: the account that the sending run was
// for, whose transaction or timer paid for the delivery. Turns are dealt in three
// circles, so that a crowd holds up itself (ADR 75):
//
//	the ring        origins take turns
//	of an origin    the receivers for which something waits that it has paid
//	of a receiver   the senders that have something waiting for it
//
// An origin's turn takes up what it has deferred and is due, then hands out items of one
// of its receivers: those of the senders whose turn it is there, whoever has paid for
// them. What one sender has waiting for one receiver keeps its order. All steps are
// point reads and writes: no step depends on how much waits.
//
// # What is kept
//
//	item/receiver sender place      an [Item]
//	body/sender number              the payload of an item, where it is long
//	flow/receiver sender            places of these items
//	box/receiver, from/receiver n   the circle of its senders
//	owed/origin receiver            how many items that the origin paid wait for it
//	to/origin, to-at/origin n       the circle of its receivers
//	ring, ring/n, member/origin     the ring, and who stands in it
//	seen/receiver sender            number behind the sender's last message taken
//	late/height origin place        an [Item] that is deferred
//	late-of/height origin           places of these items
//	day/height, day-at/height n     origins that have items deferred to a height
//	due/origin, due-at/origin n     heights of the origin's that have come
//	clock                           lowest height with deferred items, and how many
//	                                entries of origins at heights there are
//	vain/origin                     turns in a row of which nothing came
//	nap/height, nap-at/height n     origins that nap until a height
//	nap-clock                       as clock, of naps
//
// # Invariants
//
//   - A sender stands in its receiver's circle exactly as long as it has a flow; a
//     receiver in an origin's as long as there is a count; an origin in the ring from
//     when it has a receiver or a due height until a turn ends in which it has none.
//   - Places only rise. A message that was taken is behind its sender's number
//     and is taken no second time; an item that was handed out is gone. The
//     sender's numbers are a watermark instead of a set that grows for ever: a
//     sender's messages to a receiver come in the order of their numbers.
//   - A deferred item is where it is until its origin's turn takes it, when its height
//     has come.
//
// The package is pure and knows nothing of programs.
package mailbox
