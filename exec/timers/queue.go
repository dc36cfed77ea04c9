package timers

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// First bytes of the keys. Head, ring, ready tree and rosters are under
// [chain.AddrTimers], epochs, overflow tree and long data under [chain.AddrTimersFar], the
// others in the account of their timer's tier.
const (
	keyHead   = 'h' // the head record
	keySpec   = 't' // id
	keyData   = 'd' // id: data that lie apart
	keyLink   = 'l' // id
	keyRing   = 'r' // slot, line
	keyEpoch  = 'e' // epoch
	keyFar    = 'o' // height, id: overflow tree
	keyReady  = 'q' // rank, id: ready tree
	keyActor  = 'a' // actor
	keyTarget = 'c' // actor, height: how many of its timers that have this home are set for the block
)

// Clock is the block that the queue is used in.
type Clock struct {
	Params *params.Params
	Height chain.Height
	Base   chain.FeePair // base fees of the timer lane
}

func (c *Clock) limits() *params.Timer { return &c.Params.Timer }

// epochOf returns the epoch of a height: half a ring.
func (c *Clock) epochOf(h chain.Height) uint64 { return uint64(h) / (c.limits().RingBlocks / 2) }

// tier returns where a timer for height h waits.
func (c *Clock) tier(h chain.Height) place {
	e, now := c.epochOf(h), c.epochOf(c.Height)
	switch {
	case h <= c.Height:
		return inReady
	case e <= now+1:
		return inRing
	case e <= now+c.limits().QueueEpochs:
		return inEpoch
	}
	return inTree
}

// Head is what there is of the queue as a whole.
type Head struct {
	Depth   uint64       // timers in all tiers
	BaseFee chain.Wei    // price of setting one (whitepaper, "Timer Queue Basefee")
	Ready   uint64       // of Depth, those that are due and wait for their turn
	Used    chain.Cycles // by all lanes of the block before: what agents are told (CIP-1)

	behind    [lines]chain.Height // lowest height whose list of the line is not emptied; 0: none below the present
	epoch     uint64              // lowest epoch that is not emptied; 0: none so far
	farRoot   nodeKey
	farFirst  chain.Height // lowest height in the overflow tree; 0: it is empty
	readyRoot nodeKey
}

// queue is the head record under change.
type queue struct {
	Clock
	o *state.Overlay
	Head
	was Head
}

func key(kind byte, parts ...[]byte) state.StorageKey {
	b := []byte{kind}
	// Bounded: by the parts of a key.
	for _, p := range parts {
		b = append(b, p...)
	}
	return state.NewStorageKey(state.VMNamespaceSystem, b)
}

