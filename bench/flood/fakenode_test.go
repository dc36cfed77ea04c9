package flood

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeNode takes eight bytes for a transaction and makes a block of all that waits,
// every interval. It misbehaves on request.
type fakeNode struct {
	host     string
	interval time.Duration

	lose    func(n int) bool                // accept and never include
	twice   func(n int) bool                // include again in the next block
	refuse  func(n int) bool                // say no
	strange func(height int) int            // how many of others to include
	hide    bool                            // applied never grows
	delay   func(request int) time.Duration // before an answer
	status  func(request int) int           // of the answer; 0 is 200

	mu       sync.Mutex
	pool     []ID
	again    []ID
	blocks   [][]ID
	applied  int
	count    int
	requests int
	waiting  int // most that ever waited
}

func newFakeNode(t *testing.T) *fakeNode {
	t.Helper()
	n := &fakeNode{interval: 10 * time.Millisecond}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /send", n.serveSend)
	mux.HandleFunc("GET /head", func(w http.ResponseWriter, _ *http.Request) {
		n.mu.Lock()
		defer n.mu.Unlock()
		fmt.Fprint(w, len(n.blocks))
	})
	mux.HandleFunc("GET /applied", func(w http.ResponseWriter, _ *http.Request) {
		n.mu.Lock()
		defer n.mu.Unlock()
		fmt.Fprint(w, n.applied)
	})
	mux.HandleFunc("GET /block/{height}", func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		defer n.mu.Unlock()
		var height int
		_, _ = fmt.Sscan(r.PathValue("height"), &height)
		_ = json.NewEncoder(w).Encode(n.blocks[height-1])
	})
	server := httptest.NewServer(mux)
	n.host = strings.TrimPrefix(server.URL, "http://")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(n.interval):
				n.makeBlock()
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
		server.CloseClientConnections()
		server.Close()
	})
	return n
}

func (n *fakeNode) serveSend(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	n.mu.Lock()
	n.requests++
	request, accepted := n.requests, 0
	if n.status != nil && n.status(request) != 0 {
		n.mu.Unlock()
		w.WriteHeader(n.status(request))
		return
	}
	for ; len(body) >= 8; body = body[8:] {
		n.count++
		id := ID(binary.BigEndian.Uint64(body))
		if n.refuse != nil && n.refuse(n.count) {
			continue
		}
		accepted++
		if n.lose == nil || !n.lose(n.count) {
			n.pool = append(n.pool, id)
		}
		if n.twice != nil && n.twice(n.count) {
			n.again = append(n.again, id)
		}
	}
	n.waiting = max(n.waiting, len(n.pool))
	n.mu.Unlock()
	if n.delay != nil {
		time.Sleep(n.delay(request))
	}
	fmt.Fprint(w, accepted)
}

func (n *fakeNode) makeBlock() {
	n.mu.Lock()
	defer n.mu.Unlock()
	block := n.pool
	if !n.hide {
		n.applied += len(block)
	}
	if n.strange != nil {
		for i := range n.strange(len(n.blocks) + 1) {
			block = append(block, ID(1)<<60+ID(len(n.blocks)*1000+i))
		}
	}
	n.blocks = append(n.blocks, block)
	n.pool, n.again = n.again, nil
}

// toy speaks the fake node's language.
type toy struct{}

func (toy) Accepted(answer []byte) (n int, err error) {
	_, err = fmt.Sscan(string(answer), &n)
	return n, err
}

func (toy) number(c *Conn, path string) (n int, err error) {
	body, err := c.Get(path)
	if err == nil {
		_, err = fmt.Sscan(string(body), &n)
	}
	return n, err
}

func (t toy) Head(c *Conn) (uint64, error) {
	n, err := t.number(c, "/head")
	return uint64(n), err
}

func (t toy) Counts(c *Conn, from, to uint64) (counts []int, err error) {
	for h := from; h <= to; h++ {
		ids, err := t.Contents(c, h, nil)
		if err != nil {
			return nil, err
		}
		counts = append(counts, len(ids))
	}
	return counts, nil
}

func (toy) Contents(c *Conn, height uint64, into []ID) ([]ID, error) {
	var ids []ID
	err := c.GetJSON(fmt.Sprintf("/block/%d", height), &ids)
	return append(into, ids...), err
}

func (t toy) Applied(c *Conn) (int, error) { return t.number(c, "/applied") }

// toyEncoder makes transactions of account and nonce.
type toyEncoder struct{}

func (toyEncoder) Request(dst []byte, ids []ID, turns []Turn) ([]byte, []ID) {
	var body []byte
	for _, turn := range turns {
		id := ID(turn.Account)<<32 | ID(turn.Nonce)
		ids = append(ids, id)
		body = binary.BigEndian.AppendUint64(body, uint64(id))
	}
	return AppendPost(dst, "fake", "/send", "application/octet-stream", "", body), ids
}
