package rpc

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/pyvalue"
)

// Trials is what runs on the head's state and is forgotten.
type Trials interface {
	// ReadActor runs a handler that changes nothing, on the head's state. What the
	// handler did, failures included, is in the answer.
	ReadActor(ctx context.Context, q *ReadQuery) (*Trial, error)
	// Estimate runs a transaction on the head's state and forgets it. One that no
	// block would take is a [*Refusal] with its verdict.
	Estimate(ctx context.Context, q *EstimateQuery) (*Trial, error)
}

// ReadQuery is a call that only reads.
type ReadQuery struct {
	Sender  chain.Address
	Actor   chain.Address
	Handler string
	Payload []byte
	Cycles  chain.Cycles
}

// Trial is what a call or a transaction did that was only tried.
type Trial struct {
	Height chain.Height // of the head
	Code   uint16       // chain.CodeOK or why it failed
	Detail string       // a traceback, for people
	Used   chain.Usage
	Output []byte
	Events []chain.Event
	Trace  []chain.Delivery

	// Of a transaction.
	Lane      chain.LaneID
	Actor     chain.Address // that it would make
	Fee       chain.Wei     // at the present prices
	Fees      chain.FeePair // the prices
	Short     chain.Wei     // what the sender lacks
	Suggested chain.Usage   // limits to send it with
	Growth    uint64        // factor of the price of new bytes of the state, in basis points
}

// EstimateQuery is a transaction without nonce, prices and signature.
type EstimateQuery struct {
	Sender chain.Address
	Tx     chain.Tx
}

// ReadRequest is the body of POST /actor/read. Of payload, canonical bytes as
// hex, and value, the same as JSON, at most one is given.
type ReadRequest struct {
	Actor   string          `json:"actor"`
	Handler string          `json:"handler"`
	Payload string          `json:"payload"`
	Value   json.RawMessage `json:"value,omitempty"`
	Sender  string          `json:"sender"` // that the handler sees; default: the zero address
	Cycles  uint64          `json:"cycles_limit"`
}

// ReadReply answers POST /actor/read.
type ReadReply struct {
	Actor  string `json:"actor"`
	Height uint64 `json:"height"` // of the head that was read
	TrialReply
}

// TrialReply is what ReadReply and EstimateReply have in common.
type TrialReply struct {
	Status       string          `json:"status"` // "success" or "failed"
	Code         uint16          `json:"code"`
	RevertReason string          `json:"revert_reason"`
	Detail       string          `json:"detail"` // for people
	CyclesUsed   uint64          `json:"cycles_used"`
	CellsUsed    uint64          `json:"cells_used"`
	Output       string          `json:"output"`
	Value        json.RawMessage `json:"value"` // output as a value
	Events       []EventReply    `json:"events"`
	Messages     []MessageReply  `json:"messages"`
}

// EstimateRequest is the body of POST /estimate: a transaction as its receiver
// sees it. Limits of 0 stand for the most there can be.
type EstimateRequest struct {
	Sender      string    `json:"sender"`
	To          *string   `json:"to"` // null deploys
	Value       chain.Wei `json:"value"`
	Payload     string    `json:"payload"`
	CyclesLimit uint64    `json:"cycles_limit"`
	CellsLimit  uint64    `json:"cells_limit"`
	TipPerCycle chain.Wei `json:"tip_per_cycle"`
	TipPerCell  chain.Wei `json:"tip_per_cell"`
}

// EstimateReply answers POST /estimate.
type EstimateReply struct {
	Height      uint64    `json:"height"`
	Lane        string    `json:"lane"`
	Actor       *string   `json:"actor"`        // that a deployment makes
	CyclesLimit uint64    `json:"cycles_limit"` // to send it with; a margin is the sender's to add
	CellsLimit  uint64    `json:"cells_limit"`
	Fee         chain.Wei `json:"fee"` // of what is used, at these prices
	Cycle       chain.Wei `json:"basefee_cycle"`
	Cell        chain.Wei `json:"basefee_cell"`
	Short       chain.Wei `json:"short"` // what the sender lacks of value and fee
	// By how much new bytes of the state cost more cells than on a young chain.
	Growth uint64 `json:"state_price_basis_points"`
	TrialReply
}

