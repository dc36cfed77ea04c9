package rpc

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/state"
)

// Storage is what accounts store, at the head and before.
type Storage interface {
	// StorageAt returns a storage value after the block at height h, nil for the
	// finalized head. The error is [ErrNoHistory] as for an account.
	StorageAt(ctx context.Context, addr chain.Address, slot state.StorageKey, h *chain.Height) (*StorageValue, error)
	// ReadHead calls read with the storage of the finalized head, at height h, which
	// holds still meanwhile. It may call it again after an error.
	ReadHead(ctx context.Context, read func(v StorageReader, h chain.Height) error) error
	// StoragePage returns a part of an account's storage at the finalized head.
	// The error is [ErrStorageMoved] if its root is not that of the query.
	StoragePage(ctx context.Context, q *StorageQuery) (*StoragePage, bool, error)
}

// StorageReader is the storage of one state.
type StorageReader interface {
	Storage(addr chain.Address, key state.StorageKey) ([]byte, error)
	Scan(addr chain.Address, s state.Span) ([]state.Entry, error)
}

// Errors that a [Source] returns where a state is asked for that it lacks.
var (
	// ErrNoHistory means that the node does not keep the state of that height.
	ErrNoHistory = errors.New("state of this height is not kept")
	// ErrStorageMoved means that an actor's storage is another than the one
	// whose pages are read.
	ErrStorageMoved = errors.New("storage has changed")
)

// StorageValue is a storage value at a height.
type StorageValue struct {
	Height chain.Height
	Value  []byte // nil if there is none
}

// ActorCode is the code of an actor at a height.
type ActorCode struct {
	Height chain.Height
	Hash   chain.Hash
	Code   []byte // empty for an account without code
}

// StorageQuery asks for a page of an actor's storage at the head.
type StorageQuery struct {
	Address    chain.Address
	From       state.StorageKey // first key of the page, "" for the beginning
	Root       *chain.Hash      // storage root of the pages before, nil for the first
	EntriesMax int
	BytesMax   int // of keys and values; one entry is returned whatever its size
}

// StoragePage is a page of an actor's storage, ascending by key.
type StoragePage struct {
	Account *light.Account // proof of the account, which has the storage root
	Root    chain.Hash
	Entries []state.StorageChange
	Next    state.StorageKey // first key of the next page, "" if this is the last
}

// StorageReply answers GET /account/{address}/storage/{slot}.
type StorageReply struct {
	Address string `json:"address"`
	Slot    string `json:"slot"` // namespace byte and key
	Height  uint64 `json:"height"`
	Exists  bool   `json:"exists"`
	Value   string `json:"value"` // "0x" if absent
}

// CodeReply answers GET /account/{address}/code.
type CodeReply struct {
	Address  string `json:"address"`
	Height   uint64 `json:"height"`
	CodeHash string `json:"code_hash"`
	Code     string `json:"code"`
}

// StoragePageReply answers GET /account/{address}/storage. Whoever has all
// pages of one root can compute that root from them.
type StoragePageReply struct {
	Account     *light.Account `json:"account"` // proof of the account at this page's height
	StorageRoot string         `json:"storage_root"`
	Entries     []StorageEntry `json:"entries"`
	Next        string         `json:"next"` // ?from= of the next page, "" if this is the last
}

// StorageEntry is one storage value.
type StorageEntry struct {
	Slot  string `json:"slot"`
	Value string `json:"value"`
}

// rowBytes is what a row of the state is billed as beside its bytes.
const rowBytes = 64

// billedReader bills a request for the rows that it reads of a state. It waits for nothing:
// the state is held meanwhile.
type billedReader struct {
	StorageReader
	ctx context.Context
}

// Storage implements [StorageReader].
func (b *billedReader) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	v, err := b.StorageReader.Storage(addr, key)
	if err == nil {
		err = Bill(b.ctx, rowBytes+len(v))
	}
	return v, err
}

// Scan implements [StorageReader].
func (b *billedReader) Scan(addr chain.Address, s state.Span) ([]state.Entry, error) {
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	list, err := b.StorageReader.Scan(addr, s)
	n := rowBytes
	for i := range list {
		n += rowBytes + len(list[i].Key) + len(list[i].Value)
	}
	if err == nil {
		err = Bill(b.ctx, n)
	}
	return list, err
}

// readHead reads the finalized head for a request, which pays for the rows.
func (s *Server) readHead(ctx context.Context, read func(v StorageReader, h chain.Height) error) error {
	return s.source.ReadHead(ctx, func(v StorageReader, h chain.Height) error { return read(&billedReader{v, ctx}, h) })
}

func (s *Server) pastRoutes() []route {
	get := http.MethodGet
	return []route{
		{method: get, pattern: "/account/{address}/storage/{slot}", about: "a storage value; ?height=N for one of the past", handle: s.storageValue, cost: costStateProof},
		{method: get, pattern: "/account/{address}/code", about: "the code; ?height=N for that of the past", handle: s.code, cost: costStateProof},
		{method: get, pattern: "/account/{address}/storage", about: "all storage in pages, with a proof of the account; ?from=SLOT&root=HASH&limit=1000&bytes=1048576", handle: s.storagePage, slots: s.exports, cost: costBlockProof},
	}
}

