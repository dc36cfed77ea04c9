package runners

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// call is an operation on the registry by a runner.
type call struct {
	*service.Call
	book Book
}

// Instructions returns those at [chain.AddrRunnerRegistry] (CIP-2 §4; resolutions 12.A).
func Instructions() service.Table {
	return service.Table{Address: chain.AddrRunnerRegistry, Instructions: []service.Instruction{
		row(work{reads: 3, writes: 5, offer: true}, service.TakesValue, (*call).register),
		heartbeat(),
		row(work{reads: 3, writes: 3, offer: true}, service.TakesValue, (*call).update),
		row(work{reads: 2, writes: 3}, service.NoValue, func(c *call, _ *chain.RunnerDeregister) error { return c.book.Deregister(c.By) }),
		row(work{reads: 1, writes: 2}, service.NoValue, func(c *call, q *chain.RunnerUnstake) error { return c.book.Unstake(c.By, q.Amount) }),
		row(work{reads: 2, writes: 3}, service.NoValue, (*call).withdraw),
		row(work{reads: 1, writes: 2}, service.NoValue, func(c *call, q *chain.RunnerPause) error { return c.book.SetPaused(c.By, q.Paused) }),
		row(work{reads: 3, writes: 3, offer: true}, service.NoValue, func(c *call, q *chain.RunnerAttest) error {
			return c.update(&chain.RunnerUpdate{Attestation: &q.Attestation})
		}),
		row(work{reads: 1, writes: 2}, service.NoValue, func(c *call, _ *chain.RunnerReturn) error { return c.book.Return(c.By) }),
	}}
}

// work is how many rows an operation reads and writes, and whether an offer is among them.
type work struct {
	reads, writes chain.Cycles
	offer         bool
}

// rowBytes is what the rows of an operation have besides the bytes of an offer: a record
// of at most 260, and keys.
const rowBytes = 512

// mostArgumentBytes bounds the arguments of an instruction, which are read before they are
// priced: an offer, and the largest job.
const mostArgumentBytes = chain.MaxOfferBytes + 16

// pageCells are for the copies on four pages that [Book.Fold] writes of a runner that an
// instruction has changed, and for the one of them that may be kept in the state: who keeps
// old states keeps them for good, two bytes a cell.
const pageCells = chain.Cells(listPage*(activeBytes+offerBytes+loadBytes)+standingPage*standingBytes+KeptBytes) / 2

// trancheCells are what an instruction costs that makes no row: its record grows by a
// tranche at most. No other price is put on it, or a state that is full would keep stakes
// from leaving.
const trancheCells = 32

// price is that of so much work on storage, and of reading and checking the bytes of an
// offer. The row that is written costs extra ([call.payRow]).
func (w work) price(p *params.Params, bytes int, attested bool) chain.Usage {
	api := &p.API
	n := chain.Cycles(bytes)
	u := chain.Usage{Cycles: w.reads*api.StorageReadCycles + w.writes*api.StorageWriteCycles +
		rowBytes*(api.StorageReadByteCycles+api.StorageWriteByteCycles)}
	if w.offer {
		u.Cycles += n*api.ManifestByteCycles +
			chain.MaxOfferBytes*(api.StorageReadByteCycles+api.HashByteCycles) // that of before, and whether it changes
	}
	u.Cells = pageCells
	if !w.offer {
		u.Cells += trancheCells
	}
	if attested {
		u.Cycles += api.VerifySignatureCycles + api.HashCycles + n*api.HashByteCycles
	}
	return u
}

// asked is what an instruction asks for, with the bytes that it takes.
type asked[Q any] struct {
	request *Q
	bytes   int
}

// row makes a row of the table out of what is its own.
func row[T any, Q interface {
	*T
	chain.Request
}](w work, value service.ValueRule, run func(*call, Q) error) service.Instruction {
	return service.Instruction{
		Opcode: Q(new(T)).Opcode(), Value: value, OwnGrowth: !w.offer,
		Read: func(r *cbor.Reader) (service.Args, error) {
			if r.Remaining() > mostArgumentBytes {
				return nil, ErrLong
			}
			a, from := asked[T]{request: new(T)}, r.Offset()
			err := chain.ReadRequest(r, Q(a.request))
			a.bytes = r.Offset() - from
			return a, err
		},
		Price: func(p *params.Params, args service.Args) chain.Usage {
			a := args.(asked[T])
			return w.price(p, a.bytes, attestationOf(Q(a.request)) != nil)
		},
		Run: func(c *service.Call, args service.Args) ([]byte, error) {
			return nil, run(&call{c, Book{State: c.State, Params: c.Params, Height: c.Height}}, args.(asked[T]).request)
		},
	}
}

