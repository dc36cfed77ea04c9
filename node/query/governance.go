package query

import (
	"context"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Governance implements rpc.Decisions.
func (s *Source) Governance(ctx context.Context) (g *rpc.Governance, err error) {
	err = s.atHead(ctx, func(head *ledger.Executed) (err error) {
		g, err = governanceAt(ctx, head)
		return err
	})
	return g, err
}

// InForce implements rpc.Decisions.
func (s *Source) InForce() *params.Params { return s.cfg.Chain.Head().Force.Params }

// governanceAt returns what was decided up to one head.
func governanceAt(ctx context.Context, head *ledger.Executed) (*rpc.Governance, error) {
	g := &rpc.Governance{Height: head.Height(), Params: head.Force.Params}
	kept, err := governance.Settings(head.State)
	if err != nil {
		return nil, err
	}
	for i := range kept {
		s, err := kept[i].Setting()
		if err != nil {
			return nil, err
		}
		g.Settings = append(g.Settings, s)
	}
	slices.SortFunc(g.Settings, func(a, b params.Setting) int { return strings.Compare(a.Path, b.Path) })
	n, err := governance.Count(head.State)
	if err != nil {
		return nil, err
	}
	for n > 0 && len(g.Proposals) < rpc.MaxProposals {
		n--
		id, err := governance.ByNumber(head.State, n)
		if err != nil {
			return nil, err
		}
		p, err := governance.Read(head.State, id)
		if err != nil {
			return nil, err
		}
		if p != nil {
			if err := rpc.Bill(ctx, 64+len(p.Action)); err != nil {
				return nil, err
			}
			g.Proposals = append(g.Proposals, rpc.Proposal{ID: id, Proposal: *p})
		}
	}
	return g, nil
}
