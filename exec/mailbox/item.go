package mailbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// The verdicts.
var (
	// ErrFull means that the sender has as many waiting for the receiver, or the origin
	// as many deferred to the height, as may be.
	ErrFull = errors.New("mailbox is full")
	// ErrSeen means that this message, or a later one of its sender, was taken
	// before.
	ErrSeen = errors.New("message was delivered before")
	// ErrHandler means that the handler is no name: its item could not be read again.
	ErrHandler = errors.New("handler of a message is no text in UTF-8 of its length")
)

// ErrRecord means a record in the state that does not decode: a fault. Only the
// protocol writes there: programs write their own accounts, restorations those of
// dormant actors (exec's TestFaultSites lists every use).
var ErrRecord = errors.New("record of the mailbox is malformed")

// Item is a message that waits. Its limits were paid for by the run that sent it.
type Item struct {
	From    chain.Address
	To      chain.Address
	Origin  chain.Address // account that the sending run was for
	Nonce   uint64        // number of the message among its sender's
	Handler string
	Payload []byte // canonical; nil as long as it lies apart, see [Open]
	Value   chain.Wei
	Cycles  chain.Cycles // limits of the delivery
	Load    chain.Cycles // besides, for the first use of the receiver's code in a block
	Cells   chain.Cells
	Parked  chain.Height // block in which it began to wait
	Late    bool         // it was deferred to a height

	apart uint64 // bytes of the payload that lie apart; 0: it is here
}

// itemFields is the length of an item's array.
const itemFields = 12

// InlineBytes is the longest payload that stands in its item. A longer one lies apart until
// its message is handed out: items are read in turns of which nothing comes, and written
// again when they are taken up, which nobody pays for by their bytes (ADR 129).
const InlineBytes = 1_024

// bodyKey holds a payload that lies apart: no sender has two messages of one number.
func bodyKey(it *Item) state.StorageKey { return key("body/", it.From[:], be64(it.Nonce)) }

// check says whether an item can be read again.
func (it *Item) check() error {
	if len(it.Handler) > chain.MaxEventName || !utf8.ValidString(it.Handler) {
		return ErrHandler
	}
	return nil
}

// put writes an item, and its payload apart if that is long.
func put(o *state.Overlay, k state.StorageKey, it *Item) {
	row := *it
	if len(row.Payload) > InlineBytes {
		row.apart = uint64(len(row.Payload))
		o.SetStorage(chain.AddrMailbox, bodyKey(it), row.Payload)
	}
	o.SetStorage(chain.AddrMailbox, k, row.Append(nil))
}

// Open brings the payload of an item that is handed out, and in no list any more, if it
// lies apart.
func Open(o *state.Overlay, it *Item) error {
	if it.apart == 0 {
		return nil
	}
	b, err := o.Storage(chain.AddrMailbox, bodyKey(it))
	if err != nil {
		return err
	}
	if uint64(len(b)) != it.apart {
		return fmt.Errorf("%w: message %d of %s has a payload of %d bytes, want %d", ErrRecord, it.Nonce, it.From, len(b), it.apart)
	}
	it.Payload, it.apart = b, 0
	erase(o, bodyKey(it))
	return nil
}

// Append writes what [DecodeItem] reads.
func (it *Item) Append(dst []byte) []byte {
	dst = cbor.AppendArray(dst, itemFields)
	dst = cbor.AppendBytes(dst, it.From[:])
	dst = cbor.AppendBytes(dst, it.To[:])
	dst = cbor.AppendBytes(dst, it.Origin[:])
	dst = cbor.AppendUint(dst, it.Nonce)
	dst = cbor.AppendText(dst, it.Handler)
	if it.apart > 0 {
		dst = cbor.AppendUint(dst, it.apart)
	} else {
		dst = cbor.AppendBytes(dst, it.Payload)
	}
	dst = cbor.AppendUint(dst, uint64(it.Value))
	dst = cbor.AppendUint(dst, uint64(it.Cycles))
	dst = cbor.AppendUint(dst, uint64(it.Load))
	dst = cbor.AppendUint(dst, uint64(it.Cells))
	dst = cbor.AppendUint(dst, uint64(it.Parked))
	return cbor.AppendBool(dst, it.Late)
}