// attestationOf returns the attestation that comes with an instruction, whose signature is
// checked.
func attestationOf(q chain.Request) *chain.RunnerAttestation {
	switch q := q.(type) {
	case *chain.RunnerRegister:
		return q.Attestation
	case *chain.RunnerUpdate:
		return q.Attestation
	case *chain.RunnerAttest:
		return &q.Attestation
	}
	return nil
}

// heartbeat has a price of its own, which is intrinsic (resolution 11.13): it replaces a
// row and rewrites one.
func heartbeat() service.Instruction {
	return service.Instruction{
		Opcode: chain.OpRunnerHeartbeat, OwnGrowth: true,
		Read: func(*cbor.Reader) (service.Args, error) { return nil, nil },
		Run: func(c *service.Call, _ service.Args) ([]byte, error) {
			b := Book{State: c.State, Params: c.Params, Height: c.Height}
			revived, err := b.Heartbeat(c.By)
			if err != nil || !revived {
				return nil, err
			}
			api := &c.Params.API
			if err := c.Run.Take(chain.Usage{
				Cycles: 2 * api.StorageWriteCycles, Cells: chain.Cells(api.NewEntryCells) + rowBytes*api.StorageWriteByteCells + pageCells,
			}); err != nil {
				return nil, err
			}
			return nil, emit(c, healthEvent(c.By, true))
		},
	}
}

// emit keeps an event and charges for it.
func emit(c *service.Call, e chain.Event) error {
	api := &c.Params.API
	n := len(e.Name) + len(e.Data)
	err := c.Run.Take(chain.Usage{
		Cycles: api.EmitEventCycles + chain.Cycles(n)*api.EmitEventByteCycles,
		Cells:  chain.Cells(api.OfEvent(len(e.Name), len(e.Data))),
	})
	if err != nil {
		return err
	}
	if c.Run.Events() >= chain.MaxEvents {
		return verdict.New(verdict.Limit, "the transaction emits no more events")
	}
	c.Run.Emit(e)
	return nil
}

func (c *call) register(q *chain.RunnerRegister) error {
	o := Offer{q.RateCard, q.Capabilities, q.Attestation, q.Endpoint}
	all := &chain.RunnerUpdate{Capabilities: &o.Capabilities, Endpoint: &o.Endpoint}
	if err := errors.Join(o.checkChanged(c.Params, all), c.attested(q)); err != nil {
		return err
	}
	if err := funds.Credit(c.State, chain.AddrRunnerRegistry, c.Value); err != nil {
		return err
	}
	r, err := c.book.Register(c.By, c.Value, q.MaxJobValue, &o, c.payRow)
	if err != nil {
		return err
	}
	data := cbor.AppendBytes(cbor.AppendArray(nil, 3), c.By[:])
	data = cbor.AppendUint(cbor.AppendUint(data, uint64(r.Index)), uint64(r.Stake))
	return emit(c.Call, chain.Event{Emitter: chain.AddrRunnerRegistry, Name: EventRegistered, Data: data})
}

// payRow charges for writing the row of an offer.
func (c *call) payRow(bytes, overwritten int) error {
	api := &c.Params.API
	return c.Run.Take(chain.Usage{
		Cycles: api.HashCycles + chain.Cycles(bytes)*(api.HashByteCycles+api.StorageWriteByteCycles),
		Cells:  chain.Cells(overwritten) * api.StorageWriteByteCells,
	})
}

func (c *call) attested(q chain.Request) error {
	a := attestationOf(q)
	if a == nil {
		return nil
	}
	return checkAttestation(c.Params, c.Height, c.By, a)
}

func (c *call) update(q *chain.RunnerUpdate) error {
	if err := c.attested(q); err != nil {
		return err
	}
	if err := funds.Credit(c.State, chain.AddrRunnerRegistry, c.Value); err != nil {
		return err
	}
	return c.book.Update(c.By, c.Value, q, c.payRow)
}

func (c *call) withdraw(*chain.RunnerWithdraw) error {
	free, err := c.book.Withdraw(c.By)
	if err != nil {
		return err
	}
	if err := funds.Debit(c.State, chain.AddrRunnerRegistry, free, c.Height); err != nil {
		return err
	}
	return c.Run.GiveBack(c.By, free)
}
