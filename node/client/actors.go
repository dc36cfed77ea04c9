package client

import (
	"context"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Actor returns an actor and up to limit of what it has stored, from a slot of
// hex on; "" is the first. An address without code is a refusal with code
// [rpc.CodeUnknownActor].
func (c *Client) Actor(ctx context.Context, addr chain.Address, prefix, from string, limit uint64) (*rpc.ActorReply, error) {
	q := url.Values{"limit": {strconv.FormatUint(limit, 10)}}
	if prefix != "" {
		q.Set("prefix", prefix)
	}
	if from != "" {
		q.Set("from", from)
	}
	reply := new(rpc.ActorReply)
	err := c.call(ctx, request{method: http.MethodGet, path: "/actor/" + addr.String(), query: q}, reply)
	return reply, err
}

// LogsOf asks for events of an actor. What is zero stands for the whole chain,
// newest block first, from the beginning, and the node's default of events.
type LogsOf struct {
	From, To    chain.Height
	Limit       uint64
	After       string // Next of the page before
	OldestFirst bool
}

// ActorLogs returns a page of events of an actor.
func (c *Client) ActorLogs(ctx context.Context, addr chain.Address, ask LogsOf) (*rpc.LogsReply, error) {
	q := url.Values{}
	for name, n := range map[string]uint64{"from": uint64(ask.From), "to": uint64(ask.To), "limit": ask.Limit} {
		if n > 0 {
			q.Set(name, strconv.FormatUint(n, 10))
		}
	}
	if ask.After != "" {
		q.Set("after", ask.After)
	}
	if ask.OldestFirst {
		q.Set("order", "oldest")
	}
	reply := new(rpc.LogsReply)
	err := c.call(ctx, request{method: http.MethodGet, path: "/actor/" + addr.String() + "/logs", query: q}, reply)
	return reply, err
}

// ReadActor runs a handler that changes nothing. One that fails is no error
// here: see the reply's status.
func (c *Client) ReadActor(ctx context.Context, ask rpc.ReadRequest) (*rpc.ReadReply, error) {
	reply := new(rpc.ReadReply)
	err := c.postJSON(ctx, "/actor/read", ask, reply)
	return reply, err
}

// Estimate tries a transaction, of which target, value, payload, limits and tips
// count.
func (c *Client) Estimate(ctx context.Context, sender chain.Address, tx *chain.Tx) (*rpc.EstimateReply, error) {
	ask := rpc.EstimateRequest{
		Sender: sender.String(), Value: tx.Value, Payload: "0x" + hex.EncodeToString(tx.Payload),
		CyclesLimit: uint64(tx.CyclesLimit), CellsLimit: uint64(tx.CellsLimit), TipPerCycle: tx.TipPerCycle, TipPerCell: tx.TipPerCell,
	}
	if tx.To != nil {
		to := tx.To.String()
		ask.To = &to
	}
	reply := new(rpc.EstimateReply)
	err := c.postJSON(ctx, "/estimate", ask, reply)
	return reply, err
}
