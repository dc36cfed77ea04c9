package marketsim

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	cborlib "github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

// source is an actor that asks for jobs, takes answers well or badly, and verifies results.
const source = `
from cowboy_sdk import actor, public, submit_job, cancel_job

@actor
class Asker:
    @public
    def calm(self, msg):
        submit_job(msg.payload, "answer")

    @public
    def angry(self, msg):
        submit_job(msg.payload, "fail")

    @public
    def fickle(self, msg):
        cancel_job(submit_job(msg.payload, "answer"))

    @public
    def answer(self, msg):
        self.storage["outcome"] = msg.payload["outcome"]

    @public
    def fail(self, msg):
        raise ValueError(msg.payload["outcome"])

    @public
    def approve(self, msg):
        return {"valid": True}

    @public
    def reject(self, msg):
        return {"valid": False}

    @public
    def correct(self, msg):
        return {"valid": True, "canonical_output": "[1]"}
`

func newEngine(t testing.TB) *pvm.Engine {
	t.Helper()
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	return pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits())
}

// actorWealth is what the actor of a game has at first.
const actorWealth = 100 * chain.WeiPerCBY

// deploys makes the actor of a game. Its manifest asks for oracle.llm, which runners have to
// attest for it.
func (g *game) deploys() *act {
	by := g.askers[0]
	d := actor.Deployment{Source: []byte(source), Salt: []byte{1}, Manifest: manifest.Manifest("econ.hold_balance", "oracle.llm", "storage.kv")}
	g.actor = actor.AddressOf(by, d.Salt, d.Source)
	return &act{
		name: "deploy", from: by, value: wei(actorWealth), payload: fixed(actor.AppendPayload(nil, &d)),
		do: func(chain.Hash) uint16 {
			g.m.money.move(by, g.actor, wei(actorWealth))
			return chain.CodeOK
		},
	}
}

// actorAsks lets the actor ask for a job of one runner in its own words. What these mean in
// the one form of a job is read from the state: it is not what is played here.
func (g *game) actorAsks() *act {
	handler := []string{"calm", "calm", "angry", "fickle"}[g.rng.IntN(4)]
	bounds := dictionary(map[string]uint64{
		"max_memory_mb": 1 + g.rng.Uint64N(3), "max_input_tokens": 10, "max_output_tokens": 10, "max_wall_time_seconds": 1 + g.rng.Uint64N(3),
	})
	timeout := 13 + g.rng.Uint64N(8)
	payload := cbor.AppendMap(nil, 6)
	payload = cbor.AppendUint(cbor.AppendText(payload, "tip"), g.rng.Uint64N(9))
	payload = cbor.AppendText(cbor.AppendText(payload, "type"), "llm")
	payload = append(cbor.AppendText(payload, "bounds"), bounds...)
	payload = cbor.AppendText(cbor.AppendText(payload, "prompt"), "why?")
	payload = cbor.AppendUint(cbor.AppendText(payload, "max_price"), 500+g.rng.Uint64N(2_000))
	payload = cbor.AppendUint(cbor.AppendText(payload, "timeout_blocks"), timeout)
	return &act{
		name: "actor " + handler, from: g.askers[g.rng.IntN(len(g.askers))], to: g.actor, value: new(big.Int),
		payload: fixed(actor.AppendMessage(nil, handler, payload)),
		do: func(chain.Hash) uint16 {
			if timeout <= g.m.p.Job.MinWindowBlocks { // it does not catch that the job is refused
				return chain.CodeReverted
			}
			id := chain.ActorJobID(g.actor, g.m.numbered, chain.Height(g.height))
			g.m.numbered++
			spec, err := jobs.ReadSpec(g.state, id)
			if err != nil || spec == nil {
				g.fatalf("a job of the actor: %v, %v", spec, err)
			}
			terms, err := jobs.ReadTerms(g.state, id)
			if err != nil {
				g.fatalf("a job of the actor: %v", err)
			}
			if !g.m.takes(spec, terms) {
				g.fatalf("a job of the actor that should be refused: %+v", spec)
			}
			g.m.takeIn(id, g.actor, *spec, *terms)
			if handler == "fickle" {
				g.m.end(g.m.jobs[id], cancelled)
			}
			return chain.CodeOK
		},
	}
}

// dictionary is a map in canonical order, the shorter names first.
func dictionary(m map[string]uint64) []byte {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if d := len(a) - len(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	b := cbor.AppendMap(nil, len(m))
	for _, name := range names {
		b = cbor.AppendUint(cbor.AppendText(b, name), m[name])
	}
	return b
}

// attests is an attestation of a runner that it can do what the actor's manifest asks for.
func (g *game) attests(p *player, until uint64) *chain.RunnerAttestation {
	a := &chain.RunnerAttestation{Runner: p.addr, Capabilities: manifest.Grants{{ID: "oracle.llm"}}.Append(nil), ValidUntil: chain.Height(until)}
	sig := p.key.Sign(a.Digest())
	copy(a.Signature[:32], sig.R[:])
	copy(a.Signature[32:64], sig.S[:])
	a.Signature[64] = sig.YParity
	return a
}

// answers are what an actor was sent and what of it failed (resolution 6.14).
type answers struct{ sent, failed uint64 }

// answer tells the actor that a job names how it ended, once. Whether its handler fails
// changes nothing of what anybody gets; a failure counts on the answer to a job of its own.
func (m *market) answer(j *job) {
	to := j.spec.Callback.Actor
	if to == (chain.Address{}) || j.outcome == cancelled {
		return
	}
	if j.outcome == agreed && !j.fitsAnswer() {
		m.met["keep a result"]++
		j.kept = true
	}
	if j.by != to { // another has ordered it
		return
	}
	c := m.answers[to]
	c.sent++
	if j.spec.Callback.Handler != "answer" {
		c.failed++
	}
	m.answers[to] = c
}

// fitsAnswer says whether what a job came to stands in its answer, twice: as long as that has
// 64 KiB, and JSON nests no deeper than a message (resolution 12.55; market design §13). None
// of the games nests about as deep as that.
func (j *job) fitsAnswer() bool {
	var output any = string(j.data)
	if j.terms.ResultSchema.DataFormat == chain.FormatJSON {
		if bytes.Count(j.data, []byte("[")) >= deepNesting {
			return false
		}
		if err := json.Unmarshal(j.data, &output); err != nil {
			return false
		}
	}
	var agree [][]byte
	for _, s := range j.seats() {
		if s.mark == "agrees" {
			agree = append(agree, s.runner[:])
		}
	}
	answer, err := cborlib.Marshal(map[string]any{
		"job_id": j.id[:], "output": output, "result": output, "status": "done", "context": nil, "outcome": "ok", "runners": agree,
		"correlation_id": j.spec.Callback.CorrelationID,
	})
	return err == nil && len(answer) <= 64<<10
}

// opinion is what the verifier says that a job names, if it names one: whether it says anything,
// whether the results hold, and what it puts in their place.
func (j *job) opinion() (named, speaks, valid bool, data []byte) {
	for _, c := range j.spec.Verification.Checks {
		if c, ok := c.(*chain.CustomCheck); ok {
			switch c.Method {
			case "approve":
				return true, true, true, nil
			case "correct":
				return true, true, true, []byte("[1]")
			}
			return true, c.Method == "reject", c.Method != "reject", nil // where there is no such handler, what they agree on stands
		}
	}
	return false, false, true, nil
}
