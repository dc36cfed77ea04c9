package rpc

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// Jobs is whose jobs are which. No state orders them so: a node notes it from the blocks that
// it commits.
type Jobs interface {
	// JobsOf returns a page of the jobs of an account.
	JobsOf(ctx context.Context, q *JobsQuery) (*JobsPage, error)
}

// JobsQuery asks for the jobs of one account, in order within a block.
type JobsQuery struct {
	Of          chain.Address
	Works       bool // for which the account was drawn, else those that it has asked for
	OldestFirst bool // else newest block first
	After       *JobPlace
	Limit       int // at most so many, at least 1
}

// JobPlace is where a job is in the list of an account.
type JobPlace struct {
	Height chain.Height // of the submission, or of the draw
	Index  int          // among the account's jobs of that block
}

// String is the text that ?after= takes.
func (p JobPlace) String() string { return fmt.Sprintf("%d.%d", p.Height, p.Index) }

// parseJobPlace reads what String writes.
func parseJobPlace(text string) (JobPlace, error) {
	height, index, _ := strings.Cut(text, ".")
	h, err := parseUint(height)
	if err == nil {
		var i uint64
		if i, err = parseUint(index); err == nil && i <= math.MaxInt32 {
			return JobPlace{chain.Height(h), int(i)}, nil
		}
	}
	return JobPlace{}, badRequest(CodeBadNumber, "after=%q is no place of a job: give next of the page before", clip(text))
}

// ListedJob is a job with its place.
type ListedJob struct {
	JobPlace
	ID chain.Hash
}

// JobsPage is a part of an account's jobs.
type JobsPage struct {
	Jobs   []ListedJob
	Next   *JobPlace    // behind which the next page begins; nil if this is the last
	Height chain.Height // the last block that was looked at
	Since  chain.Height // the first block whose jobs the node has noted
}

// JobsReply answers GET /jobs.
type JobsReply struct {
	Jobs   []ListedJobReply `json:"jobs"`
	Next   string           `json:"next"`   // ?after= of the next page, "" if there is none
	Height chain.Height     `json:"height"` // the last block that was looked at
	Since  chain.Height     `json:"since"`  // the first block whose jobs this node knows
}

// ListedJobReply is a line of GET /jobs. Who was drawn for two attempts of a job has two.
type ListedJobReply struct {
	JobID       string          `json:"job_id"`
	BlockHeight chain.Height    `json:"block_height"` // of the submission, or of the draw
	Job         *JobStatusReply `json:"job"`          // null: it ended long ago, and the state has forgotten it
}

func (s *Server) jobListRoutes() []route {
	return []route{{
		method: http.MethodGet, pattern: "/jobs",
		about:  "jobs of an account, newest first; ?submitter=ADDRESS or ?runner=ADDRESS, and &after=&limit=50&order=oldest",
		handle: s.jobList, cost: costStateProof,
	}}
}

// jobList reads the index first, then the jobs' rows at one head.
func (s *Server) jobList(w http.ResponseWriter, r *http.Request, _ []string) error {
	ask, err := s.jobsQuery(r)
	if err != nil {
		return err
	}
	page, err := s.source.JobsOf(r.Context(), ask)
	if err != nil {
		return err
	}
	var reply *JobsReply
	err = s.readHead(r.Context(), func(v StorageReader, h chain.Height) error {
		if ask.Works {
			if err := registered(v, ask.Of); err != nil {
				return err
			}
		}
		reply = &JobsReply{Jobs: []ListedJobReply{}, Height: page.Height, Since: page.Since}
		if page.Next != nil {
			reply.Next = page.Next.String()
		}
		return reply.addStatuses(v, h, page.Jobs)
	})
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

// addStatuses tells where the jobs are, of a head at height h, while the client can pay for it.
func (l *JobsReply) addStatuses(v StorageReader, h chain.Height, list []ListedJob) error {
	for i := range list {
		line := ListedJobReply{JobID: list[i].ID.String(), BlockHeight: list[i].Height}
		j, err := jobs.Read(v, list[i].ID)
		if err == nil && j != nil {
			line.Job, err = (&jobBook{StorageReader: v, height: h, id: list[i].ID, job: j}).status()
		}
		if i > 0 && isOwed(err) {
			l.Next = list[i-1].String()
			return nil
		}
		if err != nil {
			return err
		}
		l.Jobs = append(l.Jobs, line)
	}
	return nil
}

func (s *Server) jobsQuery(r *http.Request) (*JobsQuery, error) {
	q, err := parseQuery(r)
	if err != nil {
		return nil, err
	}
	limit, err := s.limitParam(q)
	if err != nil {
		return nil, err
	}
	ask := &JobsQuery{Limit: int(limit)}
	if err := ask.setAccount(q); err != nil {
		return nil, err
	}
	switch order := q.Get("order"); order {
	case "", "newest":
	case "oldest":
		ask.OldestFirst = true
	default:
		return nil, badRequest(CodeBadRequest, "order=%q is neither newest nor oldest", clip(order))
	}
	if text := q.Get("after"); text != "" {
		after, err := parseJobPlace(text)
		if err != nil {
			return nil, err
		}
		ask.After = &after
	}
	return ask, nil
}

// setAccount reads whose jobs are asked for: one account on one side.
func (q *JobsQuery) setAccount(v url.Values) (err error) {
	submitters, workers := v["submitter"], v["runner"]
	if len(submitters)+len(workers) != 1 {
		return badRequest(CodeBadRequest, "give one ?submitter=ADDRESS or one ?runner=ADDRESS: there is no list of all jobs")
	}
	q.Works = len(workers) == 1
	q.Of, err = parseAddress(append(submitters, workers...)[0])
	return err
}
