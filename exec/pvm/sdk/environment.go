package sdk

import (
	"crypto/sha256"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
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
		native("recover_address", 2, "digest signature", recoverAddress),
		native("verify_ed25519", 3, "public_key message signature", verifyEd25519),
	}
}

func getBalance(c call) (vm.Value, error) {
	a := c.s.env.Self
	if !c.arg(0).IsNone() {
		var err error
		if a, err = c.address(0); err != nil {
			return vm.None, err
		}
	}
	c.m.Charge(c.s.costs.BlockInfo)
	n, err := c.s.host.Balance(a)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.unsignedValue(n), nil
}

func randomness(c call) (vm.Value, error) {
	label, err := c.name(0, "label")
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
		data, err := c.buffer(0, "data")
		if err != nil {
			return vm.None, err
		}
		c.m.Charge(c.s.costs.Hash)
		c.m.ChargeEach(len(data), c.s.costs.HashByte)
		return c.m.NewBytes(string(sum(data))), nil
	}
}

// recoverAddress answers who signed a digest, None when nobody can have.
func recoverAddress(c call) (vm.Value, error) {
	d, err := c.buffer(0, "digest")
	if err != nil {
		return vm.None, err
	}
	b, err := c.buffer(1, "signature")
	if err != nil {
		return vm.None, err
	}
	if len(d) != 32 || len(b) != 65 {
		return vm.None, c.m.ValueError("a digest has 32 bytes and a signature 65")
	}
	c.m.Charge(c.s.costs.Verify)
	sig := secp256k1.Signature{R: [32]byte(b[:32]), S: [32]byte(b[32:64]), YParity: b[64]}
	key, err := secp256k1.Recover([32]byte(d), sig)
	if err != nil {
		return vm.None, nil
	}
	a := chain.Address(key.Address())
	return c.hexText(a[:]), nil
}

func verifyEd25519(c call) (vm.Value, error) {
	key, err := c.buffer(0, "public_key")
	if err != nil {
		return vm.None, err
	}
	msg, err := c.buffer(1, "message")
	if err != nil {
		return vm.None, err
	}
	sig, err := c.buffer(2, "signature")
	if err != nil {
		return vm.None, err
	}
	if len(key) != ed25519.PublicKeySize {
		return vm.None, c.m.ValueError("a public key has %d bytes", ed25519.PublicKeySize)
	}
	c.m.Charge(c.s.costs.Verify)
	c.m.ChargeEach(len(msg), c.s.costs.HashByte)
	return vm.Bool(ed25519.Verify([ed25519.PublicKeySize]byte(key), msg, sig)), nil
}
