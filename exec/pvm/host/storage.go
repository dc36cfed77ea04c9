package host

// Entry is a key of storage with its value.
type Entry struct {
	Key   string
	Value []byte
}

// Storage is the actor's private keys and values (whitepaper §3.2). Keys have 1
// to 1,024 bytes of text in NFC; values are canonical, of at most 64 KiB. Reads
// see the writes of the same call. Cells: a byte written is one, ten read are
// one (whitepaper §17.4, resolution 2.11).
type Storage interface {
	// StorageGet returns the bytes under a key; false when there are none. The
	// caller does not change them. Charge: storage_read, storage_read_byte per
	// byte of key and value.
	StorageGet(key string) ([]byte, bool, error)
	// StorageSet takes value over. Refuses with RefusedStorage beyond the quota
	// (1 MiB, or the bond). Charge: storage_write, storage_write_byte per byte of
	// key and value.
	StorageSet(key string, value []byte) error
	// StorageDelete tells whether there was a value. Charge: storage_write.
	StorageDelete(key string) (bool, error)
	// StorageScan returns entries whose keys begin with prefix, in ascending
	// order of their bytes, at most limit (1 to 1,000). Charge: storage_read, for
	// each entry storage_read and storage_read_byte per byte.
	StorageScan(prefix string, limit int) ([]Entry, error)
	// BondStorage sets the quota to bytes, 1 MiB to 8 MiB, against a deposit out
	// of the actor's balance; less than is bonded gives the difference back.
	// Refuses with RefusedFunds, RefusedArgument, and RefusedStorage where more
	// is stored. Charge: system.
	BondStorage(bytes uint64) error
	// CommitBlob makes data of at most 64 KiB available and returns its
	// multihash. Charge: system, blob_commit_kib per KiB or part of one.
	CommitBlob(data []byte) ([]byte, error)
	// Blob returns the committed data; false when the chain does not have it (any
	// more). Charge: storage_read, storage_read_byte per byte.
	Blob(multihash []byte) ([]byte, bool, error)
}
