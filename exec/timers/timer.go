package timers

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// Bounds of a timer.
const (
	// MaxHandlerBytes bounds the name of a handler (CIP-5's table).
	MaxHandlerBytes = 256
	// MaxAhead is how far ahead of the present a timer may be set: far beyond any
	// use, and so near that no sum of heights leaves 64 bits.
	MaxAhead = 1 << 38
	// InlineBytes is the longest data that stand in their timer's record. Longer ones lie
	// apart until it fires: records are read by whoever chooses among timers and moved
	// between the tiers, which nobody pays for by their bytes (ADR 153).
	InlineBytes = 1_024
	// maxDataBytes bounds what a record is read with; [Spec.Check] has the
	// parameter's bound.
	maxDataBytes = chain.MaxTxBytes
)

// ErrRecord means a record in the state that no execution wrote: a fault. Only the
// protocol writes there: programs write their own accounts, restorations those of
// dormant actors (exec's TestFaultSites lists every use).
var ErrRecord = errors.New("record of a timer is malformed")

// ID names a timer.
type ID = chain.Hash

// Spec is what is set.
type Spec struct {
	Actor   chain.Address // that sets it, pays for it and speaks in it: an actor, or the account of one's creator
	To      chain.Address // receiver of the message
	Height  chain.Height
	Every   uint64 // blocks between firings; 0: it fires once
	Handler string
	Data    []byte         // canonical; of a timer that was loaded nil as long as they lie apart, see [Take]
	Bidder  *chain.Address // Gas Bidding Agent; nil: the network's formula
	Limits  chain.Usage    // of a firing
	Load    chain.Cycles   // besides, for the first use of the receiver's code, as it was when the timer was set
}

// Bid is what a timer offers for its turn.
type Bid struct {
	MaxFee chain.FeePair // above which base fees make it wait
	Tip    chain.FeePair
	Limits chain.Usage // at most the timer's
	At     chain.Height
}

// place is where a timer waits.
type place uint8

const (
	nowhere  place = iota // it fires in this block
	inRing                // block ring
	inEpoch               // epoch queue
	inTree                // overflow tree
	inReady               // ready tree
	placeEnd = inReady + 1
)

// home is the account whose storage has what waits there. What sleeps has one of
// its own, so that what a block touches is in a trie that does not grow with it.
func (p place) home() chain.Address {
	if p == inEpoch || p == inTree {
		return chain.AddrTimersFar
	}
	return chain.AddrTimers
}

// Timer is a timer as the state has it.
type Timer struct {
	ID ID
	Spec
	Deposit chain.Wei
	apart   uint64        // bytes of the data that lie apart; 0: they are in the record
	home    chain.Address // account that has its records; zero: none yet
	link
}

// link is what changes while a timer waits. It has a record of its own: a
// neighbour in a list rewrites it, and data may be large.
type link struct {
	Escrow   chain.Wei    // for firings and bids (resolution 11.25)
	Unfunded chain.Height // since when it could not pay; 0: it could
	Bid      *Bid         // of its agent; nil: none yet

	since  chain.Height // when it was put off for the first time since it is due; 0: it was not
	place  place
	line   line         // of the slot's
	target chain.Height // block it is set for, Spec.Height
	aimed  bool         // it is in the count of the actor's timers for that block
	due    chain.Height // slot it waits for: target, or later where it was postponed
	rank   uint64       // in the ready tree
	// Neighbours in the list of the slot or epoch, and in that of the actor.
	prev, next   ID
	older, newer ID
}

// encodeSpec leaves out the height, which changes: it is in the link. Of data that lie
// apart it has how long they are.
func (t *Timer) encodeSpec() []byte {
	s := &t.Spec
	b := cbor.AppendArray(make([]byte, 0, 104+len(s.Data)), 10)
	b = cbor.AppendBytes(b, s.Actor[:])
	b = cbor.AppendBytes(b, s.To[:])
	b = cbor.AppendUint(b, s.Every)
	b = cbor.AppendText(b, s.Handler)
	if t.apart > 0 {
		b = cbor.AppendUint(b, t.apart)
	} else {
		b = cbor.AppendBytes(b, s.Data)
	}
	if s.Bidder == nil {
		b = cbor.AppendNull(b)
	} else {
		b = cbor.AppendBytes(b, s.Bidder[:])
	}
	b = cbor.AppendUint(b, uint64(s.Limits.Cycles))
	b = cbor.AppendUint(b, uint64(s.Limits.Cells))
	b = cbor.AppendUint(b, uint64(s.Load))
	return cbor.AppendUint(b, uint64(t.Deposit))
}

func (t *Timer) decodeSpec(b []byte) error {
	r, s := fields{r: cbor.NewReader(b)}, &t.Spec
	r.array(10)
	r.into(s.Actor[:])
	r.into(s.To[:])
	s.Every = r.uint()
	s.Handler = r.text(MaxHandlerBytes)
	s.Data, t.apart = r.data()
	if !r.null() {
		s.Bidder = new(chain.Address)
		r.into(s.Bidder[:])
	}
	s.Limits = chain.Usage{Cycles: chain.Cycles(r.uint()), Cells: chain.Cells(r.uint())}
	s.Load, t.Deposit = chain.Cycles(r.uint()), chain.Wei(r.uint())
	return r.end("timer")
}

// dataKey is of data that lie apart. They stay where they are while the timer moves.
func dataKey(id ID) state.StorageKey { return key(keyData, id[:]) }

