package rpc

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// RunnerReply answers GET /runner/{address}. Amounts are in wei.
type RunnerReply struct {
	Address       string            `json:"address"`
	Index         uint32            `json:"index"` // in the active list
	Stake         chain.Wei         `json:"stake,string"`
	Unbonding     []UnbondingStake  `json:"unbonding"` // oldest first
	MaxJobValue   chain.Wei         `json:"max_job_value,string"`
	RateCard      RateCardReply     `json:"rate_card"`
	Capabilities  CapabilitiesReply `json:"capabilities"`
	Attestation   *AttestationReply `json:"attestation"` // null: it attests nothing
	Endpoint      string            `json:"endpoint"`
	Health        string            `json:"health"` // healthy, unhealthy, paused or deregistered
	Understaked   bool              `json:"understaked"`
	RegisteredAt  chain.Height      `json:"registered_at"`
	LastHeartbeat *chain.Height     `json:"last_heartbeat"` // null: it has deregistered
	Reputation    float64           `json:"reputation"`     // at the head, in points
	ActiveJobs    uint32            `json:"active_jobs"`
	Successes     uint64            `json:"successes"`
	Disagreements uint64            `json:"disagreements"`
	Silences      uint64            `json:"silences"`
	Slashed       chain.Wei         `json:"slashed,string"` // in all
}

// UnbondingStake is stake on its way out.
type UnbondingStake struct {
	Amount chain.Wei    `json:"amount,string"`
	Free   chain.Height `json:"free"` // the first height at which it may be withdrawn
}

// RateCardReply is what a runner charges, in wei for each unit.
type RateCardReply struct {
	LLMInputToken   chain.Wei    `json:"llm_input_token,string"`
	LLMOutputToken  chain.Wei    `json:"llm_output_token,string"`
	HTTPRequestBase chain.Wei    `json:"http_request_base,string"`
	ComputeSecond   chain.Wei    `json:"compute_second,string"`
	MemoryMB        chain.Wei    `json:"memory_mb,string"`
	SupportedModels []string     `json:"supported_models"`
	MinJobValue     chain.Wei    `json:"min_job_value,string"`
	MaxJobValue     chain.Wei    `json:"max_job_value,string"`
	CooldownBlocks  uint64       `json:"cooldown_blocks"` // from one change to the next, by the parameters in force
	LastUpdated     chain.Height `json:"last_updated"`    // when prices, abilities or the largest job changed last
}

// CapabilitiesReply is what a runner can do.
type CapabilitiesReply struct {
	JobTypes          []string `json:"job_types"`
	TEESupport        *string  `json:"tee_support"`
	Regions           []string `json:"regions"`
	HTTPDomains       []string `json:"http_domains"`
	MaxConcurrentJobs uint16   `json:"max_concurrent_jobs"`
}

// AttestationReply is what a runner attests, under its signature.
type AttestationReply struct {
	Digest     string       `json:"digest"` // that it has signed
	ValidFrom  chain.Height `json:"valid_from"`
	ValidUntil chain.Height `json:"valid_until"`
}

// RunnersReply answers GET /runners/active: in the order in which they joined.
type RunnersReply struct {
	Runners    []RunnerReply `json:"runners"`
	TotalCount uint64        `json:"total_count"`
	Offset     uint64        `json:"offset"`
	Limit      uint64        `json:"limit"`
}

func (s *Server) runnerRoutes() []route {
	get := http.MethodGet
	return []route{
		{method: get, pattern: "/runner/{address}", about: "a runner: stake, offer, health, reputation", handle: s.runner, cost: costStateProof},
		{method: get, pattern: "/runner/{address}/jobs", about: "what a runner owes: its open seats, what is due and until when; ?after=JOB&limit=50&specs=0", handle: s.runnerJobs, cost: costStateProof},
		{method: get, pattern: "/runners/active", about: "all runners that ever registered, in the order in which they joined; ?offset=0&limit=50", handle: s.runners, slots: s.exports, cost: costBlockProof},
	}
}

func (s *Server) runner(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	look, err := s.registry(r.Context())
	if err != nil {
		return err
	}
	reply, err := look.runner(addr)
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

// registry is the runner registry at the head. A runner's record and its offer are two
// rows: where a head comes between, each is true of some moment, and no more is said.
type registry struct {
	read     storageReader
	height   chain.Height // at which reputations are told
	halfLife uint64       // blocks
	cooldown uint64       // likewise
	bytes    int          // that were read
}

// Storage implements runners.Reader.
func (g *registry) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	v, err := g.read(addr, key)
	g.bytes += len(v)
	return v, err
}

func (s *Server) registry(ctx context.Context) (*registry, error) {
	if s.cfg.Genesis == nil {
		return nil, notFound(CodeUnknownPath, "this server was started without a genesis")
	}
	p := s.inForce().Runner
	return &registry{read: s.headStorage(ctx), height: s.source.Height(), halfLife: p.ReputationHalfLifeBlocks, cooldown: p.OfferCooldownBlocks}, nil
}

