package actor

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// ErrRecord means a record in the state that does not decode: a fault. Only the
// protocol writes there: programs write their own accounts, restorations those of
// dormant actors (exec's TestFaultSites lists every use).
var ErrRecord = errors.New("record of an actor is malformed")

// Record is what is fixed of an actor, in few bytes: it is read at every call and
// every payment. The manifest stands once under its hash, whoever has it (whitepaper
// §1.2; entitlements §7.1).
type Record struct {
	Creator       chain.Address
	Parent        chain.Address // that spawned it; zero for one made by a transaction
	Deployed      chain.Height
	Manifest      chain.Hash   // of the canonical list of grants: [ReadManifest]
	ManifestBytes uint64       // of that list
	Holds         bool         // the list has econ.hold_balance
	Upgrades      bool         // the list has sys.upgrade
	Load          chain.Cycles // of the first use of its code in a block
}

// Quota is what changes with an actor's calls.
type Quota struct {
	Sent    uint64       // messages so far: the nonce of the next is Sent (resolution 7.8)
	Jobs    uint64       // job counter (resolution 11.36)
	Spawned uint64       // children so far
	Waiting uint64       // items of its mailbox
	Level   chain.Cycles // of its bucket (resolution 11.22)
	LevelAt chain.Height // when that was so; 0: never drawn
	Paid    chain.Wei    // transferred in the block PaidAt (econ.transfer's max_per_block)
	PaidAt  chain.Height
}

func recordKey(a chain.Address) state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, append([]byte("record/"), a[:]...))
}

func ledgerKey(a chain.Address) state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, append([]byte("ledger/"), a[:]...))
}

// recordFields is the length of a record's array.
const recordFields = 8

// ReadRecord returns the record of an actor; nil for an address that is none.
func ReadRecord(v state.View, a chain.Address) (*Record, error) {
	b, err := v.Storage(chain.AddrActors, recordKey(a))
	if err != nil || b == nil {
		return nil, err
	}
	rec, err := decodeRecord(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrRecord, a, err)
	}
	return rec, nil
}

func decodeRecord(b []byte) (*Record, error) {
	r, rec := cbor.NewReader(b), new(Record)
	if err := errors.Join(r.ArrayOf(recordFields), r.BytesInto(rec.Creator[:]), r.BytesInto(rec.Parent[:])); err != nil {
		return nil, err
	}
	height, err := r.Uint()
	if err != nil {
		return nil, err
	}
	rec.Deployed = chain.Height(height)
	if err = r.BytesInto(rec.Manifest[:]); err != nil {
		return nil, err
	}
	if rec.ManifestBytes, err = r.Uint(); err != nil {
		return nil, err
	}
	if rec.Holds, err = r.Bool(); err != nil {
		return nil, err
	}
	if rec.Upgrades, err = r.Bool(); err != nil {
		return nil, err
	}
	load, err := r.Uint()
	if err != nil {
		return nil, err
	}
	rec.Load = chain.Cycles(load)
	return rec, r.End()
}

func writeRecord(o *state.Overlay, a chain.Address, rec *Record) {
	b := cbor.AppendArray(make([]byte, 0, 112), recordFields)
	b = cbor.AppendBytes(b, rec.Creator[:])
	b = cbor.AppendBytes(b, rec.Parent[:])
	b = cbor.AppendUint(b, uint64(rec.Deployed))
	b = cbor.AppendBytes(b, rec.Manifest[:])
	b = cbor.AppendUint(b, rec.ManifestBytes)
	b = cbor.AppendBool(b, rec.Holds)
	b = cbor.AppendBool(b, rec.Upgrades)
	o.SetStorage(chain.AddrActors, recordKey(a), cbor.AppendUint(b, uint64(rec.Load)))
}

// ReadQuota returns what an actor's calls have left; zero for an actor without
// calls.
func ReadQuota(v state.View, a chain.Address) (Quota, error) {
	b, err := v.Storage(chain.AddrActors, ledgerKey(a))
	if err != nil || b == nil {
		return Quota{}, err
	}
	var f [8]uint64
	if err := cbor.DecodeUints(b, f[:]); err != nil {
		return Quota{}, fmt.Errorf("%w: ledger of %s: %w", ErrRecord, a, err)
	}
	return Quota{
		Sent: f[0], Jobs: f[1], Spawned: f[2], Waiting: f[3], Level: chain.Cycles(f[4]), LevelAt: chain.Height(f[5]),
		Paid: chain.Wei(f[6]), PaidAt: chain.Height(f[7]),
	}, nil
}

// WriteQuota stores what ReadQuota returns.
func WriteQuota(o *state.Overlay, a chain.Address, l Quota) {
	o.SetStorage(chain.AddrActors, ledgerKey(a), cbor.AppendUints(
		make([]byte, 0, 48),
		l.Sent, l.Jobs, l.Spawned, l.Waiting, uint64(l.Level), uint64(l.LevelAt), uint64(l.Paid), uint64(l.PaidAt),
	))
}

// Left returns what an actor may use in the block at height h: its bucket gets
// block_cycles a block and holds block_cycles_burst (resolution 11.22).
func (l *Quota) Left(p *params.ActorLimits, h chain.Height) chain.Cycles {
	if l.LevelAt == 0 || h < l.LevelAt {
		return p.BlockCyclesBurst
	}
	gap := uint64(p.BlockCyclesBurst-min(l.Level, p.BlockCyclesBurst)) / max(uint64(p.BlockCycles), 1)
	if blocks := uint64(h - l.LevelAt); blocks <= gap {
		return min(l.Level+chain.Cycles(blocks)*p.BlockCycles, p.BlockCyclesBurst)
	}
	return p.BlockCyclesBurst
}

// Hold takes cycles out of an actor's bucket that are promised to somebody, so that
// nobody else uses them in this block; more than is left empties it. It returns what
// it took, for [GiveBack].
func Hold(o *state.Overlay, p *params.ActorLimits, h chain.Height, a chain.Address, most chain.Cycles) (chain.Cycles, error) {
	l, err := ReadQuota(o, a)
	if err != nil {
		return 0, err
	}
	held := min(most, l.Left(p, h))
	l.draw(p, h, held)
	WriteQuota(o, a, l)
	return held, nil
}

// GiveBack puts back what [Hold] took in the same block.
func GiveBack(o *state.Overlay, p *params.ActorLimits, h chain.Height, a chain.Address, held chain.Cycles) error {
	l, err := ReadQuota(o, a)
	if err != nil {
		return err
	}
	l.Level, l.LevelAt = min(l.Left(p, h)+held, p.BlockCyclesBurst), h
	WriteQuota(o, a, l)
	return nil
}

// draw takes what a handler has used; more than is left empties the bucket.
func (l *Quota) draw(p *params.ActorLimits, h chain.Height, used chain.Cycles) {
	left := l.Left(p, h)
	l.Level, l.LevelAt = left-min(left, used), h
}
