//spec:implements CIP-11 14

package rpc

import (
	"net/http"
	"net/url"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state"
)

// RunnerJobsReply answers GET /runner/{address}/jobs: what a runner owes, ascending by job
// (CIP-11 §2, poll mode; resolution 12.76). All of it is of one block.
type RunnerJobsReply struct {
	Runner string            `json:"runner"`
	Height chain.Height      `json:"height"` // of the state that this is said of
	Jobs   []AssignmentReply `json:"jobs"`
	Next   string            `json:"next"` // ?after= of the next page, "" if there is none
}

// AssignmentReply is a seat whose runner has something to do, with the fields of a job frame
// that the state has (CIP-11 §10); keys and signatures of validators come with the link.
type AssignmentReply struct {
	JobID            string       `json:"job_id"`
	JobSpec          *string      `json:"job_spec"`      // canonical JobSpecV1 in hex; null with ?specs=0
	JobSpecHash      string       `json:"job_spec_hash"` // of it
	TermsHash        string       `json:"terms_hash"`    // of the terms, which /job/{id}/terms has
	AssignmentHeight chain.Height `json:"assignment_height"`
	DeadlineBlock    chain.Height `json:"deadline_block"` // the last height for results

	JobType string `json:"job_type"` // as in [JobTypes]
	Mode    string `json:"mode"`
	Attempt uint8  `json:"attempt"` // 0 is the first
	Seat    uint8  `json:"seat"`

	Role       string       `json:"role"`       // alone, member or aggregator
	Aggregator *string      `json:"aggregator"` // who shows the results of all; null: not known yet, or one runner works
	Due        string       `json:"due"`        // commit, wait (for the commitments of others), aggregate or reveal
	DueFrom    chain.Height `json:"due_from"`   // the first height at which it can be in a block
	DueBy      chain.Height `json:"due_by"`     // the last one; of a wait, when it ends at the latest
}

