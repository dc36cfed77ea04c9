//spec:implements whitepaper 17.2

package jobs

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
)

// What the rows of a job that passes write have at most, besides the bytes that depend on
// the job: keys and values.
const (
	jobRowBytes  = 512 // of the job itself
	seatRowBytes = 420 // of a seat, of who has it, and of what marks it open
	seatRows     = 3
	keyBytes     = 48 // of a row of a job

	laneRows = 3 // of what an attempt promises of the runner lane: from when, until when, and when it was in
)

// keptBytes is paid for each seat for the pages of standings that are kept for what becomes
// of it. It changes its runner's twice at most, in different blocks: by a verdict or by
// silence, and by the failure of the job. So two bytes are kept for a cell at most.
const keptBytes = runners.KeptBytes

// handling is what it costs to read so many bytes of a job, to check, hash and write them.
func handling(p *params.Params, bytes int) chain.Usage {
	api := &p.API
	return chain.Usage{Cycles: 2*api.HashCycles + chain.Cycles(bytes)*(api.ManifestByteCycles+api.HashByteCycles+api.StorageWriteByteCycles)}
}

// passes is what the dispatcher's own work on a job costs, besides [handling]: its rows, the
// look at so many registered runners, each of which is held to so many items of what the
// submitter requires, and the steps of the judge (market table §7).
func passes(p *params.Params, spec *chain.JobSpec, terms *chain.JobTerms, registered, required uint64) chain.Usage {
	api := &p.API
	// Candidates are found once, and for each attempt put together again where they are not
	// remembered.
	each := p.Job.CandidateCycles * chain.Cycles(1+p.Job.MaxRetries)
	if spec.RequiredRunnerPool != nil {
		each += p.Job.PoolCheckCycles
	}
	each += p.Job.CandidateCycles * chain.Cycles(required)
	bitmap := registered/8 + 1
	u := chain.Usage{
		Cycles: 4*api.StorageWriteCycles + chain.Cycles(jobRowBytes+bitmap)*api.StorageWriteByteCycles + each*chain.Cycles(registered),
		Cells:  chain.Cells(api.NewEntryCells) + chain.Cells(keyBytes+bitmap)*api.StorageWriteByteCells,
	}
	// Each attempt is judged, if something was shown in it and something withheld, which costs
	// nobody anything where the lane was crowded; the answer is written once.
	u.Cycles += chain.Cycles(judge.StepsBound(spec, terms)*p.Job.MaxRetries + AnswerSteps(spec, terms)) // 16 times 2^25 at most
	// A job has a committee in each of its attempts.
	seats := uint64(spec.Verification.Runners) * p.Job.MaxRetries
	u.Cells += chain.Cells(seats) * (seatRows*chain.Cells(api.NewEntryCells) + (seatRowBytes+keptBytes)*api.StorageWriteByteCells)
	u.Cycles += chain.Cycles(seats) * (seatRows*api.StorageWriteCycles + seatRowBytes*api.StorageWriteByteCycles)
	kept := keeping(p, spec, terms)
	u.Cycles += kept.Cycles
	u.Cells += kept.Cells
	// Each of them promises its part of the runner lane.
	ends := laneRows * p.Job.MaxRetries
	u.Cells += chain.Cells(ends) * (chain.Cells(api.NewEntryCells) + keyBytes*api.StorageWriteByteCells)
	u.Cycles += chain.Cycles(ends) * (2*api.StorageWriteCycles + keyBytes*api.StorageWriteByteCycles)
	return u
}

// What an answer in JSON may take to be written, in steps of the judge: lists of digits and
// of fractions take no more than two for a byte. Only long lists of numbers that are hard to
// round take more.
const (
	answerSteps     = 128
	answerByteSteps = 4 // for each byte that a result may have
)

// AnswerSteps returns how many steps the answer of a job takes at most to be written, which
// its submitter pays for: none where no actor gets JSON.
func AnswerSteps(spec *chain.JobSpec, terms *chain.JobTerms) uint64 {
	if terms.ResultSchema.DataFormat != chain.FormatJSON || spec.Callback.Actor == (chain.Address{}) {
		return 0
	}
	return answerSteps + answerByteSteps*uint64(terms.ResultSchema.MaxReturnBytes)
}

// Loads are what the code of the actors that a job names costs to use first, of each once.
type Loads struct{ Answer, Verifier chain.Cycles }

// AnswerCells returns how many cells the handler that takes an answer may use, which its
// submitter pays for: the reserve of a message, and in the proportion of that more where the
// handler may use more cycles, up to a transaction's. A handler that asks for another job
// needs more than the reserve, since it pays for the answer to that one (ADR 226).
func AnswerCells(p *params.Params, cycles chain.Cycles) chain.Cells {
	reserve, of := max(p.Actor.MessageReserveCells, p.API.DeliveryCells), uint64(p.Actor.MessageReserveCycles)
	if uint64(cycles) <= of {
		return reserve
	}
	most := max(reserve, p.MaxTxCells)
	hi, lo := bits.Mul64(uint64(reserve), uint64(cycles))
	if hi >= of {
		return most
	}
	cells, _ := bits.Div64(hi, lo, of)
	return min(chain.Cells(cells), most)
}

// later is what handlers of actors may use for a job in later blocks: the one that takes the
// answer, and the verifier, which is asked once in each attempt, with the first use of their
// code. They are charged when the job is submitted, as for a deferred message (resolution
// 12.54).
func later(p *params.Params, spec *chain.JobSpec, terms *chain.JobTerms, load Loads) chain.Usage {
	u := chain.Usage{Cycles: terms.VerifierCycles}
	if _, _, named := judge.Custom(spec); named {
		u.Cycles = (terms.VerifierCycles + load.Verifier) * chain.Cycles(p.Job.MaxRetries)
	}
	if spec.Callback.Actor == (chain.Address{}) {
		return u
	}
	api := &p.API
	u.Cycles += max(terms.CallbackCycles, api.DeliveryCycles) + load.Answer
	payload := chain.Cells(terms.ResultSchema.MaxReturnBytes) + chain.Cells(len(spec.Callback.Context)+len(spec.Callback.CorrelationID))
	u.Cells = AnswerCells(p, terms.CallbackCycles) + payload + jobRowBytes + 2*chain.Cells(api.NewEntryCells)
	return u
}
