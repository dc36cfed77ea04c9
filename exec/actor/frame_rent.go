package actor

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitle"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

func (r *Run) rent() *rent.Block {
	return &rent.Block{State: r.state, Params: r.block.Params, Height: r.block.Height}
}

// quota returns the bytes that the actor may keep.
func (f *frame) quota() (uint64, error) { return f.run.rent().Quota(f.env.Self) }

// debit takes money out of the actor's balance, which leaves its reserve for rent
// alone (whitepaper, "Minimum Balance Reserve").
func (f *frame) debit(amount chain.Wei) error {
	if amount == 0 {
		return nil
	}
	held, err := f.run.rent().Withholds(f.env.Self, amount)
	if err != nil {
		return err
	}
	if held {
		return &host.Refusal{Code: host.RefusedReserve, Text: "the rest of the balance is held for rent"}
	}
	return money(f.run.debit(f.env.Self, amount))
}

// RentStatus implements host.Rent.
func (f *frame) RentStatus(a chain.Address) (host.RentStatus, error) {
	account, _, err := f.run.state.Account(a)
	if err != nil {
		return host.RentStatus{}, err
	}
	if !account.HasCode() {
		return host.RentStatus{}, &host.Refusal{Code: host.RefusedTarget, Text: "no such actor"}
	}
	s, err := f.run.rent().Status(a)
	if err != nil {
		return host.RentStatus{}, err
	}
	return host.RentStatus{
		State: host.RentState(s.State), PaidThrough: s.PaidThrough, Prepaid: s.Prepaid,
		Owed: uint64(s.Owed), PerEpoch: uint64(s.PerEpoch), Reserve: uint64(s.Reserve),
	}, nil
}

// PrepayRent implements host.Rent.
func (f *frame) PrepayRent(a chain.Address, epochs uint64) (uint64, error) {
	if err := f.changes(); err != nil {
		return 0, err
	}
	account, _, err := f.run.state.Account(a)
	if err != nil {
		return 0, err
	}
	if !account.HasCode() {
		return 0, &host.Refusal{Code: host.RefusedTarget, Text: "no such actor"}
	}
	owed, ahead, err := f.run.rent().Cost(a, epochs)
	if err != nil {
		return 0, refuseRent(err)
	}
	if err := f.run.touch(f.env.Self); err != nil {
		return 0, err
	}
	// rent may use the reserve
	if err := funds.Debit(f.run.state, f.env.Self, owed+ahead, f.run.block.Height); err != nil {
		return 0, money(err)
	}
	f.run.burned += owed + ahead
	return uint64(owed + ahead), refuseRent(f.run.rent().Prepay(a, ahead))
}

// RestoreStorage implements host.Rent. The next block compares the root, and
// wakes the actor or gives the money back.
func (f *frame) RestoreStorage(req host.Restoration) error {
	if err := f.changes(); err != nil {
		return err
	}
	entries, bytes := make([]state.StorageChange, len(req.Entries)), 0
	// Paid: by storage_write for each entry and storage_write_byte, in sdk.
	for i, e := range req.Entries {
		entries[i] = state.StorageChange{Key: programKey(e.Key), Value: e.Value}
		bytes += len(e.Key) + len(e.Value)
	}
	if err := f.run.takeCells(uint64(bytes) * uint64(f.run.block.Params.API.StorageWriteByteCells)); err != nil {
		return err
	}
	if err := f.run.touch(f.env.Self); err != nil {
		return err
	}
	burned, err := f.run.rent().RestoreAll(req.Actor, f.env.Self, req.Payer, entries)
	f.run.burned += burned
	return refuseRent(err)
}

// BondStorage implements host.Storage.
func (f *frame) BondStorage(bytes uint64) error {
	if err := f.changes(); err != nil {
		return err
	}
	if _, err := f.need(entitle.KV); err != nil {
		return err
	}
	more, back, err := f.run.rent().Bond(f.env.Self, bytes)
	if err != nil {
		return refuseRent(err)
	}
	if err := f.debit(more); err != nil {
		return err
	}
	f.run.putAside(f.env.Self, more)
	if err := funds.Credit(f.run.state, chain.AddrRent, more); err != nil {
		return err
	}
	if err := funds.Debit(f.run.state, chain.AddrRent, back, f.run.block.Height); err != nil {
		return err
	}
	return f.run.giveBack(f.env.Self, back)
}

// refuseRent turns verdicts on rent into refusals.
func refuseRent(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, funds.ErrShort):
		return money(err)
	case errors.Is(err, rent.ErrQuota):
		return &host.Refusal{Code: host.RefusedStorage, Text: "quota out of range, or more is stored"}
	case errors.Is(err, rent.ErrNotAllowed):
		return &host.Refusal{Code: host.RefusedPermission, Text: err.Error()}
	case errors.Is(err, stored.ErrNotDormant):
		return &host.Refusal{Code: host.RefusedTarget, Text: "the actor is not evicted"}
	}
	// Bounded: by the verdicts, seven.
	for _, v := range []error{
		rent.ErrEpochs, stored.ErrRestoring, stored.ErrChunk, stored.ErrTooMuch, stored.ErrOrder, stored.ErrDeadline, stored.ErrNotRestoring,
	} {
		if errors.Is(err, v) {
			return &host.Refusal{Code: host.RefusedArgument, Text: v.Error()}
		}
	}
	return err
}
