//spec:implements whitepaper 6.2

// Package p2p connects the validators of one chain, and the full nodes that
// follow it, over QUIC.
//
// It carries bytes: consensus messages and transactions go in by class and come
// out at the other side with the sender's proven identity. What they mean is
// the business of consensus and lanes; package node joins them.
//
// # Connections
//
// TLS 1.3 only, without resumption and so without 0-RTT. Both sides show a
// self-signed certificate of their Ed25519 identity key (resolution 1.6); a
// dialer accepts only the member that it called. The genesis hash is part of
// the application protocol's name, so that a peer of another chain is refused
// in the handshake ([ErrOtherGenesis]). Each pair of nodes keeps one connection:
// when both dialed, the one that the smaller key dialed stays, and the other
// lingers until what it carries has arrived. A restarted process shows a new
// instance number and replaces its predecessor's connection at once.
//
// # Streams and queues
//
// Each message class has one unidirectional stream per direction for the life
// of the connection, so that a lost packet of a block delays no vote:
//
//	byte class, then frames: u32 big-endian length ‖ payload
//
// Before each stream stands a bounded queue per peer and class. A full one
// drops by the class's rule ([Limit.DropOldest]); it never blocks the caller.
//
// # Defence
//
// A frame's length is checked before memory is taken, and memory grows with
// the bytes that have come. Each peer and class has a rate. Past it, and while
// the receiver is busy, the stream is not read: the sender runs out of stream
// credit and its own queue fills, nothing is dropped here. A peer that sends
// what no honest one sends is disconnected and not spoken to for a while.
//
// Strangers, who may be anybody under any number of keys, have what members leave:
// handshakes ([door]), places (guests.go) and bytes ([egress]) are bounded for each
// network and for all, and what they are sent waits behind what members wait for
// (docs/adr/0111).
//
// # Goroutines
//
// [Transport.Run] owns the accept loop, one dial loop per member, the batcher
// of transactions, and per connection one reader and one writer for each class;
// it waits for all of them.
//
// Sections: whitepaper §6.2, resolutions 1.6, 11.12, 11.42.
package p2p
