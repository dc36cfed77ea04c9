package rpc_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// counted is an answer of which only the bytes are counted.
type counted struct {
	header http.Header
	bytes  int
}

func (c *counted) Header() http.Header { return c.header }

func (c *counted) WriteHeader(int) {}

func (c *counted) Write(b []byte) (int, error) {
	c.bytes += len(b)
	return len(b), nil
}

// TestGenesisIsEncodedOnce: a request for the genesis makes nothing of its size. It encoded
// it, three times over.
func TestGenesisIsEncodedOnce(t *testing.T) {
	g := genesis.DevnetTemplate()
	for len(g.Params.Actor.Imports) < 100_000 {
		g.Params.Actor.Imports = append(g.Params.Actor.Imports, g.Params.Actor.Imports...)
	}
	cfg := testConfig()
	cfg.Genesis, cfg.RequestsPerSecond = g, 1_000_000
	s := newServer(t, cfg, rpctest.New())
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(g); err != nil {
		t.Fatal(err)
	}
	if w := request(s, http.MethodGet, "/genesis", "", nil); w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), want.Bytes()) {
		t.Fatalf("%d with %d bytes, want %d", w.Code, w.Body.Len(), want.Len())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := &counted{header: http.Header{}}
	s.ServeHTTP(c, httptest.NewRequest(http.MethodGet, "/genesis", nil))
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; c.bytes != want.Len() || made > uint64(c.bytes/2) {
		t.Errorf("%d bytes made for an answer of %d", made, c.bytes)
	}
}
