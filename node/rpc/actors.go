package rpc

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/pyvalue"
	"github.com/cowboy-foundation/cowboy/state"
)

// ActorQuery asks for an actor and a part of what its program has stored.
type ActorQuery struct {
	Address    chain.Address
	Prefix     string           // what the program's keys begin with
	From       state.StorageKey // first key of the page, "" for the beginning
	EntriesMax int
	BytesMax   int // of keys and values; one entry is returned whatever its size
}

// Actor is an actor at the finalized head.
type Actor struct {
	Height       chain.Height
	CodeHash     chain.Hash
	Balance      chain.Wei
	Nonce        uint64 // messages that it has sent
	Mailbox      uint64 // messages that wait for it
	Creator      chain.Address
	Parent       chain.Address // actor that spawned it, zero where a transaction made it
	Deployed     chain.Height
	CyclesLeft   chain.Cycles // of its own in the next block (resolution 11.22)
	Dormant      bool
	StorageBytes uint64
	Rent         Rent
	Manifest     []Entitlement
	Entries      []state.Entry
	Next         state.StorageKey // first key of the next page, "" if this is the last
}

// Entitlement is a line of a manifest.
type Entitlement struct {
	ID     string         `json:"id"`
	Params map[string]any `json:"params,omitempty"` // numbers, texts and lists of texts
}

// LogQuery asks for events of one emitter, in order within a block.
type LogQuery struct {
	Emitter     chain.Address
	From, To    chain.Height // blocks, both included
	OldestFirst bool         // else newest block first
	After       *LogPlace    // of the last event of the page before; nil: from the beginning
	Events      int          // at most so many, at least 1
	BytesMax    int          // of receipts read; there is always one event if there is any
}

// LogPlace is where an event is.
type LogPlace struct {
	Height chain.Height
	Slot   int // of the receipt in its block
	Index  int // of the event in its receipt
}

// String is the text that ?after= takes.
func (p LogPlace) String() string { return fmt.Sprintf("%d.%d.%d", p.Height, p.Slot, p.Index) }

// parseLogPlace reads what String writes.
func parseLogPlace(text string) (p LogPlace, err error) {
	parts := strings.Split(text, ".")
	var n [3]uint64
	if len(parts) != len(n) {
		err = strconv.ErrSyntax
	}
	for i := 0; i < len(n) && err == nil; i++ {
		n[i], err = parseUint(parts[i])
	}
	if err != nil || n[1] > math.MaxInt32 || n[2] > math.MaxInt32 {
		return p, badRequest(CodeBadNumber, "after=%q is no place of an event: give next of the page before", clip(text))
	}
	return LogPlace{chain.Height(n[0]), int(n[1]), int(n[2])}, nil
}

// Log is an event with its place.
type Log struct {
	LogPlace
	Event     chain.Event
	BlockHash chain.Hash
	TxHash    chain.Hash // of the transaction, the waiting message or the firing
}

// LogPage is a part of an emitter's events.
type LogPage struct {
	Logs []Log
	Next *LogPlace // behind which the next page begins; nil if this is the last
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
}

// EstimateQuery is a transaction without nonce, prices and signature.
type EstimateQuery struct {
	Sender chain.Address
	Tx     chain.Tx
}

// ActorReply answers GET /actor/{address}.
type ActorReply struct {
	Address      string                     `json:"address"`
	CodeHash     string                     `json:"code_hash"`
	Balance      chain.Wei                  `json:"balance"`
	Nonce        uint64                     `json:"nonce"`         // messages sent
	MailboxCount uint64                     `json:"mailbox_count"` // messages in its box, without those deferred to a height
	Creator      string                     `json:"creator"`
	Parent       *string                    `json:"parent"` // null unless an actor made it
	Deployed     uint64                     `json:"deployed_height"`
	CyclesLeft   uint64                     `json:"cycles_left"` // that it may use in the next block
	Dormant      bool                       `json:"dormant"`
	StorageBytes uint64                     `json:"storage_bytes"`
	Rent         RentReply                  `json:"rent"`
	Entitlements []Entitlement              `json:"entitlements"`
	Storage      map[string]json.RawMessage `json:"storage"`      // values as package pyvalue writes them
	StorageNext  string                     `json:"storage_next"` // ?from= of the next page, "" if this is the last
	Height       uint64                     `json:"height"`
}

