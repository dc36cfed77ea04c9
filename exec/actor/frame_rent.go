package actor

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/state"
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
func (f *frame) PrepayRent(a chain.Address, epochs uint64) (paid uint64, err error) {
	err = f.serve(func(c *service.Call) error {
		took, err := rent.Call{Call: c}.Prepay(a, epochs)
		paid = uint64(took)
		return err
	})
	return paid, err
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
		if err := checkText(e.Key); err != nil {
			return err
		}
		entries[i] = state.StorageChange{Key: programKey(e.Key), Value: e.Value}
		bytes += len(e.Key) + len(e.Value)
	}
	if err := f.run.takeCells(uint64(bytes) * uint64(f.run.block.Params.API.StorageWriteByteCells)); err != nil {
		return err
	}
	if err := f.run.touch(f.env.Self); err != nil {
		return err
	}
	return f.serve(func(c *service.Call) error { return rent.Call{Call: c}.Restore(req.Actor, req.Payer, entries) })
}

// BondStorage implements host.Storage.
func (f *frame) BondStorage(bytes uint64) error {
	return f.serve(func(c *service.Call) error {
		if _, err := f.need(manifest.KV); err != nil {
			return err
		}
		return rent.Call{Call: c}.Bond(bytes)
	})
}
