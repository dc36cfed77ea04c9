package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// panicky fails in the way no handler should.
type panicky struct{ *rpctest.Chain }

func (panicky) Height() chain.Height { panic("broken invariant") }

func TestPanicCostsOneRequest(t *testing.T) {
	s := newServer(t, testConfig(), panicky{rpctest.New()})
	for range 3 {
		wantError(t, request(s, "GET", "/height", "", nil), 500, rpc.CodeDefect)
	}
	if got := s.Stats.Panics.Load(); got != 3 {
		t.Errorf("%d panics counted", got)
	}
	if w := request(s, "GET", "/", "", nil); w.Code != 200 {
		t.Errorf("the server does not go on: %d", w.Code)
	}
}

// panickyReads fails where blocks are read: on the goroutines of lists and streams.
type panickyReads struct{ *rpctest.Chain }

func (panickyReads) HeaderByHeight(context.Context, chain.Height) (*rpc.HeaderLine, bool, error) {
	panic("broken invariant")
}

func (panickyReads) BlockByHeight(context.Context, chain.Height) (*rpc.Block, bool, error) {
	panic("broken invariant")
}

// ReadActor is what a trial answers whose worker has recovered.
func (panickyReads) ReadActor(context.Context, *rpc.ReadQuery) (*rpc.Trial, error) {
	return nil, fmt.Errorf("trial: %w", exec.Panicked("broken invariant"))
}

// TestPanicsBesideTheHandler: what panics on another goroutine, or after an answer has
// begun, costs that request alone, and is in the log with its stack.
func TestPanicsBesideTheHandler(t *testing.T) {
	var log strings.Builder
	cfg := testConfig()
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	source := panickyReads{rpctest.New()}
	for range 3 {
		source.Finalize()
	}
	s := newServer(t, cfg, source)
	wantError(t, request(s, "GET", "/blocks", "", nil), 500, rpc.CodeDefect)
	wantError(t, request(s, "POST", "/actor/read", "application/json", []byte(`{"actor":"0x`+strings.Repeat("11", 20)+`","handler":"get"}`)), 500, rpc.CodeDefect)
	r := httptest.NewRequest("GET", "/events", nil)
	r.Header.Set("Last-Event-ID", "1")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, "resume with Last-Event-ID") || strings.Contains(body, "code") {
		t.Errorf("a stream that panics: %d %q", w.Code, body)
	}
	if got := s.Stats.Panics.Load(); got < 3 {
		t.Errorf("%d panics counted, want those of three requests", got)
	}
	if !strings.Contains(log.String(), "broken invariant") || !strings.Contains(log.String(), "panickyReads") {
		t.Errorf("the log has no stack: %.400s", log.String())
	}
	if w := request(s, "GET", "/height", "", nil); w.Code != 200 {
		t.Errorf("the server does not go on: %d", w.Code)
	}
}

func TestRateLimit(t *testing.T) {
	cfg := testConfig()
	cfg.RequestsPerSecond = 20
	s := newServer(t, cfg, rpctest.New())
	from := func(remote, path string) int {
		r := httptest.NewRequest("GET", path, nil)
		r.RemoteAddr = remote
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code == 429 && w.Header().Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		return w.Code
	}
	limited := 0
	for range 200 {
		if from("10.0.0.1:999", "/height") == 429 {
			limited++
		}
	}
	if limited < 100 { // slow machines refill a few
		t.Errorf("%d of 200 refused", limited)
	}
	if code := from("10.0.0.2:999", "/height"); code != 200 {
		t.Errorf("another client is refused: %d", code)
	}
	if code := from("10.0.0.1:1000", "/health"); code != 200 {
		t.Errorf("the health of a busy node is hidden: %d", code)
	}
	hurried := 0
	for range 200 {
		if from("10.0.0.3:999", "/health") == 429 {
			hurried++
		}
	}
	if code := from("10.0.0.2:999", "/health"); hurried < 100 || code != 200 {
		t.Errorf("of one who asks for nothing but the health %d of 200 are refused, another gets %d", hurried, code)
	}
	for i := range 10_000 { // strangers cannot grow the table or free the bucket
		from(fmt.Sprintf("[2001:db8:%x::1]:1", i), "/height")
	}
}