// trialBodyBytesMax holds the largest transaction as hex.
const trialBodyBytesMax = 2*chain.MaxTxBytes + 4<<10

func (s *Server) read(w http.ResponseWriter, r *http.Request, _ []string) error {
	var req ReadRequest
	if err := s.readJSONOf(w, r, trialBodyBytesMax, &req); err != nil {
		return err
	}
	q, err := readQuery(&req)
	if err != nil {
		return err
	}
	t, err := s.source.ReadActor(r.Context(), q)
	if err == nil {
		err = billValues(r.Context(), valueBytes(t.Output, t.Events))
	}
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, ReadReply{Actor: q.Actor.String(), Height: uint64(t.Height), TrialReply: trialReply(t, s.values())})
	return nil
}

func readQuery(req *ReadRequest) (*ReadQuery, error) {
	q := &ReadQuery{Handler: req.Handler, Cycles: chain.Cycles(req.Cycles)}
	var err error
	if q.Actor, err = parseAddress(req.Actor); err != nil {
		return nil, err
	}
	if req.Sender != "" {
		if q.Sender, err = parseAddress(req.Sender); err != nil {
			return nil, err
		}
	}
	if req.Handler == "" || len(req.Handler) > chain.MaxEventName {
		return nil, badRequest(CodeBadRequest, "handler has %d bytes: give the name of a handler", len(req.Handler))
	}
	if len(req.Value) == 0 || string(req.Value) == "null" {
		q.Payload, err = parseBytes("payload", req.Payload)
		return q, err
	}
	if req.Payload != "" {
		return nil, badRequest(CodeBadRequest, "payload and value are both given: give one")
	}
	if q.Payload, err = pyvalue.Encode(req.Value); err != nil {
		return nil, badRequest(CodeBadPayload, "value: %s", clip(err.Error()))
	}
	return q, nil
}

func (s *Server) estimate(w http.ResponseWriter, r *http.Request, _ []string) error {
	var req EstimateRequest
	if err := s.readJSONOf(w, r, trialBodyBytesMax, &req); err != nil {
		return err
	}
	q := &EstimateQuery{Tx: chain.Tx{
		Value: req.Value, CyclesLimit: chain.Cycles(req.CyclesLimit), CellsLimit: chain.Cells(req.CellsLimit),
		TipPerCycle: req.TipPerCycle, TipPerCell: req.TipPerCell,
	}}
	var err error
	if q.Sender, err = parseAddress(req.Sender); err != nil {
		return err
	}
	if req.To != nil {
		to, err := parseAddress(*req.To)
		if err != nil {
			return err
		}
		q.Tx.To = &to
	}
	if q.Tx.Payload, err = parseBytes("payload", req.Payload); err != nil {
		return err
	}
	t, err := s.source.Estimate(r.Context(), q)
	if err == nil {
		err = billValues(r.Context(), valueBytes(t.Output, t.Events))
	}
	if err != nil {
		return err
	}
	reply := EstimateReply{
		Height: uint64(t.Height), Lane: t.Lane.String(), CyclesLimit: uint64(t.Suggested.Cycles), CellsLimit: uint64(t.Suggested.Cells),
		Fee: t.Fee, Cycle: t.Fees.PerCycle, Cell: t.Fees.PerCell, Short: t.Short, Growth: t.Growth, TrialReply: trialReply(t, s.values()),
	}
	if t.Actor != (chain.Address{}) {
		made := t.Actor.String()
		reply.Actor = &made
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

func trialReply(t *Trial, shown *values) TrialReply {
	reply := TrialReply{
		Status: "failed", Code: t.Code, RevertReason: chain.CodeName(t.Code), Detail: t.Detail,
		CyclesUsed: uint64(t.Used.Cycles), CellsUsed: uint64(t.Used.Cells),
		Output: hexOf(t.Output), Value: shown.orNull(t.Output), Events: eventReplies(t.Events, shown), Messages: MessageReplies(t.Trace),
	}
	if t.Code == chain.CodeOK {
		reply.Status, reply.RevertReason = "success", ""
	}
	return reply
}
