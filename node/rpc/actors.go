package rpc

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// Actors is what is asked of a program.
type Actors interface {
	// Actor returns an actor and a part of what its program stored, at the
	// finalized head; it is false for an account without code.
	Actor(ctx context.Context, q *ActorQuery) (*Actor, bool, error)
}

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
	// Governance has announced that it goes, and works through LastBlock.
	Deprecated bool   `json:"deprecated,omitempty"`
	LastBlock  uint64 `json:"last_block,omitempty"`
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
		{method: post, pattern: "/actor/read", about: "a call that changes nothing; {\"actor\": \"0x…\", \"handler\": \"…\", \"value\": …}", handle: s.read, slots: s.trials, body: trialBodyBytesMax, cost: costRead},
		{method: post, pattern: "/estimate", about: "what a transaction would do and cost; {\"sender\": \"0x…\", \"to\": \"0x…\", \"payload\": \"0x…\"}", handle: s.estimate, slots: s.trials, body: trialBodyBytesMax, cost: costEstimate},
	}
}

// Bounds of a page about an actor.
const (
	actorEntriesDefault = 100
	actorEntriesMax     = 1000
	actorBytesMax       = 1 << 20
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
	reply := actorReply(addr, a)
	if err := reply.addStorage(r.Context(), a, s.values()); err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

// addStorage shows the entries that there is room for, and which the client can pay for; the
// page ends behind them.
func (reply *ActorReply) addStorage(ctx context.Context, a *Actor, shown *values) error {
	for i, e := range a.Entries {
		err := billValues(ctx, len(e.Value))
		value, fits := json.RawMessage(nil), false
		if err == nil {
			value, fits = shown.show(e.Value)
		}
		if !fits && i > 0 {
			reply.StorageNext = hexOf([]byte(e.Key))
			return nil
		}
		if err != nil {
			return err
		}
		reply.Storage[slotName(e.Key)] = value
	}
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

func parseBytes(name, text string) ([]byte, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		return nil, badRequest(CodeBadPayload, "%s is no hex: give an even number of digits, with or without 0x", name)
	}
	return b, nil
}
