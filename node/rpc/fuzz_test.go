package rpc_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// FuzzRequest throws any method, path, query and body at the server. It must
// answer with a known status, JSON, a code and a message, and never panic.
func FuzzRequest(f *testing.F) {
	wire := transfer(f, testKey(f, 1), 0).AppendWire(nil)
	f.Add("GET", "/height", "", []byte(nil))
	f.Add("GET", "/block/latest", "", []byte(nil))
	f.Add("GET", "/blocks", "limit=3&offset=1", []byte(nil))
	f.Add("GET", "/transaction/0x00/receipt", "", []byte(nil))
	f.Add("POST", "/submit", "", wire)
	f.Add("POST", "/submit", "", wire[:len(wire)-1])
	f.Add("POST", "/submit", rpc.VerdictsMedia+";q=0.5,*/*", wire)
	f.Add("POST", "/submit", "hashes=0", wire)
	f.Add("POST", "/submit_wait", "timeout_ms=100", wire)
	f.Add("POST", "/faucet", "", []byte(`{"address":"0x3333333333333333333333333333333333333333"}`))
	f.Add("POST", "/dev/advance", "", []byte(`{"blocks":3}`))
	runner := "/runner/0x3333333333333333333333333333333333333333"
	f.Add("POST", runner+"/heartbeat", "", wire)
	f.Add("POST", runner+"/job_result", "hashes=0", wire)
	f.Add("GET", runner+"/jobs", "after=0x00&limit=3&specs=0", []byte(nil))
	f.Add("GET", "/jobs", "submitter=0x3333333333333333333333333333333333333333&after=7.1&limit=2&order=oldest", []byte(nil))
	f.Add("GET", "/jobs", "runner=0x3333333333333333333333333333333333333333", []byte(nil))
	f.Add("PUT", "/proof/account/%00", "%", []byte("{"))
	f.Fuzz(func(t *testing.T, method, path, query string, body []byte) {
		source := rpctest.New()
		source.Instant = true
		cfg := testConfig()
		cfg.WaitMin, cfg.WaitMax = 1, 1e6 // no wait longer than a millisecond
		cfg.AdvanceBlocksMax = 10
		s := newServer(t, cfg, source)
		r := httptest.NewRequest("GET", "/", bytes.NewReader(body))
		r.Method = method
		r.URL = &url.URL{Path: path, RawQuery: query}
		r.Header.Set("Accept", query)
		if path == "/events" {
			r.Header.Set("Last-Event-ID", query)
			if r.Method = http.MethodHead; query == "" {
				return
			}
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if s.Stats.Panics.Load() != 0 {
			t.Fatalf("panic at %s %q?%q %q", method, path, query, body)
		}
		switch w.Code {
		case 200:
			return
		case 400, 404, 405, 413, 415:
		default:
			t.Fatalf("status %d at %s %q?%q %q: %s", w.Code, method, path, query, body, w.Body)
		}
		var reply rpc.ErrorReply
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || reply.Code == rpc.CodeOK || reply.Message == "" {
			t.Fatalf("error body %q of %s %q: %v", w.Body, method, path, err)
		}
	})
}
