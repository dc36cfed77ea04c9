package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
	"github.com/cowboy-foundation/cowboy/state"
)

// testNode serves a chain in memory and returns a client of it.
func testNode(t testing.TB, source *rpctest.Chain, change func(*rpc.Config)) (*client.Client, *httptest.Server) {
	t.Helper()
	cfg := rpc.DefaultConfig()
	cfg.Devnet, cfg.RequestsPerSecond, cfg.FaucetPerMinute = true, 0, 0
	if change != nil {
		change(&cfg)
	}
	server, err := rpc.New(cfg, source)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	return clientOf(t, web.URL), web
}

func clientOf(t testing.TB, url string) *client.Client {
	t.Helper()
	cfg := client.DefaultConfig()
	cfg.URL = url
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestEveryCall(t *testing.T) {
	source := rpctest.New()
	c, _ := testNode(t, source, nil)
	ctx := t.Context()
	key, err := client.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	addr := client.AddressOf(key)
	if _, err := c.Account(ctx, addr); !client.IsCode(err, rpc.CodeUnknownAccount) || !client.IsNotFound(err) {
		t.Errorf("unknown account: %v", err)
	}
	grant := must[*rpc.FaucetReply](t)(c.Faucet(ctx, addr))
	if grant.Amount != rpctest.FaucetWei {
		t.Errorf("faucet %+v", grant)
	}
	quote := must[*rpc.BaseFeeReply](t)(c.BaseFee(ctx))
	tx := &chain.Tx{ChainID: quote.ChainID, To: &chain.Address{19: 9, 0: 9}, Value: 7, CyclesLimit: 21_000, MaxFeePerCycle: 2}
	signed := client.SignTx(key, tx)
	verdict := must[*rpc.SubmitReply](t)(c.Submit(ctx, signed.Wire)).Results[0]
	if !verdict.Accepted || verdict.Hash != signed.Hash.String() {
		t.Errorf("verdict %+v", verdict)
	}
	if _, err := c.Receipt(ctx, signed.Hash); !client.IsCode(err, rpc.CodeReceiptPending) {
		t.Errorf("pending receipt: %v", err)
	}
	must[*rpc.PoolTxReply](t)(c.PoolTx(ctx, signed.Hash))
	head := must[*rpc.AdvanceReply](t)(c.Advance(ctx, 2))
	if height := must[chain.Height](t)(c.Height(ctx)); uint64(height) != head.Height || height != 2 {
		t.Errorf("height %d", height)
	}
	waited := must[*rpc.SubmitWaitReply](t)(c.SubmitWait(ctx, signed.Wire, time.Second))
	if waited.Results[0].Receipt == nil || waited.Results[0].Receipt.BlockHeight != 1 {
		t.Errorf("waited %+v", waited)
	}
	must[*rpc.ReceiptReply](t)(c.Receipt(ctx, signed.Hash))
	if got := must[*rpc.TxReply](t)(c.Transaction(ctx, signed.Hash)); got.Sender != addr.String() {
		t.Errorf("sender %s, want %s", got.Sender, addr)
	}
	block := must[*rpc.BlockReply](t)(c.BlockByHeight(ctx, 1))
	hash, err := client.ParseHash(block.Hash)
	if err != nil {
		t.Fatal(err)
	}
	must[*rpc.BlockReply](t)(c.BlockByHash(ctx, hash))
	if latest := must[*rpc.BlockReply](t)(c.LatestBlock(ctx)); latest.Height != 2 {
		t.Errorf("latest %d", latest.Height)
	}
	if list := must[*rpc.BlocksReply](t)(c.Blocks(ctx, 1, 5)); len(list.Blocks) != 1 {
		t.Errorf("blocks %+v", list)
	}
	if a := must[*rpc.AccountReply](t)(c.Account(ctx, addr)); a.Balance != rpctest.FaucetWei-7-21_000 {
		t.Errorf("account %+v", a)
	}
	for _, q := range []light.Query{
		{Kind: light.KindHeader},
		{Kind: light.KindHeader, Height: 1},
		{Kind: light.KindAccount, Accounts: []light.AccountQuery{{Address: addr}}},
		{Kind: light.KindStorage, Accounts: []light.AccountQuery{{Address: addr, Slots: []state.StorageKey{"\x01k"}}}},
		{Kind: light.KindMulti, Accounts: []light.AccountQuery{{Address: addr, Slots: []state.StorageKey{"\x01k"}}, {}}},
	} {
		d, err := light.Decode(must[[]byte](t)(c.Prove(ctx, &q)))
		if a, ok := d.(*light.Account); err != nil || ok && !a.Exists {
			t.Errorf("proof of %s: %+v, %v", q.Kind, d, err)
		}
	}
	if _, err := c.Prove(ctx, &light.Query{Kind: light.KindAccount}); err == nil {
		t.Error("a proof of no account was asked for")
	}
	if h := must[*rpc.HealthReply](t)(c.Health(ctx)); !h.Devnet {
		t.Errorf("health %+v", h)
	}
	if err := c.Ready(ctx); err != nil {
		t.Error(err)
	}
	source.SetHealth(rpc.Health{Status: "starting"})
	if err := c.Ready(ctx); !client.IsCode(err, rpc.CodeNotReady) {
		t.Errorf("not ready: %v", err)
	}
}

func TestForeignAnswers(t *testing.T) {
	f := func(name, want string, answer http.HandlerFunc) {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(answer)
			defer web.Close()
			cfg := client.DefaultConfig()
			cfg.URL, cfg.AnswerMax = web.URL, 1000
			c, err := client.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Health(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\x1b\x07") {
				t.Errorf("control characters in %q", err)
			}
		})
	}
	write := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	f("html error page", "is this a Cowboy node?", write(502, "<html>"))
	f("not JSON", "answer to /health", write(200, "hello"))
	f("endless", "above 1000 bytes", write(200, strings.Repeat("x", 5000)))
	f("control characters", "evil", write(400, `{"code":1,"message":"\u001b[2Jevil\u0007"}`))
	f("long message", "…", write(400, `{"code":1,"message":"`+strings.Repeat("y", 900)+`"}`))
	f("redirect is not followed", "HTTP 302", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	})
	f("cut answer", "no answer", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "{")
	})
}

