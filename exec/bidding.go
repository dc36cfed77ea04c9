package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// askAgents asks the agents of due timers for their bids, in the order of the
// timers, until timer.bids_per_block or half of the lane is used up (resolution
// 11.23), and no further than leaves the first of the timers its room: who waits for
// long is the first whatever others bid, and must find it (ADR 127). It returns what the answers used of the lane, which the timers' escrows
// pay at the base fee, and brings head up to date.
func (b *block) askAgents(head *timers.Head) (used chain.Usage, err error) {
	p, c := &b.in.Params.Timer, b.clock()
	ids, err := b.candidates(head)
	if err != nil {
		return used, err
	}
	lane := fees.LaneTarget(b.in.Params, chain.LaneTimer)
	asked, room := uint64(0), lane.Cycles/2
	// Bounded: by timer.candidates_per_block, 65,536 at most.
	for i, id := range ids {
		if asked == p.BidsPerBlock || used.Cycles+p.BidCycles > room || used.Cells+p.BidCells > lane.Cells/2 {
			break
		}
		t, err := timers.Load(b.state, id)
		if err != nil {
			return used, &Fault{"load a timer", err}
		}
		if i == 0 {
			first, err := b.wants(t)
			if err != nil {
				return used, &Fault{"read the record of a receiver", err}
			}
			room = min(room, lane.Cycles-min(first.whole().Cycles, lane.Cycles))
		}
		if !timers.NeedsBid(&c, t) {
			continue
		}
		_, load, err := b.loadOf(t.Actor, *t.Bidder)
		if err != nil {
			return used, &Fault{"read the record of an agent", err}
		}
		load = min(load, room-min(p.BidCycles, room))
		if used.Cycles+p.BidCycles+load > room {
			continue // another's code may be in use already, or shorter
		}
		asked++
		took, err := b.askAgent(t, head, load)
		if err != nil {
			return used, fault("ask for a bid", err)
		}
		used.Cycles += took.Cycles
		used.Cells += took.Cells
	}
	if asked > 0 {
		b.use(chain.LaneTimer, used)
		*head, err = timers.ReadHead(b.state, b.in.Params)
	}
	return used, fault("read the head of the timers", err)
}

// askAgent asks one agent, if the timer's actor can pay for it and for the first use
// of the agent's code, and notes the bid. Who cannot pay, or does not answer as it should, bids no tip.
func (b *block) askAgent(t *timers.Timer, head *timers.Head, load chain.Cycles) (used chain.Usage, err error) {
	p, c := &b.in.Params.Timer, b.clock()
	bid := timers.NoBid(&c, t.Limits)
	var cost chain.Wei
	payable, err := timers.Fill(purse{b}, b.state, c, t, chain.Usage{Cycles: p.BidCycles + load, Cells: p.BidCells}, c.Base)
	if err != nil {
		return used, err
	}
	if payable {
		out, err := b.consult(t, head, load)
		if err != nil {
			return used, err
		}
		b.result.Defects = append(b.result.Defects, out.Defects...)
		if out.Code == chain.CodeOK {
			bid = timers.ReadBid(out.Output, bid)
		}
		used = out.Used
		cost, _ = timers.Cost(used, c.Base) // within what was funded
	}
	return used, timers.SetBid(purse{b}, b.state, c, t, bid, cost)
}

// consult runs the agent's handler, which changes nothing.
func (b *block) consult(t *timers.Timer, head *timers.Head, load chain.Cycles) (actor.Outcome, error) {
	balance, err := funds.Balance(b.state, t.Actor)
	if err != nil {
		return actor.Outcome{}, err
	}
	c := b.clock()
	before := b.state.Snapshot()
	r := actor.NewRun(b.actors, b.state, b.in.Engine, actor.Start{
		Origin: t.Actor, ID: b.firingID("cowboy-timer-bid-v1", t.ID), ReadOnly: true, Load: load, Warm: b.warm,
		Cycles: b.in.Params.Timer.BidCycles + load, Cells: b.in.Params.Timer.BidCells,
	})
	out, err := r.First(actor.Envelope{From: t.Actor, To: *t.Bidder, Handler: timers.BidHandler, Payload: head.Question(&c, t, balance)})
	b.state.Revert(before)
	return out, err
}
