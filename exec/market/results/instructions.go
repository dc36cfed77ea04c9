//spec:implements CIP-2 3, 8
//spec:implements resolutions 6, 12.E, 12.F

package results

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// The verdicts.
var (
	// ErrUnknown means an id that no job has.
	ErrUnknown = verdict.New(verdict.Missing, "no such job")
	// ErrNotOpen means a job that takes no results, or none of that runner's attempt any more.
	ErrNotOpen = verdict.New(verdict.State, "the job takes no results of this attempt")
	// ErrLate means a commitment or a result behind its deadline.
	ErrLate = verdict.New(verdict.State, "the deadline has passed")
	// ErrEarly means a result before reveals are open (resolution 11.27).
	ErrEarly = verdict.New(verdict.State, "reveals open when all have committed, or behind the commit deadline if enough have")
	// ErrAlone means a result in the time that the aggregator has alone (resolution 12.24).
	ErrAlone = verdict.New(verdict.State, "the aggregator alone reveals yet")
	// ErrCommitted means a second commitment.
	ErrCommitted = verdict.New(verdict.Exists, "committed already")
	// ErrRevealed means a second result of one attempt.
	ErrRevealed = verdict.New(verdict.Exists, "revealed already")
	// ErrNoCommitment means a result that nothing binds, where several runners work.
	ErrNoCommitment = verdict.New(verdict.State, "the runner has not committed to a result")
	// ErrCommitment means a result that is not what its runner committed to.
	ErrCommitment = verdict.New(verdict.Proof, "result and runner_sig are not what the runner committed to")
	// ErrSignature means a result under another's signature, or nobody's.
	ErrSignature = verdict.New(verdict.Proof, "runner_sig is not the runner's")
)

// call is an operation of a runner that was drawn for a job.
type call struct {
	*service.Call
	book     jobs.Book
	registry Registry
}

// Instructions returns those at [chain.AddrResultVerifier] that run (CIP-2 §8). registry
// gives the Runner Registry as a call sees it. Who was not drawn for the job is not let in
// (resolution 11.13): a transaction of such a sender stands in no block.
func Instructions(registry func(*service.Call) Registry) service.Table {
	return service.Table{Address: chain.AddrResultVerifier, Instructions: []service.Instruction{
		row(registry, commitPrice, func(c *call, q *chain.ResultCommit) error { return c.commit(q) }),
		row(registry, revealPrice, func(c *call, q *chain.ResultReveal) error { return c.reveal(q) }),
		row(registry, submitPrice, func(c *call, q *chain.ResultSubmit) error { return c.showAll(q) }),
	}}
}

// row makes a row of the table out of what is its own.
func row[T any, Q interface {
	*T
	chain.Request
}](registry func(*service.Call) Registry, price func(*params.Params, Q) chain.Usage, run func(*call, Q) error) service.Instruction {
	return service.Instruction{
		Opcode: Q(new(T)).Opcode(), OwnGrowth: true,
		Read: func(r *cbor.Reader) (service.Args, error) {
			q := Q(new(T))
			return q, chain.ReadRequest(r, q)
		},
		Price: func(p *params.Params, args service.Args) chain.Usage { return price(p, args.(Q)) },
		Run: func(c *service.Call, args service.Args) ([]byte, error) {
			return nil, run(&call{c, jobs.Book{State: c.State, Params: c.Params, Height: c.Height}, registry(c)}, args.(Q))
		},
	}
}

// rowBytes is what a row of a seat or of a runner has at most, with its key.
const rowBytes = 512

// storage is what it costs to read and write so many rows.
func storage(p *params.Params, reads, writes chain.Cycles) chain.Usage {
	api := &p.API
	return chain.Usage{Cycles: reads*(api.StorageReadCycles+rowBytes*api.StorageReadByteCycles) +
		writes*(api.StorageWriteCycles+rowBytes*api.StorageWriteByteCycles)}
}

// What is added to the state costs here what it costs on a young chain, however full it is:
// a runner that was drawn and finds no room in a block for what it must pay would lose stake.
// It goes with the verdict.

// commitBytes is what a seat grows by with a commitment.
const commitBytes = 64

// commitPrice is for the row that says which seat is the sender's, the job and the seat.
func commitPrice(p *params.Params, _ *chain.ResultCommit) chain.Usage {
	u := storage(p, 3, 1)
	u.Cells = commitBytes * p.API.StorageWriteByteCells
	return u
}

func revealPrice(p *params.Params, q *chain.ResultReveal) chain.Usage {
	shown := shownPrice(p, len(q.Result))
	shown.Cycles += storage(p, 2, 0).Cycles
	return shown
}

func submitPrice(p *params.Params, q *chain.ResultSubmit) chain.Usage {
	u := storage(p, 2, 0)
	// Paid: by the bytes of the payload.
	for i := range q.Reveals {
		shown := shownPrice(p, len(q.Reveals[i].Result))
		u.Cycles, u.Cells = u.Cycles+shown.Cycles, u.Cells+shown.Cells
	}
	return u
}

// shownPrice is for a result of so many bytes: it is read, hashed for its commitment, its
// signature and its seat, checked and written; who may show it, its seat, and its runner
// are read, the latter two written, and the job marked.
func shownPrice(p *params.Params, bytes int) chain.Usage {
	api := &p.API
	return chain.Usage{
		Cycles: storage(p, 4, 4).Cycles + api.VerifySignatureCycles + 3*api.HashCycles +
			chain.Cycles(bytes)*(3*api.HashByteCycles+api.ManifestByteCycles+api.StorageWriteByteCycles),
		Cells: jobs.ShownEntries*chain.Cells(api.NewEntryCells) + chain.Cells(bytes+jobs.ShownBytes)*api.StorageWriteByteCells,
	}
}

// seatsPrice is for reading the seats of a job.
func seatsPrice(p *params.Params, runners uint8) chain.Usage {
	return storage(p, chain.Cycles(runners), 0)
}
