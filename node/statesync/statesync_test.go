package statesync

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/store"
)

func TestStateArrives(t *testing.T) {
	h, s := village(t, 4, 6000)
	check(t, h.client.Run(t.Context()))
	h.arrived(t, s)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.asked) < 2 { // on a busy machine some offers come too late
		t.Errorf("asked %v: one peer alone", h.asked)
	}
}

// TestNoOfferIsSaid lets nobody answer: the log says so, ever more seldom.
func TestNoOfferIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		cfg := DefaultClientConfig()
		cfg.Network, cfg.Log = &hub{}, slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		if err := NewClient(cfg).Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want %v", err, context.DeadlineExceeded)
		}
		if n := strings.Count(log.String(), "no validator offers a checkpoint"); n != 4 { // 4, 8, 16 and 32 inquiries
			t.Errorf("said %d times:\n%s", n, &log)
		}
	})
}

// TestLiarsAndSleepersAreDropped puts one honest server among three that are
// not: the state arrives, and the liars are asked no more.
func TestLiarsAndSleepersAreDropped(t *testing.T) {
	h, s := village(t, 4, 6000)
	chunks := 0
	h.spoil[0] = func(msg []byte) []byte { // changes a byte of every chunk
		if msg[0] == tagChunk {
			msg[len(msg)/2] ^= 1
		}
		return msg
	}
	h.spoil[1] = func(msg []byte) []byte { // goes silent after two chunks
		if msg[0] == tagChunk {
			if chunks++; chunks > 2 {
				return nil
			}
		}
		return msg
	}
	h.spoil[2] = func(msg []byte) []byte { // offers a head that nobody signed
		if msg[0] == tagOffer {
			msg[2+32+4+8] ^= 1
		}
		return msg
	}
	check(t, h.client.Run(t.Context()))
	h.arrived(t, s)
	if !h.client.liars[0] || !h.client.liars[2] || h.client.liars[1] || h.client.liars[3] {
		t.Errorf("liars: %v", h.client.liars)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client.resting[1].IsZero() && h.asked[1] > 8 { // two answers, four at a time, then one
		t.Errorf("the sleeper was neither dropped nor passed over: asked %d times", h.asked[1])
	}
	if h.asked[0] > 4 || h.asked[2] > 0 {
		t.Errorf("liars were asked %d and %d times", h.asked[0], h.asked[2])
	}
}

// TestLooksForAnotherCheckpoint takes the checkpoint away from all servers in
// the middle of a fetch: the client finds the next one.
func TestLooksForAnotherCheckpoint(t *testing.T) {
	h, s := village(t, 2, 5000)
	h.client.cfg.StarvedAfter = 150 * time.Millisecond
	rec, _, err := s.BlockByHeight(2)
	check(t, err)
	var gone atomic.Int32
	for i := range h.servers {
		chunks := 0
		h.spoil[i] = func(msg []byte) []byte {
			if msg[0] != tagChunk {
				return msg
			}
			if chunks++; chunks > 2 && h.servers[i].Stats.Height.Load() < 6 {
				gone.Add(1)
				msg = none{binary.BigEndian.Uint64(msg[1:])}.append(nil)
			}
			return msg
		}
	}
	done := make(chan error, 1)
	go func() { done <- h.client.Run(t.Context()) }()
	for gone.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	for want := chain.Height(4); want <= 6; want += 2 { // then the first one is off the shelf
		for s.Head().Height() < want {
			commit(t, s, 5000)
		}
		for _, server := range h.servers {
			server.Committed(want)
			for server.Stats.Height.Load() != uint64(want) {
				time.Sleep(time.Millisecond)
			}
		}
	}
	check(t, <-done)
	imported, err := store.Open(h.client.cfg.Dir, options())
	check(t, err)
	if height, digest := imported.HeadInfo(); height < 4 || digest == rec.Digest {
		t.Errorf("arrived at %d", height)
	}
	check(t, imported.Close())
}

func TestInboxIsBounded(t *testing.T) {
	cfg := DefaultClientConfig()
	cfg.Members = 1
	c := NewClient(cfg)
	huge := chunk{1, make([]byte, 16<<20)}.append(nil)
	taken := 0
	for c.Deliver(0, huge) == nil {
		taken++
	}
	if taken != 3 {
		t.Errorf("%d of the largest chunks are held, want 3", taken)
	}
	small := none{1}.append(nil)
	for c.Deliver(0, small) == nil {
		taken++
	}
	if err := c.Deliver(0, small); taken != inboxLen || !errors.Is(err, ErrBusy) {
		t.Errorf("%d messages are held, want %d: %v", taken, inboxLen, err)
	}
}

// TestListsOfLiveJobs fetches the lists that the state asks for, from the one of
// three servers that has the right one (resolution 11.19).
func TestListsOfLiveJobs(t *testing.T) {
	h, s := village(t, 3, 100)
	good := &checkpoint.List{Job: chain.Hash{7}, Candidates: []chain.Candidate{{Runner: chain.Address{1}, BaseWeight: 3}, {Runner: chain.Address{2}}}}
	bad := &checkpoint.List{Job: chain.Hash{7}, Candidates: good.Candidates[:1]}
	h.lists = map[int]*checkpoint.List{0: bad, 1: good} // server 2 says nothing
	h.client.cfg.Trust.Live = func(state.View) ([]checkpoint.JobRoot, error) { return []checkpoint.JobRoot{good.Root()}, nil }
	check(t, h.client.Run(t.Context()))
	h.arrived(t, s)
	imported, err := store.Open(h.client.cfg.Dir, options())
	check(t, err)
	x, err := imported.Export()
	check(t, err)
	found := 0
	check(t, x.Lists(func(name chain.Hash, list []byte) error {
		if found++; name != good.Job || !bytes.Equal(list, checkpoint.AppendCandidates(nil, good.Candidates)) {
			t.Errorf("list of %s: %x", name, list)
		}
		return nil
	}))
	if found != 1 {
		t.Errorf("%d lists, want 1", found)
	}
	check(t, x.Close())
	check(t, imported.Close())
}

// TestLoneLatePeerIsAskedAgain: the only peer answers the first requests, of chunks
// and of lists, too late. The job goes on with it when it is back, and is not begun
// anew.
func TestLoneLatePeerIsAskedAgain(t *testing.T) {
	h, s := village(t, 1, 5000)
	h.client.cfg.StarvedAfter = 100 * time.Millisecond
	h.client.cfg.RestFor = time.Minute
	good := &checkpoint.List{Job: chain.Hash{7}, Candidates: []chain.Candidate{{Runner: chain.Address{1}, BaseWeight: 3}}}
	h.client.cfg.Trust.Live = func(state.View) ([]checkpoint.JobRoot, error) { return []checkpoint.JobRoot{good.Root()}, nil }
	h.lists = map[int]*checkpoint.List{0: good}
	h.lateLists = 2
	var late atomic.Int32
	h.spoil[0] = func(msg []byte) []byte {
		if n := late.Load(); msg[0] == tagChunk && n < 4 {
			late.Add(1)
			return nil
		}
		return msg
	}
	check(t, h.client.Run(t.Context()))
	h.arrived(t, s)
	if h.client.jobs != 1 || late.Load() != 4 || h.lateLists != 0 {
		t.Errorf("%d jobs were begun for %d chunks and some lists that were lost, want 1", h.client.jobs, late.Load())
	}
}

// TestClientGoesOn kills the client in the middle and starts another one, which
// does not fetch again what is durable.
func TestClientGoesOn(t *testing.T) {
	h, s := village(t, 2, 20_000)
	h.client.cfg.RequestTimeout = time.Hour // what takes a fiftieth of it is asked for again, and requests are counted here
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	total := 0
	cut := func(msg []byte) []byte {
		if msg[0] == tagChunk {
			if total++; total == 24 {
				cancel()
			}
		}
		return msg
	}
	h.spoil[0] = cut
	if err := h.client.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("the first life: %v", err)
	}
	if _, err := store.Open(h.client.cfg.Dir, options()); !errors.Is(err, store.ErrImporting) {
		t.Fatalf("half a state opens as a chain: %v", err)
	}
	h.mu.Lock()
	first := h.asked[0] + h.asked[1]
	h.asked = map[int]int{}
	h.client = NewClient(h.client.cfg)
	client := h.client
	h.mu.Unlock()
	check(t, client.Run(t.Context()))
	h.arrived(t, s)
	h.mu.Lock()
	defer h.mu.Unlock()
	files, err := filepath.Glob(filepath.Join(h.servers[0].cfg.Dir, "*"+extension))
	check(t, err)
	raw, err := os.ReadFile(files[0])
	check(t, err)
	r, err := checkpoint.NewReader(bytes.NewReader(raw))
	check(t, err)
	chunks := 0
	for ; err == nil; chunks++ {
		_, err = r.Chunk()
	}
	// Each server had up to four requests under way at the kill, which are lost, and
	// each of the sixteen ranges may ask for a chunk that the one before it has too.
	const underWay, ranges = 2 * 4, 16
	if second := h.asked[0] + h.asked[1]; first < 24 || second > chunks+ranges-(first-underWay) {
		t.Errorf("asked %d times before the kill and %d times after it, for %d chunks", first, second, chunks)
	}
}

