package actor

import (
	"encoding/binary"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
)

// Envelope is a message on its way to a handler.
type Envelope struct {
	ID      chain.Hash // zero for the message of a transaction
	From    chain.Address
	To      chain.Address
	Nonce   uint64 // number of the message among its sender's (resolution 7.8)
	Handler string
	Payload []byte // canonical
	Value   chain.Wei
	Cycles  chain.Cycles // reserved for the handler (resolution 11.21)
	Code    chain.Hash   // of the receiver when it was sent
	Load    chain.Cycles // reserved for the first use of that in the block
	Depth   uint64       // 1 for what the first handler of a run sends
	Parent  uint64       // 0, or 1 + index in the run's trace
}

// hash is the hash of what the message says, without who sends it and when.
func (e *Envelope) hash() chain.Hash {
	b := cbor.AppendArray(nil, 5)
	b = cbor.AppendBytes(b, e.To[:])
	b = cbor.AppendText(b, e.Handler)
	b = cbor.AppendBytes(b, e.Payload)
	b = cbor.AppendUint(b, uint64(e.Value))
	return keccak.Sum256(cbor.AppendUint(b, uint64(e.Cycles)))
}

// MessageID is keccak256(sender ‖ nonce ‖ msg_hash) (whitepaper §3.3; resolution
// 7.8).
func MessageID(sender chain.Address, nonce uint64, message chain.Hash) chain.Hash {
	return keccak.Sum256(sender[:], binary.BigEndian.AppendUint64(nil, nonce), message[:])
}

// AppendMessage writes what [chain.ParseMessage] reads.
func AppendMessage(dst []byte, handler string, arg []byte) []byte {
	return cbor.AppendBytes(cbor.AppendText(cbor.AppendArray(dst, 2), handler), arg)
}

// drain delivers what the handlers of the run have sent, breadth first.
func (r *Run) drain() error {
	// Paid: by what each message has reserved; there are fanout_per_tx at most, 1,024.
	for r.next < len(r.queue) {
		e := r.queue[r.next]
		r.queue[r.next] = Envelope{}
		r.next++
		if err := r.deliverMessage(&e); err != nil {
			return err
		}
	}
	return nil
}

// willLoad reports whether a message that is not delivered yet has reserved the first
// use of a code.
func (r *Run) willLoad(code chain.Hash) bool {
	// Bounded: by fanout_per_tx, 1,024, for a send, which costs 1,000 cycles.
	for i := r.next; i < len(r.queue); i++ {
		if r.queue[i].Load > 0 && r.queue[i].Code == code {
			return true
		}
	}
	return false
}

// deliverMessage hands one message of the queue to its handler, or to the mailbox.
func (r *Run) deliverMessage(e *Envelope) error {
	d := chain.Delivery{Message: e.ID, Parent: e.Parent, Depth: e.Depth, To: e.To}
	waits, err := r.mustWait(e)
	if err != nil {
		return err
	}
	if waits {
		if d.Code, err = r.park(e); err != nil {
			return err
		}
		if d.Status = chain.DeliveryWaits; d.Code != chain.CodeOK {
			d.Status = chain.DeliveryFailed
			r.cycles += e.Cycles + e.Load
			err = r.credit(e.From, e.Value)
		}
		r.trace = append(r.trace, d)
		return err
	}
	r.trace = append(r.trace, d) // its place is the parent of what it sends
	i := len(r.trace) - 1
	own := r.block.limit(e.Cycles)
	v, err := r.handle(e, own, own+e.Load)
	if err != nil {
		return err
	}
	r.cycles += e.Cycles + e.Load - v.used
	r.trace[i].Code, r.trace[i].Cycles = v.code, v.own
	if v.code == chain.CodeOK {
		r.trace[i].Status = chain.DeliverySucceeded
		return nil
	}
	return r.credit(e.From, e.Value)
}

// mustWait reports whether a message has to wait for a later block: it is nested
// too deep, its receiver has used up its cycles of this block, or its sender has something
// waiting there, whose order it keeps (resolutions 7.8, 11.21, 11.22). For what others have
// waiting it leaves the receiver what a block gives: so they come, and a stranger's that asks
// for more than that, and may never, holds up nobody else's (ADR 165).
func (r *Run) mustWait(e *Envelope) (bool, error) {
	p := &r.block.Params.Actor
	if e.Depth > p.CallDepth {
		return true, nil
	}
	a, err := r.state.CodeAndMeta(e.To)
	if err != nil || !a.HasCode() {
		return false, err
	}
	l, err := r.quota(e.To)
	if err != nil || l.Waiting == 0 {
		return !r.block.hasLeft(&l, e.Cycles), err
	}
	rest := min(p.BlockCycles, p.BlockCyclesBurst)
	if l.Left(p, r.block.Height) < r.block.limit(e.Cycles)+rest {
		return true, nil
	}
	return mailbox.Waits(r.state, e.To, e.From)
}

// pay gives the receiver the value of a message. A balance beyond 64 bits is a
// verdict on the message.
func (r *Run) pay(e *Envelope) (uint16, error) {
	err := r.credit(e.To, e.Value)
	if errors.Is(err, funds.ErrOverflow) {
		return chain.CodeBalanceOverflow, nil
	}
	return chain.CodeOK, err
}
