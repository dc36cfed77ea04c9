package rpc_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// syncLog is a log that several goroutines write.
type syncLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *syncLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *syncLog) lines(of string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), of)
}

// TestOneAddressLeavesTheOthersIn: 127.0.0.2 opens far more connections than there are,
// and leaves them: silent from the beginning, idle after a request, or in the middle of
// one. 127.0.0.1, which opens a new connection for each request, is answered each time,
// and a connection that it keeps stays open. The shares are those of a development
// chain, which do not bind, and those of others.
func TestOneAddressLeavesTheOthersIn(t *testing.T) {
	const conns, flood = 64, 300
	for _, share := range []int{25, 100} {
		for name, say := range map[string]string{
			"silent": "", "idle": "GET /height HTTP/1.1\r\nHost: localhost\r\n\r\n", "half a request": "GET /height HTTP/1.1\r\nHo",
		} {
			t.Run(fmt.Sprintf("%s, share %d", name, share), func(t *testing.T) {
				log := new(syncLog)
				cfg := testConfig()
				cfg.ConnsMax, cfg.ClientShare, cfg.RequestsPerSecond, cfg.StopTimeout = conns, share, 0, 50*time.Millisecond
				cfg.Log = slog.New(slog.NewTextHandler(log, nil))
				listener, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				cfg.Listener = listener
				s, err := rpc.New(cfg, rpctest.New())
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- s.Run(ctx) }()
				url := "http://" + listener.Addr().String() + "/height"
				kept := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
				get := func(c *http.Client) error {
					res, err := c.Get(url)
					if err != nil {
						return err
					}
					defer res.Body.Close()
					if res.StatusCode != 200 {
						return fmt.Errorf("status %d", res.StatusCode)
					}
					return nil
				}
				if err := get(kept); err != nil {
					t.Fatal(err)
				}
				stranger := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: 10 * time.Second}
				for i := range flood {
					c, err := stranger.Dial("tcp", listener.Addr().String())
					if err != nil {
						continue // turned away at the door
					}
					t.Cleanup(func() { _ = c.Close() })
					_, _ = c.Write([]byte(say))
					if i%20 == 19 {
						fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
						if err := get(fresh); err != nil {
							t.Errorf("a newcomer behind %d connections of a stranger: %v", i+1, err)
						}
					}
				}
				if err := get(kept); err != nil {
					t.Errorf("who kept a connection: %v", err)
				}
				refused, evicted := s.Stats.ConnsRefused.Load(), s.Stats.ConnsEvicted.Load()
				if refused+evicted < flood-conns-40 {
					t.Errorf("%d refused and %d evicted were counted of %d connections", refused, evicted, flood)
				}
				if lines := log.lines("rpc connections find no place"); lines > 1 || refused > 0 && lines == 0 {
					t.Errorf("%d lines in the log for %d refused connections, want one", lines, refused)
				}
				kept.CloseIdleConnections()
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		}
	}
}
