package state

import "github.com/cowboy-foundation/cowboy/chain"

// Namespaces keep what the protocol stores under an address apart from what an
// actor's program stores there: a program can only name keys of its own
// namespace.
const (
	VMNamespaceSystem byte = 0 // written by system instructions
	VMNamespacePVM    byte = 1 // written by actor programs
)

// StorageKey is a storage key as the trie knows it: one namespace byte followed
// by the key. The string is raw bytes and need not be UTF-8; being a string, it
// can be compared and used in maps. It is never empty.
type StorageKey string

// NewStorageKey returns the storage key of key in the given namespace.
func NewStorageKey(namespace byte, key []byte) StorageKey {
	b := make([]byte, 0, 1+len(key))
	return StorageKey(append(append(b, namespace), key...))
}

// View is a state to read from: one version of it, which does not change while
// it is read, apart from writes through the view itself.
//
// Errors are faults of this node (disk, corruption, a version no longer kept).
// They say nothing about a transaction: the caller stops and passes them on.
type View interface {
	// Account returns the account of addr and whether it exists; of an address
	// without account it returns NewAccount().
	Account(addr chain.Address) (Account, bool, error)
	// Storage returns the value under key, or nil if there is none. An empty
	// value is returned as a non-nil empty slice. The slice is the caller's.
	Storage(addr chain.Address, key StorageKey) ([]byte, error)
	// Scan returns entries of the storage of addr in the order of their keys, as
	// the span says. What it takes depends on what it returns, and not on how much
	// addr has stored. The values are the caller's.
	Scan(addr chain.Address, s Span) ([]Entry, error)
	// Code returns the code with the given hash, nil for EmptyCodeHash. The
	// slice may be shared and must not be changed. Code that an account names
	// but that is not there is an error.
	Code(hash chain.Hash) ([]byte, error)
}
