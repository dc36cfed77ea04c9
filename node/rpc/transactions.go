package rpc

import (
	"context"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Transactions is the way in, and what became of what went in.
type Transactions interface {
	// Submit judges transaction bodies (without length prefixes) and queues the
	// accepted ones. It appends one verdict for each body to into, in order, and keeps
	// no reference to the slices. An error means that the caller has no verdict, and that
	// the bodies may still be read: they must not change.
	Submit(ctx context.Context, bodies [][]byte, into []Verdict) ([]Verdict, error)
	// SubmitOnly is Submit of transactions that pass: one that it has an error for enters
	// no pool, and the error is its verdict ([ErrOtherSender], [ErrOtherInstruction]).
	// pass must not block.
	SubmitOnly(ctx context.Context, pass func(*chain.VerifiedTx) error, bodies [][]byte, into []Verdict) ([]Verdict, error)
	// Wait returns nil when every transaction is in a finalized block and the
	// context's error when that ends first.
	Wait(ctx context.Context, hashes []chain.Hash) error
	// Transaction returns a transaction of a finalized block or of the pool.
	Transaction(ctx context.Context, hash chain.Hash) (*FoundTx, bool, error)
	// Receipt returns the receipt of a finalized transaction, or of a delivery by
	// its id: a message that waited, or a timer.
	Receipt(ctx context.Context, hash chain.Hash) (*FoundReceipt, bool, error)
	// PoolTx returns a transaction that waits in the pool, or one that was
	// included lately with state PoolIncluded.
	PoolTx(ctx context.Context, hash chain.Hash) (*PoolTx, bool, error)
}

// Verdict is the judgment on one submitted transaction.
type Verdict struct {
	Hash    chain.Hash // keccak256 of the body, also of a malformed one
	Code    Code       // CodeOK if accepted
	Message string     // says what to do; empty if accepted
}

// FoundTx is a transaction and where it stands.
type FoundTx struct {
	Tx     *chain.VerifiedTx
	Final  bool
	Height chain.Height // meaningful if Final
	Slot   int          // index in the block, meaningful if Final
}

// FoundReceipt is a receipt and where its transaction stands.
type FoundReceipt struct {
	Receipt   *chain.Receipt
	Height    chain.Height
	BlockHash chain.Hash
	Slot      int
}

// PoolState says how far a transaction of the pool is.
type PoolState string

// States of a pool transaction.
const (
	PoolPending  PoolState = "pending"  // may be in the next block
	PoolQueued   PoolState = "queued"   // waits for an earlier nonce
	PoolIncluded PoolState = "included" // left the pool for a finalized block
)

// PoolTx is a transaction of the pool.
type PoolTx struct {
	Tx    *chain.VerifiedTx
	State PoolState
}

func (s *Server) transaction(w http.ResponseWriter, r *http.Request, args []string) error {
	hash, err := parseHash(args[0])
	if err != nil {
		return err
	}
	found, ok, err := s.source.Transaction(r.Context(), hash)
	if err != nil {
		return err
	}
	if !ok {
		return unknownTransaction()
	}
	s.writeJSON(w, http.StatusOK, txReply(found))
	return nil
}

func unknownTransaction() error {
	return notFound(CodeUnknownTransaction,
		"this node knows no such transaction: check the hash, or submit the transaction again")
}

// receipt answers 404 until the transaction is final, with a code that tells a
// waiting transaction from an unknown one.
func (s *Server) receipt(w http.ResponseWriter, r *http.Request, args []string) error {
	hash, err := parseHash(args[0])
	if err != nil {
		return err
	}
	found, ok, err := s.source.Receipt(r.Context(), hash)
	if err != nil {
		return err
	}
	if ok {
		if err := billValues(r.Context(), valueBytes(found.Receipt.Output, found.Receipt.Events)); err != nil {
			return err
		}
		s.writeJSON(w, http.StatusOK, receiptReply(found, s.values()))
		return nil
	}
	_, waiting, err := s.source.PoolTx(r.Context(), hash)
	if err != nil {
		return err
	}
	if waiting {
		return notFound(CodeReceiptPending, "the transaction is pending: ask again after the next block")
	}
	return unknownTransaction()
}

func (s *Server) poolTx(w http.ResponseWriter, r *http.Request, args []string) error {
	hash, err := parseHash(args[0])
	if err != nil {
		return err
	}
	found, ok, err := s.source.PoolTx(r.Context(), hash)
	if err != nil {
		return err
	}
	if !ok {
		return notFound(CodeNotInPool, "the pool holds no such transaction: GET /transaction/{hash} finds final ones")
	}
	s.writeJSON(w, http.StatusOK, PoolTxReply{
		Hash:   found.Tx.Hash.String(),
		State:  string(found.State),
		Lane:   found.Tx.Lane.String(),
		Sender: found.Tx.Sender.String(),
		Nonce:  found.Tx.Tx.Nonce,
	})
	return nil
}

func txReply(found *FoundTx) TxReply {
	tx := found.Tx.Tx
	reply := TxReply{
		Hash:           found.Tx.Hash.String(),
		ChainID:        tx.ChainID,
		Nonce:          tx.Nonce,
		Sender:         found.Tx.Sender.String(),
		Value:          tx.Value,
		CyclesLimit:    uint64(tx.CyclesLimit),
		CellsLimit:     uint64(tx.CellsLimit),
		MaxFeePerCycle: tx.MaxFeePerCycle,
		MaxFeePerCell:  tx.MaxFeePerCell,
		TipPerCycle:    tx.TipPerCycle,
		TipPerCell:     tx.TipPerCell,
		Payload:        hexOf(tx.Payload),
		Lane:           found.Tx.Lane.String(),
		Raw:            hexOf(found.Tx.Body),
	}
	if tx.To != nil {
		to := tx.To.String()
		reply.To = &to
	}
	if found.Final {
		height, slot := uint64(found.Height), found.Slot
		reply.BlockHeight, reply.Slot = &height, &slot
	}
	return reply
}

func receiptReply(found *FoundReceipt, shown *values) ReceiptReply {
	r := found.Receipt
	reply := ReceiptReply{
		TxHash:       r.TxHash.String(),
		BlockHeight:  uint64(found.Height),
		BlockHash:    found.BlockHash.String(),
		Slot:         found.Slot,
		Lane:         r.Lane.String(),
		Status:       "failed",
		Code:         r.Code,
		RevertReason: chain.CodeName(r.Code),
		CyclesUsed:   uint64(r.CyclesUsed),
		CellsUsed:    uint64(r.CellsUsed),
		Fee:          r.Fee,
		Output:       hexOf(r.Output),
		Value:        shown.orNull(r.Output),
		Events:       eventReplies(r.Events, shown),
		Messages:     MessageReplies(r.Trace),
	}
	if r.Status == chain.StatusSucceeded {
		reply.Status, reply.RevertReason = "success", ""
	}
	return reply
}

func eventReplies(events []chain.Event, shown *values) []EventReply {
	out := make([]EventReply, len(events))
	for i, e := range events {
		out[i] = EventReply{Emitter: e.Emitter.String(), Name: e.Name, Data: hexOf(e.Data), Value: shown.orNull(e.Data)}
	}
	return out
}

// MessageReplies shapes a trace.
func MessageReplies(trace []chain.Delivery) []MessageReply {
	out := make([]MessageReply, len(trace))
	for i := range trace {
		out[i] = messageReply(&trace[i])
	}
	return out
}

func messageReply(d *chain.Delivery) MessageReply {
	m := MessageReply{
		ID: d.Message.String(), Parent: d.Parent, Depth: d.Depth, To: d.To.String(),
		Status: "failed", Code: d.Code, Reason: chain.CodeName(d.Code), Cycles: uint64(d.Cycles),
	}
	switch d.Status {
	case chain.DeliverySucceeded:
		m.Status, m.Reason = "success", ""
	case chain.DeliveryWaits:
		m.Status, m.Reason = "waits", ""
	case chain.DeliveryFailed:
	}
	return m
}
