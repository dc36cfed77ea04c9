package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// DefaultURL is where a node on this machine serves its API.
const DefaultURL = "http://localhost:4000"

// Config says which node to ask and within which bounds.
type Config struct {
	URL           string        // scheme, host and port; http:// may be left out
	Timeout       time.Duration // of one request, in addition to what it asks the node to wait
	AnswerMax     int64         // bytes of one answer
	ConnsPerHost  int           // kept open; set it to the number of concurrent callers
	StreamTimeout time.Duration // silence on an event stream before it is reopened
	Repeats       int           // how often a request is sent again that the node limits for a moment; 0: never
}

// pauseMax bounds the pause before a repeated request: a node that asks for more
// (its faucet does) is not waited for.
const pauseMax = 2 * time.Second

// debtPauseMax bounds it where the node waits until what was read before is paid for by the
// rate of this client.
const debtPauseMax = 90 * time.Second

// DefaultConfig returns the settings for a person at a terminal.
func DefaultConfig() Config {
	return Config{
		URL:           DefaultURL,
		Timeout:       10 * time.Second,
		AnswerMax:     64 << 20,
		ConnsPerHost:  8,
		StreamTimeout: time.Minute,
		Repeats:       4,
	}
}

// Check reports the first setting that cannot work.
func (c Config) Check() error {
	if _, err := parseURL(c.URL); err != nil {
		return err
	}
	if c.Timeout <= 0 || c.AnswerMax <= 0 || c.ConnsPerHost <= 0 || c.StreamTimeout <= 0 || c.Repeats < 0 {
		return errors.New("client limits must be above 0")
	}
	return nil
}

// parseURL accepts what people write for a node: a URL, or host:port alone.
func parseURL(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("node address %q is no http URL: write it like %s", text, DefaultURL)
	}
	return u, nil
}

// Client asks one node. It may be used by many goroutines.
type Client struct {
	cfg  Config
	base string // without a trailing slash
	http *http.Client
}

// New returns a client; it connects with the first request.
func New(cfg Config) (*Client, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	u, err := parseURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConns:          cfg.ConnsPerHost,
		MaxIdleConnsPerHost:   cfg.ConnsPerHost,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   5 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
	}
	return &Client{
		cfg:  cfg,
		base: strings.TrimSuffix(u.String(), "/"),
		// A node never redirects; following one could carry a transaction to
		// another host.
		http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
	}, nil
}

// URL returns the node's address.
func (c *Client) URL() string { return c.base }

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Error is a node's refusal.
type Error struct {
	Status  int // HTTP status, 0 for a verdict inside a 200 answer
	Code    rpc.Code
	Message string
	Path    string
}

// Error returns the node's message with its numbers.
func (e *Error) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("%s (code %d)", e.Message, e.Code)
	}
	return fmt.Sprintf("%s (HTTP %d, code %d)", e.Message, e.Status, e.Code)
}

// UnreachableError means that no answer came from the node.
type UnreachableError struct {
	URL string
	Err error
}

// Error names the node and the cause.
func (e *UnreachableError) Error() string { return fmt.Sprintf("no answer from %s: %v", e.URL, e.Err) }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// IsCode reports whether err is a node's refusal with code.
func IsCode(err error, code rpc.Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// IsNotFound reports whether err is a node's 404.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

// request is one call of the API.
type request struct {
	method  string
	path    string
	query   url.Values
	media   string // content type of body
	body    []byte
	timeout time.Duration // 0 means the client's
}

// call sends a request and decodes a 2xx answer into reply. What the node puts off with 429,
// which it did not look at, is sent again after a pause.
func (c *Client) call(ctx context.Context, req request, reply any) error {
	if req.timeout == 0 {
		req.timeout = c.cfg.Timeout
	}
	for repeats := c.cfg.Repeats; ; repeats-- {
		pause, err := c.attempt(ctx, req, reply)
		most := pauseMax
		if IsCode(err, rpc.CodeOwed) {
			most = debtPauseMax
		}
		if pause <= 0 || pause > most || repeats == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return &UnreachableError{URL: c.base, Err: ctx.Err()}
		case <-time.After(pause):
		}
	}
}

