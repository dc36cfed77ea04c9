package client

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
)

// AccountAt returns an account after the block at height h. A height whose
// state the node does not keep is a refusal with code [rpc.CodeNoHistory].
func (c *Client) AccountAt(ctx context.Context, addr chain.Address, h chain.Height) (*rpc.AccountReply, error) {
	return getAt[rpc.AccountReply](ctx, c, "/account/"+addr.String(), &h)
}

// StorageAt returns a storage value after the block at height h, nil for the
// head. Slot is the namespace byte and the key.
func (c *Client) StorageAt(ctx context.Context, addr chain.Address, slot state.StorageKey, h *chain.Height) (*rpc.StorageReply, error) {
	return getAt[rpc.StorageReply](ctx, c, fmt.Sprintf("/account/%s/storage/0x%x", addr, string(slot)), h)
}

// CodeAt returns the code of an account, as StorageAt does a value.
func (c *Client) CodeAt(ctx context.Context, addr chain.Address, h *chain.Height) (*rpc.CodeReply, error) {
	return getAt[rpc.CodeReply](ctx, c, "/account/"+addr.String()+"/code", h)
}

func getAt[T any](ctx context.Context, c *Client, path string, h *chain.Height) (*T, error) {
	req := request{method: http.MethodGet, path: path}
	if h != nil {
		req.query = url.Values{"height": {strconv.FormatUint(uint64(*h), 10)}}
	}
	reply := new(T)
	if err := c.call(ctx, req, reply); err != nil {
		return nil, err
	}
	return reply, nil
}

// Storage is the whole storage of an account after one block.
type Storage struct {
	Shown   *light.Shown // with the account
	Entries []state.StorageChange
	size    int
}

// exportBytesMax bounds what is taken from a node before it can be verified.
const exportBytesMax = 256 << 20

// exportTries bounds how often Export begins again because the storage moved
// between two pages. Pages take as much as the highest quota, so that mostly
// there is one.
const exportTries = 5

// Export returns the whole storage of an account. It trusts the node with
// nothing: v checks the account, and the entries must have its storage root.
func (c *Client) Export(ctx context.Context, v *light.Verifier, addr chain.Address) (*Storage, error) {
	for try := 1; ; try++ {
		out, err := c.tryExport(ctx, v, addr)
		if try < exportTries && IsCode(err, rpc.CodeStorageMoved) {
			continue
		}
		return out, err
	}
}

func (c *Client) tryExport(ctx context.Context, v *light.Verifier, addr chain.Address) (*Storage, error) {
	limits := rpc.DefaultConfig()
	query := url.Values{"limit": {strconv.Itoa(limits.ExportEntriesMax)}, "bytes": {strconv.Itoa(limits.ExportBytesMax)}}
	out := &Storage{}
	for {
		page := new(rpc.StoragePageReply)
		path := "/account/" + addr.String() + "/storage"
		if err := c.call(ctx, request{method: http.MethodGet, path: path, query: query}, page); err != nil {
			return nil, err
		}
		more, err := out.addPage(page)
		if err != nil {
			return nil, fmt.Errorf("storage from %s: %w", c.base, err)
		}
		if more {
			query.Set("from", page.Next)
			query.Set("root", page.StorageRoot)
			continue
		}
		return out, out.verifyPages(page, v, addr)
	}
}

// addPage adds a page. Keys must rise, so that a node cannot go on for ever.
func (s *Storage) addPage(page *rpc.StoragePageReply) (more bool, err error) {
	for _, e := range page.Entries {
		key, err := hex.DecodeString(strings.TrimPrefix(e.Slot, "0x"))
		if err != nil {
			return false, fmt.Errorf("%w: slot: %w", light.ErrMalformed, err)
		}
		value, err := hex.DecodeString(strings.TrimPrefix(e.Value, "0x"))
		if err != nil {
			return false, fmt.Errorf("%w: value: %w", light.ErrMalformed, err)
		}
		if n := len(s.Entries); n > 0 && s.Entries[n-1].Key >= state.StorageKey(key) {
			return false, fmt.Errorf("%w: slots do not rise", light.ErrMalformed)
		}
		if s.size += len(key) + len(value); s.size > exportBytesMax {
			return false, fmt.Errorf("%w: above %d bytes of storage", light.ErrTooLarge, exportBytesMax)
		}
		s.Entries = append(s.Entries, state.StorageChange{Key: state.StorageKey(key), Value: value})
	}
	if page.Next != "" && len(page.Entries) == 0 {
		return false, fmt.Errorf("%w: an empty page that is not the last", light.ErrMalformed)
	}
	return page.Next != "", nil
}

// verifyPages verifies all that was taken against the account of the last page.
func (s *Storage) verifyPages(page *rpc.StoragePageReply, v *light.Verifier, addr chain.Address) error {
	if page.Account == nil {
		return fmt.Errorf("%w: no account", light.ErrMalformed)
	}
	shown, err := v.VerifyDocument(page.Account)
	if err != nil {
		return err
	}
	q := light.Query{Kind: light.KindAccount, Accounts: []light.AccountQuery{{Address: addr}}}
	if err := q.Answered(shown); err != nil {
		return err
	}
	s.Shown = shown
	return light.CheckStorage(&shown.Accounts[0], s.Entries)
}