// runnerAt tells of the runner at a place of the list.
func (g *registry) runnerAt(n uint32) (*RunnerReply, error) {
	addr, err := runners.AddressAt(g, n)
	if err != nil {
		return nil, err
	}
	return g.runner(addr)
}

func (g *registry) runner(addr chain.Address) (*RunnerReply, error) {
	rec, err := runners.Read(g, addr)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, notFound(CodeUnknownRunner, "%s has never registered as a runner", addr)
	}
	offer, err := runners.ReadOffer(g, addr)
	if err != nil {
		return nil, err
	}
	reply := runnerReply(addr, rec, offer)
	reply.RateCard.CooldownBlocks = g.cooldown
	reply.Reputation = float64(rec.Standing.At(g.height, g.halfLife)) / float64(selection.Point)
	seen, registered, err := runners.Seen(g, addr)
	if registered {
		reply.LastHeartbeat = &seen
	}
	return reply, err
}

func runnerReply(addr chain.Address, r *runners.Runner, o *runners.Offer) *RunnerReply {
	reply := &RunnerReply{
		Address: addr.String(), Index: r.Index, Stake: r.Stake, Unbonding: []UnbondingStake{}, MaxJobValue: r.MaxJobValue,
		RateCard: RateCardReply{
			LLMInputToken: o.Card.LLMInputToken, LLMOutputToken: o.Card.LLMOutputToken, HTTPRequestBase: o.Card.HTTPRequestBase,
			ComputeSecond: o.Card.ComputeSecond, MemoryMB: o.Card.MemoryMB, SupportedModels: []string{},
			MinJobValue: o.Card.MinJobValue, MaxJobValue: o.Card.MaxJobValue, LastUpdated: max(r.Registered, r.OfferChanged),
		},
		Capabilities: CapabilitiesReply{
			JobTypes: []string{}, TEESupport: o.Capabilities.TEESupport, Regions: append([]string{}, o.Capabilities.Regions...),
			HTTPDomains: append([]string{}, o.Capabilities.HTTPDomains...), MaxConcurrentJobs: o.Capabilities.MaxConcurrentJobs,
		},
		Endpoint: o.Endpoint, Health: strings.ToLower(r.Health().String()), Understaked: r.Has(selection.Understaked), RegisteredAt: r.Registered,
		ActiveJobs: r.Active, Successes: r.Successes, Disagreements: r.Disagreements, Silences: r.Silences, Slashed: r.Slashed,
	}
	for _, t := range r.Tranches {
		reply.Unbonding = append(reply.Unbonding, UnbondingStake{t.Amount, t.Free})
	}
	for _, m := range o.Card.SupportedModels {
		reply.RateCard.SupportedModels = append(reply.RateCard.SupportedModels, m.String())
	}
	for _, k := range o.Capabilities.JobTypes {
		reply.Capabilities.JobTypes = append(reply.Capabilities.JobTypes, jobTypeNames[k])
	}
	if a := o.Attestation; a != nil {
		reply.Attestation = &AttestationReply{a.Digest().String(), a.ValidFrom, a.ValidUntil}
	}
	return reply
}

// jobTypeNames are the kinds of jobs as people write them (CIP-11 §9.4).
var jobTypeNames = [...]string{
	chain.JobLLM: "llm", chain.JobHTTP: "http", chain.JobMCP: "mcp", chain.JobCustom: "custom",
	chain.JobPublishChainRoot: "publish_chain_root", chain.JobAgent: "agent",
}

// JobTypes returns the names of all kinds of jobs.
func JobTypes() []string { return jobTypeNames[:] }

// ParseJobType returns the kind of a name.
func ParseJobType(name string) (chain.JobKind, bool) {
	k := slices.Index(jobTypeNames[:], name)
	return chain.JobKind(max(k, 0)), k >= 0
}

// runnersBytes is after how many bytes of the state a list of runners ends: the client asks
// for the rest.
const runnersBytes = 1 << 20

func (s *Server) runners(w http.ResponseWriter, r *http.Request, _ []string) error {
	offset, limit, err := s.listed(r)
	if err != nil {
		return err
	}
	look, err := s.registry(r.Context())
	if err != nil {
		return err
	}
	count, err := runners.Count(look)
	if err != nil {
		return err
	}
	reply := RunnersReply{Runners: []RunnerReply{}, TotalCount: uint64(count), Offset: offset, Limit: limit}
	for n := offset; n < uint64(count) && n-offset < limit && look.bytes < runnersBytes; n++ {
		one, err := look.runnerAt(uint32(n))
		if isOwed(err) && len(reply.Runners) > 0 {
			break
		}
		if err != nil {
			return err
		}
		reply.Runners = append(reply.Runners, *one)
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}
