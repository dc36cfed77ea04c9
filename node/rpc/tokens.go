package rpc

import (
	"context"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/state"
)

// TokenReply answers GET /token/{id}. Amounts count the smallest units: decimals
// says how people write them.
type TokenReply struct {
	TokenID     string        `json:"token_id"`
	Name        string        `json:"name"`
	Symbol      string        `json:"symbol"`
	Decimals    uint8         `json:"decimals"`
	TotalSupply chain.Amount  `json:"total_supply"`
	MaxSupply   *chain.Amount `json:"max_supply"` // null: no bound
	Owner       *string       `json:"owner"`      // null: given up
	Hooks       *string       `json:"hooks"`      // null: none
	Creator     string        `json:"creator"`
}

// TokensReply answers GET /tokens: in the order of their creation.
type TokensReply struct {
	Tokens     []TokenReply `json:"tokens"`
	TotalCount uint64       `json:"total_count"`
	Offset     uint64       `json:"offset"`
	Limit      uint64       `json:"limit"`
}

// TokenBalanceReply answers GET /token/{id}/balance/{address}.
type TokenBalanceReply struct {
	TokenID string       `json:"token_id"`
	Address string       `json:"address"`
	Balance chain.Amount `json:"balance"`
	Frozen  bool         `json:"frozen"`
}

func (s *Server) tokenRoutes() []route {
	get := http.MethodGet
	return []route{
		{method: get, pattern: "/token/{id}", about: "a token: name, symbol, supply, owner", handle: s.token, cost: costStateProof},
		{method: get, pattern: "/token/{id}/balance/{address}", about: "what an account holds of it, and whether it is frozen", handle: s.tokenBalance, cost: costStateProof},
		{method: get, pattern: "/tokens", about: "all tokens, oldest first; ?offset=0&limit=50", handle: s.tokens, slots: s.exports, cost: costBlockProof},
	}
}

// listed returns which part of a list a request asks for.
func (s *Server) listed(r *http.Request) (offset, limit uint64, err error) {
	q, err := parseQuery(r)
	if err != nil {
		return 0, 0, err
	}
	if offset, err = queryUint(q, "offset", 0); err != nil {
		return 0, 0, err
	}
	limit, err = s.limitParam(q)
	return offset, limit, err
}

// storageReader reads the finalized head. What is read of tokens in several steps
// only grows, or stands in one value, so a head that moves does no harm.
type storageReader func(addr chain.Address, key state.StorageKey) ([]byte, error)

// Storage implements token.Reader.
func (read storageReader) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	return read(addr, key)
}

func (s *Server) headStorage(ctx context.Context) storageReader {
	return func(addr chain.Address, key state.StorageKey) ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := s.source.StorageAt(ctx, addr, key, nil)
		if err != nil {
			return nil, err
		}
		return v.Value, Bill(ctx, rowBytes+len(v.Value))
	}
}

// findToken reads the token that a path names.
func (s *Server) findToken(ctx context.Context, text string) (id token.ID, t *token.Token, err error) {
	if id, err = parseHash(text); err != nil {
		return id, nil, err
	}
	if t, err = token.Read(s.headStorage(ctx), id); err == nil && t == nil {
		err = notFound(CodeUnknownToken, "the chain has no token %s", id)
	}
	return id, t, err
}

func (s *Server) token(w http.ResponseWriter, r *http.Request, args []string) error {
	id, t, err := s.findToken(r.Context(), args[0])
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, tokenReply(id, t))
	return nil
}

func tokenReply(id token.ID, t *token.Token) TokenReply {
	text := func(a *chain.Address) *string {
		if a == nil {
			return nil
		}
		s := a.String()
		return &s
	}
	return TokenReply{
		TokenID: id.String(), Name: t.Name, Symbol: t.Symbol, Decimals: t.Decimals, TotalSupply: t.Supply, MaxSupply: t.Max,
		Owner: text(t.Owner), Hooks: text(t.Hooks), Creator: t.Creator.String(),
	}
}

func (s *Server) tokenBalance(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[1])
	if err != nil {
		return err
	}
	id, _, err := s.findToken(r.Context(), args[0])
	if err != nil {
		return err
	}
	reader := s.headStorage(r.Context())
	held, err := token.Balance(reader, id, addr)
	if err != nil {
		return err
	}
	frozen, err := token.Frozen(reader, id, addr)
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, TokenBalanceReply{TokenID: id.String(), Address: addr.String(), Balance: held, Frozen: frozen})
	return nil
}

// tokenAt reads the n-th token, from 1.
func tokenAt(reader storageReader, n uint64) (reply TokenReply, err error) {
	id, err := token.At(reader, n)
	if err != nil {
		return reply, err
	}
	t, err := token.Read(reader, id)
	if err != nil {
		return reply, err
	}
	return tokenReply(id, t), nil
}

func (s *Server) tokens(w http.ResponseWriter, r *http.Request, _ []string) error {
	offset, limit, err := s.listed(r)
	if err != nil {
		return err
	}
	reader := s.headStorage(r.Context())
	count, err := token.Count(reader)
	if err != nil {
		return err
	}
	reply := TokensReply{Tokens: []TokenReply{}, TotalCount: count, Offset: offset, Limit: limit}
	for n := offset; n < count && n-offset < limit; n++ {
		one, err := tokenAt(reader, n+1)
		if isOwed(err) && len(reply.Tokens) > 0 {
			break // the client asks for the rest
		}
		if err != nil {
			return err
		}
		reply.Tokens = append(reply.Tokens, one)
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}
