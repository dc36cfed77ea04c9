// Package solo runs a chain of one validator in this process, one call a block:
// signatures, lanes, ledger, execution and store are those of a node, joined as
// package node joins them; network, views and API are left out.
//
// In: the data folder of a development chain and the bodies of signed
// transactions. Out: final blocks in that folder, which `cowboyd run` and
// `cowboyd verify` take for their own, because they are, and for each block the
// time that each stage of it took ([Split]). It is how large states are made and
// how the whole path of a transaction is measured.
//
// # Goroutines
//
// Open starts the ledger, the lanes and the signature pipeline; Close stops them
// and waits. A Chain serves one goroutine.
package solo
