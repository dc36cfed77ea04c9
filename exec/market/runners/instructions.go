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

// args are the arguments of an instruction, those that it has.
type args struct {
	Changes
	amount chain.Wei
	paused bool
	bytes  int // that the offer takes
}

// call is an operation on the registry by a runner.
type call struct {
	*service.Call
	book Book
}

// Instructions returns those at [chain.AddrRunnerRegistry] (CIP-2 §4; resolutions 12.A).
func Instructions() service.Table {
	return service.Table{Address: chain.AddrRunnerRegistry, Instructions: []service.Instruction{
		row(chain.OpRunnerRegister, readRegister, work{reads: 3, writes: 5}, (*call).register, service.TakesValue),
		heartbeat(),
		row(chain.OpRunnerUpdate, readUpdate, work{reads: 3, writes: 3}, (*call).update, service.TakesValue),
		row(chain.OpRunnerDeregister, readNothing, work{reads: 2, writes: 3},
			func(c *call, _ *args) error { return c.book.Deregister(c.By) }, service.NoValue),
		row(chain.OpRunnerUnstake, readAmount, work{reads: 1, writes: 2},
			func(c *call, a *args) error { return c.book.Unstake(c.By, a.amount) }, service.NoValue),
		row(chain.OpRunnerWithdraw, readNothing, work{reads: 2, writes: 3}, (*call).withdraw, service.NoValue),
		row(chain.OpRunnerPause, readPaused, work{reads: 1, writes: 2},
			func(c *call, a *args) error { return c.book.SetPaused(c.By, a.paused) }, service.NoValue),
		row(chain.OpRunnerAttest, readAttest, work{reads: 3, writes: 3}, (*call).update, service.NoValue),
		row(chain.OpRunnerReturn, readNothing, work{reads: 1, writes: 2},
			func(c *call, _ *args) error { return c.book.Return(c.By) }, service.NoValue),
	}}
}

// work is how many rows an operation reads and writes.
type work struct{ reads, writes chain.Cycles }

// rowBytes is what the rows of an operation have besides the bytes of an offer: a record
// of at most 260, keys, a mark.
const rowBytes = 512

// price is that of so much work on storage, and of the bytes that an offer takes: read,
// checked, hashed and written.
func (w work) price(p *params.Params, a *args) chain.Usage {
	api := &p.API
	n := chain.Cycles(a.bytes)
	u := chain.Usage{Cycles: w.reads*api.StorageReadCycles + w.writes*api.StorageWriteCycles +
		rowBytes*(api.StorageReadByteCycles+api.StorageWriteByteCycles)}
	if n > 0 {
		u.Cycles += api.HashCycles + n*(api.ManifestByteCycles+api.HashByteCycles+api.StorageWriteByteCycles) +
			chain.MaxOfferBytes*api.StorageReadByteCycles // that of before, whatever it takes
	}
	if a.Attestation != nil {
		u.Cycles += api.VerifySignatureCycles + api.HashCycles + n*api.HashByteCycles
	}
	return u
}

func row(opcode uint64, read func(*cbor.Reader, *args) error, w work, run func(*call, *args) error, value service.ValueRule) service.Instruction {
	return service.Instruction{
		Opcode: opcode, Value: value,
		Read: func(r *cbor.Reader) (service.Args, error) {
			a, from := new(args), r.Offset()
			err := read(r, a)
			if a.holdsOffer() {
				a.bytes = r.Offset() - from
			}
			return a, err
		},
		Price: func(p *params.Params, a service.Args) chain.Usage { return w.price(p, a.(*args)) },
		Run: func(c *service.Call, a service.Args) ([]byte, error) {
			return nil, run(&call{c, Book{c.State, c.Params, c.Height}}, a.(*args))
		},
	}
}

