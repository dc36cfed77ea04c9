package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// testConfig is the default without rate limits, as a devnet.
func testConfig() rpc.Config {
	cfg := rpc.DefaultConfig()
	cfg.Devnet = true
	cfg.RequestsPerSecond = 0
	cfg.FaucetPerMinute = 0
	cfg.ClientShare = 100
	return cfg
}

func newServer(t testing.TB, cfg rpc.Config, source rpc.Source) *rpc.Server {
	t.Helper()
	s, err := rpc.New(cfg, source)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// request sends one request to the handler and returns the recorded answer.
func request(s http.Handler, method, target, media string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, bytes.NewReader(body))
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// wantError checks status, code and that the message tells something.
func wantError(t *testing.T, w *httptest.ResponseRecorder, status int, code rpc.Code) {
	t.Helper()
	var reply rpc.ErrorReply
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
		t.Fatalf("status %d, body %.200q is no JSON: %v", w.Code, w.Body.String(), err)
	}
	if w.Code != status || reply.Code != code || reply.Message == "" {
		t.Errorf("answer %d %d %q, want %d %d", w.Code, reply.Code, reply.Message, status, code)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q, want application/json", got)
	}
}

func decode[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var reply T
	dec := json.NewDecoder(w.Body)
	dec.DisallowUnknownFields()
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body.String())
	}
	if err := dec.Decode(&reply); err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestRunServesAndStops(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := testConfig()
	cfg.Listener, cfg.StopTimeout = listener, time.Hour
	s := newServer(t, cfg, rpctest.New())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	url := "http://" + listener.Addr().String()
	answer, err := http.Get(url + "/height")
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	events, err := http.Get(url + "/events") // an open stream must not hold up the stop
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("Run does not return")
	}
	if _, err := http.Get(url + "/height"); err == nil {
		t.Error("still listening after Run")
	}
}

func TestRunReportsABusyAddress(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cfg := testConfig()
	cfg.Addr = listener.Addr().String()
	if err := newServer(t, cfg, rpctest.New()).Run(t.Context()); err == nil {
		t.Error("no error for an address in use")
	}
}

func TestConfigCheck(t *testing.T) {
	if err := rpc.DefaultConfig().Check(); err != nil {
		t.Errorf("default: %v", err)
	}
	f := func(change func(*rpc.Config)) {
		t.Helper()
		cfg := rpc.DefaultConfig()
		change(&cfg)
		if cfg.Check() == nil {
			t.Error("accepted")
		}
	}
	f(func(c *rpc.Config) { c.Addr = "" })
	f(func(c *rpc.Config) { c.BodyBytesMax = 0 })
	f(func(c *rpc.Config) { c.InFlightMax = -1 })
	f(func(c *rpc.Config) { c.ListMax = 1 })
	f(func(c *rpc.Config) { c.WaitMax = time.Minute })
	f(func(c *rpc.Config) { c.WaitMax = 1 })
	f(func(c *rpc.Config) { c.RequestsPerSecond = -1 })
}
