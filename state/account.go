package state

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// MaxMetaBytes bounds the metadata of an account. The bound is ours, not the
// protocol's: metadata is hashed with every change of the account's balance, so
// it should stay well below one Keccak block (136 bytes).
const MaxMetaBytes = 256

// EmptyRoot is the root of a trie without entries: keccak256(RLP("")), as in
// Ethereum.
var EmptyRoot = chain.Hash{
	0x56, 0xe8, 0x1f, 0x17, 0x1b, 0xcc, 0x55, 0xa6, 0xff, 0x83, 0x45, 0xe6, 0x92, 0xc0, 0xf8, 0x6e,
	0x5b, 0x48, 0xe0, 0x1b, 0x99, 0x6c, 0xad, 0xc0, 0x01, 0x62, 0x2f, 0xb5, 0xe3, 0x63, 0xb4, 0x21,
}

// EmptyCodeHash is the code hash of an account without code: keccak256(""), as
// in Ethereum.
var EmptyCodeHash = chain.Hash{
	0xc5, 0xd2, 0x46, 0x01, 0x86, 0xf7, 0x23, 0x3c, 0x92, 0x7e, 0x7d, 0xb2, 0xdc, 0xc7, 0x03, 0xc0,
	0xe5, 0x00, 0xb6, 0x53, 0xca, 0x82, 0x27, 0x3b, 0x7b, 0xfa, 0xd8, 0x04, 0x5d, 0x85, 0xa4, 0x70,
}

// The reasons for which an account encoding is refused.
var (
	ErrAccountShape = errors.New("account is not a list of four or five items")
	ErrHashLength   = errors.New("hash is not 32 bytes")
	ErrMetaLength   = errors.New("account metadata is empty or too long")
	ErrStorageSize  = errors.New("account says the size of its storage in another way than it has to")
)

// StorageSize is how much an account keeps in its storage: what rent is paid
// for and quotas bound.
type StorageSize struct {
	Bytes   uint64 // of all keys, each with its namespace byte, and all values
	Entries uint64
}

// SizeOf returns what one entry counts.
func SizeOf(key StorageKey, value []byte) StorageSize {
	return StorageSize{Bytes: uint64(len(key)) + uint64(len(value)), Entries: 1}
}

// Add returns the sum of two sizes.
func (s StorageSize) Add(other StorageSize) StorageSize {
	return StorageSize{s.Bytes + other.Bytes, s.Entries + other.Entries}
}

// Sub returns the difference of two sizes. Either may be a change, in which a
// decrease is the two's complement.
func (s StorageSize) Sub(other StorageSize) StorageSize {
	return StorageSize{s.Bytes - other.Bytes, s.Entries - other.Entries}
}

// Within reports whether s exceeds limit neither in bytes nor in entries.
func (s StorageSize) Within(limit StorageSize) bool {
	return s.Bytes <= limit.Bytes && s.Entries <= limit.Entries
}

// Account is what the state keeps of an address, apart from its storage and
// code.
type Account struct {
	Nonce       uint64
	Balance     chain.Wei
	StorageRoot chain.Hash  // EmptyRoot without storage; maintained by state/tree
	CodeHash    chain.Hash  // EmptyCodeHash without code
	Meta        []byte      // actor's metadata, at most MaxMetaBytes; nil for a plain account
	StorageSize StorageSize // of the storage under StorageRoot; maintained by state/tree
}

// NewAccount returns the account that stands for an address not in the state:
// what [View.Account] returns for it, ready to be changed and written.
func NewAccount() Account {
	return Account{StorageRoot: EmptyRoot, CodeHash: EmptyCodeHash}
}

// HasCode reports whether the account is an actor.
func (a *Account) HasCode() bool {
	return a.CodeHash != EmptyCodeHash && a.CodeHash != chain.Hash{}
}

// HasStorage reports whether any storage value is kept for the account.
func (a *Account) HasStorage() bool {
	return a.StorageRoot != EmptyRoot && a.StorageRoot != chain.Hash{}
}

// Empty reports whether the account counts as absent: nonce 0, balance 0, empty
// storage, no code, no metadata.
func (a *Account) Empty() bool {
	return a.Nonce == 0 && a.Balance == 0 && !a.HasStorage() && !a.HasCode() && len(a.Meta) == 0
}

