package rpc

import (
	"context"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// JobReply answers GET /job/{id}. Amounts are in wei.
type JobReply struct {
	JobStatusReply
	Submitter        string       `json:"submitter"`
	SubmittedAt      chain.Height `json:"submitted_at"`
	JobType          string       `json:"job_type"` // as in [JobTypes]
	Mode             string       `json:"mode"`
	Runners          uint8        `json:"runners"` // that were asked for
	Threshold        uint8        `json:"threshold"`
	MaxPrice         chain.Wei    `json:"max_price,string"`
	Tip              chain.Wei    `json:"tip,string"`
	Held             chain.Wei    `json:"held,string"` // of the escrow, until it is divided
	TimeoutBlocks    uint64       `json:"timeout_blocks"`
	AssignedAt       chain.Height `json:"assigned_at"`  // of this attempt; 0: not yet
	CommitBy         chain.Height `json:"commit_by"`    // the last height for commitments
	GatherUntil      chain.Height `json:"gather_until"` // up to here the aggregator alone reveals
	Deadline         chain.Height `json:"deadline"`     // the last height for results
	VerdictAt        chain.Height `json:"verdict_at"`   // 0: none yet
	WindowEnd        chain.Height `json:"window_end"`
	CanonicalSeat    uint8        `json:"canonical_seat"` // meaningful with the outcome ok
	DataHash         string       `json:"data_hash"`      // keccak256 of the agreed data; zeros: none
	Seed             string       `json:"seed"`           // of the first draw
	CandidatesRoot   string       `json:"candidates_root"`
	ReputationConfig uint32       `json:"reputation_config"`
	SpecHash         string       `json:"spec_hash"`
	TermsHash        string       `json:"terms_hash"`
}

// JobStatusReply answers GET /job/{id}/status.
type JobStatusReply struct {
	JobID   string        `json:"job_id"`
	Height  chain.Height  `json:"height"` // of the state that this is said of
	Status  string        `json:"status"` // pending, assigned, done, failed or cancelled, as programs see it
	Phase   string        `json:"phase"`  // waiting, committing, revealing, closing, disputed or ended
	Attempt uint8         `json:"attempt"`
	Outcome string        `json:"outcome"`  // open, ok, impossible, actor_fault, external_fault, no_agreement, timeout, no_candidates or cancelled
	MovesAt *chain.Height `json:"moves_at"` // the first height at which the phase ends by itself; null: it is over
}

// JobRunnersReply answers GET /job/{id}/runners: the seats of all attempts, in the order in
// which they were drawn.
type JobRunnersReply struct {
	JobID   string      `json:"job_id"`
	Attempt uint8       `json:"attempt"` // that is under way, or was the last
	Runners []SeatReply `json:"runners"`
}

// SeatReply is a runner that was drawn for an attempt.
type SeatReply struct {
	Runner        string       `json:"runner"`
	Attempt       uint8        `json:"attempt"`
	Seat          uint8        `json:"seat"`
	Excess        bool         `json:"excess"`     // it had no room when it was drawn
	Reputation    float64      `json:"reputation"` // of the snapshot, in points
	ExpectedPrice chain.Wei    `json:"expected_price,string"`
	Commitment    *string      `json:"commitment"` // null: none
	CommittedAt   chain.Height `json:"committed_at"`
	RevealedAt    chain.Height `json:"revealed_at"` // 0: not yet
	Silent        bool         `json:"silent"`
	Mark          string       `json:"mark"` // unjudged, agrees, counts, differs or void
	Cost          chain.Wei    `json:"cost,string"`
	Frozen        chain.Wei    `json:"frozen,string"` // slashed, until the job ends
	Bonded        chain.Wei    `json:"bonded,string"`
}

// JobTermsReply answers GET /job/{id}/terms with the bytes that the hashes of the job are
// of: canonical JobSpecV1 and JobTermsV1 in hex (CIP-11 §12.6; resolution 11.5).
type JobTermsReply struct {
	JobID     string `json:"job_id"`
	Spec      string `json:"spec"`
	SpecHash  string `json:"spec_hash"`
	Terms     string `json:"terms"`
	TermsHash string `json:"terms_hash"`
}

func (s *Server) jobRoutes() []route {
	get := http.MethodGet
	return []route{
		{method: get, pattern: "/job/{id}", about: "a job: phase, heights, money, hashes", handle: s.job, cost: costStateProof},
		{method: get, pattern: "/job/{id}/status", about: "where a job is, and at which height it moves on", handle: s.jobStatus},
		{method: get, pattern: "/job/{id}/runners", about: "who was drawn for a job, and what became of it", handle: s.jobRunners, cost: costStateProof},
		{method: get, pattern: "/job/{id}/results", about: "the results that were shown, out of their transactions; ?offset=0&limit=50", handle: s.jobResults, slots: s.exports, cost: costBlockProof},
		{method: get, pattern: "/job/{id}/verified", about: "what the results came to: data, how many agree, of how many", handle: s.jobVerified, slots: s.exports, cost: costBlockProof},
		{method: get, pattern: "/job/{id}/terms", about: "specification and terms, canonical", handle: s.jobTerms, cost: costStateProof},
		{method: get, pattern: "/job/{id}/candidates", about: "who could be drawn, with weights; ?offset=0&limit=50", handle: s.candidates, slots: s.proofs, cost: costBlockProof},
		{method: get, pattern: "/job/{id}/candidate/{runner}", about: "one of them, with the proof that leads to the job's candidates_root", handle: s.candidate, slots: s.proofs, cost: costBlockProof},
	}
}

// aboutJob answers a request about a job with what tell makes of its row at the head. What
// tell reads is of the same block.
func (s *Server) aboutJob(w http.ResponseWriter, r *http.Request, text string, tell func(b *jobBook) (any, error)) error {
	var reply any
	err := s.readJob(r.Context(), text, func(b *jobBook) (err error) {
		reply, err = tell(b)
		return err
	})
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

// readJob reads a job at the head, which is held meanwhile: read waits for nothing.
func (s *Server) readJob(ctx context.Context, text string, read func(b *jobBook) error) error {
	id, err := parseHash(text)
	if err != nil {
		return err
	}
	return s.readHead(ctx, func(v StorageReader, h chain.Height) error {
		j, err := jobs.Read(v, id)
		if err == nil && j == nil {
			err = notFound(CodeUnknownJob, "there is no job %s, or it ended long ago", id)
		}
		if err == nil {
			err = read(&jobBook{StorageReader: v, height: h, id: id, job: j})
		}
		return err
	})
}

// jobBook is a job in a state.
type jobBook struct {
	StorageReader
	height chain.Height
	id     chain.Hash
	job    *jobs.Job
}

func (s *Server) job(w http.ResponseWriter, r *http.Request, args []string) error {
	return s.aboutJob(w, r, args[0], func(b *jobBook) (any, error) {
		status, err := b.status()
		if err != nil {
			return nil, err
		}
		j := b.job
		return &JobReply{
			JobStatusReply: *status, Submitter: j.Submitter.String(), SubmittedAt: j.SubmittedAt, JobType: jobTypeNames[j.Kind],
			Mode: modeNames[j.Mode], Runners: j.Runners, Threshold: j.Threshold, MaxPrice: j.MaxPrice, Tip: j.Tip, Held: j.Held,
			TimeoutBlocks: j.TimeoutBlocks, AssignedAt: j.AssignedAt, CommitBy: j.CommitBy, GatherUntil: j.GatherUntil,
			Deadline: j.Deadline, VerdictAt: j.VerdictAt, WindowEnd: j.WindowEnd, CanonicalSeat: j.CanonicalSeat,
			DataHash: j.DataHash.String(), Seed: j.Seed.String(), CandidatesRoot: j.CandidatesRoot.String(),
			ReputationConfig: j.ReputationConfig, SpecHash: j.SpecHash.String(), TermsHash: j.TermsHash.String(),
		}, nil
	})
}

func (s *Server) jobStatus(w http.ResponseWriter, r *http.Request, args []string) error {
	return s.aboutJob(w, r, args[0], func(b *jobBook) (any, error) { return b.status() })
}

func (s *Server) jobRunners(w http.ResponseWriter, r *http.Request, args []string) error {
	return s.aboutJob(w, r, args[0], func(b *jobBook) (any, error) {
		reply := &JobRunnersReply{JobID: b.id.String(), Attempt: b.job.Attempt, Runners: []SeatReply{}}
		err := b.eachSeat(func(attempt, n uint8, seat *jobs.Seat) {
			reply.Runners = append(reply.Runners, seatReply(b.job.Outcome, attempt, n, seat))
		})
		return reply, err
	})
}

func (s *Server) jobTerms(w http.ResponseWriter, r *http.Request, args []string) error {
	return s.aboutJob(w, r, args[0], func(b *jobBook) (any, error) {
		spec, err := b.Storage(chain.AddrJobDispatcher, jobs.SpecKey(b.id))
		if err != nil {
			return nil, err
		}
		terms, err := b.Storage(chain.AddrJobDispatcher, jobs.TermsKey(b.id))
		return &JobTermsReply{b.id.String(), hexOf(spec), b.job.SpecHash.String(), hexOf(terms), b.job.TermsHash.String()}, err
	})
}

// eachSeat goes through the seats of all attempts.
func (b *jobBook) eachSeat(do func(attempt, n uint8, seat *jobs.Seat)) error {
	for attempt := uint8(0); attempt <= b.job.Attempt; attempt++ {
		seats, err := jobs.ReadSeats(b, b.id, attempt)
		if err != nil {
			return err
		}
		for n, seat := range seats {
			do(attempt, uint8(n), seat)
		}
	}
	return nil
}

// status says where the job is. A phase lasts up to a height at most; the pass that ends it
// comes in the block behind it.
func (b *jobBook) status() (*JobStatusReply, error) {
	j := b.job
	reply := &JobStatusReply{JobID: b.id.String(), Height: b.height, Attempt: j.Attempt, Outcome: outcomeNames[j.Outcome]}
	last := j.SubmittedAt // of the phase
	switch j.Phase {
	case jobs.Fresh, jobs.Pending:
		reply.Status, reply.Phase = "pending", "waiting"
	case jobs.Assigned:
		reply.Status, reply.Phase, last = "assigned", "revealing", j.Deadline
		committing, err := b.committing()
		if err != nil {
			return nil, err
		}
		if committing {
			reply.Phase, last = "committing", j.CommitBy
		}
	case jobs.Closing:
		reply.Phase, last = "closing", max(j.Deadline, j.WindowEnd)
	case jobs.Disputed:
		reply.Phase = "disputed"
	case jobs.Ended:
		reply.Phase = "ended"
	}
	if reply.Status == "" {
		reply.Status = closedStatus(j.Outcome)
	}
	if j.Phase < jobs.Disputed {
		moves := max(last, b.height) + 1 // a pass that has no room for all comes later
		reply.MovesAt = &moves
	}
	return reply, nil
}

// committing reports whether results of several runners must wait for commitments.
func (b *jobBook) committing() (bool, error) {
	if b.job.Runners == 1 || b.height > b.job.CommitBy {
		return false, nil
	}
	seats, err := jobs.ReadSeats(b, b.id, b.job.Attempt)
	for _, seat := range seats {
		if seat.Commitment == nil {
			return true, err
		}
	}
	return false, err
}

func closedStatus(o jobs.Outcome) string {
	switch o {
	case jobs.OK:
		return "done"
	case jobs.Cancelled:
		return "cancelled"
	}
	return "failed"
}

var outcomeNames = [...]string{
	jobs.Open: "open", jobs.OK: "ok", jobs.Impossible: "impossible", jobs.ActorFault: "actor_fault", jobs.External: "external_fault",
	jobs.NoAgreement: "no_agreement", jobs.Timeout: "timeout", jobs.NoCandidates: "no_candidates", jobs.Cancelled: "cancelled",
}

var modeNames = [...]string{
	chain.VerifyNone: "none", chain.VerifyEconomicBond: "economic_bond", chain.VerifyMajorityVote: "majority_vote",
	chain.VerifyStructured: "structured_match", chain.VerifyDeterministic: "deterministic", chain.VerifySimilarity: "semantic_similarity",
}

var markNames = [...]string{jobs.Unjudged: "unjudged", jobs.Agrees: "agrees", jobs.Differs: "differs", jobs.Void: "void"}

// markName says what became of a seat's result. One that is paid a share where there is no
// agreement counts by itself, and agrees with nothing (ADR 228).
func markName(o jobs.Outcome, m jobs.Mark) string {
	if o == jobs.NoAgreement && m == jobs.Agrees {
		return "counts"
	}
	return markNames[m]
}

func seatReply(outcome jobs.Outcome, attempt, n uint8, seat *jobs.Seat) SeatReply {
	reply := SeatReply{
		Runner: seat.Runner.String(), Attempt: attempt, Seat: n, Excess: seat.Excess,
		Reputation: float64(seat.ReputationX1e9) / float64(selection.Point), ExpectedPrice: seat.ExpectedPrice,
		CommittedAt: seat.CommittedAt, Silent: seat.Silent, Mark: markName(outcome, seat.Mark),
		Cost: seat.Cost, Frozen: seat.Frozen, Bonded: seat.Bonded,
	}
	if seat.Commitment != nil {
		text := seat.Commitment.String()
		reply.Commitment = &text
	}
	if seat.Reveal != nil {
		reply.RevealedAt = seat.Reveal.At
	}
	return reply
}
