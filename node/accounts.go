package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
)

// Account implements rpc.Source.
func (s *source) Account(ctx context.Context, addr chain.Address) (*rpc.Account, bool, error) {
	var (
		height  chain.Height
		account state.Account
		ok      bool
	)
	err := s.atHead(ctx, func(head *ledger.Executed) (err error) {
		height = head.Height()
		account, ok, err = head.State.Account(addr)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	next, err := s.node.lanes.PendingNonce(ctx, addr)
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

// Faucet implements rpc.Source.
func (s *source) Faucet(ctx context.Context, addr chain.Address) (*rpc.Grant, error) {
	submit := func(ctx context.Context, body []byte) error {
		verdicts, err := s.Submit(ctx, [][]byte{body})
		if err != nil {
			return err
		}
		if v := verdicts[0]; v.Code != rpc.CodeOK {
			return &rpc.Refusal{Status: http.StatusBadRequest, Code: v.Code, Message: "the faucet cannot pay this address: " + v.Message}
		}
		return nil
	}
	base := s.BaseFees().Fees[chain.LaneUser]
	hash, err := s.faucet.give(ctx, addr, s.node.ledger.Head().Force.Params.Intrinsic.TransferCycles, base, s.node.lanes.PendingNonce, submit)
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

// Advance implements rpc.Source.
func (s *source) Advance(ctx context.Context, blocks uint64) (*rpc.Advanced, error) {
	if s.node.mesh != nil {
		return nil, &rpc.Refusal{
			Status: http.StatusNotFound, Code: rpc.CodeDevnetOnly,
			Message: "only a devnet of one validator can be advanced: several keep each other's time",
		}
	}
	target := s.Height() + chain.Height(blocks)
	if !s.node.ledger.Advance(blocks) {
		return nil, rpc.ErrBusy // earlier requests are still being worked off
	}
	for {
		next := s.hub.changed()
		if head := s.node.ledger.Head(); head.Height() >= target {
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

// Evidence implements rpc.Source.
func (s *source) Evidence() []rpc.Evidence {
	var out []rpc.Evidence
	for _, e := range s.node.evidence.All() {
		o := e.Offence()
		out = append(out, rpc.Evidence{
			Accused: o.Accused, Epoch: o.Round.Epoch, View: o.Round.View,
			First: e.First.Kind.String(), Second: e.Second.Kind.String(), Bytes: attest.AppendEvidence(nil, e),
		})
	}
	return out
}

// Health implements rpc.Source.
func (s *source) Health() rpc.Health {
	n := s.node
	h := rpc.Health{
		Status: "ok", Ready: true,
		Height: s.Height(), View: chain.View(n.engine.Stats.View.Load()),
		ChainID: n.genesis.ChainID, Genesis: n.chainHash, Version: n.cfg.Version, Devnet: n.cfg.Devnet,
		State: n.room.state(),
	}
	switch {
	case n.stopping.Load():
		h.Status, h.Ready, h.Reasons = "stopping", false, []string{"the node is shutting down"}
	case !n.engine.Stats.Resumed.Load():
		h.Status, h.Ready, h.Reasons = "starting", false, []string{"the journal of consensus is being replayed"}
		h.Height = max(h.Height, n.recall.height) // shown before this start
	case n.starting() != "":
		h.Status, h.Ready, h.Reasons = "starting", false, []string{n.starting()}
		h.Height = max(h.Height, n.recall.height)
	case n.store.Damage() != nil: // its text names files
		h.Status, h.Ready, h.Reasons = "degraded", false, []string{"a file of the store is damaged: see the log"}
	case !n.keys.Validates() && n.mesh.connected() == 0:
		h.Status, h.Ready, h.Reasons = "degraded", false, []string{"no validator is connected"}
	case n.keys.Validates() && n.mesh.connected() < n.set.Quorum():
		h.Status, h.Ready = "degraded", false
		h.Reasons = []string{fmt.Sprintf("%d of %d validators are connected, a quorum is %d", n.mesh.connected(), n.set.Len(), n.set.Quorum())}
		if text := n.silence(); text != "" {
			h.Reasons = append(h.Reasons, text)
		}
	case n.silence() != "":
		h.Status, h.Ready, h.Reasons = "degraded", false, []string{n.silence()}
	case n.keys.Validates() && n.clock().waits():
		h.Status, h.Ready, h.Reasons = "degraded", false, []string{n.clock().reason()}
	default:
		h.Reasons = append(n.alarms.reasons(), stalled(n.ledger.Head().Block.Header.TimestampMillis, time.Now(), n.ledger.Head().Force.Params)...)
		h.Reasons = append(h.Reasons, n.room.reasons()...)
		if len(h.Reasons) > 0 {
			h.Status = "degraded"
		}
	}
	return h
}

// stalledViews is how many leader timeouts without a final block are out of the
// ordinary.
const stalledViews = 10

// stalled says so when the newest final block is old.
func stalled(headMillis uint64, now time.Time, p *chain.Params) []string {
	age := now.UnixMilli() - int64(headMillis)
	if age <= int64(stalledViews*p.LeaderTimeoutMillis) {
		return nil
	}
	return []string{fmt.Sprintf("the newest final block is %d seconds old", age/1000)}
}
