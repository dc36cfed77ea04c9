module github.com/cowboy-foundation/cowboy/state/gethtest

go 1.26.0

require (
	github.com/cowboy-foundation/cowboy v0.0.0
	github.com/ethereum/go-ethereum v1.17.10
)

replace github.com/cowboy-foundation/cowboy => ../..
