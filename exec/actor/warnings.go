//spec:implements entitlements 9.11

package actor

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Names of the protocol's own events about actors. Their emitters are system
// addresses, which no program can take for its own.
const (
	// EventDeprecated warns of a deployment with an entitlement that was announced
	// to go: [id, last height] by [chain.AddrEntitlements] (entitlements §9.11).
	EventDeprecated = "EntitlementDeprecated"
	// EventNonExecutable says why an actor did not run: [actor] by
	// [chain.AddrEntitlements] where one was called, and [id] in the block in which
	// an entitlement goes, for all who hold it.
	EventNonExecutable = "ActorNonExecutable"
	// EventOpen warns of a deployment without any decorator of permission: [actor]
	// by [chain.AddrActors] (resolution 11.44).
	EventOpen = "ActorOpen"
)

// announce writes an event of the protocol, at the price in cells that events of
// programs have.
func (r *Run) announce(emitter chain.Address, name string, data []byte) error {
	if err := r.takeCells(r.block.Params.API.OfEvent(len(name), len(data))); err != nil {
		return err
	}
	if len(r.events) < chain.MaxEvents {
		r.events = append(r.events, chain.Event{Emitter: emitter, Name: name, Data: data})
	}
	return nil
}

// warnDeprecated announces the entitlements of a new manifest that will go.
func (r *Run) warnDeprecated(list []byte, used chain.Cycles) ending {
	grants, err := manifest.Parse(list)
	if err != nil {
		return refused(manifest.CodeOf(err), "%v", err)
	}
	// Bounded: by the grants of a manifest, 64.
	for _, id := range grants.Deprecated(r.block.Params, r.block.Height) {
		d, _ := r.block.Params.Entitlements.Deprecation(id)
		data := cbor.AppendUint(cbor.AppendText(cbor.AppendArray(nil, 2), id), uint64(d.Last))
		var trap *Trap
		if errors.As(r.announce(chain.AddrEntitlements, EventDeprecated, data), &trap) {
			return ending{code: trap.Code, detail: trap.Text, used: used}
		}
	}
	return ending{}
}

// warnOpen announces an actor that everybody may call.
func (r *Run) warnOpen(m *vm.Machine, addr chain.Address) error {
	open, err := sdk.Open(m)
	if err != nil || !open {
		return err
	}
	return r.announce(chain.AddrActors, EventOpen, cbor.AppendBytes(cbor.AppendArray(nil, 1), addr[:]))
}

// warnNonExecutable says why a message was refused. It stands beside the undone
// handler; without cells left it is not written.
func (r *Run) warnNonExecutable(addr chain.Address) {
	_ = r.announce(chain.AddrEntitlements, EventNonExecutable, cbor.AppendBytes(cbor.AppendArray(nil, 1), addr[:]))
}
