package statesync

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/snapshot"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

var genesis = chain.Hash{0x9e, 9}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func options() store.Options {
	o := store.DefaultOptions()
	o.CacheBytes, o.MemTableBytes = 1<<20, 256<<10
	return o
}

// sealed reads a seal: of a descendant, where "by:" names one.
func sealed(b []byte) ([]byte, chain.Hash, error) {
	if rest, ok := bytes.CutPrefix(b, []byte("by:")); ok {
		return append([]byte("final:"), rest...), chain.Hash(rest), nil
	}
	return b, chain.Hash{}, nil
}

func seal(digest chain.Hash) []byte { return append([]byte("final:"), digest[:]...) }

func trust() snapshot.Trust {
	return snapshot.Trust{
		Genesis: genesis, Live: checkpoint.NoJobs,
		Certify: func(_ *chain.Header, _ chain.Hash, final *chain.Header, certificate []byte) error {
			if !bytes.Equal(certificate, seal(final.Digest())) {
				return errors.New("not the certificate of this block")
			}
			return nil
		},
	}
}

// commit makes a block with some writes.
func commit(t testing.TB, s *store.Store, accounts int) {
	t.Helper()
	_, parent := s.HeadInfo()
	v, rec := blockOn(t, s.Head(), parent, accounts)
	rec.Certificate = seal(rec.Digest)
	check(t, s.Commit(v, rec))
}

// commitDescended makes so many blocks that the last of them makes final: no other has
// a seal of its own. committed is called behind each.
func commitDescended(t testing.TB, s *store.Store, accounts, blocks int, committed func(chain.Height)) {
	t.Helper()
	v, rec := s.Head(), store.BlockRecord{}
	_, rec.Digest = s.HeadInfo()
	versions, recs := make([]*store.Version, blocks), make([]store.BlockRecord, blocks)
	for i := range blocks {
		v, rec = blockOn(t, v, rec.Digest, accounts)
		versions[i], recs[i] = v, rec
	}
	for i := range blocks {
		recs[i].Certificate = append([]byte("by:"), rec.Digest[:]...)
		if i == blocks-1 {
			recs[i].Certificate = seal(rec.Digest)
		}
		check(t, s.Commit(versions[i], recs[i]))
		committed(recs[i].Height)
	}
}

// blockOn makes a block with some writes on a state.
func blockOn(t testing.TB, on *store.Version, parent chain.Hash, accounts int) (*store.Version, store.BlockRecord) {
	t.Helper()
	d := state.NewDelta()
	for i := range accounts {
		addr := chain.Address(binary.BigEndian.AppendUint32(make([]byte, 16), uint32(i)))
		d.SetAccount(addr, state.Account{Nonce: uint64(on.Height()) + 1, Balance: chain.Wei(i + 1)})
		if i%1000 == 0 {
			for j := range 600 {
				d.SetStorage(addr, state.NewStorageKey(0, []byte{byte(j), byte(j >> 8)}), bytes.Repeat([]byte{byte(j)}, 500))
			}
		}
	}
	v, err := on.Apply(d)
	check(t, err)
	block := &chain.Block{Header: chain.Header{
		Version: chain.HeaderVersion, Parent: parent, Height: v.Height(), StateRoot: v.Root(), TxRoot: tree.ListRoot(nil),
		PresenceInput: chain.NewPresentSet(0).Encode(), ConsumedSeeds: chain.EncodeConsumedSeeds(nil),
	}}
	return v, store.BlockRecord{Height: v.Height(), Digest: block.Header.Digest(), Block: block.Encode()}
}

// hub joins one client, number -1, to servers by their number. What it does to
// an answer on its way makes a server a liar, or a sleeper.
type hub struct {
	client  *Client
	servers []*Server
	spoil   map[int]func(msg []byte) []byte            // nil result: lost
	delay   func(server int, msg []byte) time.Duration // of answers; nil: none
	lists   map[int]*checkpoint.List                   // that a server hands out for any job

	lateLists int // requests for a list that get lost, still

	mu    sync.Mutex // guards asked, and client while servers run
	asked map[int]int
}

