package rpc

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Status is how the node is, and what it saw of others.
type Status interface {
	// Evidence returns the proofs of validators that contradicted themselves,
	// oldest first.
	Evidence() []Evidence
	// Health returns how the node is.
	Health() Health
}

// Evidence is proof that a validator contradicted itself in a round (resolution
// 11.2). Bytes are the proof itself: anyone who has the genesis can verify it.
type Evidence struct {
	Accused       chain.PeerKey
	Epoch         chain.Epoch
	View          chain.View
	First, Second string // what it said: notarize, nullify or finalize
	Bytes         []byte
}

// Health is how the node is.
type Health struct {
	Status  string // "ok", "starting", "stopping" or "degraded"
	Ready   bool   // voting
	Height  chain.Height
	View    chain.View
	ChainID uint64
	Genesis chain.Hash
	Version string
	Devnet  bool
	Reasons []string // why it is not ok or not ready
	State   StateRoom
}

// StateRoom is how full the state is, as the protocol counts it (ADR 63).
type StateRoom struct {
	Bytes, Limit uint64
	Growth       uint64 // factor of the price of new bytes, in basis points
}

// Development is what development chains have beside.
type Development interface {
	// Faucet sends development funds to addr. It is called on a devnet only.
	Faucet(ctx context.Context, addr chain.Address) (*Grant, error)
	// Advance makes blocks empty blocks at once, their timestamps apart by the
	// block time, and returns the new head. It is called on a devnet only.
	Advance(ctx context.Context, blocks uint64) (*Advanced, error)
}

// Grant is what the faucet gave.
type Grant struct {
	TxHash chain.Hash
	Amount chain.Wei
	Final  bool // the transfer is in a finalized block
}

// Advanced is the head after empty blocks.
type Advanced struct {
	Height          chain.Height
	TimestampMillis uint64
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request, _ []string) error {
	s.writeJSON(w, http.StatusOK, healthReply(s.source.Health()))
	return nil
}

func (s *Server) evidence(w http.ResponseWriter, _ *http.Request, _ []string) error {
	reply := EvidenceReply{Evidence: []EvidenceLine{}}
	for _, e := range s.source.Evidence() {
		reply.Evidence = append(reply.Evidence, EvidenceLine{
			Accused: "0x" + hex.EncodeToString(e.Accused[:]), Epoch: uint64(e.Epoch), View: uint64(e.View),
			First: e.First, Second: e.Second, Proof: "0x" + hex.EncodeToString(e.Bytes),
		})
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

// notReadyReply is both shapes at once: a probe reads the code and message of
// every error, an operator the rest.
type notReadyReply struct {
	ErrorReply
	HealthReply
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request, _ []string) error {
	reply := healthReply(s.source.Health())
	if reply.Ready {
		s.writeJSON(w, http.StatusOK, reply)
		return nil
	}
	retryAfter(w, time.Second)
	s.writeJSON(w, http.StatusServiceUnavailable, notReadyReply{
		ErrorReply:  ErrorReply{Code: CodeNotReady, Message: "the node does not vote: see reasons"},
		HealthReply: reply,
	})
	return nil
}

func healthReply(h Health) HealthReply {
	reasons := h.Reasons
	if reasons == nil {
		reasons = []string{}
	}
	return HealthReply{
		Status:  h.Status,
		Ready:   h.Ready,
		Height:  uint64(h.Height),
		View:    uint64(h.View),
		ChainID: h.ChainID,
		Genesis: h.Genesis.String(),
		Version: h.Version,
		Devnet:  h.Devnet,
		Reasons: reasons,
		State:   StateReply(h.State),
	}
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request, _ []string) error {
	if s.cfg.Metrics == nil {
		return notFound(CodeUnknownPath, "this node exports no metrics here: see its admin address")
	}
	s.cfg.Metrics.ServeHTTP(w, r)
	return nil
}

func (s *Server) faucet(w http.ResponseWriter, r *http.Request, _ []string) error {
	if err := s.devnetOnly(r); err != nil {
		return err
	}
	var req FaucetRequest
	if err := s.readJSON(w, r, &req); err != nil {
		return err
	}
	addr, err := parseAddress(req.Address)
	if err != nil {
		return err
	}
	if ok, wait := s.faucetRates.allow(s.client(r), time.Now()); !ok {
		retryAfter(w, wait)
		return refuse(http.StatusTooManyRequests, CodeFaucetLimit,
			"the faucet gives %d times a minute: try again later", s.cfg.FaucetPerMinute)
	}
	grant, err := s.source.Faucet(r.Context(), addr)
	if err != nil {
		return err
	}
	finality := "pending"
	if grant.Final {
		finality = "finalized"
	}
	s.writeJSON(w, http.StatusOK, FaucetReply{
		Status:    "accepted",
		Finality:  finality,
		TxHash:    grant.TxHash.String(),
		Amount:    grant.Amount,
		AmountCBY: FormatCBY(grant.Amount),
	})
	return nil
}

func (s *Server) advance(w http.ResponseWriter, r *http.Request, _ []string) error {
	if err := s.devnetOnly(r); err != nil {
		return err
	}
	var req AdvanceRequest
	if err := s.readJSON(w, r, &req); err != nil {
		return err
	}
	if req.Blocks < 1 || req.Blocks > s.cfg.AdvanceBlocksMax {
		return badRequest(CodeBadNumber, "blocks is %d: give 1 to %d", req.Blocks, s.cfg.AdvanceBlocksMax)
	}
	if err := extendWrite(w, s.cfg.AdvanceTimeout+s.cfg.WriteTimeout); err != nil {
		return err
	}
	head, err := s.source.Advance(r.Context(), req.Blocks)
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, AdvanceReply{Height: uint64(head.Height), TimestampMillis: head.TimestampMillis})
	return nil
}

// devnetOnly refuses what changes the chain without a signature, except on a
// devnet, and there to a page that a browser has from elsewhere: such a page need
// not read the answer to do harm. The content type is no help, for a page can send
// each that curl sends.
func (s *Server) devnetOnly(r *http.Request) error {
	if !s.cfg.Devnet {
		return notFound(CodeDevnetOnly, "only a devnet serves this path: start one with `make devnet`")
	}
	if err := s.origins.Check(r); err != nil {
		return refuse(http.StatusForbidden, CodeForeignOrigin,
			"a page of another origin may not ask for this: use the cowboy command or curl")
	}
	return nil
}

// extendWrite moves the connection's write deadline to d from now. A recorder
// in a test has none, which is fine.
func extendWrite(w http.ResponseWriter, d time.Duration) error {
	err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// FormatCBY returns base units as a decimal number of CBY without trailing
// zeros: 1500000000 is 1.5 (resolution 8.17).
func FormatCBY(w chain.Wei) string {
	whole, rest := uint64(w/chain.WeiPerCBY), uint64(w%chain.WeiPerCBY)
	if rest == 0 {
		return strconv.FormatUint(whole, 10)
	}
	const decimals = 9
	digits := strconv.FormatUint(rest, 10)
	digits = strings.Repeat("0", decimals-len(digits)) + digits
	return strconv.FormatUint(whole, 10) + "." + strings.TrimRight(digits, "0")
}
