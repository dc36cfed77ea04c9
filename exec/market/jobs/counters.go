package jobs

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// Prices are what runners were paid for a kind of job with a model (resolution 12.50).
type Prices struct {
	Count   uint64
	Sum     [2]uint64 // the high word first
	Squares [4]uint64 // of the amounts, summed; the highest word first
}

// pricesBytes is the length of the row of a [Prices]: all its words, big-endian.
const pricesBytes = 8 * (1 + 2 + 4)

// ReadPrices returns those of a kind and a model. The error is a fault.
func ReadPrices(view Reader, kind chain.JobKind, model chain.Hash) (p Prices, err error) {
	row, err := view.Storage(chain.AddrJobDispatcher, PriceKey(kind, model))
	if err != nil || row == nil {
		return p, err
	}
	if len(row) != pricesBytes {
		return p, ErrRecord
	}
	word := func(n int) uint64 { return binary.BigEndian.Uint64(row[8*n:]) }
	p = Prices{word(0), [2]uint64{word(1), word(2)}, [4]uint64{word(3), word(4), word(5), word(6)}}
	return p, nil
}

// PutPrices writes those of a kind and a model.
func (b *Book) PutPrices(kind chain.JobKind, model chain.Hash, p *Prices) {
	row := binary.BigEndian.AppendUint64(make([]byte, 0, pricesBytes), p.Count)
	// Bounded: by six words.
	for _, w := range [...]uint64{p.Sum[0], p.Sum[1], p.Squares[0], p.Squares[1], p.Squares[2], p.Squares[3]} {
		row = binary.BigEndian.AppendUint64(row, w)
	}
	b.set(PriceKey(kind, model), row)
}

// Calls are how many answers to its own jobs an actor was sent, and how many of them it failed
// on (CIP-2 §3, "failed_callbacks"; resolution 6.14). Answers that others have ordered to it count
// in neither: with a handler that it does not have, anybody could speak ill of it.
type Calls struct{ Sent, Failed uint64 }

// ReadCalls returns those of an actor. The error is a fault.
func ReadCalls(view Reader, actor chain.Address) (c Calls, err error) {
	row, err := view.Storage(chain.AddrJobDispatcher, CallsKey(actor))
	if err != nil || row == nil {
		return c, err
	}
	var n [2]uint64
	r := cbor.NewReader(row)
	if r.ArrayOf(len(n)) != nil || r.Uints(n[:]) != nil || r.End() != nil {
		return c, ErrRecord
	}
	return Calls{n[0], n[1]}, nil
}

// CountCalls adds to those of an actor. The error is a fault.
func CountCalls(o *state.Overlay, actor chain.Address, more Calls) error {
	c, err := ReadCalls(o, actor)
	if err != nil {
		return err
	}
	row := cbor.AppendUint(cbor.AppendArray(nil, 2), c.Sent+more.Sent)
	o.SetStorage(chain.AddrJobDispatcher, CallsKey(actor), cbor.AppendUint(row, c.Failed+more.Failed))
	return nil
}
