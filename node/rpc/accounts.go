package rpc

import (
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
)

func (s *Server) account(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	q, err := parseQuery(r)
	if err != nil {
		return err
	}
	if h, err := heightParam(q); err != nil {
		return err
	} else if h != nil {
		return s.accountAt(w, r, addr, *h)
	}
	a, ok, err := s.source.Account(r.Context(), addr)
	if err != nil {
		return err
	}
	if !ok {
		return notFound(CodeUnknownAccount, "the chain has no such account: it begins with the first transfer to it")
	}
	s.writeJSON(w, http.StatusOK, accountReply(addr, a))
	return nil
}

func accountReply(addr chain.Address, a *Account) AccountReply {
	return AccountReply{
		Address:     addr.String(),
		Nonce:       a.Nonce,
		Balance:     a.Balance,
		Spendable:   a.Spendable,
		StorageRoot: a.StorageRoot.String(),
		CodeHash:    a.CodeHash.String(),
		Height:      uint64(a.Height),
		PendingNext: a.PendingNext,
	}
}
