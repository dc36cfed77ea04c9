package rpctest

import (
	"context"

	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// JobsOf returns no jobs: this chain has none.
func (c *Chain) JobsOf(context.Context, *rpc.JobsQuery) (*rpc.JobsPage, error) {
	return &rpc.JobsPage{Height: c.Height(), Since: 1}, c.Fault
}
