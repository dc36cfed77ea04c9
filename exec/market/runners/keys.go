package runners

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/roles"
)

// Entries of a page.
const (
	listPage     = 64 // of active/, offers/ and load/
	standingPage = 32 // of standing/: two for each of the others
)

const (
	TableRunner   = "runner/" // address: a [Runner]
	tableBeat     = "beat/"
	tableStanding = "standing/"
	tableWas      = "was/"
	tableGone     = "wasq/"
)

func key(table string, parts ...[]byte) state.StorageKey {
	b := append(make([]byte, 0, 48), table...)
	// Bounded: by an address, or a height and an index.
	for _, p := range parts {
		b = append(b, p...)
	}
	return state.NewStorageKey(state.VMNamespaceSystem, b)
}

func be4(n uint32) []byte       { return binary.BigEndian.AppendUint32(nil, n) }
func be8(h chain.Height) []byte { return binary.BigEndian.AppendUint64(nil, uint64(h)) }

func countKey() state.StorageKey                 { return key("count") }
func longKey() state.StorageKey                  { return key("long") } // see [Book.countLong]
func runnerKey(a chain.Address) state.StorageKey { return key(TableRunner, a[:]) }
func offerKey(a chain.Address) state.StorageKey  { return key("offer/", a[:]) }
func seenKey(a chain.Address) state.StorageKey   { return roles.RunnerKey(a) }
func activeKey(page uint32) state.StorageKey     { return key("active/", be4(page)) }
func offersKey(page uint32) state.StorageKey     { return key("offers/", be4(page)) }
func loadKey(page uint32) state.StorageKey       { return key("load/", be4(page)) }
func standingKey(page uint32) state.StorageKey   { return key(tableStanding, be4(page)) }

// wasKey is a page of standings as it was before block h changed it.
func wasKey(page uint32, h chain.Height) state.StorageKey { return key(tableWas, be4(page), be8(h)) }

// goneKey says that there is one, in the order of heights, and since when it had been so.
func goneKey(h chain.Height, page uint32) state.StorageKey { return key(tableGone, be8(h), be4(page)) }

// cursorKey is how far the walk over wasq/ has come.
func cursorKey() state.StorageKey { return key("wasat") }

// pageOf reads the page back out of a key under standing/.
func pageOf(k state.StorageKey) uint32 {
	return binary.BigEndian.Uint32([]byte(k[1+len(tableStanding):]))
}

// splitGone reads height and page back out of a key under wasq/.
func splitGone(k state.StorageKey) (h chain.Height, page uint32, ok bool) {
	const head = 1 + len(tableGone)
	if len(k) != head+8+4 {
		return 0, 0, false
	}
	rest := []byte(k[head:])
	return chain.Height(binary.BigEndian.Uint64(rest)), binary.BigEndian.Uint32(rest[8:]), true
}

func beatKey(h chain.Height, index uint32) state.StorageKey {
	return key(tableBeat, be8(h), be4(index))
}

// splitBeat reads the height and the index back out of a key under beat/.
func splitBeat(k state.StorageKey) (h chain.Height, index uint32, ok bool) {
	const head = 1 + len(tableBeat)
	if len(k) != head+8+4 {
		return 0, 0, false
	}
	rest := []byte(k[head:])
	return chain.Height(binary.BigEndian.Uint64(rest)), binary.BigEndian.Uint32(rest[8:]), true
}

// splitRunner reads the address back out of a key under runner/; false for another key.
func splitRunner(k state.StorageKey) (a chain.Address, ok bool) {
	const head = 1 + len(TableRunner)
	if len(k) != head+len(a) || k[0] != state.VMNamespaceSystem || k[1:head] != TableRunner {
		return a, false
	}
	return chain.Address([]byte(k[head:])), true
}
