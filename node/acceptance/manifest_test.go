package acceptance_test

import (
	"math"
	"math/big"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
)

// deployer tries manifests.
type deployer struct {
	*probe
	by *account
	n  byte
}

func (p *probe) deployer(name string) *deployer {
	d := &deployer{probe: p, by: newAccount(name)}
	p.fund(1_000*cby, d.by)
	return d
}

// with is a deployment with a manifest of whatever shape.
func (d *deployer) with(manifest any) (chain.Tx, chain.Address) {
	d.n++
	salt := []byte{d.n}
	return chain.Tx{Payload: encode([]any{[]byte(nothingDone), salt, manifest, nil})}, actorOf(d.by.addr, salt, []byte(nothingDone))
}

// takes deploys with grants that are valid.
func (d *deployer) takes(grants ...any) {
	tx, actor := d.with(manifestOf(grants))
	d.must(d.by, tx)
	if _, err := d.net.nodes[0].Actor(d.ctx, actor, "", "", 0); err != nil {
		d.errorf("no actor at %s: %v", actor, err)
	}
}

// refuses holds that a manifest is refused and that no actor is there.
func (d *deployer) refuses(what string, manifest any) {
	tx, actor := d.with(manifest)
	d.refused(what, d.by, tx)
	if _, err := d.net.nodes[0].Actor(d.ctx, actor, "", "", 0); !client.IsNotFound(err) {
		d.errorf("%s: the actor is there (%v)", what, err)
	}
}

// e1: a manifest has its entitlements as a list of grants.
func e1(p *probe) {
	d := p.deployer("e1")
	d.takes()
	d.takes(kv)
	d.refuses("no manifest", nil)
	d.refuses("no list", map[string]any{})
	d.refuses("a grant in place of the list", map[string]any{"entitlements": kv})
	d.refuses("names in place of grants", manifestOf([]any{"storage.kv"}))
	d.refuses("a list in place of the manifest", []any{kv})
	d.refuses("a grant without an id", manifestOf([]any{map[string]any{"params": map[string]any{}}}))
	d.refuses("params that are a list", manifestOf([]any{map[string]any{"id": "storage.kv", "params": []any{}}}))
}

// e2: an id that is not in the registry is refused, however much it looks like one.
func e2(p *probe) {
	d := p.deployer("e2")
	for _, id := range []string{"storage.kvs", "Storage.kv", "STORAGE.KV", "storage.kv.", ".storage.kv", "storage", "storage.\u212Av", "st\u043Erage.kv", " storage.kv", "storage.kv\x00", ""} {
		d.refuses("the id "+id, manifestOf([]any{entitlement(id, nil)}))
	}
	d.takes(kv)
}

// e3: an id twice is refused, whatever the params.
func e3(p *probe) {
	d := p.deployer("e3")
	large := entitlement("storage.kv", map[string]any{"max_bytes": 100})
	d.refuses("a grant twice", manifestOf([]any{kv, kv}))
	d.refuses("an id with and without params", manifestOf([]any{kv, large}))
	d.takes(large)
}

// e4: grants are in the order of the bytes of their ids, or refused.
func e4(p *probe) {
	d := p.deployer("e4")
	hold := entitlement("econ.hold_balance", nil)
	d.refuses("out of order", manifestOf([]any{kv, hold}))
	d.takes(hold, kv)
}

// e5: a param that is not listed for its id is refused; a listed one may be absent, but that
// http.fetch names its domains (resolution 11.7).
func e5(p *probe) {
	d := p.deployer("e5")
	d.refuses("a param of another id", manifestOf([]any{entitlement("storage.kv", map[string]any{"max_timers": 1})}))
	d.refuses("a param that is none", manifestOf([]any{entitlement("storage.kv", map[string]any{"max_byte": 1})}))
	d.refuses("a param of an id that has none", manifestOf([]any{entitlement("econ.hold_balance", map[string]any{"max_bytes": 1})}))
	d.refuses("http.fetch without domains", manifestOf([]any{entitlement("http.fetch", nil)}))
	d.refuses("http.fetch with numbers alone", manifestOf([]any{entitlement("http.fetch", map[string]any{"max_requests": 1})}))
	d.takes(fetches("a.example"), kv, entitlement("timer.schedule", map[string]any{"max_timers": 1}))
	d.takes(entitlement("http.fetch", map[string]any{"domain_set": curated.Name}))
}

