package rpc

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/governance"
)

// Decisions is what governance settled, and what it has before it.
type Decisions interface {
	// Governance returns what was decided up to the finalized head.
	Governance(ctx context.Context) (*Governance, error)
	// InForce returns the parameters in force in the block behind the finalized head; nil: not
	// known. It reads nothing.
	InForce() *params.Params
}

// Governance is what the multisig has decided, at the finalized head.
type Governance struct {
	Height    chain.Height
	Params    *params.Params // in force in the next block; nil: not known
	Settings  []params.Setting
	Proposals []Proposal // newest first
}

// Proposal is a proposal and its id.
type Proposal struct {
	ID chain.Hash
	governance.Proposal
}

// GovernanceReply answers GET /governance.
type GovernanceReply struct {
	Height    uint64          `json:"height"`
	Members   []chain.Address `json:"members"`
	Threshold uint64          `json:"threshold"`
	Timelock  uint64          `json:"timelock_blocks"`
	Emergency uint64          `json:"emergency_timelock_blocks"`
	Settings  []SettingReply  `json:"settings"`  // what differs from the genesis
	Proposals []ProposalReply `json:"proposals"` // newest first, at most 50
	Params    json.RawMessage `json:"params"`    // all parameters in force in the next block
}

// SettingReply is a parameter that governance has set.
type SettingReply struct {
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// ProposalReply is a proposal.
type ProposalReply struct {
	ID        chain.Hash        `json:"id"`
	Number    uint64            `json:"number"`
	Action    string            `json:"action"` // its name
	Settings  []SettingReply    `json:"settings,omitempty"`
	Detail    map[string]string `json:"detail,omitempty"` // arguments of the other actions
	Emergency bool              `json:"emergency"`
	Height    uint64            `json:"proposed_at"`
	Approvals []chain.Address   `json:"approvals"`
	Ready     uint64            `json:"ready_at"`    // first block that may carry it out; 0: not approved by enough
	Done      uint64            `json:"executed_at"` // 0: not yet
}

// MaxProposals bounds the answer.
const MaxProposals = 50

func (s *Server) governance(w http.ResponseWriter, r *http.Request, _ []string) error {
	g, err := s.source.Governance(r.Context())
	if err != nil {
		return err
	}
	if g.Params == nil {
		return notFound(CodeUnknownPath, "this server knows no parameters")
	}
	all, err := g.Params.At("")
	if err != nil {
		return err
	}
	rule := &g.Params.Governance
	reply := GovernanceReply{
		Height: uint64(g.Height), Members: rule.Members, Threshold: rule.Threshold,
		Timelock: rule.TimelockBlocks, Emergency: rule.EmergencyTimelockBlocks,
		Settings: settingReplies(g.Settings), Proposals: []ProposalReply{}, Params: all,
	}
	for i := range g.Proposals {
		reply.Proposals = append(reply.Proposals, proposalReply(&g.Proposals[i]))
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

func settingReplies(list []params.Setting) []SettingReply {
	out := []SettingReply{}
	for _, v := range list {
		out = append(out, SettingReply{v.Path, json.RawMessage(v.Value)})
	}
	return out
}

func proposalReply(p *Proposal) ProposalReply {
	out := ProposalReply{
		ID: p.ID, Number: p.Number, Emergency: p.Emergency, Height: uint64(p.Height),
		Approvals: p.Approvals, Ready: uint64(p.Ready), Done: uint64(p.Done),
	}
	a, err := governance.ParseAction(p.Action)
	if err != nil {
		out.Action = "unknown" // of another version
		return out
	}
	out.Action = a.Name
	switch a.Name {
	case governance.ActionSet:
		out.Settings = settingReplies(a.Settings)
	case governance.ActionDeprecate:
		out.Detail = map[string]string{"entitlement": a.ID}
	case governance.ActionEntry:
		out.Detail = map[string]string{"table": a.Table, "key": a.Key, "value": "0x" + hex.EncodeToString(a.Value)}
		if a.Value == nil {
			out.Detail["value"] = "removed"
		}
	case governance.ActionUpgrade:
		out.Detail = map[string]string{"actor": a.Actor.String(), "source": string(a.Source)}
	case governance.ActionRegistry:
		out.Detail = map[string]string{"instruction": hexOf(a.Instruction)}
		if words, err := entitlements.Describe(a.Instruction); err == nil {
			out.Detail["meaning"] = words
		}
	}
	return out
}
