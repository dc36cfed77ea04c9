package rpc_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// Addresses of this machine that the two sides of a test call from.
const greedy, honest = "127.0.0.1", "127.0.0.2"

// publicConfig has small limits of a public node.
func publicConfig() rpc.Config {
	cfg := rpc.DefaultConfig()
	cfg.ConnsMax, cfg.InFlightMax, cfg.WaitsMax, cfg.SubscribersMax, cfg.ExportsMax = 40, 8, 8, 8, 4
	cfg.RequestsPerSecond = 1000
	return cfg
}

// town is a running server and those who call it.
type town struct {
	t      *testing.T
	addr   string
	server *rpc.Server
}

func newTown(t *testing.T, cfg rpc.Config, source rpc.Source) *town {
	t.Helper()
	if l, err := net.Listen("tcp", honest+":0"); err != nil {
		t.Skip("this system has one loopback address:", err)
	} else {
		l.Close()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Listener, cfg.StopTimeout = listener, time.Millisecond
	s := newServer(t, cfg, source)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &town{t, listener.Addr().String(), s}
}

// dial opens a connection from an address of this machine.
func (w *town) dial(from string) net.Conn {
	w.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: patience}
	c, err := d.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

// say opens a connection and sends the beginning of a request.
func (w *town) say(from, text string) net.Conn {
	w.t.Helper()
	c := w.dial(from)
	if _, err := io.WriteString(c, text); err != nil {
		w.t.Log("refused:", err)
	}
	return c
}

// ask sends a whole request on a connection of its own and returns the status of
// the answer, 0 for none.
func (w *town) ask(from, method, path, body string) int {
	w.t.Helper()
	media := ""
	if body != "" {
		media = fmt.Sprintf("Content-Type: application/octet-stream\r\nContent-Length: %d\r\n", len(body))
	}
	c := w.say(from, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\n%sConnection: close\r\n\r\n%s", method, path, media, body))
	_ = c.SetReadDeadline(time.Now().Add(patience))
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// until asks again and again, for the server needs a moment to see what others did.
func (w *town) until(want int, from, method, path, body string) {
	w.t.Helper()
	got := 0
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if got = w.ask(from, method, path, body); got == want {
			return
		}
	}
	w.t.Fatalf("%s %s from %s is answered with %d, want %d", method, path, from, got, want)
}

// press sends one attack after the other, reads no more than the head of an answer,
// and leaves the connection open, until one is refused for the client's share.
func (w *town) press(attack string) {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		c := w.dial(greedy)
		_ = c.(*net.TCPConn).SetReadBuffer(4096)
		_, _ = io.WriteString(c, attack)
		_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // what waits has no answer yet
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil && answer.StatusCode == http.StatusTooManyRequests {
			return
		}
	}
	w.t.Fatalf("a greedy client is refused nothing: %.40q", attack)
}

// served wants several requests of an honest client answered, at the first try.
func (w *town) served(path string) {
	w.t.Helper()
	for range 5 {
		if got := w.ask(honest, "GET", path, ""); got != 200 {
			w.t.Fatalf("%s of an honest client is answered with %d", path, got)
		}
	}
}

// halfABody keeps a connection at work.
const halfABody = "POST /submit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf"

// crowd opens connections and keeps them at work until the answer to a client is want. One
// that the server has not looked at yet may make room for the next, so that no number is
// sure to be enough.
func (w *town) crowd(want int, client string, from func(i int) string) {
	w.t.Helper()
	for i, end := 0, time.Now().Add(patience); time.Now().Before(end); i++ {
		w.say(from(i), halfABody)
		if i%20 == 19 && w.ask(client, "GET", "/height", "") == want {
			return
		}
	}
	w.t.Fatalf("GET /height from %s is never answered with %d", client, want)
}

// TestGreedyConnections: one client opens all the connections it can and keeps them at
// work: it gets its share, and those who watch see the node although clients of many
// addresses have the rest.
func TestGreedyConnections(t *testing.T) {
	cfg := publicConfig()
	cfg.HeaderTimeout, cfg.ReadTimeout = patience, patience
	w := newTown(t, cfg, rpctest.New())
	// Beyond its share and the spare connections, a client is not answered.
	w.crowd(0, greedy, func(int) string { return greedy })
	w.served("/height")
	// Each of many has one as long as there is any.
	w.crowd(503, honest, func(i int) string { return fmt.Sprintf("127.0.1.%d", 1+i%250) })
	for range 3 {
		w.until(200, honest, "GET", "/health", "")
	}
}

// TestIdleConnectionsMakeRoom: connections that wait for a next request are closed
// when others come, and not before: those of whoever has most.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	w := newTown(t, publicConfig(), rpctest.New())
	idle := func(from string) net.Conn {
		c := w.say(from, "GET /height HTTP/1.1\r\nHost: localhost\r\n\r\n")
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || answer.StatusCode != 200 {
			t.Fatalf("from %s: %v", from, err)
		}
		return c
	}
	var conns []net.Conn
	for i := range 40 {
		conns = append(conns, idle(fmt.Sprintf("127.0.2.%d", 1+i%5)))
	}
	closed := func() (n int) {
		for _, c := range conns {
			_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); !isTimeout(err) {
				n++
			}
		}
		return n
	}
	if n := closed(); n > 0 {
		t.Fatalf("%d idle connections are closed while there is room", n)
	}
	for range 20 {
		idle(honest) // as soon as it has more than any other, its own idle ones go
	}
	const fair = 8 // 40 among 6, and the one that makes it the first
	for end := time.Now().Add(patience); closed() < fair; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of the idle connections are closed in a full table, want %d", closed(), fair)
		}
	}
	if n := closed(); n > fair {
		t.Errorf("%d idle connections of others are closed for a client, want %d", n, fair)
	}
}

