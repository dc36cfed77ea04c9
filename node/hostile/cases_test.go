package hostile

import (
	"bytes"
	"math"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// anyCode is what a case expects whose own rules are tested elsewhere.
const anyCode = math.MaxUint16

// instance is a payload of a row that is right in form, and what comes of it.
type instance struct {
	args  [][]byte
	want  uint16 // code of the receipt
	value uint16 // code with a value of 1 attached
}

// edge is a payload at a bound of a row or one beyond.
type edge struct {
	name  string
	row   string
	args  [][]byte
	value chain.Wei
	want  uint16
}

// codeInvalid stands for a payload that no block takes, codeStranger for a sender who has
// no part in what it names.
const (
	codeInvalid  = math.MaxUint16 - 1
	codeStranger = math.MaxUint16 - 2
)

// instances has one payload for every row, by name.
func (w *world) instances() map[string]instance {
	const ok, bad, missing = chain.CodeOK, chain.CodeBadArgument, chain.CodeNotFound
	tok, tim, prop := bytesOf(w.token[:]), bytesOf(w.timer[:]), bytesOf(w.proposal[:])
	act, bb, al := bytesOf(w.target[:]), bytesOf(bob[:]), bytesOf(alice[:])
	one := uintOf(1)
	word := bytesOf(bytes.Repeat([]byte{1}, 150))
	entry := join(cbor.AppendArray(nil, 1), cbor.AppendArray(nil, 2), bytesOf([]byte{1, 'k'}), bytesOf([]byte{7}))
	pay := join(cbor.AppendArray(nil, 1), cbor.AppendArray(nil, 2), bb, one)
	config := join(cbor.AppendMap(nil, 1), text("cycles_limit"), uintOf(60_000))
	return map[string]instance{
		"transfer": {nil, ok, ok},
		"message":  {[][]byte{text("go"), bytesOf(null)}, ok, ok},
		"deploy":   {[][]byte{bytesOf([]byte("def go(msg):\n    return 1\n")), bytesOf([]byte{9}), manifest.Manifest("econ.hold_balance"), null}, ok, ok},

		"runner_register":   {[][]byte{uintOf(0), new(chain.RateCard).Encode(), runnerCan(), null, text("https://a.example/")}, chain.CodeExists, chain.CodeExists},
		"runner_heartbeat":  {nil, ok, bad},
		"runner_update":     {[][]byte{null, null, null, null, null}, ok, ok},
		"runner_deregister": {nil, ok, bad},
		"runner_unstake":    {[][]byte{one}, ok, bad},
		"runner_withdraw":   {nil, chain.CodeWrongState, bad},
		"runner_pause":      {[][]byte{{0xf5}}, ok, bad},
		"runner_attest":     {[][]byte{unsigned(alice)}, chain.CodeBadProof, bad},
		"runner_return":     {nil, chain.CodeWrongState, bad},

		"job_submit":    {jobArgs(func(*chain.JobSpec, *chain.JobTerms) {}), bad, ok}, // its price is 1
		"job_cancel":    {[][]byte{tok}, missing, bad},
		"result_commit": {[][]byte{bytesOf(w.job[:]), bytesOf(w.job[:])}, ok, bad},
		"result_reveal": {[][]byte{bytesOf(w.job[:]), bytesOf(aResult()), bytesOf(make([]byte, 65))}, chain.CodeBadProof, bad},
		"result_submit": {[][]byte{bytesOf(w.job[:]), shows(alice)}, chain.CodeBadProof, bad},

		"entitlement_grant":       {[][]byte{bb, bytesOf(nil), bytesOf(nil), bytesOf(nil)}, anyCode, anyCode},
		"entitlement_revoke":      {[][]byte{tok}, anyCode, anyCode},
		"entitlement_delegate":    {[][]byte{tok, bb, bytesOf(nil)}, anyCode, anyCode},
		"entitlement_create_role": {[][]byte{bytesOf([]byte("r")), bytesOf(nil), bytesOf(nil), bytesOf(nil)}, anyCode, anyCode},
		"entitlement_assign_role": {[][]byte{tok, bb}, anyCode, anyCode},
		"entitlement_revoke_role": {[][]byte{tok, bb}, anyCode, anyCode},

		"governance_propose": {[][]byte{setting, {0xf5}}, ok, bad},
		"governance_approve": {[][]byte{prop}, ok, bad},
		"governance_execute": {[][]byte{prop}, chain.CodeWrongState, anyCode},

		"token_create":             {[][]byte{text("Another"), text("TOK"), uintOf(38), uintOf(0), null, null}, ok, bad},
		"token_transfer":           {[][]byte{tok, bb, one}, ok, bad},
		"token_transfer_from":      {[][]byte{tok, bb, al, one}, ok, bad},
		"token_approve":            {[][]byte{tok, bb, one}, ok, bad},
		"token_mint":               {[][]byte{tok, bb, one}, ok, bad},
		"token_burn":               {[][]byte{tok, one}, ok, bad},
		"token_freeze":             {[][]byte{tok, bb}, ok, bad},
		"token_unfreeze":           {[][]byte{tok, bytesOf(mallory[:])}, ok, bad},
		"token_transfer_ownership": {[][]byte{tok, bb}, ok, bad},
		"token_set_hooks":          {[][]byte{tok, act}, ok, bad},
		"token_batch_transfer":     {[][]byte{tok, pay}, ok, bad},

		"evidence_submit": {[][]byte{word, word}, bad, bad},

		"rent_prepay":    {[][]byte{act, one}, ok, bad},
		"restore_begin":  {[][]byte{act, uintOf(1000)}, missing, anyCode},
		"restore_put":    {[][]byte{act, entry}, missing, anyCode},
		"restore_commit": {[][]byte{act, null}, missing, anyCode},
		"restore_abort":  {[][]byte{act}, missing, anyCode},
		"restore_allow":  {[][]byte{act, act, one, uintOf(1000)}, ok, bad},

		"actor_fund":     {[][]byte{act}, bad, ok},
		"actor_upgrade":  {[][]byte{act, bytesOf([]byte("def go(msg):\n    return 2\n"))}, chain.CodeSystemEntitlement, anyCode},
		"timer_cancel":   {[][]byte{act, tim}, ok, bad},
		"timer_config":   {[][]byte{act, tim, config}, ok, bad},
		"timer_extend":   {[][]byte{act, tim, uintOf(60_000)}, ok, bad},
		"timer_schedule": {[][]byte{act, uintOf(40_000), null, text("tick"), bytesOf(null)}, ok, bad},
	}
}

// jobArgs are the specification and the terms of a job that costs 1, in their one form.
func jobArgs(change func(*chain.JobSpec, *chain.JobTerms)) [][]byte {
	spec := &chain.JobSpec{
		JobType: &chain.HTTPJob{URL: "https://a.example/", Method: "GET"}, Bounds: chain.ResourceBounds{MaxWallTimeSeconds: 1, MaxMemoryMB: 1},
		Verification: chain.Verification{Runners: 1, Threshold: 1}, MaxPrice: 1, TimeoutBlocks: 20, Callback: chain.Callback{Context: []byte{}},
	}
	terms := &chain.JobTerms{
		Version: 1, JudgeSteps: chain.MinJudgeSteps,
		ResultSchema: chain.ResultSchema{MaxReturnBytes: 1, ExpectedExecutionMillis: 1, DataFormat: chain.FormatText},
	}
	change(spec, terms)
	return [][]byte{spec.Encode(), terms.Encode()}
}

// webJob fetches an address of so many bytes.
func webJob(bytes int) *chain.HTTPJob {
	const head = "https://a.example/"
	return &chain.HTTPJob{URL: head + strings.Repeat("x", bytes-len(head)), Method: "GET"}
}

// runnerCan are the capabilities of a runner in their one form.
func runnerCan() []byte {
	return (&chain.Capabilities{JobTypes: []chain.JobKind{chain.JobHTTP}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: 1}).Encode()
}

// aResult is what a runner says of a job, in its one form.
func aResult() []byte {
	return (&chain.RunnerResult{Version: chain.RunnerResultVersion, Data: []byte("42"), Usage: chain.RunnerUsage{WallMillis: 1}}).Encode()
}

// shows is a list of one result, under nobody's signature.
func shows(of chain.Address) []byte {
	return join(cbor.AppendArray(nil, 1), cbor.AppendArray(nil, 3), bytesOf(of[:]), bytesOf(aResult()), bytesOf(make([]byte, 65)))
}

// unsigned is an attestation in its one form under no signature.
func unsigned(of chain.Address) []byte {
	return (&chain.RunnerAttestation{Runner: of, Capabilities: []byte{0x80}, ValidUntil: 100}).Encode()
}

// edges are the bounds of the values themselves; those of limits and lanes, which
// every row has, are in TestEnvelopes.
func (w *world) edges() []edge {
	const ok, bad = chain.CodeOK, chain.CodeBadArgument
	tok, tim, act := bytesOf(w.token[:]), bytesOf(w.timer[:]), bytesOf(w.target[:])
	bb, al := bytesOf(bob[:]), bytesOf(alice[:])
	big := append([]byte{0x50}, bytes.Repeat([]byte{0xff}, 16)...) // 2^128-1
	long := func(n int) []byte { return text(strings.Repeat("n", n)) }
	blob := func(n int) []byte { // canonical and n bytes long
		return bytesOf(cbor.AppendBytes(nil, make([]byte, n-3)))
	}
	pays := func(n int) []byte {
		b := cbor.AppendArray(nil, n)
		for range n {
			b = join(b, cbor.AppendArray(nil, 2), bb, uintOf(1))
		}
		return b
	}
	create := func(name, symbol []byte, decimals uint64, supply, most []byte) [][]byte {
		return [][]byte{name, symbol, uintOf(decimals), supply, most, null}
	}
	now := uint64(w.height) + 1
	timer := func(height uint64, every, handler, data []byte) [][]byte {
		return [][]byte{act, uintOf(height), every, handler, data}
	}
	config := func(name string, n uint64) [][]byte {
		return [][]byte{act, tim, join(cbor.AppendMap(nil, 1), text(name), uintOf(n))}
	}
	p := &w.genesis.Params
	const ahead = 1 << 38
	inline := int(p.Actor.InlineBlobBytes)
	source := bytesOf([]byte("def go(msg):\n    return 1\n"))
	init := func(handler, arg []byte) []byte { return join(cbor.AppendArray(nil, 2), handler, arg) }
	return []edge{
		{"longest name", "token_create", create(long(64), text("S"), 0, uintOf(0), null), 0, ok},
		{"name one longer", "token_create", create(long(65), text("S"), 0, uintOf(0), null), 0, bad},
		{"no name", "token_create", create(long(0), text("S"), 0, uintOf(0), null), 0, bad},
		{"longest symbol", "token_create", create(long(1), long(16), 0, uintOf(0), null), 0, ok},
		{"symbol one longer", "token_create", create(long(1), long(17), 0, uintOf(0), null), 0, bad},
		{"no symbol", "token_create", create(long(1), long(0), 0, uintOf(0), null), 0, bad},
		{"most decimals", "token_create", create(long(1), text("S"), 38, uintOf(0), null), 0, ok},
		{"decimals one more", "token_create", create(long(1), text("S"), 39, uintOf(0), null), 0, bad},
		{"decimals that wrap 8 bits", "token_create", create(long(1), text("S"), 256, uintOf(0), null), 0, bad},
		{"decimals of 64 bits", "token_create", create(long(1), text("S"), math.MaxUint64, uintOf(0), null), 0, bad},
		{"supply of 128 bits", "token_create", create(long(1), text("S"), 0, big, null), 0, ok},
		{"supply at its maximum", "token_create", create(long(1), text("S"), 0, uintOf(9), uintOf(9)), 0, ok},
		{"supply beyond its maximum", "token_create", create(long(1), text("S"), 0, uintOf(10), uintOf(9)), 0, bad},
		{"all that there is", "token_transfer", [][]byte{tok, bb, uintOf(900)}, 0, ok},
		{"one more than there is", "token_transfer", [][]byte{tok, bb, uintOf(901)}, 0, chain.CodeTokenBalance},
		{"128 bits", "token_transfer", [][]byte{tok, bb, big}, 0, chain.CodeTokenBalance},
		{"to a frozen account", "token_transfer", [][]byte{tok, bytesOf(mallory[:]), uintOf(1)}, 0, chain.CodeTokenFrozen},
		{"of another token", "token_transfer", [][]byte{bytesOf(make([]byte, 32)), bb, uintOf(1)}, 0, chain.CodeNotFound},
		{"the whole allowance", "token_transfer_from", [][]byte{tok, bb, al, uintOf(50)}, 0, ok},
		{"one more than allowed", "token_transfer_from", [][]byte{tok, bb, al, uintOf(51)}, 0, chain.CodeTokenAllowance},
		{"an allowance of 128 bits", "token_approve", [][]byte{tok, bb, big}, 0, ok},
		{"up to the maximum", "token_mint", [][]byte{tok, bb, uintOf(1000)}, 0, ok},
		{"one beyond the maximum", "token_mint", [][]byte{tok, bb, uintOf(1001)}, 0, chain.CodeLimitReached},
		{"beyond 128 bits", "token_mint", [][]byte{tok, bb, big}, 0, chain.CodeLimitReached},
		{"all that there is", "token_burn", [][]byte{tok, uintOf(900)}, 0, ok},
		{"one more than there is", "token_burn", [][]byte{tok, uintOf(901)}, 0, chain.CodeTokenBalance},
		{"most payments", "token_batch_transfer", [][]byte{tok, pays(256)}, 0, ok},
		{"one payment more", "token_batch_transfer", [][]byte{tok, pays(257)}, 0, bad},
		{"no payment", "token_batch_transfer", [][]byte{tok, pays(0)}, 0, bad},
		{"this block", "timer_schedule", timer(now, null, text("tick"), bytesOf(null)), 0, bad},
		{"the next block", "timer_schedule", timer(now+1, null, text("tick"), bytesOf(null)), 0, ok},
		{"the last block", "timer_schedule", timer(now+ahead, null, text("tick"), bytesOf(null)), 0, ok},
		{"after the last block", "timer_schedule", timer(now+ahead+1, null, text("tick"), bytesOf(null)), 0, bad},
		{"a block of 64 bits", "timer_schedule", timer(math.MaxUint64, null, text("tick"), bytesOf(null)), 0, bad},
		{"longest interval", "timer_schedule", timer(now+1, uintOf(ahead), text("tick"), bytesOf(null)), 0, ok},
		{"interval one longer", "timer_schedule", timer(now+1, uintOf(ahead+1), text("tick"), bytesOf(null)), 0, bad},
		{"interval of 64 bits", "timer_schedule", timer(now+1, uintOf(math.MaxUint64), text("tick"), bytesOf(null)), 0, bad},
		{"no interval", "timer_schedule", timer(now+1, uintOf(0), text("tick"), bytesOf(null)), 0, ok},
		{"longest handler", "timer_schedule", timer(now+1, null, long(256), bytesOf(null)), 0, ok},
		{"handler one longer", "timer_schedule", timer(now+1, null, long(257), bytesOf(null)), 0, bad},
		{"no handler", "timer_schedule", timer(now+1, null, long(0), bytesOf(null)), 0, bad},
		{"data that is no value", "timer_schedule", timer(now+1, null, text("tick"), bytesOf([]byte{0x18, 0})), 0, bad},
		{"no data", "timer_schedule", timer(now+1, null, text("tick"), bytesOf(nil)), 0, bad},
		{"data one longer than the most", "timer_schedule", timer(now+1, null, text("tick"), blob(inline+1)), 0, bad},
		{"the height that it has", "timer_extend", [][]byte{act, tim, uintOf(50_000)}, 0, bad},
		{"one later", "timer_extend", [][]byte{act, tim, uintOf(50_001)}, 0, ok},
		{"the last block", "timer_extend", [][]byte{act, tim, uintOf(now + ahead)}, 0, ok},
		{"after the last block", "timer_extend", [][]byte{act, tim, uintOf(now + ahead + 1)}, 0, bad},
		{"least cycles", "timer_config", config("cycles_limit", uint64(p.Timer.MinCycles)), 0, ok},
		{"one cycle less", "timer_config", config("cycles_limit", uint64(p.Timer.MinCycles-1)), 0, bad},
		{"cycles of 64 bits", "timer_config", config("cycles_limit", math.MaxUint64), 0, bad},
		{"cells of 64 bits", "timer_config", config("cells_limit", math.MaxUint64), 0, bad},
		{"no such setting", "timer_config", config("cycles", 60_000), 0, bad},
		{"nobody's timer", "timer_cancel", [][]byte{act, bytesOf(make([]byte, 32))}, 0, chain.CodeNotFound},
		{"nobody's actor", "timer_cancel", [][]byte{bb, tim}, 0, chain.CodeNotFound},
		{"price and tip of 64 bits", "job_submit", jobArgs(func(s *chain.JobSpec, _ *chain.JobTerms) { s.MaxPrice, s.Tip = math.MaxUint64, math.MaxUint64 }), 1, bad},
		{"a price that the value is not", "job_submit", jobArgs(func(s *chain.JobSpec, _ *chain.JobTerms) { s.MaxPrice = 2 }), 1, bad},
		{"an address of 2,048 bytes", "job_submit", jobArgs(func(s *chain.JobSpec, _ *chain.JobTerms) { s.JobType = webJob(2_048) }), 1, ok},
		{"an address one longer", "job_submit", jobArgs(func(s *chain.JobSpec, _ *chain.JobTerms) { s.JobType = webJob(2_049) }), 1, bad},
		{"a timeout of 64 bits", "job_submit", jobArgs(func(s *chain.JobSpec, _ *chain.JobTerms) { s.TimeoutBlocks = math.MaxUint64 }), 1, bad},
		{"a window of 64 bits", "job_submit", jobArgs(func(s *chain.JobSpec, _ *chain.JobTerms) { s.Verification.DisputeWindowBlocks = math.MaxUint64 }), 1, bad},
		{"cycles of 64 bits for a verifier", "job_submit", jobArgs(func(_ *chain.JobSpec, t *chain.JobTerms) { t.VerifierCycles = math.MaxUint64 }), 1, bad},
		{"cycles of 64 bits for an answer", "job_submit", jobArgs(func(s *chain.JobSpec, t *chain.JobTerms) {
			s.Callback.Actor, s.Callback.Handler, t.CallbackCycles = w.target, "go", math.MaxUint64
		}), 1, bad},
		{"an answer to an actor", "job_submit", jobArgs(func(s *chain.JobSpec, t *chain.JobTerms) {
			s.Callback.Actor, s.Callback.Handler, t.CallbackCycles = w.target, "go", 1
		}), 1, ok},
		{"an answer to an account", "job_submit", jobArgs(func(s *chain.JobSpec, _ *chain.JobTerms) { s.Callback.Actor, s.Callback.Handler = bob, "go" }), 1, bad},
		{"255 runners", "job_submit", jobArgs(func(s *chain.JobSpec, _ *chain.JobTerms) {
			s.Verification = chain.Verification{Mode: chain.VerifyMajorityVote, Runners: 255, Threshold: 255}
		}), 1, bad},
		{"no such mode", "job_submit", jobArgs(func(s *chain.JobSpec, _ *chain.JobTerms) { s.Verification.Mode = 6 }), 1, bad},
		{"a format nobody knows", "job_submit", jobArgs(func(_ *chain.JobSpec, t *chain.JobTerms) { t.ResultSchema.DataFormat = "xml" }), 1, bad},
		{"nobody's job", "job_cancel", [][]byte{bytesOf(make([]byte, 32))}, 0, chain.CodeNotFound},
		{"no epoch", "rent_prepay", [][]byte{act, uintOf(0)}, 0, bad},
		{"epochs of 64 bits", "rent_prepay", [][]byte{act, uintOf(math.MaxUint64)}, 0, anyCode},
		{"of no actor", "rent_prepay", [][]byte{bb, uintOf(1)}, 0, chain.CodeNotFound},
		{"to no actor", "actor_fund", [][]byte{bb}, 1, chain.CodeNoCode},
		{"longest salt", "deploy", [][]byte{source, bytesOf(make([]byte, 32)), manifest.Manifest(), null}, 0, ok},
		{"salt one longer", "deploy", [][]byte{source, bytesOf(make([]byte, 33)), manifest.Manifest(), null}, 0, codeInvalid},
		{"no salt", "deploy", [][]byte{source, bytesOf(nil), manifest.Manifest(), null}, 0, ok},
		{"longest handler", "deploy", [][]byte{source, bytesOf(nil), manifest.Manifest(), init(long(256), bytesOf(null))}, 0, chain.CodeNoHandler},
		{"handler one longer", "deploy", [][]byte{source, bytesOf(nil), manifest.Manifest(), init(long(257), bytesOf(null))}, 0, codeInvalid},
		{"argument that is no value", "deploy", [][]byte{source, bytesOf(nil), manifest.Manifest(), init(text("go"), bytesOf([]byte{0x18, 0}))}, 0, chain.CodeReverted},
		{"source that is no program", "deploy", [][]byte{bytesOf([]byte{0xff, 0xfe}), bytesOf(nil), manifest.Manifest(), null}, 0, chain.CodeCodeInvalid},
		{"manifest that is none", "deploy", [][]byte{source, bytesOf(nil), uintOf(1), null}, 0, chain.CodeManifest},
		{"manifest with an unknown entitlement", "deploy", [][]byte{source, bytesOf(nil), manifest.Manifest("no.such"), null}, 0, chain.CodeManifest},
		{"manifest that says a thing twice", "deploy", [][]byte{source, bytesOf(nil), manifest.Manifest("storage.kv", "storage.kv"), null}, 0, chain.CodeManifest},
		{"an address that is taken", "deploy", [][]byte{bytesOf([]byte(program)), bytesOf([]byte{1}), manifest.Manifest(), null}, 0, chain.CodeAddressTaken},
		{"longest handler", "message", [][]byte{long(256), bytesOf(null)}, 0, chain.CodeNoHandler},
		{"handler one longer", "message", [][]byte{long(257), bytesOf(null)}, 0, codeInvalid},
		{"no handler", "message", [][]byte{long(0), bytesOf(null)}, 0, chain.CodeNoHandler},
		{"a handler for the actor alone", "message", [][]byte{text("tick"), bytesOf(null)}, 0, chain.CodeNotCallable},
		{"argument that is no value", "message", [][]byte{text("go"), bytesOf([]byte{0x18, 0})}, 0, chain.CodeReverted},
		{"no argument, which is none", "message", [][]byte{text("go"), bytesOf(nil)}, 0, ok},
	}
}