// attempt is call, once. The pause is that which the node asks for with 429.
func (c *Client) attempt(ctx context.Context, req request, reply any) (pause time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, req.timeout)
	defer cancel()
	answer, err := c.send(ctx, req, nil)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, c.cfg.AnswerMax+1))
	if err != nil {
		return 0, &UnreachableError{URL: c.base, Err: err}
	}
	if int64(len(body)) > c.cfg.AnswerMax {
		return 0, fmt.Errorf("answer to %s is above %d bytes", req.path, c.cfg.AnswerMax)
	}
	if answer.StatusCode == http.StatusTooManyRequests {
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
			pause = time.Duration(seconds) * time.Second
		}
	}
	if answer.StatusCode/100 != 2 {
		return pause, refusalOf(answer.StatusCode, req.path, body)
	}
	if err := json.Unmarshal(body, reply); err != nil {
		return 0, fmt.Errorf("answer to %s: %w", req.path, err)
	}
	return 0, nil
}

// send sends a request and returns the answer with its body unread.
func (c *Client) send(ctx context.Context, req request, header http.Header) (*http.Response, error) {
	target := c.base + req.path
	if len(req.query) > 0 {
		target += "?" + req.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, req.method, target, bytes.NewReader(req.body))
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", req.path, err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if req.media != "" {
		r.Header.Set("Content-Type", req.media)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // its text would repeat method and URL
		}
		return nil, &UnreachableError{URL: c.base, Err: err}
	}
	return answer, nil
}

// refusalOf makes an error of an answer that is not 2xx. Something else than a
// node may have answered, so the body need not be its JSON.
func refusalOf(status int, path string, body []byte) error {
	var reply rpc.ErrorReply
	if err := json.Unmarshal(body, &reply); err != nil || reply.Message == "" {
		reply.Message = fmt.Sprintf("%s answered without a Cowboy error: is this a Cowboy node?", path)
	}
	return &Error{Status: status, Code: reply.Code, Message: printable(reply.Message), Path: path}
}

