package acceptance_test

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// deprecate lets governance take an entitlement out, and returns the last block in which it
// works.
func (p *probe) deprecate(id string) chain.Height {
	dev := setup.DevGovernor()
	governor := &account{key: dev.Key, addr: dev.Address}
	p.fund(100*cby, governor)
	call := func(args ...any) *outcome {
		to := chain.AddrGovernance
		return p.must(governor, chain.Tx{To: &to, Payload: encode(args), CyclesLimit: 450_000, CellsLimit: 20_000})
	}
	proposed := call(chain.OpGovernancePropose, []any{"deprecate_entitlement", id}, false)
	proposal := p.made(proposed)
	p.reach(chain.Height(proposed.receipt.BlockHeight + p.net.params.Governance.TimelockBlocks))
	o := call(chain.OpGovernanceExecute, proposal)
	return chain.Height(o.receipt.BlockHeight) + chain.Height(p.net.params.Entitlements.DeprecationWindowBlocks)
}

// e26: behind the removal of what an actor holds, nobody is drawn for its jobs any more, and it
// is asked nothing.
func e26(p *probe) {
	s := p.scene("e26")
	all := s.runners(8)
	s.each(len(all), func(i int) { s.always(all[i], fetches("*")) })
	gone, stays := s.client("gone", fetches(s.domain), entitlement("storage.blob", nil)), s.client("stays", fetches(s.domain))
	last := s.deprecate("storage.blob")
	before := s.balance(gone)
	// The first committee may commit until behind the last block of the entitlement.
	pair := s.wish(map[string]any{
		"timeout_blocks": uint64(2 * s.net.params.Entitlements.DeprecationWindowBlocks), "max_price": uint64(2 * price),
		"verification": map[string]any{"mode": "structured_match", "runners": uint64(2), "threshold": uint64(2), "fields": []string{"$.v"}},
	})
	j, kept := s.askAs(gone, pair), s.askAs(stays, pair)
	first, seats := s.drawn(j.id, 0)
	if len(seats) != 2 || first.CommitBy <= last {
		s.fatalf("the job of block %d has %d seats and takes commitments until %d, and the entitlement works until %d", j.at, len(seats), first.CommitBy, last)
	}
	s.reach(last + 1)
	if o := s.refused("a message to an actor that is not executable", s.asker, message(gone, "ask", pair)); o.receipt == nil || o.receipt.RevertReason != "actor_non_executable" {
		s.errorf("a message to an actor that is not executable: %v", o)
	}
	end := s.ended(j.id)
	if again := s.seats(j.id, 1); len(again) != 0 || end.Outcome == "ok" {
		s.errorf("behind block %d, the last of the entitlement, the job drew %v: %+v", last, runnersOf(again), end)
	}
	if after := s.balance(gone); after != before {
		s.errorf("the actor had %d, asked for work that was not done, and has %d", before, after)
	}
	if _, again := s.drawn(kept.id, 1); len(again) != 2 {
		s.errorf("the job of an actor that stays drew %v", runnersOf(again))
	}
}
