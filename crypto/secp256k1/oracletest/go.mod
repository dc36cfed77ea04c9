module github.com/cowboy-foundation/cowboy/crypto/secp256k1/oracletest

go 1.26.0

require (
	github.com/cowboy-foundation/cowboy v0.0.0
	github.com/ethereum/go-ethereum v1.17.10
)

require (
	github.com/decred/dcrd/dcrec/secp256k1/v4 v4.4.1 // indirect
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/cowboy-foundation/cowboy => ../../..
