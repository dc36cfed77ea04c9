package rpc

import (
	"net/http"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

func (s *Server) account(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	a, ok, err := s.source.Account(r.Context(), addr)
	if err != nil {
		return err
	}
	if !ok {
		return notFound(CodeUnknownAccount, "the chain has no such account: it begins with the first transfer to it")
	}
	s.writeJSON(w, http.StatusOK, AccountReply{
		Address:     addr.String(),
		Nonce:       a.Nonce,
		Balance:     a.Balance,
		Spendable:   a.Spendable,
		StorageRoot: a.StorageRoot.String(),
		CodeHash:    a.CodeHash.String(),
		Height:      uint64(a.Height),
		PendingNext: a.PendingNext,
	})
	return nil
}

// proveAccount answers 200 for an absent account too: its absence is what the
// proof proves.
func (s *Server) proveAccount(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	p, err := s.source.ProveAccount(r.Context(), addr)
	if err != nil {
		return err
	}
	key := keccak.Sum256(addr[:])
	reply := ProofReply{
		Address:   addr.String(),
		Height:    uint64(p.Height),
		BlockHash: p.BlockHash.String(),
		StateRoot: p.StateRoot.String(),
		Key:       hexOf(key[:]),
		Value:     hexOf(p.Value),
		Exists:    p.Value != nil,
		Proof:     make([]string, len(p.Nodes)),
	}
	for i, node := range p.Nodes {
		reply.Proof[i] = hexOf(node)
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}
