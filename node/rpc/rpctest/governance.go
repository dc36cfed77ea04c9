package rpctest

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// SetGovernance makes g the answer about governance.
func (c *Chain) SetGovernance(g *rpc.Governance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.governance = g
}

// InForce implements [rpc.Source].
func (c *Chain) InForce() *params.Params {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.governance == nil {
		return nil
	}
	return c.governance.Params
}

// Governance implements [rpc.Source].
func (c *Chain) Governance(context.Context) (*rpc.Governance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.governance != nil || c.Fault != nil {
		return c.governance, c.Fault
	}
	return &rpc.Governance{Height: chain.Height(len(c.blocks))}, nil
}