// LogReply is an event of GET /actor/{address}/logs.
type LogReply struct {
	Name        string          `json:"name"`
	Data        string          `json:"data"`
	Value       json.RawMessage `json:"value"` // data as a value, null where it is none
	BlockHeight uint64          `json:"block_height"`
	BlockHash   string          `json:"block_hash"`
	TxHash      string          `json:"tx_hash"`
	Slot        int             `json:"slot"`
	Index       int             `json:"index"`
}

// LogsReply answers GET /actor/{address}/logs.
type LogsReply struct {
	Address string     `json:"address"`
	Logs    []LogReply `json:"logs"`
	Next    string     `json:"next"`   // ?after= of the next page, "" if there is none
	Height  uint64     `json:"height"` // the last block that was looked at
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
	TrialReply
}

// What requests for trials take from a client's rate: they run programs.
const (
	costRead     = 5
	costEstimate = 20
	costLogs     = 20
)

func (s *Server) actorRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, pattern: "/actor/{address}", about: "an actor and what it has stored; ?prefix=TEXT&from=SLOT&limit=100", handle: s.actor, slots: s.exports, cost: costBlockProof},
		{method: get, pattern: "/actor/{address}/code", about: "its source, and the hash", handle: s.code, cost: costStateProof},
		{method: get, pattern: "/actor/{address}/logs", about: "its events, newest block first; ?from=1&to=HEIGHT&limit=100&after=NEXT&order=oldest", handle: s.logs, slots: s.exports, cost: costLogs},
		{method: post, pattern: "/actor/read", about: "a call that changes nothing; {\"actor\": \"0x…\", \"handler\": \"…\", \"value\": …}", handle: s.read, slots: s.trials, cost: costRead},
		{method: post, pattern: "/estimate", about: "what a transaction would do and cost; {\"sender\": \"0x…\", \"to\": \"0x…\", \"payload\": \"0x…\"}", handle: s.estimate, slots: s.trials, cost: costEstimate},
	}
}

// Bounds of a page about an actor.
const (
	actorEntriesDefault = 100
	actorEntriesMax     = 1000
	actorBytesMax       = 1 << 20
	logEventsDefault    = 100
	logEventsMax        = 1000
	logBytesMax         = 4 << 20 // of receipts
)

func (s *Server) actor(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	q, err := parseQuery(r)
	if err != nil {
		return err
	}
	limit, err := queryUint(q, "limit", actorEntriesDefault)
	if err != nil {
		return err
	}
	if limit > actorEntriesMax {
		return badRequest(CodeBadNumber, "limit=%d is out of range: give 0 to %d", limit, actorEntriesMax)
	}
	ask := &ActorQuery{Address: addr, Prefix: q.Get("prefix"), EntriesMax: int(limit), BytesMax: actorBytesMax}
	if len(ask.Prefix) > keyBytesMax {
		return badRequest(CodeBadSlot, "prefix has %d bytes: a key has at most %d", len(ask.Prefix), keyBytesMax)
	}
	if text := q.Get("from"); text != "" {
		if ask.From, err = parseSlot(text); err != nil {
			return err
		}
	}
	a, ok, err := s.source.Actor(r.Context(), ask)
	if err != nil {
		return err
	}
	if !ok {
		return notFound(CodeUnknownActor, "there is no actor at this address: GET /account/{address} shows accounts without code")
	}
	s.writeJSON(w, http.StatusOK, actorReply(addr, a))
	return nil
}

func actorReply(addr chain.Address, a *Actor) ActorReply {
	reply := ActorReply{
		Address: addr.String(), CodeHash: a.CodeHash.String(), Balance: a.Balance, Nonce: a.Nonce, MailboxCount: a.Mailbox,
		Creator: a.Creator.String(), Deployed: uint64(a.Deployed), CyclesLeft: uint64(a.CyclesLeft), Dormant: a.Dormant,
		StorageBytes: a.StorageBytes, Rent: rentReply(addr, &a.Rent), Entitlements: a.Manifest, Storage: map[string]json.RawMessage{}, Height: uint64(a.Height),
	}
	if a.Manifest == nil {
		reply.Entitlements = []Entitlement{}
	}
	if a.Parent != (chain.Address{}) {
		parent := a.Parent.String()
		reply.Parent = &parent
	}
	for _, e := range a.Entries {
		reply.Storage[slotName(e.Key)] = valueOf(e.Value)
	}
	if a.Next != "" {
		reply.StorageNext = hexOf([]byte(a.Next))
	}
	return reply
}

