package jobs

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/roles"
)

// Prefixes of rows that passes scan in order.
const (
	TableFresh   = "fresh/"   // submitted_at_be8 job: to be drawn for in the next block
	TableLive    = "live/"    // submitted_at_be8 job: may still be drawn for
	TableDue     = "due/"     // height_be8 job: the height of its next event; in it the event and its attempt
	TableReady   = "ready/"   // height_be8 job: waits to be judged, which takes few steps
	TableHeavy   = "heavy/"   // height_be8 job: waits to be judged, which takes many
	TableAsking  = "asking/"  // height_be8 job: waits to be judged, for which an actor is asked
	TableRetry   = "retry/"   // height_be8 job: waits for another committee since; in it the attempt
	TableTouched = "touched/" // job: has a new result in this block
	TableOpen    = "of/"      // runner job: open seats of a runner
	TableLane    = "lane/"    // height_be8: what results take more of the runner lane from then on, and less, in millionths
)

// Prefixes of the rows that hold money.
const (
	TableJob  = "job/"  // job: a [Job]
	TableSeat = "seat/" // job attempt n: a [Seat]
)

// idBytes is the length of a job's id.
const idBytes = len(chain.Hash{})

func key(table string, parts ...[]byte) state.StorageKey {
	b := append(make([]byte, 0, 80), table...)
	// Bounded: by three parts of a key, of 32 bytes at most.
	for _, p := range parts {
		b = append(b, p...)
	}
	return state.NewStorageKey(state.VMNamespaceSystem, b)
}

func be8(h chain.Height) []byte { return binary.BigEndian.AppendUint64(nil, uint64(h)) }

// JobKey is where a [Job] stands.
func JobKey(id chain.Hash) state.StorageKey { return key(TableJob, id[:]) }

// SpecKey is where the canonical bytes of a job's specification stand.
func SpecKey(id chain.Hash) state.StorageKey { return key("spec/", id[:]) }

// TermsKey is where the canonical bytes of a job's terms stand.
func TermsKey(id chain.Hash) state.StorageKey { return key("terms/", id[:]) }

// EligibleKey is where the bitmap of a job's candidates stands.
func EligibleKey(id chain.Hash) state.StorageKey { return key("elig/", id[:]) }

// SeatKey is where a [Seat] stands: the nth of an attempt, from 0.
func SeatKey(id chain.Hash, attempt, n uint8) state.StorageKey {
	return key(TableSeat, id[:], []byte{attempt, n})
}

// WhoKey is where attempt and number of a runner's latest seat stand, a byte each.
func WhoKey(id chain.Hash, runner chain.Address) state.StorageKey {
	return roles.SeatKey(id, runner)
}

// BodyKey is where a result stands until the verdict.
func BodyKey(id chain.Hash, attempt, n uint8) state.StorageKey {
	return key("body/", id[:], []byte{attempt, n})
}

// laneKey is where it stands what is promised of the runner lane.
func laneKey() state.StorageKey { return key("lane") }

// splitLane reads the height back out of a key under lane/; false for another key.
func splitLane(k state.StorageKey) (h chain.Height, ok bool) {
	const head = 1 + len(TableLane)
	if len(k) != head+8 {
		return 0, false
	}
	return chain.Height(binary.BigEndian.Uint64([]byte(k[head:]))), true
}

// FoundKey is where what the judge has found in a result stands until the verdict, if it had
// to read it before.
func FoundKey(id chain.Hash, attempt, n uint8) state.StorageKey {
	return key("found/", id[:], []byte{attempt, n})
}

// OpenKey marks an open seat of a runner.
func OpenKey(runner chain.Address, id chain.Hash) state.StorageKey {
	return key(TableOpen, runner[:], id[:])
}

// TablePrefix begins the keys of a table that is scanned.
func TablePrefix(table string) state.StorageKey { return key(table) }

// LatestKey is where the runner stands that succeeded last for a submitter in a kind of job,
// and the height at which it did, big-endian (CIP-11 §9.4).
func LatestKey(submitter chain.Address, kind chain.JobKind) state.StorageKey {
	return key("mru:", submitter[:], []byte{byte(kind)})
}

// PriceKey is where a [Prices] stands, for a kind of job and a model.
func PriceKey(kind chain.JobKind, model chain.Hash) state.StorageKey {
	return key("price/", []byte{byte(kind)}, model[:])
}

// CallsKey is where a [Calls] stands, of an actor.
func CallsKey(actor chain.Address) state.StorageKey { return key("calls/", actor[:]) }

// TouchedKey marks a job with a new result.
func TouchedKey(id chain.Hash) state.StorageKey { return key(TableTouched, id[:]) }

// AtKey is a job's row in a table that is in the order of heights: TableFresh, TableLive,
// TableDue, TableReady, TableHeavy, TableAsking or TableRetry.
func AtKey(table string, h chain.Height, id chain.Hash) state.StorageKey {
	return key(table, be8(h), id[:])
}

// SplitAt reads height and job back out of a key of [AtKey]; false for another key.
func SplitAt(table string, k state.StorageKey) (h chain.Height, id chain.Hash, ok bool) {
	head := 1 + len(table)
	if len(k) != head+8+idBytes || k[1:head] != state.StorageKey(table) {
		return 0, id, false
	}
	return chain.Height(binary.BigEndian.Uint64([]byte(k[head:]))), chain.Hash([]byte(k[head+8:])), true
}

// SplitTouched reads the job back out of a key of [TouchedKey]; false for another key.
func SplitTouched(k state.StorageKey) (id chain.Hash, ok bool) {
	const head = 1 + len(TableTouched)
	if len(k) != head+idBytes || k[1:head] != TableTouched {
		return id, false
	}
	return chain.Hash([]byte(k[head:])), true
}

// SplitOpen reads runner and job back out of a key of [OpenKey]; false for another key.
func SplitOpen(k state.StorageKey) (runner chain.Address, id chain.Hash, ok bool) {
	const head = 1 + len(TableOpen)
	if len(k) != head+len(runner)+idBytes || k[1:head] != TableOpen {
		return runner, id, false
	}
	return chain.Address([]byte(k[head : head+len(runner)])), chain.Hash([]byte(k[head+len(runner):])), true
}
