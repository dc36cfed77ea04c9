package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Job returns a job. An id that no job has is a refusal with code [rpc.CodeUnknownJob]; so
// it is with the rest of this file.
func (c *Client) Job(ctx context.Context, id chain.Hash) (*rpc.JobReply, error) {
	return get[rpc.JobReply](ctx, c, "/job/"+id.String())
}

// JobStatus returns where a job is.
func (c *Client) JobStatus(ctx context.Context, id chain.Hash) (*rpc.JobStatusReply, error) {
	return get[rpc.JobStatusReply](ctx, c, "/job/"+id.String()+"/status")
}

// JobRunners returns who was drawn for a job.
func (c *Client) JobRunners(ctx context.Context, id chain.Hash) (*rpc.JobRunnersReply, error) {
	return get[rpc.JobRunnersReply](ctx, c, "/job/"+id.String()+"/runners")
}

// resultsMost bounds the results of a job: more than those of all attempts.
const resultsMost = 1_024

// JobResults returns the results of a job that were shown, which a node tells in parts where
// they are large. A node that tells of more than a job can have is not believed.
func (c *Client) JobResults(ctx context.Context, id chain.Hash) (*rpc.JobResultsReply, error) {
	all := new(rpc.JobResultsReply)
	for {
		part := new(rpc.JobResultsReply)
		ask := request{
			method: http.MethodGet, path: "/job/" + id.String() + "/results",
			query: url.Values{"offset": {strconv.Itoa(len(all.Results))}},
		}
		if err := c.call(ctx, ask, part); err != nil {
			return nil, err
		}
		if part.TotalCount > resultsMost || len(all.Results)+len(part.Results) > resultsMost {
			return nil, fmt.Errorf("the node tells of %d results of job %s, a job has at most %d", part.TotalCount, id, resultsMost)
		}
		last := len(part.Results) == 0
		part.Results, part.Offset = append(all.Results, part.Results...), 0
		if all = part; last || uint64(len(all.Results)) >= all.TotalCount {
			return all, nil
		}
	}
}

// JobVerified returns what the results of a job came to.
func (c *Client) JobVerified(ctx context.Context, id chain.Hash) (*rpc.JobVerifiedReply, error) {
	return get[rpc.JobVerifiedReply](ctx, c, "/job/"+id.String()+"/verified")
}

// JobTerms returns specification and terms of a job.
func (c *Client) JobTerms(ctx context.Context, id chain.Hash) (*rpc.JobTermsReply, error) {
	return get[rpc.JobTermsReply](ctx, c, "/job/"+id.String()+"/terms")
}

// JobCandidates returns up to limit of those who could be drawn for a job, from offset on.
// Of a job that is over and whose submission lies further back than the node keeps states, it
// is a refusal with code [rpc.CodeCandidatesGone].
func (c *Client) JobCandidates(ctx context.Context, id chain.Hash, offset, limit uint64) (*rpc.CandidatesReply, error) {
	q := url.Values{"offset": {strconv.FormatUint(offset, 10)}, "limit": {strconv.FormatUint(limit, 10)}}
	reply := new(rpc.CandidatesReply)
	err := c.call(ctx, request{method: http.MethodGet, path: "/job/" + id.String() + "/candidates", query: q}, reply)
	return reply, err
}

// JobCandidate returns the proof that a runner could be drawn for a job. Who could not is a
// refusal with code [rpc.CodeNoCandidate].
func (c *Client) JobCandidate(ctx context.Context, id chain.Hash, runner chain.Address) (*rpc.CandidateProofReply, error) {
	return get[rpc.CandidateProofReply](ctx, c, "/job/"+id.String()+"/candidate/"+runner.String())
}

// JobList asks for the jobs of an account: of one side, the other is zero.
type JobList struct {
	Submitter   *chain.Address // who asked for them
	Runner      *chain.Address // who was drawn for them
	After       string         // next of the page before, "" to begin
	Limit       uint64         // at most so many; 0: what the node gives
	OldestFirst bool           // else newest first
}

// Jobs returns a page of the jobs of an account. A runner that never registered is a refusal
// with code [rpc.CodeUnknownRunner].
func (c *Client) Jobs(ctx context.Context, ask JobList) (*rpc.JobsReply, error) {
	q := url.Values{}
	if ask.Submitter != nil {
		q.Set("submitter", ask.Submitter.String())
	}
	if ask.Runner != nil {
		q.Set("runner", ask.Runner.String())
	}
	if ask.OldestFirst {
		q.Set("order", "oldest")
	}
	pageValues(q, ask.After, ask.Limit)
	reply := new(rpc.JobsReply)
	err := c.call(ctx, request{method: http.MethodGet, path: "/jobs", query: q}, reply)
	return reply, err
}

// pageValues says where a page begins and how long it may be.
func pageValues(q url.Values, after string, limit uint64) {
	if after != "" {
		q.Set("after", after)
	}
	if limit != 0 {
		q.Set("limit", strconv.FormatUint(limit, 10))
	}
}