// heightParam reads ?height=, nil if there is none.
func heightParam(q url.Values) (*chain.Height, error) {
	if _, given := q["height"]; !given {
		return nil, nil
	}
	v, err := queryUint(q, "height", 0)
	if err != nil {
		return nil, err
	}
	h := chain.Height(v)
	return &h, nil
}

// pastError turns a source's ErrNoHistory into the answer.
func (s *Server) pastError(err error, h *chain.Height) error {
	if h == nil || !errors.Is(err, ErrNoHistory) {
		return err
	}
	if head := s.source.Height(); *h > head {
		return notFound(CodeUnknownBlock, "no finalized block at height %d: the head is at %d", *h, head)
	}
	return notFound(CodeNoHistory, "this node does not keep the state of height %d: ask for one nearer to the head, or ask an archive node (cowboyd run --archive)", *h)
}

// accountAt answers GET /account/{address}?height=.
func (s *Server) accountAt(w http.ResponseWriter, r *http.Request, addr chain.Address, h chain.Height) error {
	a, ok, err := s.source.AccountAt(r.Context(), addr, h)
	if err != nil {
		return s.pastError(err, &h)
	}
	if !ok {
		return notFound(CodeUnknownAccount, "the chain had no such account at height %d", h)
	}
	s.writeJSON(w, http.StatusOK, accountReply(addr, a))
	return nil
}

func (s *Server) storageValue(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, h, err := addressAndHeight(r, args[0])
	if err != nil {
		return err
	}
	slot, err := parseSlot(args[1])
	if err != nil {
		return err
	}
	v, err := s.source.StorageAt(r.Context(), addr, slot, h)
	if err != nil {
		return s.pastError(err, h)
	}
	if err := Bill(r.Context(), rowBytes+len(v.Value)); err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, StorageReply{
		Address: addr.String(), Slot: hexOf([]byte(slot)), Height: uint64(v.Height), Exists: v.Value != nil, Value: hexOf(v.Value),
	})
	return nil
}

func (s *Server) code(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, h, err := addressAndHeight(r, args[0])
	if err != nil {
		return err
	}
	c, ok, err := s.source.CodeAt(r.Context(), addr, h)
	if err != nil {
		return s.pastError(err, h)
	}
	if !ok {
		return notFound(CodeUnknownAccount, "the chain has no such account there")
	}
	s.writeJSON(w, http.StatusOK, CodeReply{
		Address: addr.String(), Height: uint64(c.Height), CodeHash: c.Hash.String(), Code: hexOf(c.Code),
	})
	return nil
}

func addressAndHeight(r *http.Request, text string) (chain.Address, *chain.Height, error) {
	addr, err := parseAddress(text)
	if err != nil {
		return addr, nil, err
	}
	q, err := parseQuery(r)
	if err != nil {
		return addr, nil, err
	}
	h, err := heightParam(q)
	return addr, h, err
}

func (s *Server) storagePage(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	ask, err := s.storageQuery(r, addr)
	if err != nil {
		return err
	}
	page, ok, err := s.source.StoragePage(r.Context(), ask)
	switch {
	case errors.Is(err, ErrStorageMoved):
		return refuse(http.StatusConflict, CodeStorageMoved, "the storage has changed since the first page: begin again, or ask for more bytes at once")
	case err != nil:
		return err
	case !ok:
		return notFound(CodeUnknownAccount, "the chain has no such account: it begins with the first transfer to it")
	}
	reply := StoragePageReply{
		Account: page.Account, StorageRoot: page.Root.String(), Entries: make([]StorageEntry, len(page.Entries)),
	}
	for i, e := range page.Entries {
		reply.Entries[i] = StorageEntry{Slot: hexOf([]byte(e.Key)), Value: hexOf(e.Value)}
	}
	if page.Next != "" {
		reply.Next = hexOf([]byte(page.Next))
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

// exportBytesDefault is a page that a person can look at.
const exportBytesDefault = 1 << 20

func (s *Server) storageQuery(r *http.Request, addr chain.Address) (*StorageQuery, error) {
	q, err := parseQuery(r)
	if err != nil {
		return nil, err
	}
	limit, err := queryUint(q, "limit", min(s.cfg.ListMax, uint64(s.cfg.ExportEntriesMax)))
	if err != nil {
		return nil, err
	}
	size, err := queryUint(q, "bytes", min(exportBytesDefault, uint64(s.cfg.ExportBytesMax)))
	if err != nil {
		return nil, err
	}
	if limit < 1 || limit > uint64(s.cfg.ExportEntriesMax) {
		return nil, badRequest(CodeBadNumber, "limit=%d is out of range: give 1 to %d", limit, s.cfg.ExportEntriesMax)
	}
	if size < 1 || size > uint64(s.cfg.ExportBytesMax) {
		return nil, badRequest(CodeBadNumber, "bytes=%d is out of range: give 1 to %d", size, s.cfg.ExportBytesMax)
	}
	ask := &StorageQuery{Address: addr, EntriesMax: int(limit), BytesMax: int(size)}
	if text := q.Get("from"); text != "" {
		if ask.From, err = parseSlot(text); err != nil {
			return nil, err
		}
	}
	if text := q.Get("root"); text != "" {
		root, err := parseHash(text)
		if err != nil {
			return nil, err
		}
		ask.Root = &root
	}
	return ask, nil
}
