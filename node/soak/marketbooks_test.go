package soak

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// treasuryPart is the Treasury's part of what a runner earns: a hundredth (resolution 12.13).
const treasuryPart = 100

// division is what became of the escrow of a job, as its seats say.
type division struct{ earned, treasury, refund chain.Wei }

func (t *task) division() division {
	d := division{refund: t.kind.escrow(t.number)}
	for i := range t.seats {
		s := &t.seats[i]
		if s.Mark != "agrees" && s.Mark != "counts" {
			continue
		}
		d.treasury += s.Cost / treasuryPart
		d.earned += s.Cost - s.Cost/treasuryPart
		d.refund -= s.Cost
	}
	if t.job.Outcome == "ok" {
		d.earned += tipOf(t.number)
		d.refund -= tipOf(t.number)
	}
	return d
}

// checkBooks holds what everybody has at the end to what was paid, fee by fee and job by job.
// Nobody sends anything any more.
func (o *operator) checkBooks(head uint64) {
	o.Helper()
	ctx, cancel := context.WithTimeout(o.Context(), patience)
	defer cancel()
	m := o.play
	o.set.waitHeight(o.T, 0, head+10, patience) // answers to the actor are behind verdicts
	balance := func(a chain.Address) chain.Wei {
		var r rpc.AccountReply
		if _, err := m.board.ask(ctx, head+10, "/account/"+a.String(), &r); err != nil { // 0 where it has nothing
			o.Fatal(err)
		}
		return r.Balance
	}
	same := func(what string, got, want chain.Wei) {
		o.Helper()
		if got != want {
			o.Errorf("%s: %d, want %d: %d more", what, got, want, int64(got-want))
		}
	}
	asked, told, toldOK := map[chain.Address]chain.Wei{}, 0, 0 // what askers have paid for jobs in the end
	var all division
	for _, t := range m.over {
		d, by := t.division(), t.by.addr
		if t.kind.byActor {
			by = m.actor
			if told++; t.job.Outcome == "ok" {
				toldOK++
			}
		}
		asked[by] += t.kind.escrow(t.number) - d.refund
		all.earned += d.earned
		all.treasury += d.treasury
	}
	for i, s := range m.askers {
		same(fmt.Sprint("asker ", i), balance(s.addr), soakMoney-s.paid-asked[s.addr])
	}
	for i, p := range m.payers {
		same(fmt.Sprint("payer ", i), balance(p.addr), soakMoney-p.paid-chain.Wei(p.got))
		same(fmt.Sprint("what was paid by payer ", i), balance(p.to), chain.Wei(p.got))
	}
	same("the actor", balance(m.actor), actorMoney-asked[m.actor])
	same("the dispatcher", balance(chain.AddrJobDispatcher), 0)
	var runners rpc.RunnersReply
	if _, err := m.board.ask(ctx, head+10, fmt.Sprintf("/runners/active?limit=%d", numRunners), &runners); err != nil {
		o.Fatal(err)
	}
	var have, stakes, want chain.Wei
	for i := range runners.Runners {
		r := &runners.Runners[i]
		w := m.at[r.Address]
		have += balance(w.addr) + r.Stake
		stakes += r.Stake
		want += soakMoney - w.paid - r.Slashed
		if r.ActiveJobs != 0 {
			o.Errorf("runner %s has %d jobs when all are over", r.Address, r.ActiveJobs)
		}
	}
	same("the runners", have, want+all.earned)
	same("the registry", balance(chain.AddrRunnerRegistry), stakes)
	same("the Treasury", balance(chain.AddrTreasury)-o.treasuryBefore, all.treasury)
	var a rpc.ActorReply
	if ok, err := m.board.ask(ctx, head+10, "/actor/"+m.actor.String(), &a); err != nil || !ok {
		o.Fatalf("the actor: found %v, %v", ok, err)
	}
	if got, want := string(a.Storage["told"])+" "+string(a.Storage["ok"]), fmt.Sprintf("%d %d", told, toldOK); got != want {
		o.Errorf("the actor was told of so many jobs and good ones: %s, want %s", got, want)
	}
	o.Logf("runners earned %s CBY, the Treasury %s CBY, the actor was told %d times", rpc.FormatCBY(all.earned), rpc.FormatCBY(all.treasury), told)
	o.checkRunners(&runners)
}

// penaltiesFrom is how many jobs surely have runners that lose stake.
const penaltiesFrom = 1_000

// checkRunners holds what became of the runners to what they did: who was honest has lost
// no stake.
func (o *operator) checkRunners(list *rpc.RunnersReply) {
	o.Helper()
	sums := map[habit]*rpc.RunnerReply{}
	for i := range list.Runners {
		r := &list.Runners[i]
		h := o.play.at[r.Address].habit
		if sums[h] == nil {
			sums[h] = &rpc.RunnerReply{}
		}
		sums[h].Successes += r.Successes
		sums[h].Disagreements += r.Disagreements
		sums[h].Silences += r.Silences
		sums[h].Slashed += r.Slashed
	}
	for _, h := range slices.Sorted(maps.Keys(sums)) {
		s := sums[h]
		o.Logf("%s runners: %d successes since their last return, %d disagreements, %d silences, %s CBY of stake lost", h, s.Successes, s.Disagreements, s.Silences, rpc.FormatCBY(s.Slashed))
		if s.Slashed > 0 && h == honest { // two lies of three are a median, and who disagrees with it has no less stake
			o.Errorf("honest runners have lost %s CBY", rpc.FormatCBY(s.Slashed))
		}
		if s.Slashed == 0 && h != honest && o.play.total >= penaltiesFrom {
			o.Errorf("%s runners have lost nothing", h)
		}
	}
}