// TestBodiesAreGivenBack: a network that sends one body after the other is served for
// ever, whatever the length of its prefix.
func TestBodiesAreGivenBack(t *testing.T) {
	cfg := testConfig()
	cfg.ClientShare, cfg.BodiesBytesMax = 25, 1<<20
	cfg.RequestsPerSecond = 0
	s := newServer(t, cfg, rpctest.New())
	body := string(transfer(t, testKey(t, 1), 0).AppendWire(nil))
	for _, remote := range []string{"10.0.0.1:5", "[2001:db8:1:2:3::4]:5", "[fd00::1]:5"} {
		for i := range 100 {
			r := httptest.NewRequest("POST", "/submit", strings.NewReader(body))
			r.RemoteAddr = remote
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Code != 200 {
				t.Fatalf("body %d of %s, none other under way: %d %s", i, remote, w.Code, w.Body)
			}
		}
	}
}

// A read of the past costs the same whatever it reads: with a rate of three
// lookups a second, there is one of it at once.
func TestPastCostsMore(t *testing.T) {
	cfg := testConfig()
	cfg.RequestsPerSecond = 3
	source := rpctest.New()
	source.Fund(chain.Address{7}, 1)
	account := "/account/" + chain.Address{7}.String()
	for path, want := range map[string][2]int{
		account:                        {200, 200},
		account + "?height=9":          {404, 429},
		account + "/code":              {200, 429},
		account + "/code?height=9":     {404, 429},
		account + "/storage/00":        {200, 429},
		account + "/storage/00?height": {400, 429},
	} {
		s := newServer(t, cfg, source)
		for i, code := range want {
			if got := request(s, "GET", path, "", nil).Code; got != code {
				t.Errorf("%s: request %d is answered with %d, want %d", path, i, got, code)
			}
		}
	}
}

// slow blocks Height until released.
type slow struct {
	*rpctest.Chain
	release chan struct{}
	entered chan struct{}
}

func (s slow) Height() chain.Height {
	s.entered <- struct{}{}
	<-s.release
	return 1
}

func TestInFlightLimit(t *testing.T) {
	cfg := testConfig()
	cfg.InFlightMax = 2
	source := slow{rpctest.New(), make(chan struct{}), make(chan struct{})}
	s := newServer(t, cfg, source)
	var open sync.WaitGroup
	for range 2 {
		open.Go(func() { request(s, "GET", "/height", "", nil) })
		<-source.entered
	}
	w := request(s, "GET", "/account/"+strings.Repeat("33", 20), "", nil)
	wantError(t, w, 503, rpc.CodeBusy)
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if w := request(s, "GET", "/health", "", nil); w.Code != 200 {
		t.Errorf("health answers %d", w.Code)
	}
	close(source.release)
	open.Wait()
	wantError(t, request(s, "GET", "/account/"+strings.Repeat("33", 20), "", nil), 404, rpc.CodeUnknownAccount)
}

// TestHostileBodiesLeaveMemoryFlat sends many bad requests and compares the
// heap before and after.
func TestHostileBodiesLeaveMemoryFlat(t *testing.T) {
	source, _, _ := filled(t)
	s := newServer(t, testConfig(), source)
	huge := bytes.Repeat([]byte("["), 1<<20)
	half := transfer(t, testKey(t, 1), 2).AppendWire(nil)
	round := func() {
		request(s, "POST", "/submit", "", huge)
		request(s, "POST", "/faucet", "", huge)
		request(s, "POST", "/submit", "", huge[:400<<10])
		for cut := range len(half) {
			request(s, "POST", "/submit", "", half[:cut])
		}
		request(s, "GET", "/block/"+strings.Repeat("9", 4000), "", nil)
		request(s, "GET", "/"+strings.Repeat("x", 8000), "", nil)
	}
	round()
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for range 50 {
		round()
	}
	if after := heap(); after > before+4<<20 {
		t.Errorf("heap grew from %d to %d bytes", before, after)
	}
}
