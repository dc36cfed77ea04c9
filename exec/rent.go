package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// rentBlock is what package rent needs of this block.
func (b *block) rentBlock() *rent.Block {
	return &rent.Block{State: b.state, Params: b.in.Params, Height: b.in.Height, Timers: func(a chain.Address) (uint64, error) {
		roster, err := timers.ReadRoster(b.state, a)
		return roster.Active, err
	}}
}

// beginRent does the rent of the block (resolution 3).
func (b *block) beginRent() error {
	w, err := b.rentBlock().Begin()
	if err != nil {
		return &Fault{"rent of the block", err}
	}
	if !funds.Add(&b.result.Burned, w.Burned) {
		return &Fault{"burn rent", funds.ErrMoney}
	}
	b.announce(w.Events)
	// Bounded: by 16 evictions a block, and timer.max_per_actor among them.
	for _, evicted := range w.Evicted {
		if err := timers.Drop(purse{b}, b.state, b.clock(), evicted); err != nil {
			return fault("drop the timers of "+evicted.String(), err)
		}
	}
	return nil
}
