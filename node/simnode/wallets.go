package simnode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// ErrLost means that a validator took a transfer and went on, and the transfer is not
// final long after the faults ended.
var ErrLost = errors.New("a transfer that a validator accepted and could not forget is not final")

// ErrLedger means that balances or nonces are not what the transfers make them.
var ErrLedger = errors.New("the accounts are not what the final transfers make them")

// wallet sends transfers from an account of its own to an address that nobody else
// pays, through the API of one validator. Transfer n pays n+1 wei, so that the sum
// says which of them were executed, and that none was twice. It asks for its nonce only
// when its validator has begun another life, as a wallet does that was told so: what
// the validator has accepted since, it does not say again.
type wallet struct {
	run     *run
	account setup.DevAccount
	to      chain.Address
	home    *machine
	rng     *rand.Rand
	http    *http.Client

	mu     sync.Mutex
	signed [][]byte // by nonce, as /submit takes them
	door   *doors   // of the life that knows all of them; nil if one may not
	// accepted counts the first nonces that the life behind door has taken, or has
	// found final.
	accepted int
	taken    int // by any life
}

// patience is for one request: nodes answer within moments, or are off.
const patience = 5 * time.Second

// newWallets makes those of the plan, each at an honest validator.
func (r *run) newWallets() {
	accounts := setup.DevAccounts()
	var homes []*machine
	for _, m := range r.machines {
		if m.honest() {
			homes = append(homes, m)
		}
	}
	rng := rand.New(rand.NewPCG(r.plan.Seed, 5))
	for i := range r.plan.Wallets {
		w := &wallet{
			run: r, account: accounts[i], to: chain.Address{0xca, byte(i + 1)}, home: homes[rng.IntN(len(homes))],
			rng: rand.New(rand.NewPCG(r.plan.Seed, uint64(600+i))),
		}
		w.http = w.home.http()
		r.wallets = append(r.wallets, w)
	}
}

// http returns a client of whatever life the machine is in.
func (m *machine) http() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			d := m.door.Load()
			if d == nil {
				return nil, net.ErrClosed
			}
			return d.dial(ctx)
		},
	}}
}

// sendTransfers sends transfers until ctx ends.
func (w *wallet) sendTransfers(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second + time.Duration(w.rng.Int64N(int64(14*time.Second)))):
			w.turn(ctx)
		}
	}
}

// turn tells a new life what it may not know, and signs a few transfers more.
func (w *wallet) turn(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	door := w.home.door.Load()
	if door == nil {
		return
	}
	first := len(w.signed)
	if door != w.door {
		nonce, _, err := w.home.fetchAccount(ctx, w.http, w.account.Address)
		if err != nil {
			return
		}
		first = min(int(nonce), first)
		w.accepted = first
	}
	for range 1 + w.rng.IntN(3) {
		n := uint64(len(w.signed))
		w.signed = append(w.signed, client.SignTx(w.account.Key, &chain.Tx{
			ChainID: w.run.genesis.ChainID, Nonce: n, To: &w.to, Value: chain.Wei(n + 1),
			CyclesLimit: 21_000, MaxFeePerCycle: 1000, MaxFeePerCell: 1000, TipPerCycle: 1,
		}).Wire)
	}
	const most = 50 // transfers in a request
	w.door = nil
	for ; first < len(w.signed); first += most {
		if !w.submit(ctx, w.signed[first:min(first+most, len(w.signed))]) {
			return // all is said again, from the nonce on
		}
	}
	if w.home.door.Load() == door {
		w.door = door
	}
}

// submit sends transfers in order, and counts those that were taken.
func (w *wallet) submit(ctx context.Context, list [][]byte) bool {
	var reply rpc.SubmitReply
	if err := w.home.request(ctx, w.http, http.MethodPost, "/submit", bytes.Join(list, nil), &reply); err != nil {
		return false
	}
	for _, is := range reply.Results {
		if !is.Accepted && is.Code != rpc.CodeTxKnown && is.Code != rpc.CodeNonceTooLow {
			w.run.trace.note("wallet of %d: transfer %d is refused: %s", w.home.id, w.accepted, is.Message)
			return false
		}
		w.accepted++
		w.taken++
	}
	return len(reply.Results) == len(list)
}

// fetchAccount asks a machine for a nonce and a balance.
func (m *machine) fetchAccount(ctx context.Context, by *http.Client, of chain.Address) (uint64, chain.Wei, error) {
	var reply rpc.AccountReply
	err := m.request(ctx, by, http.MethodGet, "/account/"+of.String(), nil, &reply)
	if errors.Is(err, errUnknownAccount) {
		err = nil
	}
	return reply.Nonce, reply.Balance, err
}

var errUnknownAccount = errors.New("no such account")

// request sends a request to the API of a machine.
func (m *machine) request(ctx context.Context, by *http.Client, method, path string, body []byte, reply any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	answer, err := by.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return err
	case answer.StatusCode == http.StatusNotFound:
		return errUnknownAccount
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s", answer.Status, raw)
	}
	return json.Unmarshal(raw, reply)
}

// settled compares, long after the last transfer, the accounts at all honest machines
// with what was sent, and what their validators accepted with what is final.
func (r *run) settled() error {
	for i, w := range r.wallets {
		w.mu.Lock()
		defer w.mu.Unlock()
		final := -1
		for _, m := range r.machines {
			if !m.honest() || m.life == nil {
				continue
			}
			by := m.http()
			nonce, _, err := m.fetchAccount(context.Background(), by, w.account.Address)
			_, got, err2 := m.fetchAccount(context.Background(), by, w.to)
			if err := errors.Join(err, err2); err != nil {
				return fmt.Errorf("%w: %d does not answer for wallet %d: %w", ErrStalled, m.place, i, err)
			}
			if final < 0 {
				final = int(nonce)
			}
			if want := chain.Wei(nonce * (nonce + 1) / 2); int(nonce) != final || int(nonce) > len(w.signed) || got != want {
				return fmt.Errorf("%w: wallet %d at %d: nonce %d, elsewhere %d, of %d; %d wei arrived, %d were to", ErrLedger, i, m.place, nonce, final, len(w.signed), got, want)
			}
		}
		if w.door != nil && w.home.door.Load() == w.door && w.accepted > final {
			return fmt.Errorf("%w: wallet %d at %d: %d accepted, %d final", ErrLost, i, w.home.id, w.accepted, final)
		}
		r.report.Transfers += max(0, final)
		r.report.States["transfer final"] += max(0, final)
		r.report.States["transfer accepted"] += w.taken
	}
	return nil
}
