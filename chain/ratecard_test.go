package chain

import (
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// forms are all of the market.
func forms() []form { return slices.Concat(offerForms(), specForms(), termsForms(), resultForms()) }

func pinRateCard() *RateCard {
	return &RateCard{
		LLMInputToken: 3, LLMOutputToken: 15, HTTPRequestBase: 2_000_000, ComputeSecond: 100_000, MemoryMB: 1 << 40,
		SupportedModels: []Hash{Hash(counting(0x10, 32)), Hash(counting(0x11, 32))}, MinJobValue: 1_000, MaxJobValue: 50 * WeiPerCBY,
	}
}

func pinCapabilities() *Capabilities {
	return &Capabilities{
		JobTypes: []JobKind{JobLLM, JobHTTP, JobAgent}, TEESupport: new("sgx"), Regions: []string{"eu", "us"},
		HTTPDomains: []string{"*.example.com", "api.coingecko.com"}, MaxConcurrentJobs: 300,
	}
}

// pinAttestation is the example of entitlements §12.2, with a runner and an evidence.
func pinAttestation() *RunnerAttestation {
	grant := func(dst []byte, id string) []byte { return cbor.AppendText(cbor.AppendText(dst, "id"), id) }
	list := grant(cbor.AppendMap(cbor.AppendArray(nil, 3), 2), "http.fetch")
	list = cbor.AppendMap(cbor.AppendText(list, "params"), 1)
	list = cbor.AppendText(cbor.AppendArray(cbor.AppendText(list, "allowlist_domains"), 1), "*")
	list = grant(cbor.AppendMap(list, 2), "oracle.llm")
	list = cbor.AppendMap(cbor.AppendText(list, "params"), 1)
	list = cbor.AppendUint(cbor.AppendText(list, "max_tokens"), 100_000)
	list = grant(cbor.AppendMap(list, 2), "sec.tee_required")
	list = cbor.AppendMap(cbor.AppendText(list, "params"), 1)
	list = cbor.AppendText(cbor.AppendText(list, "tee_type"), "sgx")
	return &RunnerAttestation{
		Runner: Address(counting(0x20, 20)), Capabilities: list, ValidFrom: 1_700_000_000, ValidUntil: 1_710_000_000,
		EvidenceHash: new(Hash(counting(0x30, 32))), Signature: [65]byte(counting(0x50, 65)),
	}
}

func offerForms() []form {
	attestation := map[string]any{
		"runner_id": counting(0x20, 20), "signature": counting(0x50, 65), "valid_from": 1_700_000_000, "valid_until": 1_710_000_000,
		"capabilities": []any{
			map[string]any{"id": "http.fetch", "params": map[string]any{"allowlist_domains": []string{"*"}}},
			map[string]any{"id": "oracle.llm", "params": map[string]any{"max_tokens": 100_000}},
			map[string]any{"id": "sec.tee_required", "params": map[string]any{"tee_type": "sgx"}},
		},
		"evidence_hash": counting(0x30, 32),
	}
	return []form{
		{
			name: "rate_card", most: MaxOfferBytes, decode: decodes(DecodeRateCard), sample: pinRateCard(),
			keys: strings.Fields("llm_input_token llm_output_token http_request_base compute_second memory_mb supported_models min_job_value max_job_value"),
			plain: map[int]any{
				0: 3, 1: 15, 2: 2_000_000, 3: 100_000, 4: uint64(1) << 40, 5: [][]byte{counting(0x10, 32), counting(0x11, 32)},
				6: 1_000, 7: uint64(50_000_000_000),
			},
		},
		{
			name: "capabilities", most: MaxOfferBytes, decode: decodes(DecodeCapabilities), sample: pinCapabilities(),
			keys:  strings.Fields("job_types tee_support regions http_domains max_concurrent_jobs"),
			plain: map[int]any{0: []int{0, 1, 5}, 1: "sgx", 2: []string{"eu", "us"}, 3: []string{"*.example.com", "api.coingecko.com"}, 4: 300},
		},
		{
			name: "runner_attestation", most: MaxOfferBytes, decode: decodes(DecodeRunnerAttestation), sample: pinAttestation(),
			keys: strings.Fields("runner_id signature valid_from valid_until capabilities evidence_hash"), free: "evidence_hash",
			plain: attestation,
			hash:  func(e encoder) (string, Hash) { return "runner_attestation_digest", e.(*RunnerAttestation).Digest() },
		},
	}
}

func TestRateCardRefuses(t *testing.T) {
	models := func(n int) []Hash {
		list := make([]Hash, n)
		for i := range list {
			list[i][31] = byte(i)
		}
		return list
	}
	checkRefusals(t, pinRateCard, DecodeRateCard, []refusal[RateCard]{
		{
			"33 models", func(c *RateCard) { c.SupportedModels = models(32) }, func(c *RateCard) { c.SupportedModels = models(33) },
			"supported_models", cbor.ErrTooManyItems,
		},
		{
			"a model twice", func(c *RateCard) { c.SupportedModels = models(2) },
			func(c *RateCard) { c.SupportedModels = make([]Hash, 2) }, "supported_models", ErrListOrder,
		},
		{
			"models descend", func(c *RateCard) { c.SupportedModels = nil },
			func(c *RateCard) { slices.Reverse(c.SupportedModels) }, "supported_models", ErrListOrder,
		},
	})
	c := pinRateCard()
	if !c.Supports(Hash(counting(0x11, 32))) || c.Supports(Hash(counting(0x12, 32))) {
		t.Error("it supports what it does not list, or not what it lists")
	}
}

func TestCapabilitiesRefuse(t *testing.T) {
	domains := func(n int) []string {
		var list []string
		for i := range n {
			list = append(list, string([]byte{'a' + byte(i/26), 'a' + byte(i%26)})+".example.com")
		}
		return list
	}
	regions := func(n int) []string {
		var list []string
		for i := range n {
			list = append(list, string(rune('a'+i)))
		}
		return list
	}
	long := strings.Repeat(strings.Repeat("a", 49)+".", 5) + "com" // 253 bytes
	checkRefusals(t, pinCapabilities, DecodeCapabilities, []refusal[Capabilities]{
		{
			"a kind of no meaning", func(c *Capabilities) { c.JobTypes = []JobKind{0, 1, 2, 3, 4, 5} },
			func(c *Capabilities) { c.JobTypes = []JobKind{6} }, "job_types", nil,
		},
		{
			"a kind twice", func(c *Capabilities) { c.JobTypes = nil },
			func(c *Capabilities) { c.JobTypes = []JobKind{1, 1} }, "job_types", ErrListOrder,
		},
		{
			"an enclave without a name", func(c *Capabilities) { c.TEESupport = nil },
			func(c *Capabilities) { c.TEESupport = new("") }, "tee_support", ErrEmptyName,
		},
		{
			"an enclave of 65 bytes", func(c *Capabilities) { c.TEESupport = new(strings.Repeat("a", 64)) },
			func(c *Capabilities) { c.TEESupport = new(strings.Repeat("a", 65)) }, "tee_support", cbor.ErrTooLong,
		},
		{
			"17 regions", func(c *Capabilities) { c.Regions = regions(16) },
			func(c *Capabilities) { c.Regions = regions(17) }, "regions", cbor.ErrTooManyItems,
		},
		{
			"regions descend", func(c *Capabilities) { c.Regions = nil },
			func(c *Capabilities) { slices.Reverse(c.Regions) }, "regions", ErrListOrder,
		},
		{
			"257 domains", func(c *Capabilities) { c.HTTPDomains = domains(256) },
			func(c *Capabilities) { c.HTTPDomains = domains(257) }, "http_domains", cbor.ErrTooManyItems,
		},
		{
			"a domain in capitals", func(c *Capabilities) { c.HTTPDomains = []string{"*"} },
			func(c *Capabilities) { c.HTTPDomains = []string{"Example.com"} }, "http_domains", ErrDomain,
		},
		{
			"a domain of 254 bytes", func(c *Capabilities) { c.HTTPDomains = []string{"*." + long} },
			func(c *Capabilities) { c.HTTPDomains = []string{"*.a" + long} }, "http_domains", cbor.ErrTooLong,
		},
		{
			"no jobs at a time", func(c *Capabilities) { c.MaxConcurrentJobs = 1 },
			func(c *Capabilities) { c.MaxConcurrentJobs = 0 }, "max_concurrent_jobs", nil,
		},
		{
			"1,025 jobs at a time", func(c *Capabilities) { c.MaxConcurrentJobs = 1_024 },
			func(c *Capabilities) { c.MaxConcurrentJobs = 1_025 }, "max_concurrent_jobs", nil,
		},
	})
}

func TestAttestationRefuses(t *testing.T) { // entitlements §5.1, Appendix A
	checkRefusals(t, pinAttestation, DecodeRunnerAttestation, []refusal[RunnerAttestation]{
		{
			"it ends before it begins", func(a *RunnerAttestation) { a.ValidUntil = a.ValidFrom },
			func(a *RunnerAttestation) { a.ValidUntil = a.ValidFrom - 1 }, "valid_until", ErrValidity,
		},
		{
			"grants that are no list", func(a *RunnerAttestation) { a.Capabilities = []byte{0x80} },
			func(a *RunnerAttestation) { a.Capabilities = []byte{0xa0} }, "capabilities", cbor.ErrWrongType,
		},
		{
			"grants of another form", func(a *RunnerAttestation) { a.Capabilities = []byte{0x81, 0x00} },
			func(a *RunnerAttestation) { a.Capabilities = []byte{0x81, 0x18, 0x00} }, "capabilities", cbor.ErrNotShortest,
		},
	})
	a := pinAttestation()
	a.EvidenceHash = nil // absent, not null
	list := pairs(t, a.Encode())
	if len(list) != 5 {
		t.Errorf("%d pairs without evidence, want 5", len(list))
	}
	if _, err := DecodeRunnerAttestation(a.Encode()); err != nil {
		t.Error(err)
	}
}

// TestAttestationDigest: the preimage is the record without its signature, so that the
// signature does not matter to it and every other byte does (E9).
func TestAttestationDigest(t *testing.T) {
	a := pinAttestation()
	want := a.Digest()
	encoded := a.Encode()
	from := strings.Index(string(encoded), "signature") + len("signature")
	for i := range encoded {
		changed := slices.Clone(encoded)
		changed[i] ^= 1
		b, err := DecodeRunnerAttestation(changed)
		if err != nil {
			continue
		}
		if signature := i >= from+2 && i < from+2+65; signature != (b.Digest() == want) {
			t.Errorf("byte %d of %x: the digest says nothing of it, or of the signature", i, encoded)
		}
	}
	for h, valid := range map[Height]bool{
		a.ValidFrom - 1: false, a.ValidFrom: true, a.ValidUntil: true, a.ValidUntil + 1: false,
	} {
		if a.ValidAt(h) != valid {
			t.Errorf("at %d: valid is %v (E11)", h, !valid)
		}
	}
}

func FuzzRateCard(f *testing.F)          { fuzzForm(f, "rate_card") }
func FuzzCapabilities(f *testing.F)      { fuzzForm(f, "capabilities") }
func FuzzRunnerAttestation(f *testing.F) { fuzzForm(f, "runner_attestation") }
