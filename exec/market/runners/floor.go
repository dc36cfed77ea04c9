package runners

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// Names of the events, all by [chain.AddrRunnerRegistry].
const (
	EventRegistered = "runner_registered" // [runner, index, stake]
	EventHealth     = "runner_health"     // [runner, whether it is healthy]
)

// The next block goes on where a block finds params.SilentRunnersMax silent. Only after a
// vote on runner.heartbeat_timeout_blocks are there more: otherwise they are those that
// were heard in one block.

// healthEvent says how a runner's health has changed.
func healthEvent(a chain.Address, healthy bool) chain.Event {
	return chain.Event{
		Emitter: chain.AddrRunnerRegistry, Name: EventHealth,
		Data: cbor.AppendBool(cbor.AppendBytes(cbor.AppendArray(nil, 2), a[:]), healthy),
	}
}

// Floor finds the runners that were not heard for more than
// runner.heartbeat_timeout_blocks and makes them unhealthy (CIP-11 §7.1, §9.1). It reads
// those alone, not the registry. The error is a fault.
func (b *Book) Floor() ([]chain.Event, error) {
	if uint64(b.Height) <= b.Params.Runner.HeartbeatTimeoutBlocks {
		return nil, nil
	}
	least := b.Height - chain.Height(b.Params.Runner.HeartbeatTimeoutBlocks)
	beats, err := b.State.Scan(chain.AddrRunnerRegistry, state.Span{Prefix: key(tableBeat), Entries: params.SilentRunnersMax, Bytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	var events []chain.Event
	// Bounded: by params.SilentRunnersMax, 512.
	for i := range beats {
		h, index, ok := splitBeat(beats[i].Key)
		if !ok {
			return nil, ErrRecord
		}
		if h >= least {
			break
		}
		a, err := AddressAt(b.State, index)
		if err != nil {
			return nil, err
		}
		r, err := Read(b.State, a)
		if err != nil {
			return nil, err
		}
		if r == nil || r.Index != index || !r.Has(selection.Healthy) {
			return nil, ErrRecord
		}
		r.set(selection.Healthy, false)
		b.put(a, r)
		b.State.SetStorage(chain.AddrRunnerRegistry, beats[i].Key, nil)
		events = append(events, healthEvent(a, false))
	}
	return events, nil
}
