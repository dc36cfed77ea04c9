package client

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// IntrinsicCosts returns what transactions of the node's chain cost before
// anything of them runs. From a node that does not say so they are those of the
// specification.
func (c *Client) IntrinsicCosts(ctx context.Context) (*params.IntrinsicCosts, error) {
	reply, err := get[rpc.ParamsReply](ctx, c, "/params")
	switch {
	case IsCode(err, rpc.CodeUnknownPath):
	case err != nil:
		return nil, err
	case reply.IntrinsicCosts != params.IntrinsicCosts{}:
		return &reply.IntrinsicCosts, nil
	}
	defaults := params.Default()
	return &defaults.Intrinsic, nil
}
