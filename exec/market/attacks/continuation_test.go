package attacks

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

// waiting is an actor whose handler goes on with the answer to a job.
const waiting = `
from cowboy_sdk import actor, public, runner

@actor
class Waiting:
    @public
    @runner.continuation
    async def ask(self, msg):
        answer = await runner.custom(executor_hash=b"\x01" * 32, params=b"", max_price=100000000, timeout_blocks=40)
        self.storage["got"] = answer.output

    @public
    def got(self, msg):
        return self.storage.get("got")
`

// executor is an offer to run programs.
func executor() *chain.RunnerRegister {
	q := offer(rate)
	q.RateCard.ComputeSecond, q.Capabilities.JobTypes = rate/100, []chain.JobKind{chain.JobCustom}
	return q
}

// handles calls a handler of the actor, and returns what it says.
func (m *market) handles(by *person, at chain.Address, handler string) []byte {
	m.Helper()
	a := act{by: by, to: to(at), payload: actor.AppendMessage(nil, handler, cbor.AppendNull(nil)), cycles: 900_000}
	return m.does(a)[0].Output
}

// told are the receipts of what actors are sent in the next block.
func (m *market) told() []chain.Receipt {
	m.Helper()
	return m.block()
}

func answersAnother(t *testing.T) end {
	m := newMarket(t, 3)
	m.p.Runner.ProbationSuccesses = 0 // it takes two jobs at a time
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	m.engine = pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits())
	runner, owner, attacker := m.people[0], m.people[1], m.people[2]
	joins := ask(runner, chain.AddrRunnerRegistry, stake, executor())
	d := actor.Deployment{Source: []byte(waiting), Salt: []byte{1}, Manifest: manifest.Manifest("econ.hold_balance", "storage.kv")}
	at := actor.AddressOf(owner.addr, d.Salt, d.Source)
	m.does(joins, act{by: owner, value: chain.WeiPerCBY, payload: actor.AppendPayload(nil, &d)})

	m.handles(owner, at, "ask")
	real := chain.ActorJobID(at, 0, m.height)
	spec, err := jobs.ReadSpec(m.state, real)
	if err != nil || spec == nil {
		t.Fatalf("the actor asks for nothing: %v", err)
	}
	// Whoever reads the chain knows handler and correlation. The attacker buys an answer to them.
	forged := order(1, 1, func(q *chain.JobSubmit) {
		q.Spec.JobType, q.Spec.Callback = spec.JobType, spec.Callback
		q.Terms.CallbackCycles = 400_000
	})
	bought := m.assigned(attacker, forged)
	m.does(reveals(runner, bought, result("evil")))
	if told := m.told(); len(told) != 1 || told[0].Code == chain.CodeOK {
		t.Fatalf("the bought answer: %+v", told)
	}
	if got := m.handles(owner, at, "got"); !strings.HasPrefix(string(got), "\xf6") {
		t.Errorf("the actor has %x", got)
	}
	m.does(reveals(runner, real, result("good"))) // the control
	if told := m.told(); len(told) != 1 || told[0].Code != chain.CodeOK {
		t.Fatalf("the answer: %+v", told)
	}
	if got := m.handles(owner, at, "got"); !strings.Contains(string(got), "good") {
		t.Errorf("the actor has %x", got)
	}
	m.over(bought, real)
	lost := m.gain(attacker)
	if lost >= 0 {
		t.Errorf("the attacker has %s", cby(lost))
	}
	return end{cby(lost) + ", the price of the answer that it bought, and the fees: the handler of the continuation refuses the sender, which is not 0x03", "nobody: the real answer goes on where it was awaited"}
}