// TestPatience: what a node puts off for a moment is asked again, what it puts off
// for long is not.
func TestPatience(t *testing.T) {
	for _, test := range []struct {
		name, pause string
		refusals    int // before an answer
		asked       int
		ok          bool
		code        rpc.Code
	}{
		{"twice", "1", 2, 3, true, rpc.CodeRateLimited},
		{"for long", "60", 1, 1, false, rpc.CodeRateLimited},
		{"without a time", "", 1, 1, false, rpc.CodeRateLimited},
		{"always", "1", 99, 3, false, rpc.CodeRateLimited},
		{"for what was read", "3", 1, 2, true, rpc.CodeOwed},
		{"for more than is ever owed", "100", 1, 1, false, rpc.CodeOwed},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked++; asked <= test.refusals {
					w.Header().Set("Retry-After", test.pause)
					w.WriteHeader(http.StatusTooManyRequests)
					fmt.Fprintf(w, `{"code":%d,"message":"slow down"}`, test.code)
					return
				}
				fmt.Fprint(w, `{"height":7}`)
			}))
			defer web.Close()
			cfg := client.DefaultConfig()
			cfg.URL, cfg.Repeats = web.URL, 2
			c, err := client.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			h, err := c.Height(t.Context())
			if test.ok != (err == nil && h == 7) || !test.ok && !client.IsCode(err, test.code) || asked != test.asked {
				t.Errorf("height %d, %v, asked %d times", h, err, asked)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	web.Close()
	_, err := clientOf(t, web.URL).Height(t.Context())
	var unreachable *client.UnreachableError
	if !errors.As(err, &unreachable) || unreachable.URL != web.URL {
		t.Errorf("error %v", err)
	}
	cfg := client.DefaultConfig()
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hang.Close()
	cfg.URL, cfg.Timeout = hang.URL, 20*time.Millisecond
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Height(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hanging node: %v", err)
	}
}

func TestURLs(t *testing.T) {
	f := func(url string, ok bool) {
		t.Helper()
		cfg := client.DefaultConfig()
		cfg.URL = url
		if _, err := client.New(cfg); (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
	}
	f("localhost:4000", true)
	f("http://10.0.0.1:4000/", true)
	f("https://node.example/api", true)
	f("", false)
	f("ftp://x", false)
	f("http://", false)
	f("http://x/?a=b", false)
	f("http://[::1", false)
	if got := clientOf(t, "localhost:4000/").URL(); got != "http://localhost:4000" {
		t.Errorf("URL %s", got)
	}
}

// errEnough ends a stream in a test.
var errEnough = errors.New("enough")

// heightsUntil follows the chain until height last and checks that none is
// missing or doubled.
func heightsUntil(t *testing.T, c *client.Client, after, last chain.Height) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next := after + 1
	err := c.Events(ctx, after, func(b *rpc.BlockReply) error {
		if chain.Height(b.Height) != next {
			t.Errorf("height %d, want %d", b.Height, next)
		}
		next++
		if chain.Height(b.Height) == last {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatalf("stream ended at %d: %v", next, err)
	}
}

func TestEventsFollowTheChain(t *testing.T) {
	source := rpctest.New()
	for range 5 {
		source.Finalize()
	}
	c, _ := testNode(t, source, nil)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				source.Finalize()
			}
		}
	}()
	heightsUntil(t, c, 2, 40)
}

func TestEventsFetchWhatTheStreamLeavesOut(t *testing.T) {
	source := rpctest.New()
	for range 30 {
		source.Finalize()
	}
	c, _ := testNode(t, source, func(cfg *rpc.Config) { cfg.ResumeBlocksMax = 5 })
	heightsUntil(t, c, 0, 30)
}

func TestEventsSurviveBrokenConnections(t *testing.T) {
	source := rpctest.New()
	_, web := testNode(t, source, nil)
	var connections atomic.Int32
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections.Add(1)
		for range 10 {
			source.Finalize()
		}
		web.Config.Handler.ServeHTTP(&cutWriter{w, 7}, r)
		panic(http.ErrAbortHandler)
	}))
	defer front.Close()
	heightsUntil(t, clientOf(t, front.URL), 0, 31)
	if connections.Load() < 4 {
		t.Errorf("%d connections, want several", connections.Load())
	}
}

// cutWriter fails behind so many blocks.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (w *cutWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *cutWriter) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("event: block")) {
		if w.left--; w.left < 0 {
			return 0, errEnough
		}
	}
	return w.ResponseWriter.Write(b)
}

func TestEventsReportTheFirstFailure(t *testing.T) {
	nothing := func(*rpc.BlockReply) error { return nil }
	var unreachable *client.UnreachableError
	if err := clientOf(t, "http://127.0.0.1:1").Events(t.Context(), 0, nothing); !errors.As(err, &unreachable) {
		t.Errorf("no node: %v", err)
	}
	source := rpctest.New()
	source.Fault = rpctest.Refused()
	c, _ := testNode(t, source, nil)
	if err := c.Events(t.Context(), 0, nothing); !client.IsCode(err, rpc.CodeBadRequest) {
		t.Errorf("refusal: %v", err)
	}
}
