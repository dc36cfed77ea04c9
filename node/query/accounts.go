package query

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
)

// Account implements rpc.Accounts.
func (s *Source) Account(ctx context.Context, addr chain.Address) (*rpc.Account, bool, error) {
	var (
		height  chain.Height
		account state.Account
		next    uint64
		ok      bool
	)
	err := s.atHead(ctx, func(head *ledger.Executed) (err error) {
		height = head.Height()
		if account, ok, err = head.State.Account(addr); err != nil {
			return err
		}
		next, err = s.cfg.Pool.PendingNonce(ctx, addr) // of the pool's head, which may be gone as well
		return err
	})
	if err != nil {
		return nil, false, err
	}
	if !ok {
		return nil, false, nil
	}
	spendable, err := fees.Spendable(account.Balance, account.Meta, height+1)
	if err != nil {
		return nil, false, fmt.Errorf("account %s: %w", addr, err)
	}
	return &rpc.Account{
		Nonce: account.Nonce, Balance: account.Balance, Spendable: spendable,
		StorageRoot: account.StorageRoot, CodeHash: account.CodeHash,
		Height: height, PendingNext: next,
	}, true, nil
}

// Faucet implements rpc.Development.
func (s *Source) Faucet(ctx context.Context, addr chain.Address) (*rpc.Grant, error) {
	submit := func(ctx context.Context, body []byte) error {
		verdicts, err := s.Submit(ctx, [][]byte{body}, nil)
		if err != nil {
			return err
		}
		if v := verdicts[0]; v.Code != rpc.CodeOK {
			return &rpc.Refusal{Status: http.StatusBadRequest, Code: v.Code, Message: "the faucet cannot pay this address: " + v.Message}
		}
		return nil
	}
	base := s.BaseFees().Fees[chain.LaneUser]
	hash, err := s.faucet.give(ctx, addr, s.cfg.Chain.Head().Force.Params.Intrinsic.TransferCycles, base, s.cfg.Pool.PendingNonce, submit)
	if errors.Is(err, errFaucetLimit) {
		return nil, &rpc.Refusal{Status: http.StatusTooManyRequests, Code: rpc.CodeFaucetLimit, Message: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	err = s.Wait(ctx, []chain.Hash{hash})
	if err != nil && ctx.Err() == nil && !errors.Is(err, rpc.ErrNotReady) {
		return nil, err
	}
	return &rpc.Grant{TxHash: hash, Amount: faucetAmount, Final: err == nil}, nil
}

// Advance implements rpc.Development.
func (s *Source) Advance(ctx context.Context, blocks uint64) (*rpc.Advanced, error) {
	if !s.cfg.Alone {
		return nil, &rpc.Refusal{
			Status: http.StatusNotFound, Code: rpc.CodeDevnetOnly,
			Message: "only a devnet of one validator can be advanced: several keep each other's time",
		}
	}
	target := s.Height() + chain.Height(blocks)
	if !s.cfg.Chain.Advance(blocks) {
		return nil, rpc.ErrBusy // earlier requests are still being worked off
	}
	for {
		next := s.hub.changed()
		if head := s.cfg.Chain.Head(); head.Height() >= target {
			return advancedTo(head), nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.hub.done:
			return nil, rpc.ErrNotReady // the node stops
		case <-next:
		}
	}
}

func advancedTo(head *ledger.Executed) *rpc.Advanced {
	return &rpc.Advanced{Height: head.Height(), TimestampMillis: head.Block.Header.TimestampMillis}
}

// Evidence implements rpc.Status.
func (s *Source) Evidence() []rpc.Evidence {
	var out []rpc.Evidence
	for _, e := range s.cfg.Evidence() {
		o := e.Offence()
		out = append(out, rpc.Evidence{
			Accused: o.Accused, Epoch: o.Round.Epoch, View: o.Round.View,
			First: e.First.Kind.String(), Second: e.Second.Kind.String(), Bytes: attest.AppendEvidence(nil, e),
		})
	}
	return out
}

// Health implements rpc.Status.
func (s *Source) Health() rpc.Health { return s.cfg.Health() }
