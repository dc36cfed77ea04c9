// Package engine runs one validator's part in consensus: it drives a
// [simplex.Machine] with messages, timers and the answers of the application,
// and carries out what the machine decides.
//
// It is an owner: [Engine.Run] is one goroutine that alone touches the
// machine, the votes and the journal. Application calls run beside it, one
// goroutine each, and come back as replies; Run waits for all of them before
// it returns. It decides nothing that the protocol defines.
//
// # A turn
//
// Run takes what is there, steps the machine until it is quiet, appends the
// records the machine wants kept, syncs the journal once, and only then sends
// votes and certificates, asks the application and reports finality. So nothing
// that this validator said, and nothing it was told is final, can be forgotten
// by a crash (whitepaper §5.1, resolution 11.2). With one validator a whole
// view, from block to finality, is one turn and one sync.
//
//	peers ──Deliver──▶ inbox ─┐                        ┌─▶ journal ─ sync
//	timers ───────────────────┼─▶ machine ─▶ effects ──┤        │ then
//	application ── replies ───┘      ▲                 ├─▶ network
//	                                 └─ certificates ◀─┤   application
//	                                    from the tally └─▶ timers
//
// # Votes
//
// Votes wait unverified until a quorum is possible, are verified as one batch,
// votes and seeds side by side, and become a certificate. Our own votes go the
// same way without verification: with one validator they are the quorum. A
// peer that provably misbehaved is ignored for [Config.BlockPeerFor].
//
// # Crash and restart
//
// The journal holds our votes, accepted certificates, the application's
// verdicts, and the bytes of every block we voted for or took in. At start the
// application names the last block that it has durably; older records are
// ignored and, from time to time, pruned. Blocks above it are handed to
// [Application.Recover], parents first, and reported final again. A journal
// that lost its unsynced end is a journal from a moment ago; one that lost
// synced records must not be used to vote (the watermark that notices is not
// part of this package).
package engine