// printable bounds outside text and strips control characters, so that a node
// cannot write to the terminal around us.
func printable(s string) string {
	const bytesMax = 500
	if len(s) > bytesMax {
		s = strings.ToValidUTF8(s[:bytesMax], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

func (c *Client) get(ctx context.Context, path string, reply any) error {
	return c.call(ctx, request{method: http.MethodGet, path: path}, reply)
}

func (c *Client) postJSON(ctx context.Context, path string, body, reply any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("request %s: %w", path, err)
	}
	return c.call(ctx, request{method: http.MethodPost, path: path, media: "application/json", body: encoded}, reply)
}

// Height returns the height of the finalized head.
func (c *Client) Height(ctx context.Context) (chain.Height, error) {
	var reply rpc.HeightReply
	err := c.get(ctx, "/height", &reply)
	return chain.Height(reply.Height), err
}

// BlockByHeight returns a finalized block.
func (c *Client) BlockByHeight(ctx context.Context, h chain.Height) (*rpc.BlockReply, error) {
	return get[rpc.BlockReply](ctx, c, "/block/"+strconv.FormatUint(uint64(h), 10))
}

// BlockByHash returns a finalized block.
func (c *Client) BlockByHash(ctx context.Context, hash chain.Hash) (*rpc.BlockReply, error) {
	return get[rpc.BlockReply](ctx, c, "/block/"+hash.String())
}

// LatestBlock returns the finalized head.
func (c *Client) LatestBlock(ctx context.Context) (*rpc.BlockReply, error) {
	return get[rpc.BlockReply](ctx, c, "/block/latest")
}

// Blocks lists finalized blocks, newest first, offset counted from the head.
func (c *Client) Blocks(ctx context.Context, offset, limit uint64) (*rpc.BlocksReply, error) {
	q := url.Values{
		"offset": {strconv.FormatUint(offset, 10)},
		"limit":  {strconv.FormatUint(limit, 10)},
	}
	reply := new(rpc.BlocksReply)
	err := c.call(ctx, request{method: http.MethodGet, path: "/blocks", query: q}, reply)
	return reply, err
}

// BaseFee returns the prices of the next block, the limits of a transaction and
// the chain id.
func (c *Client) BaseFee(ctx context.Context) (*rpc.BaseFeeReply, error) {
	return get[rpc.BaseFeeReply](ctx, c, "/basefee")
}

// Submit sends wire transactions, 1 to 50 of them concatenated (resolution
// 11.12; [chain.Tx.AppendWire]). The verdicts are in the reply: a refused
// transaction is no error here.
func (c *Client) Submit(ctx context.Context, wire []byte) (*rpc.SubmitReply, error) {
	reply := new(rpc.SubmitReply)
	err := c.call(ctx, request{
		method: http.MethodPost, path: "/submit", media: "application/octet-stream", body: wire,
	}, reply)
	return reply, err
}

// SubmitWait is Submit followed by a wait of up to timeout, 100 ms to 10 s, for
// finality. A result without receipt was not final in time.
func (c *Client) SubmitWait(ctx context.Context, wire []byte, timeout time.Duration) (*rpc.SubmitWaitReply, error) {
	reply := new(rpc.SubmitWaitReply)
	err := c.call(ctx, request{
		method: http.MethodPost, path: "/submit_wait", media: "application/octet-stream", body: wire,
		query:   url.Values{"timeout_ms": {strconv.FormatInt(timeout.Milliseconds(), 10)}},
		timeout: c.cfg.Timeout + timeout,
	}, reply)
	return reply, err
}

// Transaction returns a transaction, final or pending.
func (c *Client) Transaction(ctx context.Context, hash chain.Hash) (*rpc.TxReply, error) {
	return get[rpc.TxReply](ctx, c, "/transaction/"+hash.String())
}

// Receipt returns the result of a final transaction. While it is pending the
// error is a refusal with code [rpc.CodeReceiptPending].
func (c *Client) Receipt(ctx context.Context, hash chain.Hash) (*rpc.ReceiptReply, error) {
	return get[rpc.ReceiptReply](ctx, c, "/transaction/"+hash.String()+"/receipt")
}

// PoolTx returns a waiting transaction.
func (c *Client) PoolTx(ctx context.Context, hash chain.Hash) (*rpc.PoolTxReply, error) {
	return get[rpc.PoolTxReply](ctx, c, "/mempool/transaction/"+hash.String())
}

// Account returns an account. One the chain does not know is a 404 refusal.
func (c *Client) Account(ctx context.Context, addr chain.Address) (*rpc.AccountReply, error) {
	return get[rpc.AccountReply](ctx, c, "/account/"+addr.String())
}

// Faucet asks a devnet for funds.
func (c *Client) Faucet(ctx context.Context, addr chain.Address) (*rpc.FaucetReply, error) {
	reply := new(rpc.FaucetReply)
	err := c.postJSON(ctx, "/faucet", rpc.FaucetRequest{Address: addr.String()}, reply)
	return reply, err
}

// Advance has a devnet make empty blocks at once. It may take as long as ctx
// lasts.
func (c *Client) Advance(ctx context.Context, blocks uint64) (*rpc.AdvanceReply, error) {
	body, err := json.Marshal(rpc.AdvanceRequest{Blocks: blocks})
	if err != nil {
		return nil, fmt.Errorf("request /dev/advance: %w", err)
	}
	reply := new(rpc.AdvanceReply)
	err = c.call(ctx, request{
		method: http.MethodPost, path: "/dev/advance", media: "application/json", body: body,
		timeout: c.cfg.Timeout + rpc.DefaultConfig().AdvanceTimeout,
	}, reply)
	return reply, err
}

// Health returns how the node is.
func (c *Client) Health(ctx context.Context) (*rpc.HealthReply, error) {
	return get[rpc.HealthReply](ctx, c, "/health")
}

// Ready returns nil when the node votes.
func (c *Client) Ready(ctx context.Context) error {
	_, err := get[rpc.HealthReply](ctx, c, "/health/ready")
	return err
}

// get fetches and decodes one answer; a result is only returned without error.
func get[T any](ctx context.Context, c *Client, path string) (*T, error) {
	reply := new(T)
	if err := c.get(ctx, path, reply); err != nil {
		return nil, err
	}
	return reply, nil
}
