// Package statesync hands the state of recent checkpoints to nodes that join,
// over the mesh, and fetches it for this one.
//
//	ledger ── Committed ──▶ [Server] ── snapshot file every so many blocks
//	peers  ── requests  ──▶ [Server] ── chunks out of the file
//
//	[Client] ── who has what? ──▶ validators
//	         ◀── heads with good certificates: what most have is taken
//	         ── checkpoint.Fetch: chunks, sixteen ranges side by side ──▶ store
//
// A checkpoint is made at every multiple of an interval, so that all validators
// have the same ones, whoever withheld a vote there: headers lead to the certificate
// where it is a descendant's. Each validator cuts in its turn. Two are kept, so that a
// fetch has at least one interval of time. Serving reads a file, and never waits for the state: votes and blocks
// have nothing to fear from it but bandwidth, of which its class has the lowest
// urgency.
//
// Nothing that peers say is trusted: heads by their certificate under the group
// key, chunks by the root in the head, the whole by its root again. Who lies is
// not asked again; who stalls rests for a while.
//
// Server and Client are owners: one Run each.
package statesync
