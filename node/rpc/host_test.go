package rpc_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
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

// TestForeignOrigins asks a devnet for funds and blocks as a page of another site
// makes a browser ask, in every form that needs no leave of the server, and as
// commands do. Nothing may happen for the page, whose author needs no answer.
func TestForeignOrigins(t *testing.T) {
	const form, text, none, object = "application/x-www-form-urlencoded", "text/plain", "", "application/json"
	const tool = 200
	tests := []struct {
		rule   string
		header map[string]string
		media  string
		status int
	}{
		{"a form of another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, form, 403},
		{"a form, in a browser without fetch metadata", map[string]string{"Origin": "https://evil.example"}, form, 403},
		{"a body without a type", map[string]string{"Sec-Fetch-Site": "cross-site"}, none, 403},
		{"a page of another port of this machine", map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:3000"}, object, 403},
		{"a frame without an origin", map[string]string{"Origin": "null"}, form, 403},
		{"curl -d", nil, form, tool},
		{"the command and the load tool", nil, object, tool},
		{"typed into the address bar", map[string]string{"Sec-Fetch-Site": "none"}, object, tool},
		{"a page of this server", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://example.com"}, object, tool},
		{"plain text", nil, text, 415},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			for path, body := range map[string]string{
				"/faucet": `{"address":"0x` + strings.Repeat("33", 20) + `"}`, "/dev/advance": `{"blocks":1}`,
			} {
				s := newServer(t, testConfig(), rpctest.New())
				r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
				for name, value := range tt.header {
					r.Header.Set(name, value)
				}
				if tt.media != none {
					r.Header.Set("Content-Type", tt.media)
				}
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				if w.Code != tt.status {
					t.Errorf("%s: status %d, want %d: %s", path, w.Code, tt.status, w.Body)
				}
			}
		})
	}
}

// TestForeignHostsOnALocalNetwork: a development chain that listens on a local
// network is called by its address or by a name that its operator gave; other nodes
// by any name.
func TestForeignHostsOnALocalNetwork(t *testing.T) {
	for _, tt := range []struct {
		devnet bool
		host   string
		want   int
	}{
		{true, "192.168.1.5:4000", 200},
		{true, "localhost", 200},
		{true, "node.example", 200},
		{true, "[fd00::1]:4000", 200},
		{true, "evil.example", 403},
		{true, "192.168.1.5.evil.example:4000", 403},
		{false, "evil.example", 200},
		{false, "rpc.example.org", 200},
	} {
		cfg := testConfig()
		cfg.Devnet, cfg.Hosts = tt.devnet, []string{"node.example"}
		r := httptest.NewRequest(http.MethodGet, "/height", nil)
		r.Host = tt.host
		local := &net.TCPAddr{IP: net.ParseIP("192.168.1.5"), Port: 4000}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(local)))
		w := httptest.NewRecorder()
		newServer(t, cfg, rpctest.New()).ServeHTTP(w, r)
		if w.Code != tt.want {
			t.Errorf("devnet %v, called %q: status %d, want %d", tt.devnet, tt.host, w.Code, tt.want)
		}
	}
}
