// Package bench puts load on a running node and says what became of it.
//
// [Run] funds accounts, signs every transfer before the clock starts, and then
// sends them in an open loop: the schedule is computed up front, a slow node
// does not slow the schedule down, and every latency counts from the moment a
// transfer was due, not from the moment it could be sent. What flows in is a
// [LoadConfig]; what flows out is a [LoadReport] in which every transfer is
// accounted for:
//
//	scheduled = sent + skipped + unsent
//	sent      = accepted + rejected (by reason) + unanswered
//	accepted  = finalized + waiting + lost
//
// What is sent follows from a [Mix]: transfers alone, or kinds of transactions of
// several lanes in given shares, beside timers that fire in every block. Latencies
// of each kind are in blocks too. A kind of which more is offered than blocks take
// may wait.
//
// A lost transfer, one that the node accepted and never finalized, fails the
// run. So does a run that got nothing accepted, and a run whose own pacing was
// too late to mean anything is called invalid.
//
// # Goroutines
//
// Run owns one pacer (hands out slots of the schedule), one sender for each
// connection, one watcher of the node's finalized blocks and one progress
// printer, and waits for all of them. A sender has one request outstanding at
// a time and an account belongs to one sender, so that nonces arrive in order.
package bench
