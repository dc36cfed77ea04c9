// Package checkpoint is the state of one finalized block as it is handed to
// nodes that join: cut into chunks, each of which shows by itself that it is
// what the signed state root commits to.
//
// # What a checkpoint is
//
// A [Head] carries the block and its finalization certificate; who knows the
// group key checks it, and gets the root. The state follows in chunks:
//
//	[Accounts]  consecutive accounts with proof, their code, and their storage
//	            where it is small
//	[Slots]     consecutive storage values of one account with proof, where its
//	            storage is large
//	[List]      the ordered candidates of one live job: state holds only their
//	            root (resolution 11.19)
//
// A chunk of accounts begins behind the last account of the one before it, so
// that chunks without a gap between them are all of the state. Chunks end where
// the first nibble of keys changes, for sixteen ranges to be fetched side by
// side. Where else they end is the server's choice and no rule: a client asks
// for the chunk that covers a key.
//
// # Flow
//
//	source (state/store) ── [Cut] ── chunks ──▶ file, or peers
//	chunks ── [DecodeChunk] ── Check against the root ── [Sequence] (file)
//	                                                 or [Fetch] (peers) ──▶ store
//
// Bytes that come in are hostile: lengths are bounded before memory is taken,
// everything is checked before it is kept, and an encoding is accepted only in
// the one form in which it is written.
//
// [Fetch] is the client's side of state sync as a state machine: events in,
// effects out, no clock and no sockets. It knows whom to blame.
//
// Sections: resolutions 10.2, 11.19, 11.32; CIP-11 §9.2 for the lists.
package checkpoint
