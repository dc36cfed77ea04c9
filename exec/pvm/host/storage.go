package host

import "strings"

// Keys that begin so are not the program's own: where the SDK keeps handlers that
// wait for runners, and the chain the actor's blobs. Programs cannot write them,
// and scans pass over them.
const (
	ContinuationKey = "__continuation"
	BlobKey         = "__blob:"
)

// reserved are all of them, in ascending order.
var reserved = [...]string{BlobKey, ContinuationKey}

// Reserved returns with which of them a key begins, "" for a program's own.
func Reserved(key string) string {
	for _, prefix := range reserved {
		if strings.HasPrefix(key, prefix) {
			return prefix
		}
	}
	return ""
}

// NextReserved returns the lowest of them above a key, "" if there is none.
func NextReserved(key string) string {
	for _, prefix := range reserved {
		if prefix > key {
			return prefix
		}
	}
	return ""
}

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
	// StorageScan visits the program's own entries whose keys begin with prefix, in
	// ascending order of their bytes, at most limit (up to 1,000). visit may take
	// the values over and end the call, but not write. Charge: storage_scan, an
	// element for each entry of limit, and as they are visited, so that no more is
	// read than is paid for, storage_read and storage_read_byte per byte.
	StorageScan(prefix string, limit int, visit func(Entry)) error
	// BondStorage sets the quota to bytes, 1 MiB to 8 MiB, against a deposit out
	// of the actor's balance; less than is bonded gives the difference back.
	// Refuses with RefusedFunds, RefusedArgument, and RefusedStorage where more
	// is stored. Charge: system.
	BondStorage(bytes uint64) error
	// CommitBlob makes data of at most 64 KiB available and returns its
	// multihash. Charge: system, blob_commit_kib per KiB or part of one.
	CommitBlob(data []byte) ([]byte, error)
	// Blob returns the committed data; false when the chain does not have it (any
	// more), or who keeps it is dormant. Bytes that were found are told to pay before they
	// are compared with their hash: it may end the call. Charge: storage_read, and what pay
	// is told, storage_read_byte per byte.
	Blob(multihash []byte, pay func(bytes int)) ([]byte, bool, error)
}
