// Package repair has damaged blocks of the store written again out of what other nodes
// have of them.
//
//	scrub, readers ── height of a damaged block ──▶ [Client] ── which parts are left?
//	               [Client] ── want: height, digest, parts ──▶ a member
//	               [Client] ◀── parts, as they are stored there ── [Server] of that member
//	               [Client] ── held to the digest in the index ──▶ the record at its place
//
// Nothing that a peer says is trusted. The digest of the block is in the index, which
// the database keeps and checks; it commits to the transactions and the receipts; the
// certificates are held to the group key; ids and senders are computed here. What
// several nodes may have in different forms, the certificates, is brought into the form
// that fits the place, or another node is asked (docs/adr/0145).
//
// It has time: one block at a time, at a bounded number of bytes a second, on a thread
// of low priority and on the stream of the lowest urgency. Where nobody can help, it is
// tried again after pauses that grow to an hour.
//
// Client and Server are owners: one Run each. They share the messages alone.
package repair
