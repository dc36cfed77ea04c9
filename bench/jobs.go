package bench

import (
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// What a job of a load asks for: a page that nobody fetches, whose answer all runners
// know, for the price of one request of each.
const (
	jobURL         = "https://load.example/"
	jobRequest     = 1_000 // base units for a request, as the load's runners offer it
	jobTimeout     = 100   // blocks
	jobVote        = "$.v"
	jobSteps       = 20_000 // of the judge, besides some for each byte of a result
	jobByteSteps   = 8
	resultBytesMin = len(`{"v":1,"pad":""}`)
)

// jobData is what every runner finds.
func jobData(bytes int) []byte {
	return fmt.Appendf(nil, `{"v":1,"pad":"%s"}`, strings.Repeat("x", bytes-resultBytesMin))
}

// jobOf is a job of a kind, ready to be submitted: most of its runners must agree, and it is
// settled in the block behind the verdict.
func jobOf(k *Kind) *chain.JobSubmit {
	v := chain.Verification{Mode: chain.VerifyNone, Runners: uint8(k.Committee), Threshold: uint8(k.Committee/2 + 1), DisputeWindowBlocks: 1}
	q := &chain.JobSubmit{
		Spec: chain.JobSpec{
			JobType: &chain.HTTPJob{URL: jobURL, Method: "GET"}, Bounds: chain.ResourceBounds{MaxWallTimeSeconds: 1, MaxMemoryMB: 1},
			MaxPrice: jobRequest * chain.Wei(k.Committee), TimeoutBlocks: jobTimeout,
		},
		Terms: chain.JobTerms{
			Version:      chain.JobTermsVersion,
			ResultSchema: chain.ResultSchema{MaxReturnBytes: uint32(k.ResultBytes), ExpectedExecutionMillis: 1, DataFormat: chain.FormatJSON},
			JudgeSteps:   jobSteps + jobByteSteps*uint64(k.ResultBytes),
		},
	}
	if k.Committee > 1 {
		vote := jobVote
		v.Mode, q.Terms.VoteField = chain.VerifyMajorityVote, &vote
	}
	q.Spec.Verification = v
	return q
}

// resultOf is what a runner answers in an attempt.
func resultOf(k *Kind, attempt uint8) []byte {
	data := jobData(k.ResultBytes)
	r := chain.RunnerResult{
		Version: chain.RunnerResultVersion, Attempt: attempt, Data: data, Usage: chain.RunnerUsage{WallMillis: 1, Requests: 1},
		Source: &chain.ResultSource{URL: jobURL, Status: 200, ResponseHash: keccak.Sum256(data)},
	}
	return r.Encode()
}

// What a transaction of the market writes and reads at most, as its limits need it: they
// leave a part over, and what is not used is not paid.
const (
	limitRow  = 512 // bytes of a row of a job, a seat or a runner, with its key
	limitPart = 4   // of the limits, a quarter on top
)

func withRoom(cycles chain.Cycles, cells chain.Cells) (chain.Cycles, chain.Cells) {
	return cycles + cycles/limitPart, cells + cells/limitPart
}

// rows is what reading and writing rows costs.
func (p *prices) rows(reads, writes int) (cycles chain.Cycles, cells chain.Cells) {
	api := &p.all.API
	cycles = chain.Cycles(reads) * (api.StorageReadCycles + limitRow*api.StorageReadByteCycles)
	cycles += chain.Cycles(writes) * (api.StorageWriteCycles + limitRow*api.StorageWriteByteCycles)
	return cycles, chain.Cells(writes) * (chain.Cells(api.NewEntryCells) + limitRow*api.StorageWriteByteCells)
}

// askForWork makes a transaction the submission of a job (docs/market.md, "What a job costs").
func (p *prices) askForWork(tx *chain.Tx, k *Kind) {
	q := jobOf(k)
	tx.To, tx.Payload, tx.Value = &chain.AddrJobDispatcher, chain.EncodeRequest(q), q.Spec.MaxPrice+q.Spec.Tip
	attempts := p.all.Job.MaxRetries
	cycles, cells := p.rows(0, 5+k.Committee*int(attempts)) // the three rows of a seat are as long as one of these
	more := chain.Cycles(3 * uint64(k.Committee) * attempts)
	cycles += more*p.all.API.StorageWriteCycles + chain.Cycles(16*len(tx.Payload))
	cycles += p.all.Job.CandidateCycles * chain.Cycles(p.registered*(1+attempts))
	cycles += chain.Cycles(q.Terms.JudgeSteps * uint64(k.Committee+1) * attempts)
	cells += chain.Cells(uint64(k.Committee)*attempts) * 1024 * p.all.API.StorageWriteByteCells // of pages that are kept for a seat
	cells += chain.Cells(more)*chain.Cells(p.all.API.NewEntryCells) + chain.Cells(uint64(len(tx.Payload))+p.registered/8)
	tx.CyclesLimit, tx.CellsLimit = withRoom(p.intrinsic.JobSubmitCycles+cycles, cells)
}

// instruct is a runner's transaction with these limits besides what is intrinsic.
func (p *prices) instruct(to chain.Address, q chain.Request, cycles chain.Cycles, cells chain.Cells) chain.Tx {
	payload := chain.EncodeRequest(q)
	cycles, cells = withRoom(cycles, cells)
	return chain.Tx{
		ChainID: p.chainID, To: &to, Payload: payload,
		CyclesLimit: p.intrinsic.InstructionCycles + cycles, CellsLimit: chain.Cells(len(payload))*p.intrinsic.PayloadByteCells + cells,
		MaxFeePerCycle: p.maxFeePerCycle, MaxFeePerCell: p.maxFeePerCell, TipPerCycle: p.tipPerCycle,
	}
}

// bindResult binds a runner to a result.
func (p *prices) bindResult(job, commitment chain.Hash) chain.Tx {
	cycles, _ := p.rows(4, 1)
	return p.instruct(chain.AddrResultVerifier, &chain.ResultCommit{JobID: job, Commitment: commitment}, cycles, limitRow)
}

// showResults shows the results of a committee: by its aggregator, or of one runner by itself.
func (p *prices) showResults(job chain.Hash, committee int, reveals []chain.Reveal) chain.Tx {
	cycles, cells := p.rows(4+committee, 0)
	for i := range reveals {
		each, most := p.rows(4, 4)
		size := len(reveals[i].Result)
		cycles += each + p.all.API.VerifySignatureCycles + 3*p.all.API.HashCycles + 32*chain.Cycles(size)
		cells += most + chain.Cells(size)*p.all.API.StorageWriteByteCells
	}
	var q chain.Request = &chain.ResultSubmit{JobID: job, Reveals: reveals}
	if committee == 1 {
		q = &chain.ResultReveal{JobID: job, Result: reveals[0].Result, RunnerSig: reveals[0].RunnerSig}
	}
	return p.instruct(chain.AddrResultVerifier, q, cycles, cells)
}

// beat is a heartbeat outside of the load: it has the limits that the first one after a
// silence needs, but only where that is asked for.
func (p *prices) beat(silent bool) chain.Tx {
	tx := p.instruct(chain.AddrRunnerRegistry, &chain.RunnerHeartbeat{}, 0, 0)
	if tx.CyclesLimit = p.intrinsic.HeartbeatCycles; silent {
		cycles, cells := p.rows(4, 4)
		tx.CyclesLimit, tx.CellsLimit = tx.CyclesLimit+cycles, tx.CellsLimit+cells+registryCells
	}
	return tx
}

// registryCells are for the copies on pages that a change of a runner is paid for.
const registryCells = 4_000

// register makes a runner with a stake, which does jobs or none.
func (p *prices) register(works bool) chain.Tx {
	q := &chain.RunnerRegister{
		RateCard:     chain.RateCard{HTTPRequestBase: jobRequest},
		Capabilities: chain.Capabilities{MaxConcurrentJobs: 1},
	}
	if works {
		q.Capabilities = chain.Capabilities{JobTypes: []chain.JobKind{chain.JobHTTP}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: chain.MaxConcurrentJobs}
	}
	cycles, cells := p.rows(4, 6)
	cycles += chain.MaxOfferBytes * (p.all.API.StorageReadByteCycles + p.all.API.HashByteCycles)
	tx := p.instruct(chain.AddrRunnerRegistry, q, cycles, cells+registryCells)
	tx.Value = p.all.Runner.StakeFloor
	return tx
}
