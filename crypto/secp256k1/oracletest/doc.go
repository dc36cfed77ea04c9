// Package oracletest holds crypto/secp256k1 against libsecp256k1, the library
// that go-ethereum builds in: the same signer or a refusal for every hash and
// signature, one by one and in batches, the same signatures, the same verdicts
// on them. It has tests only, and a module of its own, so that the library never
// becomes a dependency of the product. Run it with `go test ./...` in this
// folder; `go test -args -rounds=10000000` is the long run.
package oracletest
