package rpc

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// JobVerifiedReply answers GET /job/{id}/verified: what the results of a job came to. Data is
// read out of the state where that keeps it for an actor, else out of the transactions that
// revealed it, or computed of them again where it is a median, and is keccak256 to DataHash,
// which the state proves. It is null while there is no verdict, where the outcome is another
// than ok, and, if the state does not keep it, where this node does not keep the transactions
// and where an actor that verifies has put its own in the place.
type JobVerifiedReply struct {
	JobID          string       `json:"job_id"`
	Outcome        string       `json:"outcome"`    // as in [JobStatusReply]
	VerdictAt      chain.Height `json:"verdict_at"` // 0: no verdict yet
	Data           *string      `json:"data"`       // hex
	Text           *string      `json:"text"`       // data as text; null where it is none
	DataHash       string       `json:"data_hash"`  // zeros: none
	ConsensusCount int          `json:"consensus_count"`
	TotalRunners   int          `json:"total_runners"` // of the attempt that came to it
}

// verdictBook is what the state says of a job's last attempt.
type verdictBook struct {
	id          chain.Hash
	job         *jobs.Job
	seats       []*jobs.Seat
	spec, terms []byte
	kept        *jobs.Kept // nil: its answer has what it came to
}

// jobVerified reads the job at one head, and lets go of it before it reads the blocks that
// have the results.
func (s *Server) jobVerified(w http.ResponseWriter, r *http.Request, args []string) error {
	var v verdictBook
	err := s.readJob(r.Context(), args[0], func(b *jobBook) (err error) {
		v = verdictBook{id: b.id, job: b.job}
		if v.seats, err = jobs.ReadSeats(b, b.id, b.job.Attempt); err != nil {
			return err
		}
		if v.kept, err = jobs.ReadKept(b, b.id); err != nil {
			return err
		}
		if v.spec, err = b.Storage(chain.AddrJobDispatcher, jobs.SpecKey(b.id)); err != nil {
			return err
		}
		v.terms, err = b.Storage(chain.AddrJobDispatcher, jobs.TermsKey(b.id))
		return err
	})
	if err != nil {
		return err
	}
	reply := &JobVerifiedReply{
		JobID: v.id.String(), Outcome: outcomeNames[v.job.Outcome], VerdictAt: v.job.VerdictAt,
		DataHash: v.job.DataHash.String(), TotalRunners: len(v.seats),
	}
	for _, seat := range v.seats {
		if v.job.Outcome == jobs.OK && seat.Mark == jobs.Agrees { // others are marked that are paid for what nobody agrees on
			reply.ConsensusCount++
		}
	}
	data, err := s.verified(r.Context(), &v)
	if err != nil {
		return err
	}
	if data != nil {
		hex := hexOf(data)
		reply.Data = &hex
		if text := string(data); utf8.ValidString(text) {
			reply.Text = &text
		}
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

// verified returns the data that a job came to; nil where this node cannot say.
func (s *Server) verified(ctx context.Context, v *verdictBook) ([]byte, error) {
	if v.job.Outcome != jobs.OK || v.job.DataHash == (chain.Hash{}) {
		return nil, nil
	}
	if v.kept != nil {
		return v.kept.Data, nil
	}
	if v.job.Mode == chain.VerifyStructured {
		if data, err := s.judgedAgain(ctx, v); data != nil || err != nil {
			return data, err
		}
	}
	for _, n := range v.agreeing() {
		result, err := s.resultOf(ctx, v.seats[n])
		if err != nil {
			return nil, err
		}
		if result != nil && keccak.Sum256(result.Data) == v.job.DataHash {
			return result.Data, nil
		}
	}
	return nil, nil
}

// agreeing are the seats that were paid, the canonical one first.
func (v *verdictBook) agreeing() (seats []int) {
	for n, seat := range v.seats {
		switch {
		case seat.Reveal == nil || seat.Mark != jobs.Agrees:
		case n == int(v.job.CanonicalSeat):
			seats = append([]int{n}, seats...)
		default:
			seats = append(seats, n)
		}
	}
	return seats
}

// resultOf returns the result of a seat; nil where this node does not keep its transaction.
func (s *Server) resultOf(ctx context.Context, seat *jobs.Seat) (*chain.RunnerResult, error) {
	all, err := s.resultsIn(ctx, seat.Reveal.Tx)
	if err != nil || all[seat.Reveal.Result] == nil {
		return nil, err
	}
	result, err := chain.DecodeRunnerResult(all[seat.Reveal.Result])
	if err != nil {
		return nil, nil // the chain has read it, so this is another result
	}
	return result, nil
}

// judgedBytes is what a step of the judge is billed as, in bytes ([Bill]): it takes 25 ns at
// the most, and a byte 60.
const judgedBytes = 1. / 2

// judgedAgain comes to the verdict of a job as the chain did, and returns its data where it
// is what the state has the hash of.
func (s *Server) judgedAgain(ctx context.Context, v *verdictBook) ([]byte, error) {
	spec, err := chain.DecodeJobSpec(v.spec)
	if err != nil {
		return nil, err
	}
	terms, err := chain.DecodeJobTerms(v.terms)
	if err != nil {
		return nil, err
	}
	if err := Bill(ctx, int(judgedBytes*float64(judge.StepsBound(spec, terms)))); err != nil {
		return nil, err
	}
	q := &judge.Question{Spec: spec, Terms: terms, SubmittedMillis: v.job.SubmittedMillis, Final: true}
	for n, seat := range v.seats {
		if seat.Reveal == nil || seat.Reveal.At > v.job.VerdictAt {
			continue
		}
		o := judge.Output{Seat: uint8(n), CommittedAt: seat.CommittedAt, BlockMillis: seat.Millis}
		if seat.Commitment == nil {
			o.CommittedAt = seat.Reveal.At
		}
		if o.Result, err = s.resultOf(ctx, seat); err != nil || o.Result == nil {
			return nil, err
		}
		q.Outputs = append(q.Outputs, o)
	}
	if _, _, asks := judge.Custom(spec); asks { // its opinion changes no median, or is not to be had
		q.Verifier = func(*judge.Decision) (judge.Opinion, error) { return judge.Opinion{Valid: true}, nil }
	}
	if d := judge.Verdict(q); d.Data != nil && keccak.Sum256(d.Data) == v.job.DataHash {
		return d.Data, nil
	}
	return nil, nil
}
