package rpctest

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// SetRent makes Rent return r for an account.
func (c *Chain) SetRent(addr chain.Address, r *rpc.Rent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account(addr)
	c.rents[addr] = r
}

// Rent returns what SetRent was given; of other accounts, that they owe nothing.
func (c *Chain) Rent(_ context.Context, addr chain.Address) (*rpc.Rent, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.accounts[addr]; !ok || c.Fault != nil {
		return nil, false, c.Fault
	}
	if r, ok := c.rents[addr]; ok {
		return r, true, nil
	}
	return &rpc.Rent{Height: chain.Height(len(c.blocks)), State: "paid"}, true, nil
}
