//spec:implements whitepaper 8.1-8.3

package genesis

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// Vesting releases an amount in equal parts per block, after a cliff
// (whitepaper §8.3, "standard vesting"). Until StartHeight + CliffBlocks
// everything is locked; then what has accrued since StartHeight is free.
type Vesting struct {
	StartHeight    chain.Height
	CliffBlocks    uint64
	DurationBlocks uint64 // all is free from StartHeight + DurationBlocks on
}

func (v *Vesting) check() error {
	switch {
	case uint64(v.StartHeight) > params.PeriodBlocksMax:
		return fmt.Errorf("vesting.start_height = %d, want at most %d", v.StartHeight, uint64(params.PeriodBlocksMax))
	case v.DurationBlocks < 1 || v.DurationBlocks > params.PeriodBlocksMax:
		return fmt.Errorf("vesting.duration_blocks = %d, want 1 to %d", v.DurationBlocks, uint64(params.PeriodBlocksMax))
	case v.CliffBlocks > v.DurationBlocks:
		return fmt.Errorf("vesting.cliff_blocks = %d above duration_blocks %d", v.CliffBlocks, v.DurationBlocks)
	}
	return nil
}

// Lock is a vesting schedule with its amount, as an account's metadata keeps
// it.
type Lock struct {
	Amount  chain.Wei
	Vesting Vesting
}

// ErrMetadata means that an account's metadata is not in any known form. State
// holds only what this code wrote, so meeting it is a fault, not a verdict.
var ErrMetadata = errors.New("account metadata is malformed")

// metaLock marks account metadata as a [Lock]; the first element of every
// metadata array tells its form.
const metaLock = 1

// AppendMeta appends the account metadata that records l: the CBOR array
// [1, amount, start_height, cliff_blocks, duration_blocks].
func (l *Lock) AppendMeta(dst []byte) []byte {
	dst = cbor.AppendArray(dst, 5)
	dst = cbor.AppendUint(dst, metaLock)
	dst = cbor.AppendUint(dst, uint64(l.Amount))
	dst = cbor.AppendUint(dst, uint64(l.Vesting.StartHeight))
	dst = cbor.AppendUint(dst, l.Vesting.CliffBlocks)
	return cbor.AppendUint(dst, l.Vesting.DurationBlocks)
}

// ParseLock reads the lock in an account's metadata. ok is false when the
// metadata is empty or of another form. The error is [ErrMetadata].
func ParseLock(meta []byte) (l Lock, ok bool, err error) {
	if len(meta) == 0 {
		return Lock{}, false, nil
	}
	r := cbor.NewReader(meta)
	n, err := r.Array(64)
	if err != nil || n < 1 {
		return Lock{}, false, ErrMetadata
	}
	form, err := r.Uint()
	if err != nil {
		return Lock{}, false, ErrMetadata
	}
	if form != metaLock {
		return Lock{}, false, nil
	}
	var fields [4]uint64
	if n != 1+len(fields) {
		return Lock{}, false, ErrMetadata
	}
	for i := range fields {
		if fields[i], err = r.Uint(); err != nil {
			return Lock{}, false, ErrMetadata
		}
	}
	if r.End() != nil {
		return Lock{}, false, ErrMetadata
	}
	l = Lock{Amount: chain.Wei(fields[0]), Vesting: Vesting{chain.Height(fields[1]), fields[2], fields[3]}}
	if l.Vesting.check() != nil {
		return Lock{}, false, ErrMetadata
	}
	return l, true, nil
}

// LockedAt returns how much of the amount the block at height h may not spend.
// It is rounded up: a unit is free only when all of it has accrued.
func (l *Lock) LockedAt(h chain.Height) chain.Wei {
	v := &l.Vesting
	if h < v.StartHeight {
		return l.Amount
	}
	passed := uint64(h - v.StartHeight)
	switch {
	case passed < v.CliffBlocks:
		return l.Amount
	case passed >= v.DurationBlocks:
		return 0
	}
	hi, lo := bits.Mul64(uint64(l.Amount), passed)
	free, _ := bits.Div64(hi, lo, v.DurationBlocks) // passed < duration, so the quotient fits
	return l.Amount - chain.Wei(free)
}
