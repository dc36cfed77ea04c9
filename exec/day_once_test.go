package exec_test

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// once is what receipts and the events of the beasts say became of messages and
// timers: each message is delivered, refused or waits, and it does one of these
// once (whitepaper §3.3).
type once struct {
	done    map[chain.Hash]bool          // messages that were delivered or refused
	waiting map[chain.Hash]chain.Address // messages that wait, with their receivers
	spent   map[chain.Hash]bool          // timers that fire once and have fired
	got     map[chain.Address]uint64     // messages by receiver, whose handlers ran to the end
	ticks   map[chain.Address]uint64     // firings likewise
}

func newOnce() once {
	return once{map[chain.Hash]bool{}, map[chain.Hash]chain.Address{}, map[chain.Hash]bool{}, map[chain.Address]uint64{}, map[chain.Address]uint64{}}
}

// block follows a block whose writes are not in the books yet.
func (o *once) block(d *day, r *exec.Result, txs []*chain.VerifiedTx) {
	parked := map[chain.Hash]chain.Address{} // in this block, for later ones
	var firings map[chain.Hash]*timers.Timer
	for i := range r.Receipts {
		rec := &r.Receipts[i]
		switch {
		case i < len(txs) || rec.Lane == chain.LaneSystem:
		case rec.Lane == chain.LaneTimer:
			if firings == nil {
				firings = o.firings(d)
			}
			o.fired(d, rec, firings)
		default:
			o.arrived(d, rec)
		}
		if rec.Status == chain.StatusSucceeded {
			o.sent(d, rec, parked)
		}
	}
	for id, to := range parked {
		if _, ok := o.waiting[id]; ok || o.done[id] {
			d.errorf("message %s waits a second time", id)
		}
		o.waiting[id] = to
	}
}

// firings are the ids that firings of the timers would have in the next block.
func (o *once) firings(d *day) map[chain.Hash]*timers.Timer {
	out := map[chain.Hash]*timers.Timer{}
	for _, t := range d.slots.timers() {
		out[keccak.Sum256([]byte("cowboy-timer-firing-v1"), t.ID[:], binary.BigEndian.AppendUint64(nil, uint64(d.height+1)))] = t
	}
	return out
}

// fired is the receipt of a firing.
func (o *once) fired(d *day, rec *chain.Receipt, firings map[chain.Hash]*timers.Timer) {
	t := firings[rec.TxHash]
	if t == nil {
		d.errorf("receipt %s is that of no timer, or its second in the block", rec.TxHash)
		return
	}
	delete(firings, rec.TxHash)
	if o.spent[t.ID] || t.Height > d.height+1 {
		d.errorf("timer %s fires twice, or before block %d", t.ID, t.Height)
	}
	if t.Every == 0 {
		o.spent[t.ID] = true
	}
	d.did["timer fired"]++
	if rec.Status == chain.StatusSucceeded {
		o.ticks[t.To]++
	}
}

// arrived is the receipt of a message that waited.
func (o *once) arrived(d *day, rec *chain.Receipt) {
	to, ok := o.waiting[rec.TxHash]
	if !ok {
		d.errorf("message %s is delivered and did not wait", rec.TxHash)
		return
	}
	delete(o.waiting, rec.TxHash)
	o.done[rec.TxHash] = true
	switch {
	case rec.Code == chain.CodeMailboxFull && rec.CyclesUsed == 0:
		d.did["refused by a full box"]++
	case rec.Status == chain.StatusSucceeded:
		o.got[to]++
		d.did["delivered later"]++
	default:
		d.did["message failed later"]++
	}
}

// sent holds what the handlers of a run say that they sent to its trace.
func (o *once) sent(d *day, rec *chain.Receipt, parked map[chain.Hash]chain.Address) {
	said := map[chain.Hash]bool{}
	for _, e := range rec.Events {
		switch e.Name {
		case "sent":
			said[readID(d, e.Data)] = true
		case "deferred":
			id, to := readDeferred(d, e.Data)
			parked[id] = to
			d.did["deferred"]++
		}
	}
	for _, m := range rec.Trace {
		if !said[m.Message] || o.done[m.Message] {
			d.errorf("message %s was not sent, or delivered before", m.Message)
		}
		delete(said, m.Message)
		switch m.Status {
		case chain.DeliverySucceeded:
			o.got[m.To]++
			d.did["delivered at once"]++
		case chain.DeliveryWaits:
			parked[m.Message] = m.To
			d.did["parked"]++
			continue
		default:
			d.did["message failed"]++
		}
		o.done[m.Message] = true
	}
	for id := range said {
		d.errorf("message %s was sent and is in no trace", id)
	}
}

func readID(d *day, data []byte) chain.Hash {
	r := cbor.NewReader(data)
	return hashOf(d, &r)
}

func readDeferred(d *day, data []byte) (id chain.Hash, to chain.Address) {
	r := cbor.NewReader(data)
	if err := r.ArrayOf(2); err != nil {
		d.errorf("event: %v", err)
	}
	id = hashOf(d, &r)
	copy(to[:], textBytes(d, &r))
	return id, to
}

func hashOf(d *day, r *cbor.Reader) (h chain.Hash) {
	copy(h[:], textBytes(d, r))
	return h
}

// textBytes reads what a program knows as text, "0x" and hex digits.
func textBytes(d *day, r *cbor.Reader) []byte {
	s, err := r.Text(66)
	if err != nil {
		d.errorf("text: %v", err)
	}
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		d.errorf("%q: %v", s, err)
	}
	return b
}

// checkCounters compares what the actors have counted with what the receipts say.
func (d *day) checkCounters() {
	d.t.Helper()
	for _, b := range d.herd {
		got, ticks := d.counter(b, "got"), d.counter(b, "ticks")
		if got != d.once.got[b] || ticks != d.once.ticks[b] {
			d.errorf("%s counted %d messages and %d timers, receipts %d and %d", b, got, ticks, d.once.got[b], d.once.ticks[b])
		}
	}
}

// counter reads a number of a beast's, of its backup while it is evicted.
func (d *day) counter(b chain.Address, name string) uint64 {
	v := d.slots[b][pvmKey(name)]
	if kept := d.attic[b]; kept != nil {
		v = kept.slots[pvmKey(name)]
	}
	if v == nil {
		return 0
	}
	r := cbor.NewReader(v)
	n, err := r.Uint()
	if err != nil {
		d.errorf("%s of %s: %v", name, b, err)
	}
	return n
}
