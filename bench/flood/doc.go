// Package flood puts as many transfers on a node as it takes, or a fixed number a
// second, and counts what became of them.
//
// Everything is signed and encoded before the clock starts. Then each connection of raw
// HTTP/1.1 sends its requests one after the other, one outstanding at a time; an account
// stays on one connection, so its nonces arrive in order. What was sent and is in no
// block yet is bounded. An observer asks for the height every few milliseconds and notes
// when it saw each block, how many transactions that has, and the processor time that
// the node had used by then.
//
// In: a [Load], a [Config] and a [Chain], which speaks the node's language; [Cowboy] is
// ours. Out: a [Result]. Its rate is that of the transactions of blocks first and last
// seen inside the window, over the time between. After the run the contents of all
// blocks are read: each transaction that the node accepted must be in exactly one block,
// and the nonces of the senders must have grown by as many ([Result.Check]).
//
// # Goroutines
//
// [Run] owns a sender for each connection and one observer, and waits for all of them.
package flood
