// Package snapshot moves checkpoints between a store and a file.
//
//	store ── Write ──▶ file ── Verify, or Import ──▶ store
//
// A snapshot is written at the head of a running or stopped node and takes the
// place of its past: who imports it has the state after one finalized block,
// that block with its certificate, and goes on from there. Nothing in a file is
// trusted but for what the group key of the chain has signed: every chunk is
// held to the state root before it is stored, and the root is computed again
// from what is stored.
//
// Import can be interrupted at any moment and called again: it goes on behind
// what is durable. Until it is done the folder cannot be opened as a chain.
//
// One goroutine reads the file and one consumes, in order; between them chunks
// are checked on all cores. All are joined before a call returns.
package snapshot
