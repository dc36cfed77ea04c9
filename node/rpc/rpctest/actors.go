package rpctest

import (
	"context"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
)

// This chain has one actor, at [ActorAddress], that answers every call with its
// payload. Nothing runs.
var ActorAddress = chain.Address{0: 0xac, 19: 0x70}

// actorUsed is what every trial costs.
var actorUsed = chain.Usage{Cycles: 25_000, Cells: 40}

// Actor returns the one actor, which has stored {"n": 7}.
func (c *Chain) Actor(_ context.Context, q *rpc.ActorQuery) (*rpc.Actor, bool, error) {
	if c.Fault != nil || q.Address != ActorAddress {
		return nil, false, c.Fault
	}
	a := &rpc.Actor{
		Height: c.Height(), CodeHash: keccak.Sum256([]byte("actor")), Balance: 5, Nonce: 3, Mailbox: 1, Creator: chain.Address{19: 1},
		Deployed: 1, CyclesLeft: 2_000_000, StorageBytes: 3, Rent: rpc.Rent{State: "paid", Bytes: 3},
		Manifest: []rpc.Entitlement{{ID: "storage.kv", Params: map[string]any{"max_bytes": uint64(100)}}},
	}
	n := state.Entry{Key: state.NewStorageKey(state.VMNamespacePVM, []byte("n")), Value: cbor.AppendUint(nil, 7)}
	if q.EntriesMax > 0 && q.From <= n.Key && strings.HasPrefix("n", q.Prefix) {
		a.Entries = append(a.Entries, n)
	}
	return a, true, nil
}

// Logs returns one event of the actor, in the first block.
func (c *Chain) Logs(_ context.Context, q *rpc.LogQuery) (*rpc.LogPage, error) {
	page := &rpc.LogPage{}
	if q.Emitter == ActorAddress && q.From <= 1 && q.To >= 1 && q.After == nil {
		page.Logs = append(page.Logs, rpc.Log{
			Event: chain.Event{Emitter: ActorAddress, Name: "added", Data: cbor.AppendUint(nil, 7)}, LogPlace: rpc.LogPlace{Height: 1},
		})
	}
	return page, c.Fault
}

// ReadActor answers with the payload.
func (c *Chain) ReadActor(_ context.Context, q *rpc.ReadQuery) (*rpc.Trial, error) {
	t := &rpc.Trial{Height: c.Height(), Used: actorUsed, Output: q.Payload}
	switch {
	case q.Actor != ActorAddress:
		t.Code, t.Output = chain.CodeNoCode, nil
	case q.Handler == "missing":
		t.Code, t.Detail, t.Output = chain.CodeNoHandler, "no handler 'missing'", nil
	}
	return t, c.Fault
}

// Estimate charges every transaction alike.
func (c *Chain) Estimate(_ context.Context, q *rpc.EstimateQuery) (*rpc.Trial, error) {
	t := &rpc.Trial{
		Height: c.Height(), Used: actorUsed, Lane: chain.LaneUser, Suggested: actorUsed,
		Fee:  chain.Wei(actorUsed.Cycles) + chain.Wei(actorUsed.Cells),
		Fees: chain.FeePair{PerCycle: BaseFee, PerCell: BaseFee},
	}
	if q.Tx.To == nil {
		t.Actor = ActorAddress
	}
	return t, c.Fault
}
