package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Emitter is an account with events in a block, and where they are: the places
// of receipts in execution order, ascending.
type Emitter struct {
	Address chain.Address
	Slots   []int
}

// Emission is where the events of one emitter are in one block.
type Emission struct {
	Height chain.Height
	Slots  []int
}

// Stretch is a part of the chain.
type Stretch struct {
	From, To    chain.Height // both included
	OldestFirst bool
}

func emitterKey(a chain.Address, h chain.Height) []byte {
	b := append(make([]byte, 0, 1+len(a)+8), tableEmitters)
	return binary.BigEndian.AppendUint64(append(b, a[:]...), uint64(h))
}

// putEmitters writes where the events of a block are.
func putEmitters(b *pebble.Batch, rec *BlockRecord) (err error) {
	var row []byte
	for i := range rec.Emitters {
		e := &rec.Emitters[i]
		row = row[:0]
		last := 0
		for _, slot := range e.Slots {
			row = binary.AppendUvarint(row, uint64(slot-last))
			last = slot
		}
		err = errors.Join(err, b.Set(emitterKey(e.Address, rec.Height), row, nil))
	}
	return err
}

// Emissions returns the first blocks of a stretch with events of an emitter, at
// most so many. Blocks that are not kept have none.
func (s *Store) Emissions(a chain.Address, in Stretch, most int) (list []Emission, err error) {
	if in.From > in.To || most < 1 {
		return nil, nil
	}
	done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: emitterKey(a, in.From), UpperBound: append(emitterKey(a, in.To), 0)})
	if err != nil {
		return nil, damage(err)
	}
	defer func() { err = errors.Join(err, damage(it.Error()), it.Close()) }()
	first, next := it.Last, it.Prev
	if in.OldestFirst {
		first, next = it.First, it.Next
	}
	for ok := first(); ok && len(list) < most; ok = next() {
		e := Emission{Height: chain.Height(binary.BigEndian.Uint64(it.Key()[1+len(a):]))}
		row, err := it.ValueAndErr()
		if err != nil {
			return nil, damage(err)
		}
		if e.Slots, err = readSlots(row); err != nil {
			return nil, fmt.Errorf("events of %s in block %d: %w", a, e.Height, err)
		}
		list = append(list, e)
	}
	return list, nil
}

// readSlots reads at least one place, each behind the one before.
func readSlots(row []byte) (slots []int, err error) {
	last := uint64(0)
	for len(row) > 0 || slots == nil {
		step, n := binary.Uvarint(row)
		if n <= 0 || slots != nil && step == 0 || step > 1<<31 || last+step > 1<<31 {
			return nil, damaged("places of receipts: %x", row)
		}
		last += step
		slots, row = append(slots, int(last)), row[n:]
	}
	return slots, nil
}
