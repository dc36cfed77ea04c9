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
	var events []chain.Event
	span := state.Span{Prefix: key(tableBeat)}
	// Bounded: by params.SilentRunnersMax, 512.
	for len(events) < params.SilentRunnersMax {
		span.Entries, span.Bytes = floorStep, 1<<20
		beats, err := b.State.Scan(chain.AddrRunnerRegistry, span)
		if err != nil {
			return nil, err
		}
		// Bounded: by floorStep, 16.
		for i := range beats {
			a, silent, err := b.silence(&beats[i], least)
			if err != nil || !silent {
				return events, err
			}
			events = append(events, healthEvent(a, false))
			span.From = beats[i].Key.Next()
		}
		if len(beats) < floorStep {
			break
		}
	}
	return events, nil
}

// floorStep is how many rows Floor reads at a time, most of which are of who was heard
// lately in a block like any other.
const floorStep = 16

// silence makes the runner of a row under beat/ unhealthy, unless it was heard at a height
// from which on that counts.
func (b *Book) silence(beat *state.Entry, least chain.Height) (a chain.Address, silent bool, err error) {
	h, index, ok := splitBeat(beat.Key)
	if !ok {
		return a, false, ErrRecord
	}
	if h >= least {
		return a, false, nil
	}
	if a, err = AddressAt(b.State, index); err != nil {
		return a, false, err
	}
	r, err := Read(b.State, a)
	if err != nil {
		return a, false, err
	}
	if r == nil || r.Index != index || !r.Has(selection.Healthy) {
		return a, false, ErrRecord
	}
	r.set(selection.Healthy, false)
	b.put(a, r)
	b.State.SetStorage(chain.AddrRunnerRegistry, beat.Key, nil)
	return a, true, nil
}
