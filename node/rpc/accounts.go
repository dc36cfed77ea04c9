package rpc

import (
	"context"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Accounts is what is asked of one account.
type Accounts interface {
	// Account returns an account at the finalized head.
	Account(ctx context.Context, addr chain.Address) (*Account, bool, error)
	// AccountAt returns an account after the block at height h; what the pool
	// adds is left out. The error is [ErrNoHistory] for a height whose state the
	// node does not have.
	AccountAt(ctx context.Context, addr chain.Address, h chain.Height) (*Account, bool, error)
	// CodeAt returns the code of an account, at height h as AccountAt, nil for the
	// finalized head; it is false without account.
	CodeAt(ctx context.Context, addr chain.Address, h *chain.Height) (*ActorCode, bool, error)
	// Rent returns how an account stands with its state rent at the finalized
	// head. It is false without account.
	Rent(ctx context.Context, addr chain.Address) (*Rent, bool, error)
}

// Account is an account at a height, with what the pool adds to it.
type Account struct {
	Nonce       uint64
	Balance     chain.Wei
	Spendable   chain.Wei // Balance less what is still vesting (whitepaper §8.3)
	StorageRoot chain.Hash
	CodeHash    chain.Hash
	Height      chain.Height
	PendingNext uint64 // next nonce behind the sender's transactions in the pool
}

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