// e6: params have their types.
func e6(p *probe) {
	d := p.deployer("e6")
	above := new(big.Int).Lsh(big.NewInt(1), 64)
	for what, v := range map[string]any{"a negative number": -1, "a float": 1.5, "a text": "1", "a list": []any{1}, "nothing": nil, "a number above u64": above, "a bool": true} {
		d.refuses(what, manifestOf([]any{entitlement("storage.kv", map[string]any{"max_bytes": v})}))
	}
	d.takes(entitlement("storage.kv", map[string]any{"max_bytes": uint64(math.MaxUint64)}))
	for what, v := range map[string]any{"a text for a list": "a.example", "a list of numbers": []any{1}, "a number": 1} {
		d.refuses("domains that are "+what, manifestOf([]any{entitlement("http.fetch", map[string]any{"allowlist_domains": v})}))
	}
	contracts := func(v any) any {
		return entitlement("bridge.subscribe_event", map[string]any{"allowlist_contracts": v})
	}
	d.refuses("a contract of 19 bytes", manifestOf([]any{contracts([]any{make([]byte, 19)})}))
	d.refuses("a contract that is a text", manifestOf([]any{contracts([]any{"0x00"})}))
	d.takes(contracts([]any{make([]byte, 20)}))
	d.refuses("a region that is none", manifestOf([]any{entitlement("sec.data_residency", map[string]any{"region": "moon"})}))
	d.refuses("an enclave that is none", manifestOf([]any{entitlement("sec.tee_required", map[string]any{"tee_type": "SGX"})}))
}

// e7: domains are canonical, or refused.
func e7(p *probe) {
	d := p.deployer("e7")
	label := strings.Repeat("a", 64)
	for _, domain := range []string{
		"A.example", "b\u00fccher.example", "a.example.", "a.example:443", "https://a.example", "a..example", ".a.example", label + ".example", "a.example/", "", "a b.example", "*a.example", "a.*.example",
	} {
		d.refuses("the domain "+domain, manifestOf([]any{fetches(domain)}))
	}
	d.takes(fetches("a.example"))
	d.takes(fetches("xn--bcher-kva.example"))
	d.takes(fetches(label[1:] + ".example"))
	d.takes(fetches("*.example"))
	d.takes(fetches("*"))
}

// e8: a star is everything, a star and a name its subdomains, a name itself.
func e8(p *probe) {
	s := p.scene("e8")
	apex := s.domain
	may := func(actor chain.Address, host string) {
		s.must(s.asker, message(actor, "ask", s.wish(map[string]any{"url": "https://" + host + "/"})))
	}
	// The price of the job stays with the actor, and the asker pays the fee alone.
	mayNot := func(what string, actor chain.Address, host string) {
		s.refused(what, s.asker, message(actor, "ask", s.wish(map[string]any{"url": "https://" + host + "/"})))
	}
	all, below, one := s.client("all", fetches("*")), s.client("below", fetches("*."+apex)), s.client("one", fetches(apex))
	may(all, apex)
	may(all, "other.test")
	may(below, "a."+apex)
	may(below, "b.a."+apex)
	mayNot("the apex under a star", below, apex)
	mayNot("a name that only ends alike", below, "x"+apex)
	may(one, apex)
	may(one, strings.ToUpper(apex[:2])+apex[2:]) // hosts have no case
	mayNot("a subdomain of a name", one, "a."+apex)
	mayNot("another name", one, "other.test")
}
