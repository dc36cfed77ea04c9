package simtest

import (
	"bytes"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// another returns a second proposal for the place of p, with its shards.
func (v *validator) another(p simplex.Proposal) (simplex.Proposal, *shards.Codeword, []byte) {
	place := bytes.Repeat([]byte{1}, placeBytes)
	if b := v.blocks[blockKey{p.Round.View, p.Payload}]; b != nil && b.bytes != nil {
		place = append([]byte{1}, b.bytes[1:placeBytes]...)
	}
	block := v.app.withBody(place)
	w, err := v.app.code.Encode(block[headBytes:])
	if err != nil {
		panic(err)
	}
	p.Payload = digestOf(block)
	return p, w, block[:headBytes]
}

// withholdShards offers shards to every second peer only, and relays none.
func withholdShards(_ *validator, to beacon.Participant, m message) []message {
	switch {
	case m.relay != nil:
		return nil
	case m.parcel != nil && to%2 != 0:
		m.parcel = nil
	}
	return []message{m}
}

// equivocateShards relays shards of two proposals of one view to every second
// peer.
func equivocateShards(v *validator, to beacon.Participant, m message) []message {
	if m.relay == nil || to%2 == 0 {
		return []message{m}
	}
	p, w, head := v.another(*m.relay)
	return []message{m, {relay: &p, parcel: w.Parcel(head, int(v.id))}}
}

// relayWrongIndex relays its shard as that of its neighbour, and offers each
// peer the shard of another.
func relayWrongIndex(v *validator, _ beacon.Participant, m message) []message {
	if m.parcel != nil {
		parcel := *m.parcel
		parcel.Shard.Index = (parcel.Shard.Index + 1) % v.set.Len()
		m.parcel = &parcel
	}
	return []message{m}
}

// spoilShards alters a bit of each shard, or cuts it short.
func spoilShards(_ *validator, to beacon.Participant, m message) []message {
	if m.parcel != nil {
		parcel := *m.parcel
		parcel.Shard.Bytes = bytes.Clone(parcel.Shard.Bytes)
		if parcel.Shard.Bytes[0] ^= 1; to%2 == 0 {
			parcel.Shard.Bytes = parcel.Shard.Bytes[1:]
		}
		m.parcel = &parcel
	}
	return []message{m}
}
