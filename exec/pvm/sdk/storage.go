package sdk

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func uintValue(m *vm.Machine, n uint64) vm.Value { return m.NewInt(new(big.Int).SetUint64(n)) }

func storageDefs() []vm.Def {
	return []vm.Def{
		native("storage_get", 1, "key default", storageGet),
		native("storage_set", 2, "key value", storageSet),
		native("storage_delete", 1, "key", storageDelete),
		native("storage_scan", 1, "prefix limit", storageScan),
		native("blob_commit", 1, "data", blobCommit),
		native("blob_get", 1, "multihash", blobGet),
	}
}

func storageGet(c call) (vm.Value, error) {
	key, err := c.key(0)
	if err != nil {
		return vm.None, err
	}
	data, ok, err := c.read(key)
	if err != nil || !ok {
		return c.arg(1), err
	}
	return c.s.decode(c.m, data)
}

// read charges for and reads a key.
func (c call) read(key string) ([]byte, bool, error) {
	c.m.Charge(c.s.costs.StorageRead)
	c.m.ChargeEach(len(key), c.s.costs.ReadByte)
	data, ok, err := c.s.host.StorageGet(key)
	if err != nil {
		return nil, false, c.s.refuse(c.m, err)
	}
	c.m.ChargeEach(len(data), c.s.costs.ReadByte)
	return data, ok, nil
}

// write charges for and writes a key.
func (c call) write(key string, data []byte) error {
	c.m.Charge(c.s.costs.StorageWrite)
	c.m.ChargeEach(len(key)+len(data), c.s.costs.WriteByte)
	if err := c.s.host.StorageSet(key, data); err != nil {
		return c.s.refuse(c.m, err)
	}
	return nil
}

// remove charges for and deletes a key.
func (c call) remove(key string) (bool, error) {
	c.m.Charge(c.s.costs.StorageWrite)
	ok, err := c.s.host.StorageDelete(key)
	if err != nil {
		return false, c.s.refuse(c.m, err)
	}
	return ok, nil
}

func (c call) ownKey() (string, error) {
	key, err := c.key(0)
	if prefix := host.Reserved(key); err == nil && prefix != "" {
		err = c.m.ValueError("storage key begins with %s, which is reserved", prefix)
	}
	return key, err
}

func storageSet(c call) (vm.Value, error) {
	key, err := c.ownKey()
	if err != nil {
		return vm.None, err
	}
	data, err := c.s.encode(c.m, c.arg(1))
	if err != nil {
		return vm.None, err
	}
	return vm.None, c.write(key, data)
}

func storageDelete(c call) (vm.Value, error) {
	key, err := c.ownKey()
	if err != nil {
		return vm.None, err
	}
	ok, err := c.remove(key)
	return vm.Bool(ok), err
}

// storageScan answers a list of (key, value).
func storageScan(c call) (vm.Value, error) {
	prefix, ok := c.arg(0).Text()
	if !ok {
		return vm.None, c.m.TypeError("prefix must be str, not %s", c.m.TypeName(c.arg(0)))
	}
	limit := uint64(100)
	if !c.arg(1).IsNone() {
		n, err := c.unsigned(1, "limit")
		if err != nil {
			return vm.None, err
		}
		limit = n
	}
	if limit > uint64(c.s.limits.ScanEntries) {
		return vm.None, c.m.ValueError("limit must be at most %d", c.s.limits.ScanEntries)
	}
	c.m.Charge(c.s.costs.StorageScan)
	c.m.ChargeEach(int(limit), c.m.Prices().Element)
	// A prefix longer than any key matches nothing. One byte more than a key says so too, and
	// bounds what the host copies and compares.
	prefix = prefix[:min(len(prefix), c.s.limits.KeyBytes+1)]
	var entries []host.Entry
	err := c.s.host.StorageScan(prefix, int(limit), func(e host.Entry) {
		c.m.Charge(c.s.costs.StorageRead)
		c.m.ChargeEach(len(e.Key)+len(e.Value), c.s.costs.ReadByte)
		entries = append(entries, e)
	})
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	mark := c.m.Hold(vm.None)
	pairs := make([]vm.Value, 0, len(entries))
	// Paid: by StorageRead for each entry above.
	for _, e := range entries {
		v, err := c.s.decode(c.m, e.Value)
		if err != nil {
			return vm.None, err
		}
		pair := c.m.NewTuple([]vm.Value{c.m.NewStr(e.Key), v})
		c.m.Hold(pair)
		pairs = append(pairs, pair)
	}
	c.m.Release(mark)
	return c.m.NewList(pairs), nil
}

// blobBytes is the most that a blob within a transaction has (whitepaper §3.5).
const blobBytes = 64 << 10

// blobHeadBytes is the most that the encoding of a blob has before its bytes: it
// is stored as a value, and may be longer than one by so much.
const blobHeadBytes = 5

func blobCommit(c call) (vm.Value, error) {
	data, err := c.buffer(0, blobBytes, "data")
	if err != nil {
		return vm.None, err
	}
	if len(data) > blobBytes {
		return vm.None, c.m.ValueError("data must have at most %d bytes", blobBytes)
	}
	c.m.Charge(c.s.costs.System)
	kib := (len(data) + 1023) / 1024
	c.m.ChargeEach(kib, c.s.costs.BlobKiB)
	c.m.ChargeEach(len(data), c.s.costs.HashByte) // its name is a hash of all of it: the KiB alone were 60 ns a cycle
	hash, err := c.s.host.CommitBlob(data)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.m.NewBytes(string(hash)), nil
}

func blobGet(c call) (vm.Value, error) {
	hash, err := c.buffer(0, 64, "multihash")
	if err != nil {
		return vm.None, err
	}
	if len(hash) == 0 || len(hash) > 64 {
		return vm.None, c.m.ValueError("a multihash has 1 to 64 bytes")
	}
	c.m.Charge(c.s.costs.StorageRead)
	data, ok, err := c.s.host.Blob(hash, func(bytes int) { c.m.ChargeEach(bytes, c.s.costs.ReadByte) })
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	if !ok {
		return vm.None, nil
	}
	return c.m.NewBytes(string(data)), nil
}
