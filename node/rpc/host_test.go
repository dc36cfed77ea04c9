package rpc_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// TestForeignHosts calls a server on loopback under names that DNS rebinding
// could give it, and under its own.
func TestForeignHosts(t *testing.T) {
	cfg := rpc.DefaultConfig()
	cfg.Hosts = []string{"node.example"}
	web := httptest.NewServer(newServer(t, cfg, rpctest.New()))
	defer web.Close()
	_, port, err := net.SplitHostPort(web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:" + port: 200, "127.0.0.1:" + port: 200, "[::1]:" + port: 200, "10.1.2.3": 200,
		"node.example": 200, "Node.Example:8080": 200, "node.example.": 200,
		"evil.example": 403, "evil.example:" + port: 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+"/height", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("host %q: status %d, want %d: %s", host, res.StatusCode, want, body)
		}
	}
}
