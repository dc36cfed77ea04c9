package rpc

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// JobResultsReply answers GET /job/{id}/results: what runners have shown, in the order of
// the seats. A node that does not keep a result's transaction any more says what the state
// says of it.
type JobResultsReply struct {
	JobID      string        `json:"job_id"`
	Outcome    string        `json:"outcome"`   // as in [JobStatusReply]
	DataHash   string        `json:"data_hash"` // keccak256 of the agreed data; zeros: none
	Results    []ResultReply `json:"results"`
	TotalCount uint64        `json:"total_count"`
	Offset     uint64        `json:"offset"`
	Limit      uint64        `json:"limit"`
}

// ResultReply is one result.
type ResultReply struct {
	JobID      string           `json:"job_id"`
	Runner     string           `json:"runner"`
	Attempt    uint8            `json:"attempt"`
	Seat       uint8            `json:"seat"`
	Outcome    string           `json:"outcome"` // ok, impossible, actor_fault or external_fault
	Mark       string           `json:"mark"`    // unjudged, agrees, counts, differs or void
	Cost       chain.Wei        `json:"cost,string"`
	RevealedAt chain.Height     `json:"revealed_at"`
	TxHash     string           `json:"tx_hash"`     // that showed it
	ResultHash string           `json:"result_hash"` // keccak256 of the whole result
	Data       *string          `json:"data"`        // hex; null: this node does not keep the transaction
	Text       *string          `json:"text"`        // data as text; null where it is none
	Detail     *string          `json:"detail"`      // of a failure
	Usage      ResultUsageReply `json:"usage"`
	TEE        *string          `json:"tee_attestation"`    // hex
	Source     *ResultSource    `json:"source_attestation"` // null: none
	Timestamp  uint64           `json:"timestamp"`          // in milliseconds, by the runner's clock
}

// ResultUsageReply is what a runner says that it used.
type ResultUsageReply struct {
	InputTokens     uint32  `json:"input_tokens"`
	OutputTokens    uint32  `json:"output_tokens"`
	WallTimeSeconds float64 `json:"wall_time_seconds"`
	MemoryMB        uint32  `json:"memory_mb"`
	Requests        uint32  `json:"requests"`
}

// ResultSource is where a runner says that data came from.
type ResultSource struct {
	URL           string `json:"url"`
	Status        uint16 `json:"status"`
	ResponseHash  string `json:"response_hash"`
	DataTimestamp uint64 `json:"data_timestamp"` // in milliseconds; 0: unknown
}

var resultOutcomeNames = [...]string{
	chain.OutcomeOK: "ok", chain.OutcomeImpossible: "impossible", chain.OutcomeActorFault: "actor_fault",
	chain.OutcomeExternalFault: "external_fault",
}

// revealedSeat is a seat whose result was shown.
type revealedSeat struct {
	attempt, n uint8
	seat       *jobs.Seat
}

