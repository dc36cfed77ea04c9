// Package gethtest holds state/tree against go-ethereum: same roots on random
// writes, same list roots, and every proof accepted by go-ethereum's
// trie.VerifyProof. It has tests only, and a module of its own, so that
// go-ethereum never becomes a dependency of the product. Run it with
// `go test ./...` in this folder.
//
// TestProofFile checks a proof from outside, for instance what the node's
// /proof/account/{addr} answered, with go-ethereum alone: set COWBOY_PROOF to
// the file.
package gethtest
