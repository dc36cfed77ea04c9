package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Runner returns a runner. An address that never registered is a refusal with code
// [rpc.CodeUnknownRunner].
func (c *Client) Runner(ctx context.Context, addr chain.Address) (*rpc.RunnerReply, error) {
	return get[rpc.RunnerReply](ctx, c, "/runner/"+addr.String())
}

// Runners returns up to limit runners from offset on, in the order in which they joined.
func (c *Client) Runners(ctx context.Context, offset, limit uint64) (*rpc.RunnersReply, error) {
	q := url.Values{"offset": {strconv.FormatUint(offset, 10)}, "limit": {strconv.FormatUint(limit, 10)}}
	reply := new(rpc.RunnersReply)
	err := c.call(ctx, request{method: http.MethodGet, path: "/runners/active", query: q}, reply)
	return reply, err
}

// RunnerJobs returns a page of what a runner owes, without the specifications: [Client.JobTerms]
// has those. It begins behind the job after, "" for the first. Where the chain has switched
// polling off it is a refusal with code [rpc.CodePollDisabled].
func (c *Client) RunnerJobs(ctx context.Context, addr chain.Address, after string, limit uint64) (*rpc.RunnerJobsReply, error) {
	q := url.Values{"specs": {"0"}}
	pageValues(q, after, limit)
	reply := new(rpc.RunnerJobsReply)
	err := c.call(ctx, request{method: http.MethodGet, path: "/runner/" + addr.String() + "/jobs", query: q}, reply)
	return reply, err
}
