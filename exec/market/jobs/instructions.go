package jobs

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/service"
)

// Instructions returns those at [chain.AddrJobDispatcher] (CIP-2 §3; resolution 11.5).
func Instructions(rules Rules) service.Table {
	return service.Table{Address: chain.AddrJobDispatcher, Instructions: []service.Instruction{
		{
			Opcode: chain.OpJobSubmit, Value: service.TakesValue,
			Read: read(func() chain.Request { return new(chain.JobSubmit) }),
			Run: func(c *service.Call, a service.Args) ([]byte, error) {
				return (&Call{Call: c, Rules: &rules}).submitOrder(a.(*chain.JobSubmit))
			},
		},
		{
			Opcode: chain.OpJobCancel, OwnGrowth: true,
			Read:  read(func() chain.Request { return new(chain.JobCancel) }),
			Price: func(p *params.Params, _ service.Args) chain.Usage { return CancelPrice(p) },
			Run: func(c *service.Call, a service.Args) ([]byte, error) {
				return nil, (&Call{Call: c, Rules: &rules}).Cancel(a.(*chain.JobCancel).JobID)
			},
		},
	}}
}

// read reads arguments into a fresh request.
func read(fresh func() chain.Request) func(*cbor.Reader) (service.Args, error) {
	return func(r *cbor.Reader) (service.Args, error) {
		q := fresh()
		return q, chain.ReadRequest(r, q)
	}
}

// CancelPrice is what it costs to take a job back: its row is read and written, two rows go
// and one comes. No other price is put on the one that comes, or a state that is full would
// keep escrows.
func CancelPrice(p *params.Params) chain.Usage {
	api := &p.API
	return chain.Usage{
		Cycles: 2*api.StorageReadCycles + 4*api.StorageWriteCycles + jobRowBytes*(api.StorageReadByteCycles+api.StorageWriteByteCycles),
		Cells:  chain.Cells(api.NewEntryCells) + keyBytes*api.StorageWriteByteCells,
	}
}

// submitOrder takes in the job of a transaction, which brings the escrow and says all but
// what the chain fills in. Its id is of the transaction (resolution 5.18) and the answer.
func (c *Call) submitOrder(q *chain.JobSubmit) ([]byte, error) {
	spec := &q.Spec
	escrow, fits := escrowOf(spec)
	switch {
	case !fits || c.Value != escrow:
		return nil, argument("value", "%d, want max_price + tip", c.Value)
	case spec.JobID != (chain.Hash{}):
		return nil, argument("job_id", "the chain gives it: want zeros")
	case spec.Submitter != (chain.Address{}) && spec.Submitter != c.By:
		return nil, argument("submitter", "it is not the sender")
	case spec.SubmittedAt != 0:
		return nil, argument("submitted_at", "the chain gives it: want 0")
	}
	id := chain.JobID(c.ID, c.Height)
	answer := cbor.AppendBytes(nil, id[:])
	if err := c.Run.TakeCells(uint64(len(answer)) * uint64(c.Params.API.ReturnByteCells)); err != nil {
		return nil, err
	}
	return answer, c.takeIn(id, spec, &q.Terms, func(escrow chain.Wei) error {
		return funds.Credit(c.State, chain.AddrJobDispatcher, escrow)
	})
}
