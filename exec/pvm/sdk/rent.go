package sdk

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/values"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func rentDefs() []vm.Def {
	return []vm.Def{
		native("rent_status", 0, "actor_address", rentStatus),
		native("rent_prepay", 1, "epochs actor_address", rentPrepay),
		native("storage_bond", 1, "bytes", storageBond),
		native("storage_restore", 2, "actor_address storage_data pay_from", storageRestore),
	}
}

func rentStatus(c call) (vm.Value, error) {
	a, err := c.addressOrSelf(0)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.StorageRead) // records of the state
	s, err := c.s.host.RentStatus(a)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.makeDict([]field{
		{"state", c.m.NewStr(s.State.String())},
		{"paid_through_epoch", c.unsignedValue(s.PaidThrough)},
		{"balance_epochs", c.unsignedValue(s.Prepaid)},
		{"owed", c.unsignedValue(s.Owed)},
		{"per_epoch", c.unsignedValue(s.PerEpoch)},
		{"reserve", c.unsignedValue(s.Reserve)},
	})
}

func rentPrepay(c call) (vm.Value, error) {
	epochs, err := c.unsigned(0, "epochs")
	if err != nil {
		return vm.None, err
	}
	if epochs == 0 {
		return vm.None, c.m.ValueError("epochs must be at least 1")
	}
	a, err := c.addressOrSelf(1)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.System)
	n, err := c.s.host.PrepayRent(a, epochs)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.unsignedValue(n), nil
}

func storageBond(c call) (vm.Value, error) {
	n, err := c.unsigned(0, "bytes")
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.System)
	return vm.None, c.done(c.s.host.BondStorage(n))
}

// storageRestore takes all keys with their values as a dict.
func storageRestore(c call) (vm.Value, error) {
	a, err := c.address(0)
	if err != nil {
		return vm.None, err
	}
	r := host.Restoration{Actor: a, Payer: c.s.env.Self}
	if !c.arg(2).IsNone() {
		if r.Payer, err = c.address(2); err != nil {
			return vm.None, err
		}
	}
	d, ok := c.arg(1).Dict()
	if !ok {
		return vm.None, c.m.TypeError("storage_data must be dict, not %s", c.m.TypeName(c.arg(1)))
	}
	c.m.Charge(c.s.costs.System)
	c.m.ChargeEach(d.Len(), c.s.costs.StorageWrite)
	if r.Entries, err = c.entries(d); err != nil {
		return vm.None, err
	}
	return vm.None, c.done(c.s.host.RestoreStorage(r))
}

// entries encodes and charges for the items of a dict, in order of their keys.
func (c call) entries(d *vm.Dict) ([]host.Entry, error) {
	keys, vals := c.m.DictItems(d)
	var out []host.Entry
	for i, k := range keys {
		key, ok := k.Text()
		if !ok || len(key) > c.s.limits.KeyBytes || !utf8.ValidString(key) {
			return nil, c.m.ValueError("storage_data has a key that is not str or longer than %d bytes", c.s.limits.KeyBytes)
		}
		limits := c.s.limits.Value
		// Bounded: by the key of blobs.
		if strings.HasPrefix(key, host.BlobKey) {
			limits.Bytes += blobHeadBytes
		}
		data, err := values.Append(c.m, nil, vals[i], limits)
		if err != nil {
			return nil, err
		}
		c.m.ChargeEach(len(key)+len(data), c.s.costs.WriteByte)
		out = append(out, host.Entry{Key: key, Value: data})
	}
	// Paid: by WriteByte for each byte of a key and value, 10 cycles, of which a comparison looks at those of the keys.
	slices.SortFunc(out, func(a, b host.Entry) int { return cmp.Compare(a.Key, b.Key) })
	return out, nil
}
