// Package tools is what works on the data folder of a stopped node: a chain is
// verified from its genesis, a block is shown, altered and judged, a state goes out as
// a snapshot and comes in again, the memory of a key's votes moves to another machine,
// and a development chain of one validator is extended without network.
//
// In go a folder (package datadir) and what an operator says; out come documents,
// verdicts and files. Nothing here knows a running node: the folder is locked by
// whoever has it open, and the tools take that lock.
//
// Invariants:
//
//   - A tool does not make what is missing: no chain where there is none, no memory of
//     votes but for a key that never signed ([InitGuard]).
//   - Blocks are executed again in a scratch folder; the stored ones are only read.
//   - What signs with the keys of others works on development chains alone
//     ([BlockSigners], [OpenOffline]).
//   - A tool refuses a folder in the words of the node ([datadir.Folder.Refused]).
package tools
