package exec

import (
	"github.com/cowboy-foundation/cowboy/exec/market"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
)

// registry is the runner registry of this block.
func (b *block) registry() *runners.Book {
	return &runners.Book{State: b.state, Params: b.in.Params, Height: b.in.Height}
}

// beginMarket does what the market does before the transactions.
func (b *block) beginMarket() error {
	events, err := market.Begin(b.registry())
	if err != nil {
		return &Fault{"begin the market of the block", err}
	}
	b.announce(events)
	return nil
}

// endMarket does what the market does behind all that changes a runner.
func (b *block) endMarket() error {
	if err := market.End(b.registry()); err != nil {
		return &Fault{"close the market of the block", err}
	}
	return nil
}
