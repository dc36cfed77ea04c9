package acceptance_test

import (
	"github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
)

// canonical writes the one encoding that the chain takes (CIP-11 §12.6).
var canonical, _ = cbor.CoreDetEncOptions().EncMode()

// altered is a submission whose [opcode, spec, terms] a test has changed as plain CBOR, so that
// it says what no type of the program can.
func (p *probe) altered(q *chain.JobSubmit, change func(spec, terms map[any]any)) chain.Tx {
	tx := ask(q)
	var call []any
	if err := cbor.Unmarshal(tx.Payload, &call); err != nil {
		p.fatalf("decode a submission: %v", err)
	}
	change(call[1].(map[any]any), call[2].(map[any]any))
	payload, err := canonical.Marshal(call)
	if err != nil {
		p.fatalf("encode a submission: %v", err)
	}
	tx.Payload = payload
	return tx
}

// Keys of a job's terms and of its result schema.
const (
	keySchema = uint64(1)
	keyReturn = uint64(0)
	keyMillis = uint64(1)
	keyFormat = uint64(2)
)

// refusedJob holds that a submission is refused and has left no job. It comes from an account
// to which no other job gives anything back meanwhile.
func (s *scene) refusedJob(what string, tx chain.Tx) {
	if s.wrongAsker == nil {
		s.wrongAsker = newAccount(s.domain + " wrong asker")
		s.fund(1_000*cby, s.wrongAsker)
	}
	o := s.refused(what, s.wrongAsker, tx)
	if o.receipt == nil {
		return
	}
	id := jobIDOf(o.hash, chain.Height(o.receipt.BlockHeight))
	if _, err := s.net.nodes[0].Job(s.ctx, id); !client.IsNotFound(err) {
		s.errorf("%s: there is a job (%v)", what, err)
	}
}

// r1: a submission without a result schema is refused, and so is one without a part of it.
func r1(p *probe) {
	s := p.scene("r1")
	s.runners(1)
	unchanged := s.altered(s.job(), func(_, _ map[any]any) {})
	s.must(s.asker, unchanged) // the nearest valid one, by the same encoder
	s.refusedJob("no result schema", s.altered(s.job(), func(_, terms map[any]any) { delete(terms, keySchema) }))
	s.refusedJob("a result schema of nothing", s.altered(s.job(), func(_, terms map[any]any) { terms[keySchema] = nil }))
	for key, name := range map[uint64]string{keyReturn: "max_return_bytes", keyMillis: "expected_execution_ms", keyFormat: "data_format"} {
		s.refusedJob("no "+name, s.altered(s.job(), func(_, terms map[any]any) { delete(terms[keySchema].(map[any]any), key) }))
		zero := any(uint64(0))
		if key == keyFormat {
			zero = ""
		}
		s.refusedJob("an empty "+name, s.altered(s.job(), func(_, terms map[any]any) { terms[keySchema].(map[any]any)[key] = zero }))
	}
	s.refusedJob("an unknown data_format", s.altered(s.job(), func(_, terms map[any]any) { terms[keySchema].(map[any]any)[keyFormat] = "xml" }))
	least := s.job()
	least.Terms.ResultSchema.MaxReturnBytes = 1
	s.ask(least)
}

// r2: bounds of zero, a price of zero and a timeout of zero are refused.
func r2(p *probe) {
	s := p.scene("r2")
	s.runners(1)
	least := func(change func(*chain.JobSubmit)) chain.Tx {
		q := s.job()
		change(q)
		return ask(q)
	}
	s.refusedJob("no wall time", least(func(q *chain.JobSubmit) { q.Spec.Bounds.MaxWallTimeSeconds = 0 }))
	s.refusedJob("no memory", least(func(q *chain.JobSubmit) { q.Spec.Bounds.MaxMemoryMB = 0 }))
	s.refusedJob("no price", least(func(q *chain.JobSubmit) { q.Spec.MaxPrice = 0 }))
	s.refusedJob("no timeout", least(func(q *chain.JobSubmit) { q.Spec.TimeoutBlocks = 0 }))
	model := func(in, out uint32) chain.Tx {
		return least(func(q *chain.JobSubmit) {
			q.Spec.JobType = &chain.LLMJob{Prompt: "hello", MaxTokens: min(out, 1)}
			q.Spec.Bounds.MaxInputTokens, q.Spec.Bounds.MaxOutputTokens = in, out
		})
	}
	s.refusedJob("no input tokens", model(0, 1))
	s.refusedJob("no output tokens", model(1, 0))
	s.must(s.asker, model(1, 1))
	s.must(s.asker, least(func(q *chain.JobSubmit) { q.Spec.MaxPrice = 1 }))
}

// r11: there is no skip_task: no opcode but those of the instruction table does anything at the
// dispatcher or the verifier, and a job that a runner would skip stays as it is.
func r11(p *probe) {
	s := p.scene("r11")
	all := s.runners(1)
	j := s.ask(s.job())
	s.drawn(j.id, 0)
	for _, to := range []chain.Address{chain.AddrJobDispatcher, chain.AddrResultVerifier} {
		for _, payload := range [][]any{{uint64(0), j.id[:]}, {uint64(27), j.id[:]}, {uint64(99), j.id[:]}, {uint64(200), j.id[:]}, {"skip_task", j.id[:]}} {
			raw, err := canonical.Marshal(payload)
			s.check(err)
			s.refused("an instruction that is none", all[0], chain.Tx{To: &to, Payload: raw})
		}
	}
	if got := s.seats(j.id, 0); len(got) != 1 || got[0].Silent {
		s.errorf("the seat after attempts to skip: %+v", got)
	}
}

// r24: each mode has its least number of runners.
func r24(p *probe) {
	s := p.scene("r24")
	s.runners(3)
	with := func(q *chain.JobSubmit, runners, threshold uint8) chain.Tx {
		q.Spec.Verification.Runners, q.Spec.Verification.Threshold = runners, threshold
		q.Spec.MaxPrice = price * 4
		return ask(q)
	}
	bond := func() *chain.JobSubmit {
		q := s.job()
		q.Spec.Verification.Mode = chain.VerifyEconomicBond
		return q
	}
	s.refusedJob("none with 0", with(s.job(), 0, 0))
	s.must(s.asker, with(s.job(), 1, 1))
	s.refusedJob("economic_bond with 0", with(bond(), 0, 0))
	s.must(s.asker, with(bond(), 1, 1))
	s.refusedJob("structured_match with 1", with(s.pair(), 1, 1))
	s.must(s.asker, with(s.pair(), 2, 2))
	s.refusedJob("majority_vote with 2", with(s.vote(2, 2), 2, 2))
	s.must(s.asker, with(s.vote(3, 2), 3, 2))
}
