package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
)

// services are all of them: what [chain.InstructionTable] says runs has its row in one,
// and what has a row runs (TestServicesAreTheTable).
var services = []service.Table{
	actor.Instructions(),
	governance.Instructions(carry),
	entitlements.Instructions(ownerOf),
	runners.Instructions(),
	jobs.Instructions(jobRules()),
	results.Instructions(registryOf),
	rent.Instructions(),
	staking.Instructions(),
	token.Instructions(),
}

// jobRules is what the dispatcher asks others about a job, whichever door it comes through.
func jobRules() jobs.Rules {
	return jobs.Rules{
		Banned: func(v state.View, model chain.Hash) (bool, error) {
			entry, err := governance.Entry(v, governance.TableModelBans, model.String())
			return entry != nil, err
		},
	}
}

// instructionOf finds the row of an opcode at an address; nil where this version has none.
func instructionOf(to chain.Address, opcode uint64) *service.Instruction {
	// Bounded: by the services, less than ten.
	for i := range services {
		if services[i].Address != to {
			continue
		}
		// Bounded: by the instructions of a service, less than twenty.
		for j := range services[i].Instructions {
			if ins := &services[i].Instructions[j]; ins.Opcode == opcode {
				return ins
			}
		}
	}
	return nil
}

// instruct carries out an instruction to a system address. One that nothing serves does
// nothing, its value goes back to who sent it, and it pays what is intrinsic.
func (b *block) instruct(ins chain.Instruction, tx *chain.VerifiedTx, limit chain.Usage) (actor.Outcome, error) {
	served := instructionOf(ins.To, ins.Opcode)
	if served == nil {
		return actor.Outcome{Code: chain.CodeUnsupported, Detail: ins.Name + " is served by nothing"}, nil
	}
	out, err := b.startRun(tx, limit).Serve(served, actor.Order{By: tx.Sender, Value: tx.Tx.Value, Payload: tx.Tx.Payload, Signers: tx.Signers})
	return out, fault(ins.Name, err)
}

// ownerOf returns who answers in the Entitlement Registry for an actor or a token.
func ownerOf(c *service.Call, s entitlements.Scope) (chain.Address, bool, error) {
	if s.Kind != entitlements.ScopeToken {
		return c.Run.Creator(chain.Address([]byte(s.Name)))
	}
	t, err := token.Read(c.State, token.ID([]byte(s.Name)))
	if err != nil || t == nil || t.Owner == nil {
		return chain.Address{}, false, err
	}
	return *t.Owner, true, nil
}

// carry does what an action of governance does in other services: other code in place of a
// system actor's, at the price of compiling it (resolution 8.2), or an instruction to the
// registry, at the price that it has there but for half the cells of rows written again.
func carry(c *service.Call, b *governance.Book, e *governance.Effect) (done governance.Done, err error) {
	switch {
	case e.Upgrade != nil:
		var used chain.Cycles
		used, done.Failed, err = actor.UpgradeFor(c, e.Upgrade.Actor, e.Upgrade.Source, b.Cycles)
		b.Cycles -= used
		return done, err
	case e.Registry == nil:
		return done, nil
	}
	ins, err := (&chain.Tx{To: &chain.AddrEntitlements, Payload: e.Registry}).Classify()
	if err != nil { // the proposal was judged by an earlier build
		done.Failed = verdict.New(verdict.Argument, err.Error())
		return done, nil
	}
	if !payCarried(b, &done, entitlements.Price(&c.Params.Entitlements, ins.Opcode)) {
		return done, nil
	}
	event, err := entitlements.Carry(c, ownerOf, e.Registry)
	if _, refused := verdict.Of(err); refused {
		done.Failed = err
		return done, nil
	}
	if err != nil {
		return done, err
	}
	again, err := entitlements.OverwritePrice(c)
	again.Cells -= again.Cells / 2 // what the system lane has room for: ADR 209
	if err != nil || !payCarried(b, &done, again) {
		return done, err
	}
	done.Events = []chain.Event{event}
	return done, nil
}

// payCarried puts a price on the instruction of governance; false if its cycles do not
// cover it.
func payCarried(b *governance.Book, done *governance.Done, price chain.Usage) bool {
	if price.Cycles > b.Cycles {
		done.Failed, b.Cycles = governance.ErrCycles, 0
		return false
	}
	b.Cycles -= price.Cycles
	done.Cells += price.Cells
	return true
}