func TestServerKeepsTwoAndComesBack(t *testing.T) {
	h, s := village(t, 1, 100)
	server := h.servers[0]
	for want := uint64(4); want <= 8; want += 2 {
		for s.Head().Height() < chain.Height(want) {
			commit(t, s, 100)
			server.Committed(s.Head().Height())
		}
		for server.Stats.Height.Load() != want {
			time.Sleep(time.Millisecond)
		}
	}
	files, err := filepath.Glob(filepath.Join(server.cfg.Dir, "*"))
	check(t, err)
	if len(files) != 2 {
		t.Errorf("files: %v", files)
	}
	whole, err := os.ReadFile(files[1])
	check(t, err)
	damaged := filepath.Join(server.cfg.Dir, "00000000000000000009.snapshot")
	check(t, os.WriteFile(damaged, whole[:len(whole)/2], 0o600))
	foreign := filepath.Join(server.cfg.Dir, "00000000000000000010.snapshot")
	check(t, os.WriteFile(foreign, []byte("some other file"), 0o600))
	unread := filepath.Join(server.cfg.Dir, "00000000000000000011.snapshot")
	check(t, os.Mkdir(unread, 0o700)) // opens, and every read of it fails
	again := NewServer(server.cfg)
	check(t, again.open())
	for name, stays := range map[string]bool{damaged: false, foreign: false, unread: true} {
		if _, err := os.Stat(name); (err == nil) != stays {
			t.Errorf("%s is there: %v, want %v", name, err == nil, stays)
		}
	}
	if len(again.shelf) != 2 || again.shelf[0].height != 8 || again.shelf[1].height != 6 {
		t.Errorf("a new server has %d checkpoints", len(again.shelf))
	}
	if m := again.chunkFor(get{id: 7, digest: chain.Hash{1}}); m != (none{7}) {
		t.Errorf("answer for an unknown checkpoint: %v", m)
	}
	again.closeShelf()
}

