package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// announceRemovals says which entitlements are gone from this block on, and all
// their holders with them (entitlements §9.11).
func (b *block) announceRemovals() {
	// Bounded: by the entitlements that governance has deprecated, some twenty.
	for _, d := range b.in.Params.Entitlements.Deprecated {
		if d.Last+1 == b.in.Height {
			data := cbor.AppendText(cbor.AppendArray(nil, 1), d.ID)
			b.announce([]chain.Event{{Emitter: chain.AddrEntitlements, Name: actor.EventNonExecutable, Data: data}})
		}
	}
}