func number(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// ReadHead returns the head record; before the first timer, what it begins as.
func ReadHead(v state.View, p *params.Params) (Head, error) {
	h := Head{BaseFee: min(max(p.Timer.InitialBaseFee, p.Timer.MinBaseFee), p.Timer.MaxBaseFee)}
	b, err := v.Storage(chain.AddrTimers, key(keyHead))
	if err != nil || b == nil {
		return h, err
	}
	return decodeHead(b)
}

func decodeHead(b []byte) (h Head, err error) {
	r := fields{r: cbor.NewReader(b)}
	r.array(8 + int(lines))
	h.Depth, h.BaseFee, h.Ready, h.Used = r.uint(), chain.Wei(r.uint()), r.uint(), chain.Cycles(r.uint())
	// Bounded: by the lines, five.
	for l := range h.behind {
		h.behind[l] = chain.Height(r.uint())
	}
	h.epoch, h.farFirst = r.uint(), chain.Height(r.uint())
	r.optional(h.farRoot[:])
	r.optional(h.readyRoot[:])
	return h, r.end("head")
}

func (h *Head) encode() []byte {
	b := cbor.AppendArray(make([]byte, 0, 190), 8+int(lines))
	// Bounded: by the fields of the record.
	for _, v := range [...]uint64{h.Depth, uint64(h.BaseFee), h.Ready, uint64(h.Used)} {
		b = cbor.AppendUint(b, v)
	}
	// Bounded: by the lines, five.
	for _, at := range h.behind {
		b = cbor.AppendUint(b, uint64(at))
	}
	b = cbor.AppendUint(cbor.AppendUint(b, h.epoch), uint64(h.farFirst))
	// Bounded: by the fields of the record.
	for _, k := range [...]*nodeKey{&h.farRoot, &h.readyRoot} {
		if *k == (nodeKey{}) {
			b = cbor.AppendBytes(b, nil)
		} else {
			b = cbor.AppendBytes(b, k[:])
		}
	}
	return b
}

func open(o *state.Overlay, c Clock) (*queue, error) {
	h, err := ReadHead(o, c.Params)
	return &queue{Clock: c, o: o, Head: h, was: h}, err
}

// close writes the head record if it changed.
func (q *queue) close() {
	if q.Head != q.was {
		q.o.SetStorage(chain.AddrTimers, key(keyHead), q.encode())
		q.was = q.Head
	}
}

// adjust moves the base fee by the depth that the block before left (whitepaper,
// "Timer Queue Basefee"), up to timer.max_base_fee: timers that wait for years pay it
// once, and would raise it for all others in every block (ADR 155).
func (q *queue) adjust() {
	l := q.limits()
	rule := fees.Rule{Alpha: l.BaseFeeAlpha, DeltaBasisPoints: l.DeltaBasisPoints, Floor: l.MinBaseFee}
	q.BaseFee = min(rule.NextFee(q.BaseFee, q.Depth, l.QueueTarget), l.MaxBaseFee)
}

// price is what the k-th timer of an actor for one block costs, k from 1: the
// base fee, which each one beyond timer.surcharge_free doubles (whitepaper,
// "Same-Block Exponential Pricing"; resolutions 7.2, 11.24). It stops at the
// largest value, which nobody has.
func (q *queue) price(k uint64) chain.Wei {
	free := q.limits().SurchargeFree
	if k <= free {
		return q.BaseFee
	}
	if doubles := k - free; doubles <= uint64(bits.LeadingZeros64(uint64(q.BaseFee))) {
		return q.BaseFee << doubles
	}
	return math.MaxUint64
}

// deposit is that of an actor's n-th timer, n from 1 (whitepaper, "Progressive
// Deposit Model"; resolution 7.3).
func (q *queue) deposit(n uint64) chain.Wei {
	l := q.limits()
	hi, lo := bits.Mul64(uint64(l.BaseDeposit), 1+n/l.DepositStepTimers)
	if hi != 0 {
		return math.MaxUint64
	}
	return chain.Wei(lo)
}

// Load returns a timer; nil if there is none of that id.
func Load(v state.View, id ID) (*Timer, error) {
	t := &Timer{ID: id, home: chain.AddrTimers}
	b, err := v.Storage(t.home, key(keySpec, id[:]))
	if err == nil && b == nil {
		t.home = chain.AddrTimersFar
		b, err = v.Storage(t.home, key(keySpec, id[:]))
	}
	if err != nil || b == nil {
		return nil, err
	}
	if err = t.decodeSpec(b); err != nil {
		return nil, err
	}
	t.link, err = loadLink(v, t.home, id)
	t.Height = t.target
	return t, err
}

func loadLink(v state.View, home chain.Address, id ID) (link, error) {
	b, err := v.Storage(home, key(keyLink, id[:]))
	if err == nil && b == nil {
		err = fmt.Errorf("%w: timer %s has no place", ErrRecord, id)
	}
	if err != nil {
		return link{}, err
	}
	return decodeLink(b)
}

func (q *queue) saveLink(t *Timer) {
	q.o.SetStorage(t.home, key(keyLink, t.ID[:]), t.link.encode())
}

// saveSpec writes what was set, and of a new timer the data apart if they are long.
func (q *queue) saveSpec(t *Timer) {
	if t.apart == 0 && len(t.Data) > InlineBytes {
		q.o.SetStorage(chain.AddrTimersFar, dataKey(t.ID), t.Data)
		t.apart = uint64(len(t.Data))
	}
	q.o.SetStorage(t.home, key(keySpec, t.ID[:]), t.encodeSpec())
}

// erase forgets a timer that is in no tier.
func (q *queue) erase(t *Timer) error {
	s, err := ReadRoster(q.o, t.Actor)
	if err != nil {
		return err
	}
	s.Active--
	err = q.leaveHome(t, &s)
	if t.apart > 0 {
		q.o.SetStorage(chain.AddrTimersFar, dataKey(t.ID), nil)
	}
	q.saveRoster(t.Actor, s)
	q.Depth--
	return err
}

// house moves the records of a timer to the account of its tier. Its count of the
// block moves by [queue.aim].
func (q *queue) house(t *Timer) error {
	to := t.place.home()
	if t.home == to {
		return nil
	}
	s, err := ReadRoster(q.o, t.Actor)
	if err != nil {
		return err
	}
	if t.home != (chain.Address{}) {
		if err := q.leaveHome(t, &s); err != nil {
			return err
		}
	}
	t.home = to
	err = q.joinHome(t, &s)
	q.saveRoster(t.Actor, s)
	q.saveSpec(t)
	return err
}
