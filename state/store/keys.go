package store

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// Tables, by the first byte of a key. Numbers in keys are big-endian, so that
// they sort.
//
//	key                                  value
//	a ‖ keccak256(address)               RLP(account)
//	s ‖ keccak256(address) ‖ storage key storage value
//	c ‖ code hash                        code
//	n ‖ path                             node of the trie of accounts, a byte per nibble
//	o ‖ keccak256(address) ‖ path        node of the account's storage trie
//	b ‖ height                           block
//	d ‖ height                           digest ‖ transaction hashes
//	f ‖ height                           finalization certificate
//	r ‖ height ‖ index (u32)             receipt
//	h ‖ digest                           height
//	t ‖ transaction hash                 height ‖ index (u32)
//	m ‖ name                             marker
const (
	tableAccounts     = 'a'
	tableStorage      = 's'
	tableCode         = 'c'
	tableNodes        = 'n'
	tableStorageNodes = 'o'
	tableBlocks       = 'b'
	tableDigests      = 'd'
	tableCertificates = 'f'
	tableReceipts     = 'r'
	tableHeights      = 'h'
	tableTxs          = 't'
)

// Markers.
const (
	keyFormat  = "mformat"  // formatVersion, one byte
	keyGenesis = "mgenesis" // genesis hash
	keyHead    = "mhead"    // height ‖ digest ‖ state root
)

// formatVersion changes with any change of the tables.
const formatVersion = 1

const (
	hashLen = len(chain.Hash{})
	headLen = 8 + 2*hashLen
)

func accountKey(owner chain.Hash) []byte { return append([]byte{tableAccounts}, owner[:]...) }

func storageKey(owner chain.Hash, key state.StorageKey) []byte {
	b := make([]byte, 0, 1+hashLen+len(key))
	b = append(b, tableStorage)
	b = append(b, owner[:]...)
	return append(b, key...)
}

func codeKey(hash chain.Hash) []byte { return append([]byte{tableCode}, hash[:]...) }

// nodeKey is the key of a trie node; the zero owner is the trie of accounts.
func nodeKey(owner chain.Hash, path []byte) []byte {
	if owner == (chain.Hash{}) {
		return append([]byte{tableNodes}, path...)
	}
	b := make([]byte, 0, 1+hashLen+len(path))
	b = append(b, tableStorageNodes)
	b = append(b, owner[:]...)
	return append(b, path...)
}

func heightBytes(h chain.Height) []byte { return binary.BigEndian.AppendUint64(nil, uint64(h)) }

func heightKey(table byte, h chain.Height) []byte {
	return binary.BigEndian.AppendUint64([]byte{table}, uint64(h))
}

func receiptKey(h chain.Height, index int) []byte {
	return binary.BigEndian.AppendUint32(heightKey(tableReceipts, h), uint32(index))
}

func hashKey(table byte, hash chain.Hash) []byte { return append([]byte{table}, hash[:]...) }

// after returns the first key behind all keys that begin with prefix, or nil if
// there is none.
func after(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}
