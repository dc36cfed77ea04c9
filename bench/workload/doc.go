// Package workload makes what is put on a chain to seed or to measure it: people
// whose keys follow from a number, programs, and named mixes of signed
// transactions. The same seed gives the same people and the same transactions.
//
// In: a [solo.Chain] and numbers. Out: a chain with people and actors on it
// ([Town], [Seed]), and the bodies of transactions ([Town.Block]). All of it goes
// through ordinary transactions: what is in the state afterwards is what the
// chain made of them.
package workload