func isTimeout(err error) bool {
	ne, ok := err.(net.Error)
	return ok && ne.Timeout()
}

// TestTrickledBodies: bodies that come byte by byte hold no slot, and no more than
// a share of the memory for bodies.
func TestTrickledBodies(t *testing.T) {
	cfg := publicConfig()
	cfg.ClientShare, cfg.InFlightMax, cfg.ConnsMax = 50, 2, 100
	cfg.BodiesBytesMax = 1 << 20
	w := newTown(t, cfg, rpctest.New())
	begun := "POST /submit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nx"
	w.press(begun)
	body := string(transfer(t, testKey(t, 1), 0).AppendWire(nil))
	for range 5 {
		if got := w.ask(honest, "POST", "/submit", body); got != 200 {
			t.Fatalf("a submission beside trickled ones is answered with %d", got)
		}
	}
	w.served("/height")
}

// heavy answers /evidence with many megabytes.
type heavy struct{ *rpctest.Chain }

func (heavy) Evidence() []rpc.Evidence { return []rpc.Evidence{{Bytes: make([]byte, 8<<20)}} }

// TestSlowReaders: a client that asks for large answers and does not read them
// holds no slot, and no more than a share of the memory for answers.
func TestSlowReaders(t *testing.T) {
	cfg := publicConfig()
	cfg.ClientShare, cfg.InFlightMax, cfg.ConnsMax = 50, 1, 100
	cfg.AnswersBytesMax = 80 << 20
	w := newTown(t, cfg, heavy{rpctest.New()})
	w.press("GET /evidence HTTP/1.1\r\nHost: localhost\r\n\r\n")
	w.until(200, honest, "GET", "/height", "")
	w.until(200, honest, "GET", "/evidence", "")
}