// DecodeItem reads an item; every error is [ErrRecord].
func DecodeItem(b []byte) (*Item, error) {
	it, err := readItem(b)
	if err != nil {
		return nil, fmt.Errorf("%w: item: %w", ErrRecord, err)
	}
	return it, nil
}

// errApart refuses a payload that lies apart and is too short for it.
var errApart = errors.New("payload lies apart")

// readPayload reads a payload, or how long it is where it lies apart.
func (it *Item) readPayload(r *cbor.Reader) (err error) {
	number := *r
	if it.apart, err = number.Uint(); err != nil {
		it.Payload, err = r.Bytes(InlineBytes)
		return err
	}
	if *r = number; it.apart <= InlineBytes {
		err = errApart
	}
	return err
}

func readItem(b []byte) (it *Item, err error) {
	it = new(Item)
	r := cbor.NewReader(b)
	if err = r.ArrayOf(itemFields); err != nil {
		return nil, err
	}
	// Bounded: by the fields of the record.
	for _, a := range []*chain.Address{&it.From, &it.To, &it.Origin} {
		if err = r.BytesInto(a[:]); err != nil {
			return nil, err
		}
	}
	if it.Nonce, err = r.Uint(); err != nil {
		return nil, err
	}
	if it.Handler, err = r.Text(chain.MaxEventName); err != nil {
		return nil, err
	}
	if err = it.readPayload(&r); err != nil {
		return nil, err
	}
	// Bounded: by the fields of the record.
	for _, n := range []*uint64{(*uint64)(&it.Value), (*uint64)(&it.Cycles), (*uint64)(&it.Load), (*uint64)(&it.Cells), (*uint64)(&it.Parked)} {
		if *n, err = r.Uint(); err != nil {
			return nil, err
		}
	}
	if it.Late, err = r.Bool(); err != nil {
		return nil, err
	}
	return it, r.End()
}

// key returns the storage key of a record.
func key(table string, parts ...[]byte) state.StorageKey {
	b := []byte(table)
	// Bounded: by the parts of a key.
	for _, p := range parts {
		b = append(b, p...)
	}
	return state.NewStorageKey(state.VMNamespaceSystem, b)
}

func be64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// span is a pair of places: the first item, and behind the last.
type span struct{ first, next uint64 }

func (s span) len() uint64 { return s.next - s.first }

func readSpan(v state.View, k state.StorageKey) (span, bool, error) {
	n, ok, err := readPair(v, k)
	if err == nil && n[1] < n[0] {
		err = fmt.Errorf("%w: %x: places are out of order", ErrRecord, string(k))
	}
	return span{n[0], n[1]}, ok, err
}

func writeSpan(o *state.Overlay, k state.StorageKey, s span) { writePair(o, k, s.first, s.next) }

// readPair reads two numbers; false where there are none.
func readPair(v state.View, k state.StorageKey) (n [2]uint64, ok bool, err error) {
	b, err := v.Storage(chain.AddrMailbox, k)
	if err != nil || b == nil {
		return n, false, err
	}
	if err := cbor.DecodeUints(b, n[:]); err != nil {
		return n, false, fmt.Errorf("%w: %x: %w", ErrRecord, string(k), err)
	}
	return n, true, nil
}

func writePair(o *state.Overlay, k state.StorageKey, x, y uint64) {
	o.SetStorage(chain.AddrMailbox, k, cbor.AppendUints(make([]byte, 0, 19), x, y))
}

// readCount reads a number; false where there is none.
func readCount(v state.View, k state.StorageKey) (uint64, bool, error) {
	b, err := v.Storage(chain.AddrMailbox, k)
	if err != nil || b == nil {
		return 0, false, err
	}
	n, err := cbor.DecodeUint(b)
	if err != nil {
		return 0, false, fmt.Errorf("%w: %x: %w", ErrRecord, string(k), err)
	}
	return n, true, nil
}

// readItemAt returns an item that must be there.
func readItemAt(v state.View, k state.StorageKey) (*Item, error) {
	b, err := v.Storage(chain.AddrMailbox, k)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, fmt.Errorf("%w: item %x is missing", ErrRecord, string(k))
	}
	return DecodeItem(b)
}

func erase(o *state.Overlay, k state.StorageKey) { o.SetStorage(chain.AddrMailbox, k, nil) }
