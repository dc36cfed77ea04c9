package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Events is what programs and services emitted.
type Events interface {
	// Logs returns events of an emitter in final blocks.
	Logs(ctx context.Context, q *LogQuery) (*LogPage, error)
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

// Bounds of a page of events.
const (
	logEventsDefault = 100
	logEventsMax     = 1000
	logBytesMax      = 1 << 20 // of receipts
)

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
	reply := LogsReply{Address: addr.String(), Logs: []LogReply{}, Height: uint64(ask.To)}
	if page.Next != nil {
		reply.Next = page.Next.String()
	}
	shown := s.values()
	for i := range page.Logs {
		l := &page.Logs[i]
		err := billValues(r.Context(), len(l.Event.Data))
		value, fits := json.RawMessage(nil), false
		if err == nil {
			value, fits = shown.show(l.Event.Data)
		}
		if !fits && i > 0 {
			reply.Next = page.Logs[i-1].String()
			break
		}
		if err != nil {
			return err
		}
		reply.Logs = append(reply.Logs, LogReply{
			Name: l.Event.Name, Data: hexOf(l.Event.Data), Value: value, BlockHeight: uint64(l.Height),
			BlockHash: l.BlockHash.String(), TxHash: l.TxHash.String(), Slot: l.Slot, Index: l.Index,
		})
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