// While a checkpoint is written, one more state is held still, and no third.
func TestCheckpointsAreWrittenOneByOne(t *testing.T) {
	h, s := village(t, 1, 100)
	cfg := h.servers[0].cfg
	cfg.Dir, cfg.Interval = t.TempDir(), 1
	certify, free := cfg.Certificate, make(chan struct{})
	var writing, most atomic.Int32
	cfg.Certificate = func(stored []byte) ([]byte, chain.Hash, error) {
		most.Store(max(most.Load(), writing.Add(1)))
		defer writing.Add(-1)
		<-free
		return certify(stored)
	}
	server := NewServer(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	first := uint64(s.Head().Height()) + 1
	for range 4 {
		commit(t, s, 10)
		server.Committed(s.Head().Height())
		for writing.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	close(free)
	for server.Stats.Height.Load() != first+1 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if made := server.Stats.Made.Load(); made != 2 || most.Load() != 1 {
		t.Errorf("%d checkpoints made, up to %d at a time; want 2, one by one", made, most.Load())
	}
	check(t, server.Close())
}

func FuzzDecode(f *testing.F) {
	for _, m := range []message{
		inquiry{},
		offer{[]byte("head")},
		none{3},
		chunk{4, []byte("payload")},
		get{5, chain.Hash{6}, checkpoint.Request{Kind: checkpoint.AskSlots, Account: chain.Hash{7}, From: chain.Hash{8}}},
	} {
		f.Add(m.append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decode(b)
		if err != nil {
			return
		}
		if again := m.append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x decodes to %#v, which encodes as %x", b, m, again)
		}
	})
}