func (s *Server) runnerJobs(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	q, err := s.dutiesQuery(r, addr)
	if err != nil {
		return err
	}
	switch {
	case s.cfg.Genesis == nil:
		return notFound(CodeUnknownPath, "this server was started without a genesis")
	case s.inForce().CIP11.PollDisabled:
		return refuse(http.StatusGone, CodePollDisabled, "the chain has switched polling off (cip11.poll_disabled): validators push assignments over the runner link")
	}
	var reply *RunnerJobsReply
	err = s.readHead(r.Context(), func(v StorageReader, h chain.Height) error {
		if err := registered(v, addr); err != nil {
			return err
		}
		d := &duties{StorageReader: v, height: h, query: q, left: s.cfg.ValueBytesMax}
		reply, err = d.page()
		return err
	})
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

// dutiesQuery asks for the open seats of a runner.
type dutiesQuery struct {
	runner chain.Address
	after  *chain.Hash // the last job of the page before; nil: from the beginning
	limit  int
	specs  bool
}

func (s *Server) dutiesQuery(r *http.Request, runner chain.Address) (*dutiesQuery, error) {
	q, err := parseQuery(r)
	if err != nil {
		return nil, err
	}
	limit, err := s.limitParam(q)
	if err != nil {
		return nil, err
	}
	specs, err := queryUint(q, "specs", 1)
	if err != nil || specs > 1 {
		return nil, badRequest(CodeBadNumber, "specs is 0, for an answer without them, or 1")
	}
	ask := &dutiesQuery{runner: runner, limit: int(limit), specs: specs == 1}
	if text := q.Get("after"); text != "" {
		after, err := parseHash(text)
		if err != nil {
			return nil, err
		}
		ask.after = &after
	}
	return ask, nil
}

// limitParam reads how many entries of a list are asked for.
func (s *Server) limitParam(q url.Values) (uint64, error) {
	limit, err := queryUint(q, "limit", s.cfg.ListDefault)
	if err == nil && (limit < 1 || limit > s.cfg.ListMax) {
		err = badRequest(CodeBadNumber, "limit=%d is out of range: give 1 to %d", limit, s.cfg.ListMax)
	}
	return limit, err
}

// duties is a page of what a runner owes at the head.
type duties struct {
	StorageReader
	height chain.Height
	query  *dutiesQuery
	left   int // bytes of specifications
}

// span is the rows of the open seats: they begin with the runner, so that nobody else's are
// read. One more than is asked for says whether there is more.
func (q *dutiesQuery) span() state.Span {
	first := jobs.OpenKey(q.runner, chain.Hash{})
	span := state.Span{Prefix: first[:len(first)-len(chain.Hash{})], Entries: q.limit + 1, Bytes: (q.limit + 1) * len(first)}
	if q.after != nil {
		span.From = jobs.OpenKey(q.runner, *q.after) + "\x00"
	}
	return span
}

// page ends behind as many seats as are asked for, behind ValueBytesMax bytes of
// specifications, and where the client can pay for no more.
func (d *duties) page() (*RunnerJobsReply, error) {
	reply := &RunnerJobsReply{Runner: d.query.runner.String(), Height: d.height, Jobs: []AssignmentReply{}}
	rows, err := d.Scan(chain.AddrJobDispatcher, d.query.span())
	if err != nil {
		return nil, err
	}
	last := ""
	for i := range rows {
		if i == d.query.limit || i > 0 && d.left <= 0 {
			reply.Next = last
			break
		}
		_, id, ok := jobs.SplitOpen(rows[i].Key)
		if !ok {
			return nil, jobs.ErrRecord
		}
		one, err := d.assignment(id)
		if i > 0 && isOwed(err) {
			reply.Next = last
			break
		}
		if err != nil {
			return nil, err
		}
		last = id.String()
		if one != nil {
			reply.Jobs = append(reply.Jobs, *one)
		}
	}
	return reply, nil
}

// assignment tells of a seat; nil where its runner has nothing left to do, which a pass that
// has much to do notes later.
func (d *duties) assignment(id chain.Hash) (*AssignmentReply, error) {
	attempt, n, seated, err := jobs.ReadWho(d, id, d.query.runner)
	if err != nil || !seated {
		return nil, err
	}
	j, err := jobs.Read(d, id)
	if err != nil || j == nil || j.Attempt != attempt || d.height >= j.Deadline {
		return nil, err
	}
	seats, err := jobs.ReadSeats(d, id, attempt)
	if err != nil {
		return nil, err
	}
	if int(n) >= len(seats) {
		return nil, jobs.ErrRecord
	}
	one := &AssignmentReply{
		JobID: id.String(), JobSpecHash: j.SpecHash.String(), TermsHash: j.TermsHash.String(),
		AssignmentHeight: j.AssignedAt, DeadlineBlock: j.Deadline, JobType: jobTypeNames[j.Kind], Mode: modeNames[j.Mode], Attempt: attempt, Seat: n,
	}
	if !one.setDue(j, seats, d.height+1) || !d.query.specs {
		return one.open(), nil
	}
	spec, err := d.Storage(chain.AddrJobDispatcher, jobs.SpecKey(id))
	if err != nil {
		return nil, err
	}
	d.left -= len(spec)
	text := hexOf(spec)
	one.JobSpec = &text
	return one, nil
}

// open is nil where nothing is due.
func (a *AssignmentReply) open() *AssignmentReply {
	if a.Due == "" {
		return nil
	}
	return a
}

// setDue says what is due of a seat from the block at height next on, which is not above the
// deadline; false for nothing. It follows the rules of package exec/market/results.
func (a *AssignmentReply) setDue(j *jobs.Job, seats []*jobs.Seat, next chain.Height) bool {
	mine := seats[a.Seat]
	switch {
	case mine.Reveal != nil:
		return false
	case j.Runners == 1:
		a.Role, a.Due, a.DueFrom, a.DueBy = "alone", "reveal", next, j.Deadline
		return true
	}
	a.Role = "member"
	if mine.Commitment == nil {
		if j.Phase != jobs.Assigned || next > j.CommitBy {
			return false // it is too late, and nothing else counts
		}
		a.Due, a.DueFrom, a.DueBy = "commit", next, j.CommitBy
		return true
	}
	committed := 0
	for _, seat := range seats {
		if seat.Commitment != nil {
			committed++
		}
	}
	if committed < len(seats) && next <= j.CommitBy {
		a.Due, a.DueFrom, a.DueBy = "wait", next, j.CommitBy
		return true
	}
	first, ok := jobs.Aggregator(seats)
	if !ok || committed < int(j.Threshold) { // another committee is drawn
		a.Due, a.DueFrom, a.DueBy = "wait", next, j.Deadline
		return true
	}
	who := seats[first].Runner.String()
	a.Aggregator = &who
	a.Due, a.DueFrom, a.DueBy = "reveal", max(next, j.GatherUntil+1), j.Deadline
	if first == int(a.Seat) {
		a.Role, a.DueFrom = "aggregator", next
		if next <= j.GatherUntil {
			a.Due, a.DueBy = "aggregate", j.GatherUntil
		}
	}
	return true
}