// Encode returns the RLP that is the account's leaf in the state trie. Zero
// hashes are written as EmptyRoot and EmptyCodeHash. The fifth string is there
// for an account with storage or metadata: of the former its size, bytes before
// entries, both as uvarints; then the metadata.
func (a *Account) Encode() []byte {
	n := normal(*a)
	payload := make([]byte, 0, 96+len(n.Meta)+2*binary.MaxVarintLen64)
	payload = rlp.AppendUint(payload, n.Nonce)
	payload = rlp.AppendUint(payload, uint64(n.Balance))
	payload = rlp.AppendString(payload, n.StorageRoot[:])
	payload = rlp.AppendString(payload, n.CodeHash[:])
	if fifth := n.AppendFifth(nil); len(fifth) != 0 {
		payload = rlp.AppendString(payload, fifth)
	}
	out := make([]byte, 0, rlp.ListLen(len(payload)))
	return append(rlp.AppendListHeader(out, len(payload)), payload...)
}

// AppendFifth appends what the account's fifth string holds, which is nothing
// for an account that is written as Ethereum's.
func (a *Account) AppendFifth(dst []byte) []byte {
	if a.HasStorage() {
		dst = binary.AppendUvarint(dst, a.StorageSize.Bytes)
		dst = binary.AppendUvarint(dst, a.StorageSize.Entries)
	}
	return append(dst, a.Meta...)
}

// DecodeAccount reads an account leaf. It accepts exactly what
// [Account.Encode] writes and keeps no reference to b.
func DecodeAccount(b []byte) (Account, error) {
	a, err := decodeAccount(b)
	if err != nil {
		return Account{}, fmt.Errorf("account: %w", err)
	}
	return a, nil
}

func decodeAccount(b []byte) (a Account, err error) {
	rest, err := rlp.List(b)
	if err != nil {
		return a, err
	}
	if a.Nonce, rest, err = rlp.SplitUint(rest); err != nil {
		return a, fmt.Errorf("nonce: %w", shape(err))
	}
	balance, rest, err := rlp.SplitUint(rest)
	if err != nil {
		return a, fmt.Errorf("balance: %w", shape(err))
	}
	a.Balance = chain.Wei(balance)
	if rest, err = splitHash(rest, &a.StorageRoot); err != nil {
		return a, fmt.Errorf("storage root: %w", err)
	}
	if rest, err = splitHash(rest, &a.CodeHash); err != nil {
		return a, fmt.Errorf("code hash: %w", err)
	}
	if len(rest) == 0 {
		if a.HasStorage() {
			return a, ErrStorageSize
		}
		return a, nil
	}
	meta, rest, err := rlp.SplitString(rest)
	switch {
	case err != nil:
		return a, fmt.Errorf("metadata: %w", err)
	case len(rest) != 0:
		return a, ErrAccountShape
	case len(meta) == 0:
		return a, ErrMetaLength
	}
	if a.HasStorage() {
		if meta, err = splitSize(meta, &a.StorageSize); err != nil {
			return a, err
		}
	}
	if len(meta) > MaxMetaBytes {
		return a, ErrMetaLength
	}
	if len(meta) != 0 {
		a.Meta = append([]byte(nil), meta...)
	}
	return a, nil
}

func splitSize(b []byte, size *StorageSize) (rest []byte, err error) {
	for _, to := range []*uint64{&size.Bytes, &size.Entries} {
		v, n := binary.Uvarint(b)
		if n <= 0 || n > 1 && b[n-1] == 0 { // a shorter encoding would do
			return nil, ErrStorageSize
		}
		*to, b = v, b[n:]
	}
	return b, nil
}

func splitHash(b []byte, h *chain.Hash) (rest []byte, err error) {
	s, rest, err := rlp.SplitString(b)
	if err != nil {
		return nil, shape(err)
	}
	if len(s) != len(h) || *(*chain.Hash)(s) == (chain.Hash{}) {
		return nil, ErrHashLength
	}
	*h = chain.Hash(s)
	return rest, nil
}

// shape names a list that ends early for what it is.
func shape(err error) error {
	if errors.Is(err, rlp.ErrTruncated) {
		return fmt.Errorf("%w: %w", ErrAccountShape, err)
	}
	return err
}

// normal returns a with the two ways to say "none" made one, and with metadata
// of its own.
func normal(a Account) Account {
	if !a.HasStorage() {
		a.StorageRoot, a.StorageSize = EmptyRoot, StorageSize{}
	}
	if !a.HasCode() {
		a.CodeHash = EmptyCodeHash
	}
	if len(a.Meta) == 0 {
		a.Meta = nil
	} else {
		a.Meta = append([]byte(nil), a.Meta...)
	}
	return a
}
