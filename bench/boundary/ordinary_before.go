package boundary

import "github.com/cowboy-foundation/cowboy/chain"

// before is what the ordinary cost at commit a267ce4, by Name.
func before() []Daily {
	d := func(name string, cycles chain.Cycles, cells chain.Cells) Daily {
		return Daily{Name: name, Before: chain.Usage{Cycles: cycles, Cells: cells}}
	}
	kept := func(d Daily) Daily { // keeps more than two bytes for a cell at the old price
		d.Exempt = "0062"
		return d
	}
	return []Daily{
		d("transfer", 21_000, 0),
		d("transfer to a new account", 21_000, 0),
		kept(d("token create", 31_000, 284)),
		kept(d("token transfer to a new holder", 22_000, 122)),
		d("token transfer", 22_000, 122),
		kept(d("token approve, the first", 21_500, 90)),
		d("token approve", 21_500, 90),
		d("message with one write", 28_527, 13),
		kept(d("message with a send", 31_474, 34)),
		kept(d("message with a set_timer", 23_260, 86)),
		kept(d("deploy counter", 126_141, 835)),
		d("deploy price_oracle_consumer", 170_464, 2_708),
		d("deploy timer_scheduler", 136_898, 1_921),
		d("deploy token_treasury", 160_284, 2_528),
		d("deploy trading_bot", 160_074, 2_737),
	}
}
