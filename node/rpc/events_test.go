package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// event is one parsed server-sent event; a comment has only text.
type event struct{ name, id, data, comment string }

// listen opens the stream and returns its events as they come.
func listen(t *testing.T, url, lastID string) (<-chan event, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("stream answers %d %s", answer.StatusCode, answer.Header.Get("Content-Type"))
	}
	events := make(chan event, 4096)
	go func() {
		defer close(events)
		defer answer.Body.Close()
		var e event
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case lines.Text() == "":
				events <- e
				e = event{}
			case field == "":
				e.comment = value
			case field == "event":
				e.name = value
			case field == "id":
				e.id = value
			case field == "data":
				e.data = value
			}
		}
	}()
	first := <-events // the greeting: from here on the subscription exists
	if first.comment == "" {
		t.Fatalf("stream begins with %+v", first)
	}
	return events, cancel
}

// patience is how long a test waits for what must come: a loaded machine is slow.
const patience = time.Minute

// wantBlocks reads events of heights first to last, nothing between.
func wantBlocks(t *testing.T, events <-chan event, first, last uint64) {
	t.Helper()
	for h := first; h <= last; h++ {
		select {
		case e := <-events:
			var block rpc.BlockReply
			if err := json.Unmarshal([]byte(e.data), &block); err != nil {
				t.Fatalf("event %+v: %v", e, err)
			}
			if e.name != "block" || block.Height != h || e.id != json.Number(jsonOf(h)).String() {
				t.Fatalf("event %s %s at height %d, want %d", e.name, e.id, block.Height, h)
			}
		case <-time.After(patience):
			t.Fatalf("no event for height %d", h)
		}
	}
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func served(t *testing.T, cfg rpc.Config, source rpc.Source) (*rpc.Server, string) {
	t.Helper()
	s := newServer(t, cfg, source)
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return s, web.URL
}

func TestStreamBeginsAtTheHeadAndFollows(t *testing.T) {
	source := rpctest.New()
	source.Finalize()
	cfg := testConfig()
	cfg.SubscriberDepth = 100 // however slowly the stream is read
	_, url := served(t, cfg, source)
	events, cancel := listen(t, url, "")
	defer cancel()
	for range 100 {
		source.Finalize()
	}
	wantBlocks(t, events, 2, 101)
}

func TestStreamResumesFromStoredBlocks(t *testing.T) {
	source := rpctest.New()
	for range 20 {
		source.Finalize()
	}
	_, url := served(t, testConfig(), source)
	events, cancel := listen(t, url, "5")
	defer cancel()
	wantBlocks(t, events, 6, 20)
	source.Finalize()
	wantBlocks(t, events, 21, 21)
	all, cancel := listen(t, url, "0")
	defer cancel()
	wantBlocks(t, all, 1, 21)
}

func TestStreamSaysWhatItLeavesOut(t *testing.T) {
	source := rpctest.New()
	for range 30 {
		source.Finalize()
	}
	cfg := testConfig()
	cfg.ResumeBlocksMax = 10
	_, url := served(t, cfg, source)
	events, cancel := listen(t, url, "3")
	defer cancel()
	e := <-events
	if e.name != "gap" || e.data != `{"from":4,"to":20}` {
		t.Fatalf("event %+v, want the gap", e)
	}
	wantBlocks(t, events, 21, 30)
}

func TestStreamRefusesABadResumePoint(t *testing.T) {
	s := newServer(t, testConfig(), rpctest.New())
	for _, id := range []string{"x", "-1", "01", "1.5", strings.Repeat("9", 30)} {
		r := httptest.NewRequest("GET", "/events", nil)
		r.Header.Set("Last-Event-ID", id)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		wantError(t, w, 400, rpc.CodeBadNumber)
	}
}

func TestStreamBeatsWhenSilent(t *testing.T) {
	cfg := testConfig()
	cfg.Heartbeat = 10 * time.Millisecond
	_, url := served(t, cfg, rpctest.New())
	events, cancel := listen(t, url, "")
	defer cancel()
	select {
	case e := <-events:
		if e.comment == "" {
			t.Errorf("event %+v, want a comment", e)
		}
	case <-time.After(patience):
		t.Error("no heartbeat")
	}
}

func TestSubscribersAreLimited(t *testing.T) {
	cfg := testConfig()
	cfg.SubscribersMax = 1
	s, url := served(t, cfg, rpctest.New())
	_, cancel := listen(t, url, "")
	wantError(t, request(s, "GET", "/events", "", nil), 503, rpc.CodeSubscribers)
	cancel()
	deadline := time.Now().Add(patience)
	for s.Stats.Subscribers.Load() != 0 {
		if time.Now().After(deadline) {
			t.Fatal("the slot of a client that left is not free")
		}
		time.Sleep(time.Millisecond)
	}
}

// busy makes blocks while a stored one is read for the first time.
type busy struct {
	*rpctest.Chain
	blocks int
	once   *sync.Once
}

func (b busy) BlockByHeight(ctx context.Context, h chain.Height) (*rpc.Block, bool, error) {
	b.once.Do(func() {
		for range b.blocks {
			b.Finalize()
		}
	})
	return b.Chain.BlockByHeight(ctx, h)
}

// TestStreamComesToTheHead: where the chain makes more blocks during a replay than the replay
// sends, the stream names a gap and goes on at the head; where the client comes closer, it is
// to resume, and misses nothing.
func TestStreamComesToTheHead(t *testing.T) {
	for _, tt := range []struct {
		made int
		skip bool
	}{{30, true}, {10, false}} {
		source := busy{rpctest.New(), tt.made, new(sync.Once)}
		for range 20 {
			source.Finalize()
		}
		cfg := testConfig()
		cfg.SubscriberDepth = 4
		_, url := served(t, cfg, source)
		events, cancel := listen(t, url, "10")
		wantBlocks(t, events, 11, 24) // the replay, and what the queue had room for
		e := <-events
		if want := `{"from":25,"to":50}`; tt.skip && (e.name != "gap" || e.data != want) || !tt.skip && !strings.Contains(e.comment, "too slow") {
			t.Errorf("%d blocks made: event %+v, want a gap %s: %v", tt.made, e, want, tt.skip)
		}
		if tt.skip {
			source.Finalize()
			wantBlocks(t, events, 51, 51)
		}
		cancel()
	}
}

// TestSlowSubscriberIsDropped fills the queue of a client whose stream stands
// still, and only that client loses its stream.
func TestSlowSubscriberIsDropped(t *testing.T) {
	source := rpctest.New()
	cfg := testConfig()
	cfg.SubscriberDepth = 4
	s := newServer(t, cfg, source)
	w := &stuckWriter{header: http.Header{}, entered: make(chan struct{}), release: make(chan struct{})}
	r := httptest.NewRequest("GET", "/events", nil)
	done := make(chan struct{})
	go func() { s.ServeHTTP(w, r); close(done) }()
	<-w.entered
	for range 20 {
		source.Finalize()
	}
	close(w.release)
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the stream of a slow client goes on")
	}
	if got := s.Stats.Dropped.Load(); got != 1 {
		t.Errorf("%d dropped, want 1", got)
	}
}

// stuckWriter lets its first write wait.
type stuckWriter struct {
	header           http.Header
	writes           int
	entered, release chan struct{}
}

func (w *stuckWriter) Header() http.Header { return w.header }
func (w *stuckWriter) WriteHeader(int)     {}
func (w *stuckWriter) Flush()              {}
func (w *stuckWriter) Write(b []byte) (int, error) {
	if w.writes++; w.writes == 1 {
		close(w.entered)
		<-w.release
	}
	return len(b), nil
}
