package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// replyBytesMax bounds an answer: a block of 100,000 transactions takes about
// 25 MB.
const replyBytesMax = 256 << 20

// nodeClient talks to one node over one kept connection.
type nodeClient struct {
	url  string
	http *http.Client
}

// newNodeClient returns a client with a connection of its own. timeout 0 means
// none, for a stream.
func newNodeClient(url string, timeout time.Duration) *nodeClient {
	return &nodeClient{
		url: strings.TrimSuffix(url, "/"),
		http: &http.Client{
			Timeout: timeout,
			Transport: &http.Transport{
				MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1,
				IdleConnTimeout:    5 * time.Minute,
				DisableCompression: true,
			},
		},
	}
}

func (c *nodeClient) close() { c.http.CloseIdleConnections() }

// refusal is an answer that is an error of the node's API.
type refusal struct {
	Status int
	rpc.ErrorReply
}

func (r *refusal) Error() string {
	return fmt.Sprintf("node answered %d: code %d: %s", r.Status, r.Code, r.Message)
}

// A question is asked again every askWait while the node says that it is too
// busy or asked too often, at most askTimes.
const (
	askWait  = 100 * time.Millisecond
	askTimes = 100
)

// get fetches path into reply. A refusal comes back as *refusal.
func (c *nodeClient) get(ctx context.Context, path string, reply any) error {
	for times := 1; ; times++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
		if err != nil {
			return fmt.Errorf("request %s: %w", path, err)
		}
		err = c.do(req, reply)
		var r *refusal
		if times == askTimes || !errors.As(err, &r) || respond(r.Code) != sendAgain {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(askWait):
		}
	}
}

// submit sends wire transactions, concatenated (resolution 11.12). The answer is the binary
// one, without hashes.
func (c *nodeClient) submit(ctx context.Context, body []byte) ([]rpc.Verdict, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/submit?hashes=0", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("request /submit: %w", err)
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("Accept", rpc.VerdictsMedia)
	raw, err := c.askFor(req)
	if err != nil {
		return nil, err
	}
	verdicts, _, err := rpc.DecodeVerdicts(nil, raw, MaxBatch)
	if err != nil {
		return nil, fmt.Errorf("answer of /submit: %w", err)
	}
	return verdicts, nil
}

// do fetches a JSON answer into reply.
func (c *nodeClient) do(req *http.Request, reply any) error {
	body, err := c.askFor(req)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, reply); err != nil {
		return fmt.Errorf("answer of %s: %w", req.URL.Path, err)
	}
	return nil
}

// askFor returns the body of an answer. A refusal comes back as *refusal.
func (c *nodeClient) askFor(req *http.Request) ([]byte, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask node: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, replyBytesMax))
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		r := &refusal{Status: resp.StatusCode}
		if json.Unmarshal(body, &r.ErrorReply) != nil || r.Message == "" {
			r.Message = http.StatusText(resp.StatusCode)
		}
		return nil, r
	}
	return body, nil
}

// height returns the height of the finalized head.
func (c *nodeClient) height(ctx context.Context) (uint64, error) {
	var reply rpc.HeightReply
	err := c.get(ctx, "/height", &reply)
	return reply.Height, err
}

// funds is what the chain knows of an account.
type funds struct {
	nonce     uint64
	spendable chain.Wei
}

// fetchAccount returns nothing at all for an account that does not exist yet.
func (c *nodeClient) fetchAccount(ctx context.Context, addr chain.Address) (funds, error) {
	var reply rpc.AccountReply
	err := c.get(ctx, "/account/"+addr.String(), &reply)
	var r *refusal
	if errors.As(err, &r) && r.Status == http.StatusNotFound {
		return funds{}, nil
	}
	if err != nil {
		return funds{}, err
	}
	return funds{nonce: reply.Nonce, spendable: reply.Spendable}, nil
}

// params returns nil when the node does not tell its parameters.
func (c *nodeClient) params(ctx context.Context) (*rpc.ParamsReply, error) {
	var reply rpc.ParamsReply
	err := c.get(ctx, "/params", &reply)
	var r *refusal
	if errors.As(err, &r) && r.Status == http.StatusNotFound {
		return nil, nil
	}
	return &reply, err
}

// finalBlock is the part of a block that the load tool reads.
type finalBlock struct {
	Height uint64 `json:"height"`
	Txs    []struct {
		Hash string `json:"hash"`
	} `json:"transactions"`
}

func (c *nodeClient) block(ctx context.Context, height uint64) (*finalBlock, error) {
	var b finalBlock
	err := c.get(ctx, fmt.Sprintf("/block/%d", height), &b)
	return &b, err
}
