package rent

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// ErrRecord means a record of this package that does not decode: a fault. Only the
// protocol writes there: programs write their own accounts, restorations those of
// dormant actors (exec's TestFaultSites lists every use).
var ErrRecord = errors.New("record of rent is malformed")

// Account is what is known of an actor's rent. The zero value is that of an actor
// which never owed any.
type Account struct {
	Listed  chain.Height // from which the next charge counts; 0: not listed
	Prepaid chain.Wei    // paid ahead
	Debt    chain.Wei    // missed rent, without the catch-up fee
	Since   chain.Height // of the first missed charge; 0: none
	Rest    uint64       // of the last charge's division by the days of a year
	Quota   uint64       // bytes that a bond allows; 0: the free quota
	Bond    chain.Wei    // kept for it
}

// Totals is what the package knows of the chain as a whole.
type Totals struct {
	Bytes  uint64       // of all actors' storage
	Factor uint64       // of the rate, in billionths; at least Unit
	Moved  chain.Height // when the factor was moved last
}

// Unit is a factor of 1.
const Unit = 1_000_000_000

func key(parts ...[]byte) state.StorageKey {
	var b []byte
	// Bounded: by the parts of a key.
	for _, p := range parts {
		b = append(b, p...)
	}
	return state.NewStorageKey(state.VMNamespaceSystem, b)
}

func accountKey(a chain.Address) state.StorageKey { return key([]byte("a/"), a[:]) }

func totalsKey() state.StorageKey { return key([]byte("totals")) }

// read takes n integers from an array; ok is false where there is nothing.
func read(v state.View, k state.StorageKey, out []uint64) (ok bool, err error) {
	b, err := v.Storage(chain.AddrRent, k)
	if err != nil || b == nil {
		return false, err
	}
	if err := cbor.DecodeUints(b, out); err != nil {
		return false, fmt.Errorf("%w: %x: %w", ErrRecord, k, err)
	}
	return true, nil
}

func write(o *state.Overlay, k state.StorageKey, in ...uint64) {
	o.SetStorage(chain.AddrRent, k, cbor.AppendUints(make([]byte, 0, 1+9*len(in)), in...))
}

// Read returns what is known of an actor's rent.
func Read(v state.View, a chain.Address) (Account, error) {
	var f [7]uint64
	if _, err := read(v, accountKey(a), f[:]); err != nil {
		return Account{}, err
	}
	return Account{chain.Height(f[0]), chain.Wei(f[1]), chain.Wei(f[2]), chain.Height(f[3]), f[4], f[5], chain.Wei(f[6])}, nil
}

// store writes the record, or removes one that says nothing.
func (r *Account) store(o *state.Overlay, a chain.Address) {
	if *r == (Account{}) {
		o.SetStorage(chain.AddrRent, accountKey(a), nil)
		return
	}
	write(o, accountKey(a), uint64(r.Listed), uint64(r.Prepaid), uint64(r.Debt), uint64(r.Since), r.Rest, r.Quota, uint64(r.Bond))
}

// ReadTotals returns the totals; those of a chain without rent so far have a
// factor of 1.
func ReadTotals(v state.View) (Totals, error) {
	var f [3]uint64
	ok, err := read(v, totalsKey(), f[:])
	if err != nil || !ok {
		return Totals{Factor: Unit}, err
	}
	return Totals{f[0], f[1], chain.Height(f[2])}, nil
}

func (t *Totals) store(o *state.Overlay) {
	write(o, totalsKey(), t.Bytes, t.Factor, uint64(t.Moved))
}

// A queue holds actors with the height from which each waits, in the order of
// these. How long is for who takes them out: the parameters of the day say it, so
// that nothing waits by those of another. Its ends are numbers that only rise.
type queue byte

const (
	charges   queue = 'c'
	warnings  queue = 'w'
	evictions queue = 'e'
	commits   queue = 'r' // restorations in one message, to be compared a block later
)

// item is an actor in a queue. In warnings and evictions, From tells whether the
// actor is still in the same arrears, in charges whether it is listed still.
type item struct {
	Actor chain.Address
	From  chain.Height
}

func (q queue) ends() state.StorageKey { return key([]byte{'q', byte(q)}) }

func (q queue) at(n uint64) state.StorageKey {
	return key([]byte{'q', byte(q), '/'}, binary.BigEndian.AppendUint64(nil, n))
}

// push puts an actor at the end and returns from when it waits. A height below that
// of the last item is raised to it: charges that are behind come after those who
// were listed meanwhile.
func (q queue) push(o *state.Overlay, it item) (chain.Height, error) {
	var ends [3]uint64 // head, tail, height of the last
	if _, err := read(o, q.ends(), ends[:]); err != nil {
		return 0, err
	}
	it.From = max(it.From, chain.Height(ends[2]))
	b := cbor.AppendBytes(cbor.AppendArray(nil, 2), it.Actor[:])
	o.SetStorage(chain.AddrRent, q.at(ends[1]), cbor.AppendUint(b, uint64(it.From)))
	write(o, q.ends(), ends[0], ends[1]+1, uint64(it.From))
	return it.From, nil
}

// pop takes the first item that has waited for so many blocks at h, if there is room for it
// in the block; false when there is none.
func (q queue) pop(o *state.Overlay, h chain.Height, wait uint64, room func(item) (bool, error)) (it item, ok bool, err error) {
	var ends [3]uint64
	if _, err := read(o, q.ends(), ends[:]); err != nil || ends[0] == ends[1] {
		return it, false, err
	}
	if it, err = q.item(o, ends[0]); err != nil || it.From+chain.Height(wait) > h {
		return it, false, err
	}
	if ok, err := room(it); err != nil || !ok {
		return it, false, err
	}
	o.SetStorage(chain.AddrRent, q.at(ends[0]), nil)
	write(o, q.ends(), ends[0]+1, ends[1], ends[2])
	return it, true, nil
}

func (q queue) item(v state.View, n uint64) (it item, err error) {
	b, err := v.Storage(chain.AddrRent, q.at(n))
	if err != nil {
		return it, err
	}
	var from [1]uint64
	r := cbor.NewReader(b)
	err = errors.Join(r.ArrayOf(2), r.BytesInto(it.Actor[:]), r.Uints(from[:]))
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return it, fmt.Errorf("%w: queue %c at %d: %w", ErrRecord, q, n, err)
	}
	it.From = chain.Height(from[0])
	return it, nil
}
