package rent

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// Stake is what stands behind the restoration of an actor, and how many failed of
// late (ADR 76). One restoration keeps all others out, so it costs a bond that only its
// commit returns, twice as much for each that failed before it, and it lapses without
// data.
type Stake struct {
	By       chain.Address
	Bond     chain.Wei
	Moved    chain.Height // when it began, or a part came that counts; 0: none is under way
	Failures uint64       // as of FailedAt; one is forgotten with each charge period
	FailedAt chain.Height
}

// leastPart is how large a part must be to keep a restoration from lapsing, unless it is
// the last: so one that brings rubbish ends after so many idle spans as it has parts.
const leastPart = stored.MaxChunkBytes / 8

// mostDoubled bounds how often a bond doubles; a sum beyond 64 bits is nobody's.
const mostDoubled = 40

func stakeKey(a chain.Address) state.StorageKey { return key([]byte("b/"), a[:]) }

// StakeOf returns what stands behind an actor's restoration.
func StakeOf(v state.View, a chain.Address) (s Stake, err error) {
	b, err := v.Storage(chain.AddrRent, stakeKey(a))
	if err != nil || b == nil {
		return s, err
	}
	r := cbor.NewReader(b)
	var f [4]uint64
	err = errors.Join(r.ArrayOf(5), r.BytesInto(s.By[:]), r.Uints(f[:]))
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return s, fmt.Errorf("%w: stake of %s: %w", ErrRecord, a, err)
	}
	s.Bond, s.Moved, s.Failures, s.FailedAt = chain.Wei(f[0]), chain.Height(f[1]), f[2], chain.Height(f[3])
	return s, nil
}

func (s *Stake) store(o *state.Overlay, a chain.Address) {
	b := cbor.AppendBytes(cbor.AppendArray(nil, 5), s.By[:])
	// Bounded: by the fields of the record.
	for _, n := range []uint64{uint64(s.Bond), uint64(s.Moved), s.Failures, uint64(s.FailedAt)} {
		b = cbor.AppendUint(b, n)
	}
	o.SetStorage(chain.AddrRent, stakeKey(a), b)
}

// failures returns how many failed restorations count at a height.
func (b *Block) failures(s *Stake) uint64 {
	return s.Failures - min(s.Failures, uint64(b.Height-s.FailedAt)/b.Params.Rent.ChargeBlocks)
}

// BondOf returns what it takes to begin the next restoration of an actor.
func (b *Block) BondOf(a chain.Address) (chain.Wei, error) {
	s, err := StakeOf(b.State, a)
	if err != nil {
		return 0, err
	}
	n := b.failures(&s)
	if s.Moved != 0 {
		n++ // the one under way would have failed
	}
	return b.doubled(n), nil
}

func (b *Block) doubled(times uint64) chain.Wei {
	bond := b.Params.Rent.RestoreBond
	// Bounded: by mostDoubled, 40.
	for range min(times, mostDoubled) {
		bond = plus(bond, bond)
	}
	return bond
}

// lapsed reports whether a restoration has gone without data for too long.
func (b *Block) lapsed(s *Stake) bool {
	return s.Moved != 0 && b.Height > s.Moved+chain.Height(b.Params.Rent.RestoreIdleBlocks)
}

// forfeit burns the bond of the restoration that was under way and counts it as failed.
func (b *Block) forfeit(a chain.Address) (burned chain.Wei, err error) {
	s, err := StakeOf(b.State, a)
	if err != nil || s.Moved == 0 {
		return 0, err
	}
	burned = s.Bond
	s = Stake{Failures: b.failures(&s) + 1, FailedAt: b.Height}
	s.store(b.State, a)
	return burned, funds.Debit(b.State, chain.AddrRent, burned, b.Height)
}

// pledge takes the bond of a restoration that begins.
func (b *Block) pledge(a, by chain.Address) error {
	s, err := StakeOf(b.State, a)
	if err != nil {
		return err
	}
	s.By, s.Bond, s.Moved = by, b.doubled(b.failures(&s)), b.Height
	s.store(b.State, a)
	return funds.Move(b.State, by, chain.AddrRent, s.Bond, b.Height)
}

// redeem returns the bond of a restoration that was committed.
func (b *Block) redeem(a chain.Address) error {
	s, err := StakeOf(b.State, a)
	if err != nil || s.Moved == 0 {
		return err
	}
	b.State.SetStorage(chain.AddrRent, stakeKey(a), nil)
	return funds.Move(b.State, chain.AddrRent, s.By, s.Bond, b.Height)
}

// moved keeps a restoration from lapsing after a part that counts.
func (b *Block) moved(a chain.Address, part uint64) error {
	s, err := StakeOf(b.State, a)
	if err != nil || s.Moved == 0 {
		return err
	}
	if part < leastPart {
		rec, err := stored.RecordOf(b.State, a)
		if err != nil {
			return err
		}
		size, err := b.State.StorageSize(a)
		if err != nil || size != rec.Size {
			return err
		}
	}
	s.Moved = b.Height
	s.store(b.State, a)
	return nil
}
