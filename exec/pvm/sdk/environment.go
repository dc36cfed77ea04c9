package sdk

import (
	"crypto/sha256"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func environmentDefs() []vm.Def {
	info := func(name string, get func(c call) vm.Value) vm.Def {
		return native(name, 0, "", func(c call) (vm.Value, error) {
			c.m.Charge(c.s.costs.BlockInfo)
			return get(c), nil
		})
	}
	return []vm.Def{
		info("current_block", func(c call) vm.Value { return c.unsignedValue(c.s.env.Height) }),
		info("get_timestamp_ms", func(c call) vm.Value { return c.unsignedValue(c.s.env.Timestamp) }),
		info("get_chain_id", func(c call) vm.Value { return c.unsignedValue(c.s.env.ChainID) }),
		info("get_value", func(c call) vm.Value { return c.unsignedValue(c.s.env.Value) }),
		info("get_sender", func(c call) vm.Value { return c.hexText(c.s.env.Sender[:]) }),
		info("get_origin", func(c call) vm.Value { return c.hexText(c.s.env.Origin[:]) }),
		info("get_creator", func(c call) vm.Value { return c.hexText(c.s.env.Creator[:]) }),
		info("get_actor_address", func(c call) vm.Value { return c.hexText(c.s.env.Self[:]) }),
		info("get_code_hash", func(c call) vm.Value { return c.hexText(c.s.env.CodeHash[:]) }),
		native("get_balance", 0, "address", getBalance),
		native("randomness", 1, "label", randomness),
		native("generate_id", 0, "", func(c call) (vm.Value, error) {
			c.m.Charge(c.s.costs.Hash)
			id := c.s.nextID()
			return c.hexText(id[:]), nil
		}),
		native("charge_gas", 1, "cycles", func(c call) (vm.Value, error) {
			n, err := c.unsigned(0, "cycles")
			if err != nil {
				return vm.None, err
			}
			c.m.Charge(int64(min(n, 1<<62)))
			return vm.None, nil
		}),
		native("keccak256", 1, "data", digest(func(b []byte) []byte { d := keccak.Sum256(b); return d[:] })),
		native("sha256", 1, "data", digest(func(b []byte) []byte { d := sha256.Sum256(b); return d[:] })),
		native("get_actor", 0, "address", getActor),
		native("entitlement", 1, "id", entitlement),
		native("upgrade_self", 1, "source", upgradeSelf),
	}
}

func getBalance(c call) (vm.Value, error) {
	a, err := c.addressOrSelf(0)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.BlockInfo)
	n, err := c.s.host.Balance(a)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.unsignedValue(n), nil
}

func randomness(c call) (vm.Value, error) {
	label, err := c.nameArg(0, "label")
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.Hash)
	r, err := c.s.host.Randomness(label)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.m.NewBytes(string(r[:])), nil
}

func digest(sum func([]byte) []byte) func(c call) (vm.Value, error) {
	return func(c call) (vm.Value, error) {
		c.m.Charge(c.s.costs.Hash)
		data, err := c.bytes(0, "data", c.s.costs.HashByte)
		if err != nil {
			return vm.None, err
		}
		return c.m.NewBytes(string(sum(data))), nil
	}
}

// getActor answers what the chain tells of an account, None where it has no
// code.
func getActor(c call) (vm.Value, error) {
	a, err := c.addressOrSelf(0)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.StorageRead) // a record of the state
	info, ok, err := c.s.host.Actor(a)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	if !ok || info.Code == [32]byte{} {
		return vm.None, nil
	}
	return c.makeDict([]field{
		{"code_hash", c.hexText(info.Code[:])},
		{"creator", c.hexText(info.Creator[:])},
		{"storage_bytes", c.unsignedValue(info.Storage)},
		{"deployed_at", c.unsignedValue(info.Deployed)},
		{"dormant", vm.Bool(info.Dormant)},
	})
}

// entitlement answers the parameters of a grant, None where there is none.
func entitlement(c call) (vm.Value, error) {
	id, err := c.nameArg(0, "entitlement")
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.BlockInfo)
	params, ok, err := c.s.host.Entitlement(id)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	switch {
	case !ok:
		return vm.None, nil
	case len(params) == 0:
		return c.m.NewDict().Value(), nil
	}
	return c.s.decode(c.m, params)
}

func upgradeSelf(c call) (vm.Value, error) {
	if c.arg(0).IsNone() {
		return vm.None, c.m.TypeError("source must be str, not NoneType")
	}
	c.m.Charge(c.s.costs.Deploy)
	src, err := c.source(0)
	if err != nil {
		return vm.None, err
	}
	return vm.None, c.done(c.s.host.UpgradeSelf(src))
}