// heartbeat has a price of its own, which is intrinsic (resolution 11.13): it replaces a
// row and rewrites one.
func heartbeat() service.Instruction {
	return service.Instruction{
		Opcode: chain.OpRunnerHeartbeat, OwnGrowth: true,
		Read: func(*cbor.Reader) (service.Args, error) { return nil, nil },
		Run: func(c *service.Call, _ service.Args) ([]byte, error) {
			b := Book{c.State, c.Params, c.Height}
			revived, err := b.Heartbeat(c.By)
			if err != nil || !revived {
				return nil, err
			}
			api := &c.Params.API
			if err := c.Run.Take(chain.Usage{
				Cycles: 2 * api.StorageWriteCycles, Cells: chain.Cells(api.NewEntryCells) + rowBytes*api.StorageWriteByteCells,
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

func (c *call) register(a *args) error {
	o := Offer{Endpoint: *a.Endpoint, Card: *a.Card, Capabilities: *a.Capabilities, Attestation: a.Attestation}
	if err := errors.Join(o.check(c.Params), c.attested(a)); err != nil {
		return err
	}
	if err := funds.Credit(c.State, chain.AddrRunnerRegistry, c.Value); err != nil {
		return err
	}
	r, err := c.book.Register(c.By, c.Value, *a.MaxJobValue, &o)
	if err != nil {
		return err
	}
	data := cbor.AppendBytes(cbor.AppendArray(nil, 3), c.By[:])
	data = cbor.AppendUint(cbor.AppendUint(data, uint64(r.Index)), uint64(r.Stake))
	return emit(c.Call, chain.Event{Emitter: chain.AddrRunnerRegistry, Name: EventRegistered, Data: data})
}

func (c *call) attested(a *args) error {
	if a.Attestation == nil {
		return nil
	}
	return checkAttestation(c.Params, c.Height, c.By, a.Attestation)
}

func (c *call) update(a *args) error {
	if err := c.attested(a); err != nil {
		return err
	}
	if err := funds.Credit(c.State, chain.AddrRunnerRegistry, c.Value); err != nil {
		return err
	}
	a.AddStake = c.Value
	return c.book.Update(c.By, &a.Changes)
}

func (c *call) withdraw(*args) error {
	free, err := c.book.Withdraw(c.By)
	if err != nil {
		return err
	}
	if err := funds.Debit(c.State, chain.AddrRunnerRegistry, free, c.Height); err != nil {
		return err
	}
	return c.Run.GiveBack(c.By, free)
}

// holdsOffer reports whether there is anything of an offer.
func (a *args) holdsOffer() bool {
	return a.Card != nil || a.Capabilities != nil || a.Attestation != nil || a.Endpoint != nil
}

func readNothing(*cbor.Reader, *args) error { return nil }

func readAmount(r *cbor.Reader, a *args) error {
	n, err := r.Uint()
	a.amount = chain.Wei(n)
	return err
}

func readPaused(r *cbor.Reader, a *args) (err error) {
	a.paused, err = r.Bool()
	return err
}

func readAttest(r *cbor.Reader, a *args) (err error) {
	if a.Attestation, err = readAttestation(r); err == nil && a.Attestation == nil {
		err = argument("attestation: missing")
	}
	return err
}

// readRegister reads [max_job_value, rate_card, capabilities, attestation or null, endpoint].
func readRegister(r *cbor.Reader, a *args) error {
	value, err := r.Uint()
	if err != nil {
		return err
	}
	a.MaxJobValue = (*chain.Wei)(&value)
	a.Card, a.Capabilities = new(chain.RateCard), new(chain.Capabilities)
	if err := readCard(r, a.Card); err != nil {
		return err
	}
	if err := readCapabilities(r, a.Capabilities); err != nil {
		return err
	}
	if a.Attestation, err = readAttestation(r); err != nil {
		return err
	}
	endpoint, err := r.Text(chain.MaxEndpointBytes)
	a.Endpoint = &endpoint
	return err
}

// readUpdate reads the same, each of which may be null: it stays then.
func readUpdate(r *cbor.Reader, a *args) (err error) {
	if !r.Null() {
		value, err := r.Uint()
		if err != nil {
			return err
		}
		a.MaxJobValue = (*chain.Wei)(&value)
	}
	if !r.Null() {
		a.Card = new(chain.RateCard)
		if err := readCard(r, a.Card); err != nil {
			return err
		}
	}
	if !r.Null() {
		a.Capabilities = new(chain.Capabilities)
		if err := readCapabilities(r, a.Capabilities); err != nil {
			return err
		}
	}
	if a.Attestation, err = readAttestation(r); err != nil {
		return err
	}
	if r.Null() {
		return nil
	}
	endpoint, err := r.Text(chain.MaxEndpointBytes)
	a.Endpoint = &endpoint
	return err
}

// readItem reads one item of an instruction or a row and hands its bytes on.
func readItem(r *cbor.Reader, decode func([]byte) error) error {
	raw, err := r.Raw(cbor.Limits{Bytes: chain.MaxOfferBytes, Depth: cbor.DefaultLimits().Depth, Items: chain.MaxOfferBytes})
	if err != nil {
		return err
	}
	return decode(raw)
}

func readCard(r *cbor.Reader, into *chain.RateCard) error {
	return readItem(r, func(raw []byte) error {
		card, err := chain.DecodeRateCard(raw)
		if err == nil {
			*into = *card
		}
		return err
	})
}

func readCapabilities(r *cbor.Reader, into *chain.Capabilities) error {
	return readItem(r, func(raw []byte) error {
		c, err := chain.DecodeCapabilities(raw)
		if err == nil {
			*into = *c
		}
		return err
	})
}

// readAttestation reads one, or nil for null.
func readAttestation(r *cbor.Reader) (a *chain.RunnerAttestation, err error) {
	if r.Null() {
		return nil, nil
	}
	err = readItem(r, func(raw []byte) error {
		a, err = chain.DecodeRunnerAttestation(raw)
		return err
	})
	return a, err
}
