package siege

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// The attack on the API: one client that takes all there is of each resource. The
// server is real, on this machine's loopback, and what it answers from is not: it must
// serve others whatever it serves.

// Addresses of this machine that both sides call from.
const greedyClient, honestClient = "127.0.0.1", "127.0.0.2"

const (
	clientPatience = 20 * time.Second // of an honest client, on a busy machine
	clientConns    = 400              // that the attack holds
	clientAsks     = 4                // of the honest client, a block
)

// errUnserved says that an honest client was not answered.
var errUnserved = errors.New("an honest client was not served")

// counter is a server under attack.
type counter struct {
	addr         string
	held         []net.Conn // of the attack
	asked, heard int        // by the honest client
	last         string     // answer that was none
}

// wide answers /evidence with a megabyte.
type wide struct{ *rpctest.Chain }

// Evidence implements rpc.Source.
func (wide) Evidence() []rpc.Evidence { return []rpc.Evidence{{Bytes: make([]byte, 1<<20)}} }

// openCounter starts a server; nil where the machine has one loopback address.
func openCounter(t testing.TB) *counter {
	t.Helper()
	l, err := net.Listen("tcp", honestClient+":0")
	if err != nil {
		t.Log("no second loopback address: nobody calls")
		return nil
	}
	_ = l.Close() // it was a question
	if l, err = net.Listen("tcp", greedyClient+":0"); err != nil {
		t.Fatal(err)
	}
	cfg := rpc.DefaultConfig()
	cfg.Listener, cfg.StopTimeout = l, time.Millisecond
	cfg.ConnsMax, cfg.InFlightMax, cfg.WaitsMax, cfg.SubscribersMax, cfg.RequestsPerSecond = 120, 16, 16, 16, 1_000
	server, err := rpc.New(cfg, wide{rpctest.New()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	c := &counter{addr: l.Addr().String()}
	t.Cleanup(func() {
		for _, conn := range c.held {
			_ = conn.Close() // the server may have closed it
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

// say opens a connection and sends the beginning of a request.
func (c *counter) say(from, text string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: clientPatience}
	conn, err := d.Dial("tcp", c.addr)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(conn, text)
	return conn, err
}

// grab takes connections, bodies, streams and answers that nobody reads.
func (c *counter) grab() {
	for _, text := range []string{
		"GET /height HTTP/1.1\r\nHost: loc",
		"POST /submit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nx",
		"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /evidence HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		for range 5 {
			if conn, err := c.say(greedyClient, text); conn != nil {
				_ = err // refused: there are others
				c.held = append(c.held, conn)
			}
		}
	}
	for ; len(c.held) > clientConns; c.held = c.held[1:] {
		_ = c.held[0].Close() // the server may have closed it
	}
}

// ask asks as an honest client, on a connection of its own.
func (c *counter) ask(request string, want int) {
	c.asked++
	conn, err := c.say(honestClient, request)
	if conn != nil {
		defer conn.Close()
	}
	if err == nil {
		err = conn.SetReadDeadline(time.Now().Add(clientPatience))
	}
	if err != nil {
		c.last = err.Error()
		return
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		c.last = err.Error()
		return
	}
	_ = answer.Body.Close() // its status says all
	if c.last = answer.Status; answer.StatusCode == want {
		c.heard++
	}
}

func greedyClients() attack {
	var c *counter
	return attack{
		name: "B12-greedy-clients", what: "one client that holds all connections, bodies, streams and answers it can get",
		setup: func(s *siege) { c = openCounter(s.t) },
		block: func(*siege) {
			if c == nil {
				return
			}
			c.grab()
			for range clientAsks / 2 {
				c.ask("GET /height HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", http.StatusOK)
				c.ask("POST /submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx", http.StatusBadRequest)
			}
		},
		check: func(*siege) error {
			if c != nil && float64(c.heard) < shareMin*float64(c.asked) {
				return fmt.Errorf("%w: %d of %d requests, the last one %q", errUnserved, c.heard, c.asked, c.last)
			}
			return nil
		},
	}
}