// openData brings data that lie apart.
func (t *Timer) openData(v state.View) (err error) {
	if t.apart == 0 {
		return nil
	}
	if t.Data, err = v.Storage(chain.AddrTimersFar, dataKey(t.ID)); err == nil && uint64(len(t.Data)) != t.apart {
		err = fmt.Errorf("%w: timer %s has %d bytes of data, want %d", ErrRecord, t.ID, len(t.Data), t.apart)
	}
	return err
}

// Due reports whether the timer waits for its turn.
func (t *Timer) Due() bool { return t.place == inReady }

func (l *link) encode() []byte {
	b := cbor.AppendArray(make([]byte, 0, 208), 14)
	// Bounded: by the fields of the record.
	for _, v := range [...]uint64{
		uint64(l.Escrow), uint64(l.Unfunded), uint64(l.since), uint64(l.place), uint64(l.line), uint64(l.target), uint64(l.due), l.rank,
	} {
		b = cbor.AppendUint(b, v)
	}
	b = cbor.AppendBool(b, l.aimed)
	// Bounded: by the fields of the record.
	for _, id := range [...]*ID{&l.prev, &l.next, &l.older, &l.newer} {
		b = appendID(b, id)
	}
	if l.Bid == nil {
		return cbor.AppendNull(b)
	}
	b = cbor.AppendArray(b, 7)
	f := l.Bid
	// Bounded: by the fields of the record.
	for _, v := range [...]uint64{
		uint64(f.MaxFee.PerCycle), uint64(f.MaxFee.PerCell), uint64(f.Tip.PerCycle), uint64(f.Tip.PerCell),
		uint64(f.Limits.Cycles), uint64(f.Limits.Cells), uint64(f.At),
	} {
		b = cbor.AppendUint(b, v)
	}
	return b
}

func decodeLink(b []byte) (l link, err error) {
	r := fields{r: cbor.NewReader(b)}
	r.array(14)
	l.Escrow, l.Unfunded, l.since = chain.Wei(r.uint()), chain.Height(r.uint()), chain.Height(r.uint())
	where, in := r.uint(), r.uint()
	if where >= uint64(placeEnd) || in >= uint64(lines) {
		r.refuse(errPlace)
	}
	l.place, l.line = place(where), line(in)
	l.target, l.due, l.rank = chain.Height(r.uint()), chain.Height(r.uint()), r.uint()
	l.aimed = r.bool()
	// Bounded: by the fields of the record.
	for _, id := range [...]*ID{&l.prev, &l.next, &l.older, &l.newer} {
		r.id(id)
	}
	if !r.null() {
		r.array(7)
		l.Bid = &Bid{}
		f := l.Bid
		f.MaxFee = chain.FeePair{PerCycle: chain.Wei(r.uint()), PerCell: chain.Wei(r.uint())}
		f.Tip = chain.FeePair{PerCycle: chain.Wei(r.uint()), PerCell: chain.Wei(r.uint())}
		f.Limits = chain.Usage{Cycles: chain.Cycles(r.uint()), Cells: chain.Cells(r.uint())}
		f.At = chain.Height(r.uint())
	}
	return l, r.end("link")
}

var (
	errPlace  = errors.New("no such tier or line")
	errLength = errors.New("neither empty nor a name")
	errApart  = errors.New("data lie apart and are not long")
)

// appendID writes an id, or the empty string for none.
func appendID(b []byte, id *ID) []byte {
	if *id == (ID{}) {
		return cbor.AppendBytes(b, nil)
	}
	return cbor.AppendBytes(b, id[:])
}

// fields reads the fields of a record and keeps the first error.
type fields struct {
	r   cbor.Reader
	err error
}

func (f *fields) refuse(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *fields) array(n int) {
	if f.err == nil {
		f.err = f.r.ArrayOf(n)
	}
}

func (f *fields) uint() (v uint64) {
	if f.err == nil {
		v, f.err = f.r.Uint()
	}
	return v
}

func (f *fields) bool() (v bool) {
	if f.err == nil {
		v, f.err = f.r.Bool()
	}
	return v
}

func (f *fields) text(limit int) (v string) {
	if f.err == nil {
		v, f.err = f.r.Text(limit)
	}
	return v
}

// data reads data, or how long they are where they lie apart.
func (f *fields) data() (v []byte, apart uint64) {
	if at := f.r; f.err == nil {
		if n, err := at.Uint(); err == nil {
			f.r, apart = at, n
			if n <= InlineBytes || n > maxDataBytes {
				f.refuse(errApart)
			}
			return nil, apart
		}
	}
	return f.bytes(maxDataBytes), 0
}

func (f *fields) bytes(limit int) (v []byte) {
	if f.err == nil {
		v, f.err = f.r.Bytes(limit)
	}
	return v
}

func (f *fields) into(dst []byte) {
	if f.err == nil {
		f.err = f.r.BytesInto(dst)
	}
}

func (f *fields) null() bool { return f.err == nil && f.r.Null() }

// optional reads what may be empty into dst, which nothing names by zeros.
func (f *fields) optional(dst []byte) {
	b := f.bytes(len(dst))
	if len(b) != 0 && len(b) != len(dst) {
		f.refuse(errLength)
	}
	var set byte
	// Bounded: by an id or an address, 32 bytes.
	for _, v := range b {
		set |= v
	}
	if len(b) != 0 && set == 0 {
		f.refuse(errLength)
	}
	copy(dst, b)
}

func (f *fields) id(dst *ID) { f.optional(dst[:]) }

func (f *fields) end(what string) error {
	if f.err == nil {
		f.err = f.r.End()
	}
	if f.err != nil {
		return fmt.Errorf("%w: %s: %w", ErrRecord, what, f.err)
	}
	return nil
}
