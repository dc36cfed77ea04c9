package exec

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/state"
)

// Meter is what the state holds as a whole, counted by the protocol itself (ADR 62).
// It lies in the Treasury's storage, in the system namespace, under "state"; the
// prices of a block follow from that of its parent.
type Meter struct {
	Accounts  uint64 // with a nonce, a balance, code or metadata
	Entries   uint64 // of all storages, the protocol's own included
	Bytes     uint64 // of the keys and values of these entries
	CodeBytes uint64 // of all code that was ever kept, each once
}

// Total is what the meter comes to in bytes.
func (m *Meter) Total(p *params.State) uint64 {
	return m.Bytes + m.CodeBytes + (m.Accounts+m.Entries)*p.EntryBytes
}

// meterKey is where the record lies under chain.AddrTreasury.
func meterKey() state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, []byte("state"))
}

// StateMeter returns the meter of a state; one that does not come from [GenesisDelta]
// may have none, and counts from zero. The error is a [*Fault].
func StateMeter(view state.View) (m Meter, err error) {
	b, err := view.Storage(chain.AddrTreasury, meterKey())
	if err == nil && b == nil {
		return Meter{}, nil
	}
	if err == nil && len(b) != meterBytes {
		err = ErrMeterRecord
	}
	if err != nil {
		return Meter{}, &Fault{"read the meter of the state", err}
	}
	// Bounded: by the fields of the record.
	for i, n := range m.fields() {
		*n = binary.BigEndian.Uint64(b[8*i:])
	}
	return m, nil
}

const meterBytes = 4 * 8

func (m *Meter) fields() [4]*uint64 {
	return [4]*uint64{&m.Accounts, &m.Entries, &m.Bytes, &m.CodeBytes}
}

// encode returns the fields as eight big-endian bytes each: as many bytes whatever
// they are, so that the record may count itself.
func (m *Meter) encode() []byte {
	b := make([]byte, 0, meterBytes)
	// Bounded: by the fields of the record.
	for _, n := range m.fields() {
		b = binary.BigEndian.AppendUint64(b, *n)
	}
	return b
}

// addWrites adds what the writes of an overlay change, with the meter's own record.
func (m *Meter) addWrites(o *state.Overlay) error {
	o.SetStorage(chain.AddrTreasury, meterKey(), m.encode()) // of its final length
	g, err := o.Growth()
	if err != nil {
		return err
	}
	code, err := actor.NewCode(o)
	if err != nil {
		return err
	}
	m.Accounts += g.Accounts
	m.Entries += g.Storage.Entries
	m.Bytes += g.Storage.Bytes
	m.CodeBytes += code
	o.SetStorage(chain.AddrTreasury, meterKey(), m.encode())
	return nil
}

// readMeter prices what the block adds to the state by what its parent holds.
func (b *block) readMeter() (err error) {
	if b.meter, err = StateMeter(b.state); err == nil {
		b.actors.Factor = fees.GrowthFactor(&b.in.Params.State, b.meter.Total(&b.in.Params.State))
	}
	return err
}

// founding is what a transfer pays in cells for the account that it makes: nothing on
// a young chain, where its cycles pay for that.
func (b *block) founding(to chain.Address, value chain.Wei) (chain.Cells, error) {
	cells := b.foundingCells()
	if cells == 0 || value == 0 {
		return 0, nil
	}
	exists, err := b.state.Exists(to)
	if err != nil {
		return 0, &Fault{"read account " + to.String(), err}
	}
	if exists {
		return 0, nil
	}
	return cells, nil
}

// foundingCells is what making an account costs beyond what its cycles pay for.
func (b *block) foundingCells() chain.Cells {
	return chain.Cells(fees.Dearer(uint64(b.in.Params.API.NewAccountCells), b.actors.Factor))
}