// TestGreedyStreams: one client has its share of the event streams.
func TestGreedyStreams(t *testing.T) {
	cfg := publicConfig()
	cfg.SubscribersMax = 16
	w := newTown(t, cfg, rpctest.New())
	w.press("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	for range 2 {
		c := w.say(honest, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || answer.StatusCode != 200 {
			t.Fatalf("an honest stream: %+v, %v", answer, err)
		}
	}
}

// endless is a source whose transactions are never final.
type endless struct{ *rpctest.Chain }

func (endless) Wait(ctx context.Context, _ []chain.Hash) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestGreedyWaits: one client has its share of the waits.
func TestGreedyWaits(t *testing.T) {
	source := rpctest.New()
	source.Fund(testKey(t, 1).PublicKey().Address(), 1<<40)
	w := newTown(t, publicConfig(), endless{source})
	body := string(transfer(t, testKey(t, 1), 0).AppendWire(nil))
	head := fmt.Sprintf("POST /submit_wait?timeout_ms=10000 HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", len(body))
	w.press(head + body)
	if got := w.ask(honest, "POST", "/submit_wait?timeout_ms=100", body); got != 200 {
		t.Fatalf("an honest wait is answered with %d", got)
	}
}

// archive is a source whose blocks are all old and large.
type archive struct{ *rpctest.Chain }

func (a archive) BlockByHeight(ctx context.Context, h chain.Height) (*rpc.Block, bool, error) {
	if err := rpc.Bill(ctx, 256<<10); err != nil {
		return nil, false, err
	}
	return a.Chain.BlockByHeight(ctx, h)
}

func (a archive) HeaderByHeight(ctx context.Context, h chain.Height) (*rpc.HeaderLine, bool, error) {
	line, ok, err := a.Chain.HeaderByHeight(ctx, h)
	if ok {
		line.Stored, line.SizeBytes = true, 256<<10
		err = rpc.Bill(ctx, line.SizeBytes/8)
	}
	return line, ok, err
}

// TestOldBlocksCostTheirBytes: who reads old blocks one after the other, in lists,
// or as a replay, pays by their bytes; others are served meanwhile.
func TestOldBlocksCostTheirBytes(t *testing.T) {
	cfg := publicConfig()
	cfg.RequestsPerSecond, cfg.ListBytesMax = 100, 4<<20
	source := rpctest.New()
	for range 100 {
		source.Finalize()
	}
	w := newTown(t, cfg, archive{source})
	answers := map[int]int{}
	for range 20 {
		answers[w.ask(greedy, "GET", "/block/3", "")]++
	}
	if answers[200] > 8 || answers[429] < 10 { // 64 of 100 tokens each, on a machine that stalls a second now and then
		t.Errorf("twenty old blocks of 256 KiB at once are answered with %v", answers)
	}
	w.served("/height")
	from := "127.0.3.1"
	if got := w.ask(from, "GET", "/blocks?limit=100", ""); got != 200 {
		t.Fatalf("a list is answered with %d", got)
	}
	if got := w.ask(from, "GET", "/blocks?limit=100", ""); got != 429 {
		t.Errorf("a second list of 4 MiB of old blocks at once is answered with %d", got)
	}
	c := w.say("127.0.3.2", "GET /events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 0\r\n\r\n")
	_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	text, _ := io.ReadAll(c)
	if n := strings.Count(string(text), "event: block"); n < 2 || n > 20 {
		t.Errorf("a replay sent %d old blocks of 256 KiB in a moment", n)
	}
	w.served("/height")
}

// TestListEndsBehindItsBytes: a list of large old blocks is as long as its bytes
// allow, and goes on from where it ended.
func TestListEndsBehindItsBytes(t *testing.T) {
	cfg := testConfig()
	cfg.ListBytesMax = 1 << 20
	source := rpctest.New()
	for range 100 {
		source.Finalize()
	}
	s := newServer(t, cfg, archive{source})
	reply := decode[rpc.BlocksReply](t, request(s, "GET", "/blocks?limit=100", "", nil))
	if n := len(reply.Blocks); n != 5 || reply.TotalCount != 100 || reply.Blocks[0].Height != 100 {
		t.Errorf("a list of 1 MiB has %d blocks of 256 KiB, of %d", n, reply.TotalCount)
	}
	next := decode[rpc.BlocksReply](t, request(s, "GET", fmt.Sprintf("/blocks?limit=100&offset=%d", len(reply.Blocks)), "", nil))
	if len(next.Blocks) == 0 || next.Blocks[0].Height != 95 {
		t.Errorf("the list goes on with %+v", next.Blocks)
	}
}

// wide has a block with many megabytes of JSON.
type wide struct{ *rpctest.Chain }

func (w wide) BlockByHeight(ctx context.Context, h chain.Height) (*rpc.Block, bool, error) {
	b, ok, err := w.Chain.BlockByHeight(ctx, h)
	if !ok || err != nil {
		return nil, false, err
	}
	large := *b
	large.Block = &chain.Block{Header: b.Block.Header}
	large.Block.Header.ConsumedSeeds = make([]byte, 4<<20)
	return &large, true, nil
}

// TestSlowStreamsHoldAShareOfMemory: an event that a client does not read is counted among
// the answers that wait to be read.
func TestSlowStreamsHoldAShareOfMemory(t *testing.T) {
	cfg := publicConfig()
	cfg.RequestsPerSecond = 1_000_000
	cfg.ClientShare, cfg.AnswersBytesMax, cfg.EventTimeout = 50, 30<<20, patience
	source := wide{rpctest.New()}
	source.Finalize()
	w := newTown(t, cfg, source)
	c := w.dial(greedy)
	_ = c.(*net.TCPConn).SetReadBuffer(4096)
	if _, err := io.WriteString(c, "GET /events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	for lines := bufio.NewReaderSize(c, 16); ; { // to the beginning of the event, which waits then
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "id: 1") {
			break
		}
	}
	if got := w.ask(greedy, "GET", "/block/1", ""); got != 429 {
		t.Errorf("a client whose stream holds its share of memory is answered with %d", got)
	}
	if got := w.ask(honest, "GET", "/block/1", ""); got != 200 {
		t.Errorf("another client is answered with %d", got)
	}
}
