package rpc

import (
	"context"
	"errors"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// CandidatesReply answers GET /job/{id}/candidates: ascending by address.
type CandidatesReply struct {
	JobID          string           `json:"job_id"`
	CandidatesRoot string           `json:"candidates_root"`
	Candidates     []CandidateReply `json:"candidates"`
	TotalCount     uint64           `json:"total_count"`
	Offset         uint64           `json:"offset"`
	Limit          uint64           `json:"limit"`
}

// CandidateReply is who could be drawn for a job, as it was when the job was submitted.
type CandidateReply struct {
	Index          uint32    `json:"index"` // in the tree
	Runner         string    `json:"runner"`
	EffectiveStake chain.Wei `json:"effective_stake,string"`
	ReputationX1e9 uint64    `json:"reputation_x1e9"`
	BaseWeight     uint64    `json:"base_weight"`
}

// CandidateProofReply answers GET /job/{id}/candidate/{runner}: the leaf is of index and
// candidate, siblings lead from it up to the root (CIP-11 §9.2).
type CandidateProofReply struct {
	JobID          string         `json:"job_id"`
	CandidatesRoot string         `json:"candidates_root"`
	Candidate      CandidateReply `json:"candidate"`
	Leaf           string         `json:"leaf"`
	Siblings       []string       `json:"siblings"`
}

// candidateBytes is what a registered runner is billed as, of whom a snapshot is made again:
// to weigh, sort and hash one takes some two microseconds ([Bill]).
const candidateBytes = 32

// snapshot makes the candidates of a job again, which the request pays for before: out of the
// head while somebody may still be drawn, later out of the state after the block of the
// submission, if this node keeps it.
func (s *Server) snapshot(ctx context.Context, text string) (*jobBook, *selection.Snapshot, error) {
	var book *jobBook
	var found *selection.Snapshot
	err := s.readJob(ctx, text, func(b *jobBook) (err error) {
		book = b
		found, err = b.snapshot(ctx, b)
		return err
	})
	if err != nil || found != nil {
		return book, found, err
	}
	found, err = book.snapshot(ctx, &oldRegistry{s.source, ctx, book.job.SubmittedAt})
	if err == nil && found == nil || errors.Is(err, ErrNoHistory) {
		err = refuse(http.StatusGone, CodeCandidatesGone, "nobody is drawn for job %s any more, and this node does not keep the state of block %d, which has the candidates; the job's candidates_root is of them", book.id, book.job.SubmittedAt)
	}
	return book, found, err
}

// snapshot makes the candidates out of a state, nil if it has none of the job.
func (b *jobBook) snapshot(ctx context.Context, view runners.View) (*selection.Snapshot, error) {
	eligible, err := view.Storage(chain.AddrJobDispatcher, jobs.EligibleKey(b.id))
	if err != nil || eligible == nil {
		return nil, err
	}
	if err := Bill(ctx, 8*len(eligible)*candidateBytes); err != nil {
		return nil, err
	}
	found, _, err := jobs.Candidates(view, b.id, b.job)
	return found, err
}

// oldRegistry is the state after the block in which a job was submitted. Pages of standings are
// there as they were then, so that none is kept from before.
type oldRegistry struct {
	source Source
	ctx    context.Context
	at     chain.Height
}

// Storage implements runners.View, and bills what it reads.
func (o *oldRegistry) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	v, err := o.source.StorageAt(o.ctx, addr, key, &o.at)
	if err == nil {
		err = Bill(o.ctx, rowBytes)
	}
	if err != nil {
		return nil, err
	}
	return v.Value, Bill(o.ctx, len(v.Value))
}

// Scan implements runners.View: of pages that change behind the block.
func (o *oldRegistry) Scan(chain.Address, state.Span) ([]state.Entry, error) { return nil, nil }

func (s *Server) candidates(w http.ResponseWriter, r *http.Request, args []string) error {
	offset, limit, err := s.listed(r)
	if err != nil {
		return err
	}
	b, snapshot, err := s.snapshot(r.Context(), args[0])
	if err != nil {
		return err
	}
	list := snapshot.Candidates()
	reply := &CandidatesReply{
		JobID: b.id.String(), CandidatesRoot: b.job.CandidatesRoot.String(), Candidates: []CandidateReply{},
		TotalCount: uint64(len(list)), Offset: offset, Limit: limit,
	}
	for n := offset; n < uint64(len(list)) && n-offset < limit; n++ {
		reply.Candidates = append(reply.Candidates, candidateReply(uint32(n), &list[n]))
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

func (s *Server) candidate(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[1])
	if err != nil {
		return err
	}
	b, snapshot, err := s.snapshot(r.Context(), args[0])
	if err != nil {
		return err
	}
	n, ok := snapshot.IndexOf(addr)
	if !ok {
		return notFound(CodeNoCandidate, "%s is no candidate for job %s", addr, b.id)
	}
	proof, _ := snapshot.Prove(n)
	leaf := chain.CandidateLeaf(proof.Index, proof.Candidate)
	reply := &CandidateProofReply{
		JobID: b.id.String(), CandidatesRoot: b.job.CandidatesRoot.String(),
		Candidate: candidateReply(proof.Index, &proof.Candidate), Leaf: leaf.String(), Siblings: []string{},
	}
	for _, sibling := range proof.Siblings {
		reply.Siblings = append(reply.Siblings, sibling.String())
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

func candidateReply(index uint32, c *chain.Candidate) CandidateReply {
	return CandidateReply{index, c.Runner.String(), c.EffectiveStake, c.ReputationX1e9, c.BaseWeight}
}
