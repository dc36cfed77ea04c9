module github.com/cowboy-foundation/cowboy/crypto/bls/oracletest

go 1.26.0

require (
	github.com/consensys/gnark-crypto v0.18.1
	github.com/cowboy-foundation/cowboy v0.0.0
)

require (
	github.com/bits-and-blooms/bitset v1.20.0 // indirect
	github.com/supranational/blst v0.3.17 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/cowboy-foundation/cowboy => ../../..
