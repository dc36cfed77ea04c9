package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// fundWait is how often the funding account's progress is looked at, and
// fundStall how long it may stand still.
const (
	fundWait  = 100 * time.Millisecond
	fundStall = 60 * time.Second
)

// errNoFundKey means that money is needed and there is no key to take it from.
var errNoFundKey = errors.New("no fund key: give --fund-key or set COWBOY_PRIVATE_KEY to the key of a funded account; a devnet prints some when it starts")

// bankOf is the account of the fund key.
func bankOf(c *LoadConfig) (account, error) {
	if c.FundKey == [32]byte{} {
		return account{}, errNoFundKey
	}
	key, err := secp256k1.ParsePrivateKey(c.FundKey[:])
	if err != nil {
		return account{}, fmt.Errorf("fund key: %w", err)
	}
	return newAccount(key), nil
}

// grant is what an account lacks.
type grant struct {
	to     chain.Address
	amount chain.Wei
}

// fund makes sure that every account can spend what it needs, by ordinary transfers from
// the fund key, without which all must have it already, as those of a seeded state
// do. It fills in the accounts' nonces and returns when the transfers are final.
func fund(ctx context.Context, c *LoadConfig, node *nodeClient, accounts []account, p *prices, log io.Writer) error {
	grants, err := lacking(ctx, node, accounts)
	if err != nil || len(grants) == 0 {
		return err
	}
	bank, err := bankOf(c)
	if err != nil {
		return fmt.Errorf("%d accounts have too little: %w", len(grants), err)
	}
	have, err := node.fetchAccount(ctx, bank.address)
	if err != nil {
		return fmt.Errorf("funding account %s: %w", bank.address, err)
	}
	bank.nonce = have.nonce
	var transfers []signed
	total := chain.Wei(0)
	for i, g := range grants {
		transfers = append(transfers, p.transfer(&bank, bank.nonce+uint64(i), g.to, g.amount))
		total += p.costMax(g.amount)
	}
	if have.spendable < total {
		return fmt.Errorf("funding account %s can spend %d, but %d accounts need %d in all: use a richer key, fewer accounts or a smaller --fee-headroom", bank.address, have.spendable, len(transfers), total)
	}
	fmt.Fprintf(log, "funding %d accounts with %d in all from %s\n", len(transfers), total, bank.address)
	return settle(ctx, node, bank, transfers)
}

// lacking asks the node for what the accounts have, fills in their nonces and
// returns what some lack.
func lacking(ctx context.Context, node *nodeClient, accounts []account) (grants []grant, err error) {
	for i := range accounts {
		f, err := node.fetchAccount(ctx, accounts[i].address)
		if err != nil {
			return nil, fmt.Errorf("account %d: %w", i, err)
		}
		accounts[i].nonce = f.nonce
		if need := accounts[i].need; f.spendable < need {
			grants = append(grants, grant{accounts[i].address, need - f.spendable})
		}
	}
	return grants, nil
}

// settle submits one account's transfers in order, at the pace at which the
// node takes them, and waits until all are final.
func settle(ctx context.Context, node *nodeClient, from account, transfers []signed) error {
	final, moved := from.nonce, time.Now()
	for next := 0; final < from.nonce+uint64(len(transfers)); {
		taken, err := submitSome(ctx, node, transfers[next:])
		if err != nil {
			return fmt.Errorf("fund: %w", err)
		}
		next += taken
		f, err := node.fetchAccount(ctx, from.address)
		if err != nil {
			return fmt.Errorf("fund: %w", err)
		}
		if f.nonce > final || taken > 0 {
			moved = time.Now()
		}
		final = f.nonce
		if time.Since(moved) > fundStall {
			return fmt.Errorf("fund: %d of %d transfers final, no progress for %v", final-from.nonce, len(transfers), fundStall)
		}
		if taken > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(fundWait):
		}
	}
	return nil
}

// submitSome sends one batch and returns how many transfers from its beginning
// the node holds now.
func submitSome(ctx context.Context, node *nodeClient, transfers []signed) (taken int, err error) {
	n := min(MaxBatch, len(transfers))
	if n == 0 {
		return 0, nil
	}
	var body []byte
	for i := range n {
		body = append(body, transfers[i].wire...)
	}
	results, err := node.submit(ctx, body)
	var r *refusal
	if errors.As(err, &r) && respond(r.Code) == sendAgain {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for i := range min(n, len(results)) {
		if results[i].Code == rpc.CodeOK {
			taken++
			continue
		}
		switch respond(results[i].Code) {
		case arrived:
			taken++
		case sendAgain:
			return taken, nil
		default:
			return taken, fmt.Errorf("transfer refused: code %d: %s", results[i].Code, results[i].Message)
		}
	}
	return taken, nil
}
