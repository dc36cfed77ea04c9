package acceptance_test

import (
	"bytes"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// attestation is what a runner says that it provides, as a map that a test can bend
// (entitlements §5.1, Appendix A).
func attestation(of *account, from, until chain.Height, capabilities ...any) map[string]any {
	return map[string]any{
		"runner_id": of.addr[:], "capabilities": capabilities, "valid_from": uint64(from), "valid_until": uint64(until),
	}
}

// signedBy adds a signature over the deterministic CBOR of the map without it (entitlements §4,
// Appendix B; resolution 8.9): r ‖ s ‖ v, 65 bytes.
func signedBy(by *account, a map[string]any) map[string]any {
	sig := by.key.Sign(keccak.Sum256(encode(a)))
	raw := append(append(append([]byte(nil), sig.R[:]...), sig.S[:]...), sig.YParity)
	full := map[string]any{"signature": raw}
	for k, v := range a {
		full[k] = v
	}
	return full
}

// attest puts an attestation, of whatever bytes, on the chain.
func attest(record any) chain.Tx {
	to := chain.AddrRunnerRegistry
	return chain.Tx{To: &to, Payload: encode([]any{24, record})}
}

// always is an attestation that holds as long as a test runs.
func (s *scene) always(a *account, capabilities ...any) {
	s.must(a, attest(signedBy(a, attestation(a, 1, 1_000_000, capabilities...))))
}

// e9: the signature is over the canonical record without it, and one byte changed makes it count
// no more.
func e9(p *probe) {
	s := p.scene("e9")
	r := s.runners(1)[0]
	evidence := keccak.Sum256([]byte("evidence"))
	plain := attestation(r, 1, 1_000_000, entitlement("http.fetch", map[string]any{"allowlist_domains": []string{"a.example"}}), entitlement("oracle.llm", map[string]any{"max_tokens": 100}))
	plain["evidence_hash"] = evidence[:]
	good := signedBy(r, plain)
	s.must(r, attest(good))
	digest := chain.Hash(keccak.Sum256(encode(plain)))
	holds := func(what string) {
		if got := s.runner(r.addr).Attestation; got == nil || got.Digest != digest.String() {
			s.errorf("%s: the registry has %+v, want what hashes to %s", what, got, digest)
		}
	}
	holds("as signed")
	change := func(what string, key string, v any) {
		bent := map[string]any{}
		for k, v := range good {
			bent[k] = v
		}
		bent[key] = v
		s.refused(what, r, attest(bent))
		holds(what)
	}
	flipped := append([]byte(nil), evidence[:]...)
	flipped[31] ^= 1
	change("a byte of the evidence", "evidence_hash", flipped)
	change("another end", "valid_until", uint64(1_000_001))
	change("another beginning", "valid_from", uint64(2))
	change("another domain", "capabilities", []any{entitlement("http.fetch", map[string]any{"allowlist_domains": []string{"b.example"}}), entitlement("oracle.llm", map[string]any{"max_tokens": 100})})
	change("one token more", "capabilities", []any{entitlement("http.fetch", map[string]any{"allowlist_domains": []string{"a.example"}}), entitlement("oracle.llm", map[string]any{"max_tokens": 101})})
	raw := good["signature"].([]byte)
	for _, i := range []int{0, 31, 32, 63, 64} {
		bent := append([]byte(nil), raw...)
		bent[i] ^= 1
		change("a byte of the signature", "signature", bent)
	}
}

// e10: what is not in order, not canonical, or signed by another is refused.
func e10(p *probe) {
	s := p.scene("e10")
	both := s.runners(2)
	r, other := both[0], both[1]
	fetch, model := entitlement("http.fetch", map[string]any{"allowlist_domains": []string{"*"}}), entitlement("oracle.llm", nil)
	s.refused("grants out of order", r, attest(signedBy(r, attestation(r, 1, 1_000_000, model, fetch))))
	s.refused("a grant twice", r, attest(signedBy(r, attestation(r, 1, 1_000_000, fetch, fetch))))
	s.refused("a grant that is unknown", r, attest(signedBy(r, attestation(r, 1, 1_000_000, entitlement("no.such", nil)))))
	good := attestation(r, 1, 1_000_000, fetch, model)
	s.refused("another's signature", r, attest(signedBy(other, good)))
	s.refused("another's attestation", r, attest(signedBy(other, attestation(other, 1, 1_000_000, fetch, model))))
	keys := []string{"capabilities", "runner_id", "signature", "valid_from", "valid_until"} // in the order of letters, not of lengths
	full := signedBy(r, good)
	unsorted := bytes.NewBuffer([]byte{0xa0 | byte(len(keys))})
	for _, k := range keys {
		unsorted.Write(append(encode(k), encode(full[k])...))
	}
	s.refused("keys out of order", r, attest(cbor.RawMessage(unsorted.Bytes())))
	canonicalOnes := encode(full)
	long := bytes.Replace(canonicalOnes, append(encode("valid_from"), 1), append(encode("valid_from"), 0x18, 1), 1)
	s.refused("a number longer than needed", r, attest(cbor.RawMessage(long)))
	if got := s.runner(r.addr).Attestation; got != nil {
		s.errorf("behind what was refused the registry has %+v", got)
	}
	s.must(r, attest(cbor.RawMessage(canonicalOnes)))
}

// askingSource is an actor that asks for work.
const askingSource = `from cowboy_sdk import actor, public, submit_job

@actor
class Asks:
    @public
    def ask(self, msg):
        return submit_job(msg.payload, "answered")

    @public
    def answered(self, msg):
        pass
`

// client makes an actor of a manifest that can ask for work.
func (s *scene) client(salt string, grants ...any) chain.Address {
	return s.clientOf(salt, askingSource, grants...)
}

// clientOf is client with another source.
func (s *scene) clientOf(salt, source string, grants ...any) chain.Address {
	all := append([]any{entitlement("econ.hold_balance", nil), entitlement("econ.transfer", nil)}, grants...)
	slices.SortFunc(all, func(a, b any) int {
		return bytes.Compare([]byte(a.(map[string]any)["id"].(string)), []byte(b.(map[string]any)["id"].(string)))
	})
	a := s.deploy(s.asker, s.domain+salt, source, all)
	s.must(s.asker, chain.Tx{To: &a, Value: cby, CyclesLimit: 40_000, CellsLimit: 100})
	return a
}

// wish is a job as an actor says it.
func (s *scene) wish(more map[string]any) map[string]any {
	w := map[string]any{
		"type": "http", "url": "https://" + s.domain + "/", "max_price": uint64(price), "timeout_blocks": uint64(5_000),
		"bounds": map[string]any{"max_wall_time_seconds": uint64(1), "max_memory_mb": uint64(1), "max_retries": uint64(0)}, "reply_handler": "answered",
	}
	for k, v := range more {
		w[k] = v
	}
	return w
}

// askAs has an actor ask for work.
func (s *scene) askAs(actor chain.Address, wish map[string]any) submitted {
	o := s.must(s.asker, message(actor, "ask", wish))
	return s.answered(o)
}

// answered is the job that an actor's handler answered.
func (s *scene) answered(o *outcome) submitted {
	var id string
	s.check(cbor.Unmarshal(s.bytesOf(o.receipt.Output), &id))
	return submitted{s.hash(id), chain.Height(o.receipt.BlockHeight)}
}

// finds who may work for an actor.
func (s *scene) mayWork(what string, actor chain.Address, want ...*account) {
	j := s.askAs(actor, s.wish(nil))
	if len(want) == 0 {
		if end := s.ended(j.id); end.Outcome != "no_candidates" {
			s.errorf("%s: %+v, want no candidates", what, end)
		}
		return
	}
	if got := namesOf(s.candidates(0, j.id)); !slices.Equal(got, names(want...)) {
		s.errorf("%s: candidates %v, want %v", what, got, names(want...))
	}
	if _, seats := s.drawn(j.id, 0); len(seats) != 1 || who(want, &seats[0]) == nil {
		s.errorf("%s: the seats are %+v", what, seats)
	}
}

// fetches is the entitlement to fetch from domains.
func fetches(domains ...string) any {
	slices.Sort(domains)
	return entitlement("http.fetch", map[string]any{"allowlist_domains": domains})
}

// e11: an attestation counts from its first height to its last, both included.
func e11(p *probe) {
	s := p.scene("e11")
	all := s.runners(2, roomy)
	s.always(all[0], fetches("*"))
	actor := s.client("", fetches(s.domain))
	s.seenAtBothEnds(message(actor, "ask", s.wish(nil)), s.answered, all[0], all[1], func(first, last chain.Height) {
		s.must(all[1], attest(signedBy(all[1], attestation(all[1], first, last, fetches("*")))))
	})
}

// e12: a runner works for an actor only if it provides all ids that the actor requires.
func e12(p *probe) {
	s := p.scene("e12")
	all := s.runners(4, roomy)
	gpu := entitlement("accel.gpu", map[string]any{"min_vram_gb": 8})
	s.always(all[0], gpu, fetches("*"))
	s.always(all[1], fetches("*"))
	s.always(all[2], gpu)
	s.mayWork("fetching with a GPU", s.client("both", gpu, fetches(s.domain)), all[0])
	s.mayWork("fetching", s.client("one", fetches(s.domain)), all[0], all[1])
}

// e13: the actor's domains are among the runner's, or the runner has all.
func e13(p *probe) {
	s := p.scene("e13")
	all := s.runners(5, roomy)
	s.always(all[0], fetches("*"))
	s.always(all[1], fetches(s.domain, "x.example"))
	s.always(all[2], fetches(s.domain))
	s.always(all[3], fetches("x.example"))
	s.always(all[4], fetches("*.example"))
	s.mayWork("two domains", s.client("two", fetches(s.domain, "x.example")), all[0], all[1], all[4])
	s.mayWork("one domain", s.client("one", fetches(s.domain)), all[0], all[1], all[2], all[4])
	s.mayWork("all domains", s.client("all", fetches("*")), all[0])
}

// e14: the runner's numbers are at least the actor's.
func e14(p *probe) {
	s := p.scene("e14")
	all := s.runners(3, roomy)
	limited := func(n uint64) any {
		return entitlement("http.fetch", map[string]any{"allowlist_domains": []string{s.domain}, "max_requests": n})
	}
	for i, n := range []uint64{9, 10, 11} {
		s.always(all[i], limited(n))
	}
	s.mayWork("ten requests", s.client("ten", limited(10)), all[1], all[2])
	s.mayWork("twelve requests", s.client("twelve", limited(12)))
}

// e15: regions and types of enclaves are equal or do not match.
func e15(p *probe) {
	s := p.scene("e15")
	all := s.runners(3, roomy)
	in := func(region string) any { return entitlement("sec.data_residency", map[string]any{"region": region}) }
	tee := func(kind string) any { return entitlement("sec.tee_required", map[string]any{"tee_type": kind}) }
	s.always(all[0], fetches("*"), in("eu"), tee("sgx"))
	s.always(all[1], fetches("*"), in("us"), tee("tdx"))
	s.always(all[2], fetches("*"))
	s.mayWork("in Europe", s.client("eu", fetches(s.domain), in("eu")), all[0])
	s.mayWork("in America", s.client("us", fetches(s.domain), in("us")), all[1])
	s.mayWork("nowhere that anybody is", s.client("uk", fetches(s.domain), in("uk")))
	s.mayWork("in an enclave", s.client("sgx", fetches(s.domain), tee("sgx")), all[0])
	s.mayWork("in another enclave", s.client("tdx", fetches(s.domain), tee("tdx")), all[1])
}

// e16: a set and a list together are all domains of both.
func e16(p *probe) {
	s := p.scene("e16")
	all := s.runners(5, roomy)
	union := entitlement("http.fetch", map[string]any{"allowlist_domains": []string{s.domain}, "domain_set": curated.Name})
	s.always(all[0], fetches(append([]string{s.domain}, curated.Domains...)...))
	s.always(all[1], fetches(s.domain))
	s.always(all[2], fetches(curated.Domains...))
	s.always(all[3], fetches("*"))
	s.always(all[4], union)
	s.mayWork("a set and a domain", s.client("union", union), all[0], all[3], all[4])
	s.mayWork("a domain", s.client("one", fetches(s.domain)), all[0], all[1], all[3], all[4])
}
