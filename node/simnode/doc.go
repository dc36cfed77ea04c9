// Package simnode runs whole validators, as they ship, on simulated machines: a
// clock that jumps to the next thing to happen, disks that lose power, a network
// of packets that are lost, repeated, late and cut off.
//
// In: a [Plan], which a seed draws. Out: a [Report], or the first breach of an
// invariant with the trace of the run. It is a kit for tests.
//
// # What is real
//
// Each validator is a [node.Node]: engine, guard, vote journal, ledger, store,
// lanes, checkpoints, evidence, API and the mesh with its QUIC connections, its
// classes and its queues. What a [node.Host] gives is simulated: packets carry no
// more than UDP would, the files of votes are on package disktest's model and the
// store on pebble's, so that a power cut takes what was not synced. Keys, evidence
// and the file of submissions are real files in a folder of the test.
//
// # Time
//
// A run is a bubble of testing/synctest: its clock stands while any goroutine
// works, and then jumps. So an hour passes in a minute, and a slow computer
// changes nothing.
//
// # What a seed fixes
//
// The topology, the weather, who lies and how, when machines lose power, whose
// disk is slow, whose clock steps, who sends transfers, which strangers come and
// what they ask, when a full node joins by state: [Draw]. It does not fix the order in which
// goroutines run. A seed that failed is played ten times; if it does not fail
// again in half of these, its trace says what happened (docs/adr/0119).
//
// # Invariants
//
//   - no two honest validators make different blocks final at a height, and the
//     heights of each follow each other, across restarts;
//   - what a validator reported final is there after a power cut;
//   - no honest validator says two contradicting things of a round to anybody, in
//     all its lives together;
//   - a validator ends by itself only where its disk failed;
//   - once the faults end, all honest validators get on and are level within a
//     stated number of views, and so is a node that joined by state;
//   - engines keep to their budgets of bytes, also while hoarders fill that of blocks,
//     and what a validator sends to guests stays within the budget of all guests;
//   - a plain lie gets its liar banned, and nobody of another chain is let in;
//   - what a validator accepted from a client, and had no reason to forget, is final in
//     the end, and all have the balances and nonces that the final transfers make.
package simnode