// jobResults reads the seats at one head, and lets go of it before it reads the blocks that
// have the results, one after the other.
func (s *Server) jobResults(w http.ResponseWriter, r *http.Request, args []string) error {
	offset, limit, err := s.listed(r)
	if err != nil {
		return err
	}
	var id chain.Hash
	var outcome jobs.Outcome
	var seats []revealedSeat
	reply := &JobResultsReply{Results: []ResultReply{}, Offset: offset, Limit: limit}
	err = s.readJob(r.Context(), args[0], func(b *jobBook) error {
		id, outcome, seats = b.id, b.job.Outcome, nil
		reply.JobID, reply.Outcome, reply.DataHash = b.id.String(), outcomeNames[b.job.Outcome], b.job.DataHash.String()
		return b.eachSeat(func(attempt, n uint8, seat *jobs.Seat) {
			if seat.Reveal != nil {
				seats = append(seats, revealedSeat{attempt, n, seat})
			}
		})
	})
	if err != nil {
		return err
	}
	reply.TotalCount = uint64(len(seats))
	seats = seats[min(offset, uint64(len(seats))):]
	if reply.Results, err = s.results(r.Context(), id, outcome, seats[:min(limit, uint64(len(seats)))]); err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

// results reads the results of seats out of their transactions. The list ends behind
// ValueBytesMax bytes of results, and behind the one with which the client begins to owe.
func (s *Server) results(ctx context.Context, id chain.Hash, outcome jobs.Outcome, seats []revealedSeat) ([]ResultReply, error) {
	shown := map[chain.Hash]map[chain.Hash][]byte{} // by transaction and hash
	list, left := []ResultReply{}, s.cfg.ValueBytesMax
	for i, one := range seats {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i > 0 && (left <= 0 || Owes(ctx)) {
			break
		}
		tx := one.seat.Reveal.Tx
		if shown[tx] == nil {
			all, err := s.resultsIn(ctx, tx)
			if i > 0 && isOwed(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			shown[tx] = all
		}
		encoded := shown[tx][one.seat.Reveal.Result]
		left -= len(encoded)
		list = append(list, resultReply(id, outcome, one, encoded))
	}
	return list, nil
}

// resultsIn returns the results that a transaction shows by their hashes; none where this
// node does not keep it.
func (s *Server) resultsIn(ctx context.Context, hash chain.Hash) (map[chain.Hash][]byte, error) {
	found, ok, err := s.source.Transaction(ctx, hash)
	if err == nil && ok {
		err = Bill(ctx, rowBytes+2*len(found.Tx.Body)) // it is taken apart, and written
	}
	all := map[chain.Hash][]byte{}
	if err != nil || !ok {
		return all, err
	}
	r := cbor.NewReader(found.Tx.Tx.Payload)
	if _, err := r.Array(chain.MaxReveals); err != nil {
		return all, nil // no instruction, so it shows none
	}
	opcode, err := r.Uint()
	if err != nil {
		return all, nil
	}
	var single chain.ResultReveal
	var several chain.ResultSubmit
	switch opcode {
	case chain.OpResultReveal:
		if chain.ReadRequest(&r, &single) == nil {
			all[keccak.Sum256(single.Result)] = single.Result
		}
	case chain.OpResultSubmit:
		if chain.ReadRequest(&r, &several) == nil {
			for _, one := range several.Reveals {
				all[keccak.Sum256(one.Result)] = one.Result
			}
		}
	}
	return all, nil
}

func resultReply(id chain.Hash, outcome jobs.Outcome, one revealedSeat, encoded []byte) ResultReply {
	seat := one.seat
	v := seat.Reveal
	reply := ResultReply{
		JobID: id.String(), Runner: seat.Runner.String(), Attempt: one.attempt, Seat: one.n, Outcome: resultOutcomeNames[v.Outcome],
		Mark: markName(outcome, seat.Mark), Cost: seat.Cost, RevealedAt: v.At, TxHash: v.Tx.String(), ResultHash: v.Result.String(),
		Usage: ResultUsageReply{
			InputTokens: v.Usage.InputTokens, OutputTokens: v.Usage.OutputTokens, WallTimeSeconds: float64(v.Usage.WallMillis) / 1_000,
			MemoryMB: v.Usage.MemoryMB, Requests: v.Usage.Requests,
		},
	}
	if encoded == nil {
		return reply
	}
	result, err := chain.DecodeRunnerResult(encoded)
	if err != nil {
		return reply // the chain has read it, so this is another result
	}
	data := hexOf(result.Data)
	reply.Data, reply.Timestamp = &data, result.TimestampMillis
	if text := string(result.Data); utf8.ValidString(text) {
		reply.Text = &text
	}
	if result.Detail != nil {
		reply.Detail = &result.Detail.Text
	}
	if result.TEE != nil {
		tee := hexOf(result.TEE)
		reply.TEE = &tee
	}
	if from := result.Source; from != nil {
		reply.Source = &ResultSource{from.URL, from.Status, from.ResponseHash.String(), from.DataTimestampMillis}
	}
	return reply
}