// slotName is the key as the program wrote it.
func slotName(k state.StorageKey) string {
	if len(k) > 0 && k[0] == state.VMNamespacePVM {
		return string(k[1:])
	}
	return hexOf([]byte(k))
}

// valueOf writes bytes as a value; null where they are none.
func valueOf(data []byte) json.RawMessage {
	v, err := pyvalue.JSON(data)
	if err != nil {
		return json.RawMessage("null")
	}
	return v
}

func (s *Server) logs(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	ask, err := s.logQuery(r)
	if err != nil {
		return err
	}
	ask.Emitter = addr
	page, err := s.source.Logs(r.Context(), ask)
	if err != nil {
		return err
	}
	reply := LogsReply{Address: addr.String(), Logs: make([]LogReply, len(page.Logs)), Height: uint64(ask.To)}
	for i, l := range page.Logs {
		reply.Logs[i] = LogReply{
			Name: l.Event.Name, Data: hexOf(l.Event.Data), Value: valueOf(l.Event.Data), BlockHeight: uint64(l.Height),
			BlockHash: l.BlockHash.String(), TxHash: l.TxHash.String(), Slot: l.Slot, Index: l.Index,
		}
	}
	if page.Next != nil {
		reply.Next = page.Next.String()
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

// logQuery reads what the address does not say.
func (s *Server) logQuery(r *http.Request) (*LogQuery, error) {
	q, err := parseQuery(r)
	if err != nil {
		return nil, err
	}
	head := s.source.Height()
	from, err := queryUint(q, "from", 1)
	if err != nil {
		return nil, err
	}
	to, err := queryUint(q, "to", uint64(head))
	if err != nil {
		return nil, err
	}
	limit, err := queryUint(q, "limit", logEventsDefault)
	if err != nil {
		return nil, err
	}
	if limit < 1 || limit > logEventsMax {
		return nil, badRequest(CodeBadNumber, "limit=%d is out of range: give 1 to %d", limit, logEventsMax)
	}
	ask := &LogQuery{From: chain.Height(from), To: min(chain.Height(to), head), Events: int(limit), BytesMax: logBytesMax}
	switch order := q.Get("order"); order {
	case "", "newest":
	case "oldest":
		ask.OldestFirst = true
	default:
		return nil, badRequest(CodeBadRequest, "order=%q is neither newest nor oldest", clip(order))
	}
	if text := q.Get("after"); text != "" {
		after, err := parseLogPlace(text)
		if err != nil {
			return nil, err
		}
		ask.After = &after
	}
	return ask, nil
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
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, ReadReply{Actor: q.Actor.String(), Height: uint64(t.Height), TrialReply: trialReply(t)})
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

func parseBytes(name, text string) ([]byte, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		return nil, badRequest(CodeBadPayload, "%s is no hex: give an even number of digits, with or without 0x", name)
	}
	return b, nil
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
	if err != nil {
		return err
	}
	reply := EstimateReply{
		Height: uint64(t.Height), Lane: t.Lane.String(), CyclesLimit: uint64(t.Suggested.Cycles), CellsLimit: uint64(t.Suggested.Cells),
		Fee: t.Fee, Cycle: t.Fees.PerCycle, Cell: t.Fees.PerCell, Short: t.Short, TrialReply: trialReply(t),
	}
	if t.Actor != (chain.Address{}) {
		made := t.Actor.String()
		reply.Actor = &made
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

func trialReply(t *Trial) TrialReply {
	reply := TrialReply{
		Status: "failed", Code: t.Code, RevertReason: chain.CodeName(t.Code), Detail: t.Detail,
		CyclesUsed: uint64(t.Used.Cycles), CellsUsed: uint64(t.Used.Cells),
		Output: hexOf(t.Output), Value: valueOf(t.Output), Events: eventReplies(t.Events), Messages: MessageReplies(t.Trace),
	}
	if t.Code == chain.CodeOK {
		reply.Status, reply.RevertReason = "success", ""
	}
	return reply
}
