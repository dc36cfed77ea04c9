package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Prove fetches the proof that answers q, as the node wrote it. Nothing of it
// is verified: [Client.Proven] does that.
func (c *Client) Prove(ctx context.Context, q *light.Query) ([]byte, error) {
	req, err := proofRequest(q)
	if err != nil {
		return nil, err
	}
	return c.raw(ctx, req)
}

// Proven fetches the proof that answers q and verifies it, so that the node
// need not be trusted. How old the block is, is for the caller to judge. The
// document is returned too, for keeping.
func (c *Client) Proven(ctx context.Context, v *light.Verifier, q *light.Query) (*light.Shown, []byte, error) {
	text, err := c.Prove(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	shown, err := v.Verify(text)
	if err == nil {
		err = q.Answered(shown)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("proof from %s: %w", c.base, err)
	}
	return shown, text, nil
}

var errQuery = errors.New("this is no question for one proof: name one account, one slot or one transaction, or use a multi-proof")

func proofRequest(q *light.Query) (request, error) {
	get := func(path string) (request, error) {
		return request{method: http.MethodGet, path: "/proof/" + path}, nil
	}
	one := len(q.Accounts) == 1
	switch {
	case q.Kind == light.KindHeader && q.Height == 0:
		return get("header/latest")
	case q.Kind == light.KindHeader:
		return get("header/" + strconv.FormatUint(uint64(q.Height), 10))
	case q.Kind == light.KindTransaction:
		return get("tx/" + q.TxHash.String())
	case q.Kind == light.KindReceipt:
		return get("receipt/" + q.TxHash.String())
	case q.Kind == light.KindAccount && one && len(q.Accounts[0].Slots) == 0:
		return get("account/" + q.Accounts[0].Address.String())
	case q.Kind == light.KindStorage && one && len(q.Accounts[0].Slots) == 1:
		return get(fmt.Sprintf("storage/%s/0x%x", q.Accounts[0].Address, string(q.Accounts[0].Slots[0])))
	case q.Kind == light.KindMulti:
		return multiRequest(q)
	}
	return request{}, errQuery
}

func multiRequest(q *light.Query) (request, error) {
	var body rpc.MultiProofRequest
	for i := range q.Accounts {
		a := rpc.MultiProofAccount{Address: q.Accounts[i].Address.String(), Slots: []string{}}
		for _, slot := range q.Accounts[i].Slots {
			a.Slots = append(a.Slots, fmt.Sprintf("0x%x", string(slot)))
		}
		body.Accounts = append(body.Accounts, a)
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return request{}, fmt.Errorf("request /proof/multi: %w", err)
	}
	return request{method: http.MethodPost, path: "/proof/multi", media: "application/json", body: encoded}, nil
}

// raw sends a request and returns the body of a 2xx answer.
func (c *Client) raw(ctx context.Context, req request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	answer, err := c.send(ctx, req, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	most := min(c.cfg.AnswerMax, light.DocumentBytesMax)
	body, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err != nil {
		return nil, &UnreachableError{URL: c.base, Err: err}
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("answer to %s is above %d bytes", req.path, most)
	}
	if answer.StatusCode/100 != 2 {
		return nil, refusalOf(answer.StatusCode, req.path, body)
	}
	return body, nil
}
