package rpc

import (
	"context"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
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

// snapshot makes the candidates of the job again, which the request pays for before.
func (b *jobBook) snapshot(ctx context.Context) (*selection.Snapshot, error) {
	eligible, err := b.Storage(chain.AddrJobDispatcher, jobs.EligibleKey(b.id))
	if err != nil {
		return nil, err
	}
	if err := Bill(ctx, 8*len(eligible)*candidateBytes); err != nil {
		return nil, err
	}
	snapshot, ok, err := jobs.Candidates(b, b.id, b.job)
	if err == nil && !ok {
		err = notFound(CodeCandidatesGone, "nobody is drawn for job %s any more, so its candidates are not kept; its candidates_root is", b.id)
	}
	return snapshot, err
}

func (s *Server) candidates(w http.ResponseWriter, r *http.Request, args []string) error {
	offset, limit, err := s.listed(r)
	if err != nil {
		return err
	}
	return s.aboutJob(w, r, args[0], func(b *jobBook) (any, error) {
		snapshot, err := b.snapshot(r.Context())
		if err != nil {
			return nil, err
		}
		list := snapshot.Candidates()
		reply := &CandidatesReply{
			JobID: b.id.String(), CandidatesRoot: b.job.CandidatesRoot.String(), Candidates: []CandidateReply{},
			TotalCount: uint64(len(list)), Offset: offset, Limit: limit,
		}
		for n := offset; n < uint64(len(list)) && n-offset < limit; n++ {
			reply.Candidates = append(reply.Candidates, candidateReply(uint32(n), &list[n]))
		}
		return reply, nil
	})
}

func (s *Server) candidate(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[1])
	if err != nil {
		return err
	}
	return s.aboutJob(w, r, args[0], func(b *jobBook) (any, error) {
		snapshot, err := b.snapshot(r.Context())
		if err != nil {
			return nil, err
		}
		n, ok := snapshot.IndexOf(addr)
		if !ok {
			return nil, notFound(CodeNoCandidate, "%s is no candidate for job %s", addr, b.id)
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
		return reply, nil
	})
}

func candidateReply(index uint32, c *chain.Candidate) CandidateReply {
	return CandidateReply{index, c.Runner.String(), c.EffectiveStake, c.ReputationX1e9, c.BaseWeight}
}
