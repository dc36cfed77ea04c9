package exec

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// BlockEventsID names a receipt that holds what the protocol itself announces in
// a block: rent, evictions, entitlements that are gone. It is there only when
// there is something to announce; number counts from 0 within the block.
func BlockEventsID(h chain.Height, number uint64) chain.Hash {
	b := binary.BigEndian.AppendUint64(nil, uint64(h))
	return keccak.Sum256([]byte("cowboy-block-events-v1"), binary.BigEndian.AppendUint64(b, number))
}

// announce keeps events of the protocol until the block's receipts are written.
func (b *block) announce(events []chain.Event) { b.events = append(b.events, events...) }

// writeEvents appends the receipts with what was announced, behind all others.
func (b *block) writeEvents() {
	// Paid: by the cells of the events, or bounded by the rent and timers of a block.
	for number := uint64(0); len(b.events) > 0; number++ {
		n := min(len(b.events), chain.MaxEvents)
		b.result.Receipts = append(b.result.Receipts, chain.Receipt{
			TxHash: BlockEventsID(b.in.Height, number), Lane: chain.LaneSystem, Status: chain.StatusSucceeded, Events: b.events[:n:n],
		})
		b.events = b.events[n:]
	}
}