// from is a server's end of the hub.
type from struct {
	*hub
	number int
}

func (f from) Served(int, int) {}

func (f from) Send(_ int, msg []byte) {
	if spoil := f.spoil[f.number]; spoil != nil {
		if msg = spoil(bytes.Clone(msg)); msg == nil {
			return
		}
	}
	f.mu.Lock()
	client := f.client
	f.mu.Unlock()
	deliver := func() {
		for client.Deliver(f.number, msg) != nil {
			time.Sleep(time.Millisecond) // as a stream that is not read
		}
	}
	if f.delay == nil {
		deliver()
		return
	}
	msg = bytes.Clone(msg)
	time.AfterFunc(f.delay(f.number, msg), deliver)
}

func (h *hub) Send(to int, msg []byte) {
	if msg[0] == tagGet {
		h.mu.Lock()
		h.asked[to]++
		h.mu.Unlock()
	}
	if m, err := decode(msg); err == nil && len(h.lists) > 0 {
		if q, ok := m.(get); ok && q.request.Kind == checkpoint.AskList {
			if h.lateLists > 0 {
				h.lateLists--
			} else if list := h.lists[to]; list != nil {
				_ = h.client.Deliver(to, chunk{q.id, list.Append(nil)}.append(nil)) // there is room
			}
			return
		}
	}
	_ = h.servers[to].Deliver(-1, msg) // lost when busy
}

func (h *hub) Broadcast(msg []byte) {
	for i := range h.servers {
		h.Send(i, msg)
	}
}

// village runs servers on one chain that has a checkpoint at height 2, and then
// a further block.
func village(t *testing.T, servers, accounts int) (*hub, *store.Store) {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "chain"), options())
	check(t, err)
	check(t, s.Init(store.GenesisRecord{Hash: genesis}))
	h := &hub{spoil: map[int]func([]byte) []byte{}, asked: map[int]int{}}
	cfg := DefaultClientConfig()
	cfg.Trust, cfg.Dir, cfg.Options, cfg.Network, cfg.Log = trust(), filepath.Join(t.TempDir(), "new"), options(), h, slog.New(slog.DiscardHandler)
	cfg.OfferWait, cfg.InquireEvery, cfg.RequestTimeout = 50*time.Millisecond, 20*time.Millisecond, 200*time.Millisecond
	cfg.Members = servers
	h.client = NewClient(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for i := range servers {
		server := NewServer(ServerConfig{
			Dir: t.TempDir(), Interval: 2, Store: s, Network: from{h, i}, Log: slog.New(slog.DiscardHandler),
			Certificate: sealed,
		})
		h.servers = append(h.servers, server)
		running.Go(func() { _ = server.Run(ctx) }) // ends with ctx
	}
	for height := range chain.Height(3) {
		commit(t, s, accounts)
		for _, server := range h.servers {
			server.Committed(height + 1)
		}
	}
	for _, server := range h.servers {
		for server.Stats.Height.Load() != 2 {
			time.Sleep(time.Millisecond)
		}
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
		for _, server := range h.servers {
			check(t, server.Close())
		}
		check(t, s.Close())
	})
	return h, s
}

// arrived checks what the client has made.
func (h *hub) arrived(t *testing.T, of *store.Store) {
	t.Helper()
	s, err := store.Open(h.client.cfg.Dir, options())
	check(t, err)
	rec, _, err := of.BlockByHeight(2)
	check(t, err)
	block, err := chain.DecodeBlock(rec.Block, len(rec.Block))
	check(t, err)
	height, digest := s.HeadInfo()
	root, err := s.VerifyHead(t.Context())
	if err != nil || height != 2 || digest != rec.Digest || root != block.Header.StateRoot || s.Base() != 2 {
		t.Errorf("arrived at %d %s, root %s, %v", height, digest, root, err)
	}
	check(t, s.Close())
}
