package rpc

import (
	"context"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/state"
)

// Proofs is what a light client asks.
type Proofs interface {
	// Prove answers q with a document that verifies alone (resolution 11.32):
	// of the state after the finalized head, or of a block of any height. It is
	// false for a block, transaction or receipt that is not there; what the
	// state lacks has a proof.
	Prove(ctx context.Context, q *light.Query) (light.Document, bool, error)
}

// Bounds of a storage key in a request: of a program's (whitepaper §3.2), and with
// the namespace.
const (
	keyBytesMax  = 1024
	slotBytesMax = 1 + keyBytesMax
)

// multiBodyBytesMax is what a body with ProofKeysMax of the longest keys takes.
const multiBodyBytesMax = 256 << 10

// MultiProofRequest is the body of POST /proof/multi.
type MultiProofRequest struct {
	Accounts []MultiProofAccount `json:"accounts"`
}

// MultiProofAccount asks for an account and storage values of it.
type MultiProofAccount struct {
	Address string   `json:"address"`
	Slots   []string `json:"slots"` // hex of namespace byte and key
}

func (s *Server) proofRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	state := func(pattern, about string, h handleFunc) route {
		return route{method: get, pattern: pattern, about: about, handle: h, slots: s.proofs, cost: costStateProof}
	}
	block := func(pattern, about string, h handleFunc) route {
		return route{method: get, pattern: pattern, about: about, handle: h, slots: s.proofs, cost: costBlockProof}
	}
	return []route{
		state("/proof/header/{height|latest}", "a final header with its certificate", s.proveHeader),
		state("/proof/account/{address}", "Merkle-Patricia proof of an account, present or absent, with header and certificate", s.proveAccount),
		state("/proof/storage/{address}/{slot}", "the same of a storage value; slot is hex of the namespace byte and the key", s.proveStorage),
		block("/proof/tx/{hash}", "proof that a transaction is in a final block", s.proveListed(light.KindTransaction)),
		block("/proof/receipt/{hash}", "proof of its result", s.proveListed(light.KindReceipt)),
		{method: post, pattern: "/proof/multi", about: "several accounts and slots in one proof; {\"accounts\": [{\"address\": \"0x…\", \"slots\": [\"0x…\"]}]}", handle: s.proveMulti, slots: s.proofs, body: multiBodyBytesMax, cost: costBlockProof},
	}
}

// Requests that cost more than a lookup take more of a client's rate. A proof
// of the state costs some ten lookups' worth of hashing and JSON; a proof from
// a list hashes the whole block.
const (
	costStateProof = 2
	costBlockProof = 10
)

func (s *Server) proveHeader(w http.ResponseWriter, r *http.Request, args []string) error {
	q := &light.Query{Kind: light.KindHeader}
	if args[0] != "latest" {
		h, err := parseUint(args[0])
		if err != nil || h == 0 {
			return badRequest(CodeBadNumber, "%q is no block: give a height from 1 on, or latest", clip(args[0]))
		}
		q.Height = chain.Height(h)
	}
	return s.prove(w, r, q)
}

// proveAccount answers 200 for an absent account too: its absence is what the
// proof proves.
func (s *Server) proveAccount(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	return s.prove(w, r, &light.Query{Kind: light.KindAccount, Accounts: []light.AccountQuery{{Address: addr}}})
}

func (s *Server) proveStorage(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	slot, err := parseSlot(args[1])
	if err != nil {
		return err
	}
	return s.prove(w, r, &light.Query{
		Kind: light.KindStorage, Accounts: []light.AccountQuery{{Address: addr, Slots: []state.StorageKey{slot}}},
	})
}

func (s *Server) proveListed(kind light.Kind) handleFunc {
	return func(w http.ResponseWriter, r *http.Request, args []string) error {
		hash, err := parseHash(args[0])
		if err != nil {
			return err
		}
		return s.prove(w, r, &light.Query{Kind: kind, TxHash: hash})
	}
}

func (s *Server) proveMulti(w http.ResponseWriter, r *http.Request, _ []string) error {
	var body MultiProofRequest
	if err := s.readJSONOf(w, r, multiBodyBytesMax, &body); err != nil {
		return err
	}
	q := &light.Query{Kind: light.KindMulti}
	keys := 0
	for _, a := range body.Accounts {
		if keys += 1 + len(a.Slots); keys > s.cfg.ProofKeysMax {
			break
		}
		addr, err := parseAddress(a.Address)
		if err != nil {
			return err
		}
		ask := light.AccountQuery{Address: addr}
		for _, text := range a.Slots {
			slot, err := parseSlot(text)
			if err != nil {
				return err
			}
			ask.Slots = append(ask.Slots, slot)
		}
		q.Accounts = append(q.Accounts, ask)
	}
	if keys < 1 || keys > s.cfg.ProofKeysMax {
		return badRequest(CodeBadNumber, "a proof has 1 to %d accounts and slots together: split the request", s.cfg.ProofKeysMax)
	}
	return s.prove(w, r, q)
}

func (s *Server) prove(w http.ResponseWriter, r *http.Request, q *light.Query) error {
	d, ok, err := s.source.Prove(r.Context(), q)
	if err != nil {
		return err
	}
	if !ok && q.Kind == light.KindHeader {
		return s.noBlockAt(q.Height)
	}
	if !ok {
		return unknownFinalTransaction()
	}
	text, err := light.Encode(d)
	if err != nil {
		return err
	}
	if len(text) > light.DocumentBytesMax {
		return refuse(http.StatusRequestEntityTooLarge, CodeUnprovable,
			"this proof takes %d bytes, above %d that a client accepts", len(text), light.DocumentBytesMax)
	}
	s.writeBody(w, http.StatusOK, "application/json", text)
	return nil
}

func unknownFinalTransaction() error {
	return notFound(CodeUnknownTransaction,
		"no final block has this transaction: check the hash, or ask again when it is final; that it is absent cannot be proven")
}

// parseSlot reads a storage key as the state has it: one byte of namespace and
// the key.
func parseSlot(text string) (state.StorageKey, error) {
	digits := strings.TrimPrefix(text, "0x")
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) == 0 || len(b) > slotBytesMax {
		return "", badRequest(CodeBadSlot, "%q is no slot: give 1 to %d bytes of hex, the namespace (00 system, 01 program) and the key", clip(text), slotBytesMax)
	}
	return state.StorageKey(b), nil
}
