// Package market puts what the runner market does in a block by itself in its order:
// before the transactions who has fallen silent, behind them what the registry's pages say
// (CIP-2; CIP-11 §7.1). Operations by instruction are those of the packages below it.
//
// In: the state of a block under way. Out: writes, events to announce, or a fault. Every
// pass is bounded in each block, and what it leaves is done in the next.
//
// The package is pure.
package market

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
)

// Begin does what comes before the transactions of a block. The error is a fault.
func Begin(b *runners.Book) ([]chain.Event, error) { return b.Floor() }

// End does what comes behind all else of a block that changes a runner. The error is a
// fault.
func End(b *runners.Book) error { return b.Fold() }
