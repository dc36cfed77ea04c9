// Package client is what a program on the user's side of the API needs: a
// typed HTTP client of a node, key files, the project's configuration in
// .cowboy, and the building and signing of transactions.
//
// The CLI and the load tool are its users. It trusts neither the node nor the
// files it reads: answers and files are bounded before they are read, and what
// a node reports is shape-checked, never executed or signed unseen.
//
// # Flow
//
//	command line, environment, .cowboy/config.json → Project → endpoint and key
//	key + prices of /basefee → SignTx → wire bytes → Client → node
//
// Private keys leave this package only through [WriteKey] and
// [secp256k1.PrivateKey.Bytes]; no error and no log text contains one.
//
// Concurrency: a [Client] may be used by many goroutines. Files take their names when they
// are whole, so a reader never sees half of one. A project that others can change is
// [ErrForeign]. References: the public API's
// documented paths, resolutions 11.12, 11.33, 11.37.
package client
