// Package oracletest holds crypto/bls against a second pairing library,
// consensys/gnark-crypto: the same points from the same bytes, the same hash to
// the curve, the same signatures, verdicts and recovered signatures, on random
// input and on every encoded point and message of the public vectors. It has
// tests only, and a module of its own, so that the library never becomes a
// dependency of the product. Run it with `go test ./...` in this folder.
package oracletest
