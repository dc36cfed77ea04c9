package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Token returns a token. One that the chain does not have is a refusal with code
// [rpc.CodeUnknownToken].
func (c *Client) Token(ctx context.Context, id chain.Hash) (*rpc.TokenReply, error) {
	return get[rpc.TokenReply](ctx, c, "/token/"+id.String())
}

// TokenBalance returns what an account holds of a token.
func (c *Client) TokenBalance(ctx context.Context, id chain.Hash, addr chain.Address) (*rpc.TokenBalanceReply, error) {
	return get[rpc.TokenBalanceReply](ctx, c, "/token/"+id.String()+"/balance/"+addr.String())
}

// Tokens returns up to limit tokens from offset on, oldest first.
func (c *Client) Tokens(ctx context.Context, offset, limit uint64) (*rpc.TokensReply, error) {
	q := url.Values{"offset": {strconv.FormatUint(offset, 10)}, "limit": {strconv.FormatUint(limit, 10)}}
	reply := new(rpc.TokensReply)
	err := c.call(ctx, request{method: http.MethodGet, path: "/tokens", query: q}, reply)
	return reply, err
}
