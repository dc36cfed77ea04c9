package main

import (
	"context"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/node/client"
)

type tokenTransfer struct {
	tokenRef
	To     string `required:"" placeholder:"ADDRESS" help:"Account that gets it."`
	Amount string `required:"" placeholder:"UNITS" help:"In smallest units."`
	sendFlags
}

// Help teaches the command.
func (tokenTransfer) Help() string {
	return "Example:\n\n    cowboy token transfer 0x… --to 0x… --amount 500 --wait"
}

// Run sends tokens.
func (c *tokenTransfer) Run(ctx context.Context, s *session) error {
	return c.instruct(ctx, s, c.instruction(chain.OpTokenTransfer).accountArg(c.To).amount(c.Amount))
}

type tokenTransferFrom struct {
	tokenRef
	From   string `required:"" placeholder:"ADDRESS" help:"Account that holds it and approved the own one."`
	To     string `required:"" placeholder:"ADDRESS" help:"Account that gets it."`
	Amount string `required:"" placeholder:"UNITS" help:"In smallest units; at most what is left of what was approved."`
	sendFlags
}

// Help teaches the command.
func (tokenTransferFrom) Help() string {
	return "Example:\n\n    cowboy token transfer-from 0x… --from 0x… --to 0x… --amount 500 --wait"
}

// Run sends another's tokens.
func (c *tokenTransferFrom) Run(ctx context.Context, s *session) error {
	return c.instruct(ctx, s, c.instruction(chain.OpTokenTransferFrom).accountArg(c.From).accountArg(c.To).amount(c.Amount))
}

type tokenTransferBatch struct {
	tokenRef
	To []string `required:"" sep:"none" placeholder:"ADDRESS=UNITS" help:"Account and what it gets, in smallest units; 1 to 256 times."`
	sendFlags
}

// Help teaches the command.
func (tokenTransferBatch) Help() string {
	return "Example:\n\n    cowboy token transfer-batch 0x… --to 0x…=500 --to 0x…=20 --wait"
}

// Run sends tokens to all of the accounts or to none.
func (c *tokenTransferBatch) Run(ctx context.Context, s *session) error {
	return c.instruct(ctx, s, c.instruction(chain.OpTokenBatch).add(payments(c.To)))
}

// payments reads receivers and what they get, and writes them as the chain does.
func payments(pairs []string) ([]byte, error) {
	if len(pairs) > token.MaxPayments {
		return nil, usagef("--to is given %d times: at most %d go into one transaction", len(pairs), token.MaxPayments)
	}
	b := cbor.AppendArray(nil, len(pairs))
	for _, pair := range pairs {
		account, amount, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, usagef("--to %q: give an account and what it gets, as ADDRESS=UNITS", pair)
		}
		to, err := client.ParseAddress(account)
		if err != nil {
			return nil, err
		}
		n, err := units("to", amount)
		if err != nil {
			return nil, err
		}
		b = chain.AppendAmount(cbor.AppendBytes(cbor.AppendArray(b, 2), to[:]), n)
	}
	return b, nil
}
