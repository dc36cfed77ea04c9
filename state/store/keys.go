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
//	s ‖ keccak256(address) ‖ era ‖ storage key
//	                                     storage value
//	e ‖ keccak256(address) ‖ height      mark: an era of the storage begins
//	c ‖ code hash                        code
//	d ‖ height                           digest ‖ place in the block log
//	h ‖ digest                           height
//	t ‖ transaction hash                 height ‖ index (u32)
//	i ‖ address ‖ height                 places of the receipts with its events
//	j ‖ side ‖ address ‖ height          ids of jobs
//	p ‖ keccak256(address) ‖ height      account before the block
//	q ‖ keccak256(address) ‖ era ‖ keccak256(storage key) ‖ height
//	                                     storage value before the block
//	l ‖ name                             ordered list beside the state
//	u ‖ height                           head marker before the block
//	u ‖ height ‖ row key                 rows before the block, up to this key
//	m ‖ name                             marker
const (
	tableAccounts     = 'a'
	tableStorage      = 's'
	tableEras         = 'e'
	tableCode         = 'c'
	tableBlocks       = 'd'
	tableHeights      = 'h'
	tableTxs          = 't'
	tableEmitters     = 'i'
	tableJobs         = 'j'
	tableAccountsWere = 'p'
	tableStorageWas   = 'q'
	tableLists        = 'l'
	tableUndo         = 'u'
)

// Markers.
const (
	keyFormat  = "mformat"  // formatVersion, one byte
	keyGenesis = "mgenesis" // genesis hash
	keyHead    = "mhead"    // height ‖ digest ‖ state root
	keyHistory = "mhistory" // first height whose block's old values are kept
	keyUndo    = "mundo"    // first height whose undo record is kept

	keyBase     = "mbase"     // first height whose block is kept; absent for 0
	keyImport   = "mimport"   // what is being imported; absent in a chain
	keyProgress = "mprogress" // of the import
)

// formatVersion changes with any change of the tables, and with any of the records
// that the state transition keeps: a state whose records read otherwise is another
// format, though each of its rows is in place. 7: actors' records without manifests,
// prices in ledgers. 8: settings of governance as values in one form. 9: payloads of waiting
// messages apart; deliveries do not count as used. 10: long data of timers apart. 11: timers
// in lines, with the load of their receivers; standings of runners as they were. 12: an index
// of jobs.
const formatVersion = 12

const (
	hashLen = len(chain.Hash{})
	headLen = 8 + 2*hashLen
)

func storageKey(owner chain.Hash, era chain.Height, key state.StorageKey) []byte {
	b := make([]byte, 0, 1+hashLen+1+8+len(key))
	b = append(b, tableStorage)
	b = append(b, owner[:]...)
	return append(appendEra(b, era), key...)
}

func codeKey(hash chain.Hash) []byte { return append([]byte{tableCode}, hash[:]...) }

func heightBytes(h chain.Height) []byte { return binary.BigEndian.AppendUint64(nil, uint64(h)) }

func heightKey(table byte, h chain.Height) []byte {
	return binary.BigEndian.AppendUint64([]byte{table}, uint64(h))
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
