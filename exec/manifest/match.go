//spec:implements entitlements 8.1-8.4, 6.2, 6.4

package manifest

import (
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// maxHostBytes bounds what is folded: more than 253 characters have.
const maxHostBytes = 1_024

// Host returns a host name in the form in which it is compared: lower case,
// internationalised labels as punycode, without a final dot (entitlements §8.2).
// False for what is no host name.
func Host(name string) (string, bool) {
	if len(name) > maxHostBytes {
		return "", false
	}
	// Bounded: by maxHostBytes, 1,024.
	labels := strings.Split(strings.TrimSuffix(ucd.NFC(ucd.ToLower(ucd.NFKC(name))), "."), ".")
	// Bounded: by maxHostBytes, 1,024.
	for i, l := range labels {
		labels[i] = asciiLabel(l)
	}
	// Bounded: by maxHostBytes, 1,024, as folded.
	host := strings.Join(labels, ".")
	// Bounded: by one byte.
	return host, chain.CanonicalDomain(host) && !strings.HasPrefix(host, "*")
}

// Covers reports whether a domain of a list covers a host in canonical form, or
// another pattern of such a list (entitlements §8.2): "*" everything,
// "*.example.com" what ends in ".example.com", an exact name itself.
func Covers(pattern, host string) bool {
	if pattern == "*" || pattern == host {
		return true
	}
	// Bounded: by one byte.
	below, ok := strings.CutPrefix(pattern, "*")
	// Bounded: by MaxValueBytes, 256.
	return ok && strings.HasSuffix(strings.TrimPrefix(host, "*"), below)
}

// CoversAny is Covers by at least one of a list.
func CoversAny(patterns []string, host string) bool {
	// Bounded: by MaxListItems, 256, and the set of the genesis.
	return slices.ContainsFunc(patterns, func(p string) bool { return Covers(p, host) })
}

// AllowedDomains returns the effective allow list of http.fetch: the union of
// the named set and the list (entitlements §8.4).
func (g *Grant) AllowedDomains(p *params.Params) []string {
	var out []string
	if list := g.param(Domains); list != nil {
		out = append(out, list.List...)
	}
	if name, ok := g.Text(DomainSet); ok {
		set, _ := p.Entitlements.DomainSet(name)
		out = append(out, set...)
	}
	return out
}

// Provides reports whether a runner offers everything that an actor requires:
// Actor.requires ⊆ Runner.provides, with compatible parameters (entitlements §6,
// §8). Entitlements that no runner attests bind the chain alone and are left
// out (resolution 5.20).
func Provides(runner, actor Grants, p *params.Params) bool {
	// Bounded: by MaxGrants, 64.
	for i := range actor {
		if e, ok := Lookup(actor[i].ID); !ok || !e.Attested {
			continue
		}
		offer, ok := runner.Find(actor[i].ID)
		if !ok || !within(&actor[i], offer, p, needNotSay) {
			return false
		}
	}
	return true
}

// Attested counts the items of lists that [Provides] holds a runner to: each may be compared
// with all items of a runner's list.
func (g Grants) Attested(p *params.Params) (items uint64) {
	// Bounded: by MaxGrants, 64.
	for i := range g {
		if e, ok := Lookup(g[i].ID); !ok || !e.Attested {
			continue
		}
		// Bounded: by MaxGrants, 64 parameters.
		for n := range g[i].Params {
			q := &g[i].Params[n]
			items += uint64(len(q.List))
			if q.Name == DomainSet {
				set, _ := p.Entitlements.DomainSet(q.Text)
				items += uint64(len(set))
			}
		}
	}
	return items
}

// needNotSay reports whether a requirement without this parameter is met by any
// value of it: any region, any enclave, any memory. An actor without an upper
// bound is met by no runner that has one.
func needNotSay(param string) bool {
	_, by := schema(param)
	return by == ruleEqual || param == MinVRAM
}

// mustSay is needNotSay for children: what bounds the parent bounds them.
func mustSay(string) bool { return false }

// Inherit returns what a child gets that asks for a list, or all that may be
// inherited where asked is nil (entitlements §7): every id inheritable, every
// parameter within the parent's, and none left out that the parent has: it would
// lift the limit. A named set is within the same set and within everything alone:
// governance may add to it what a list of the parent's does not have. The list must
// have passed [Grants.Check]. The error is an [*Error].
func Inherit(parent, asked Grants, p *params.Params) (Grants, error) {
	if asked == nil {
		var out Grants
		// Bounded: by MaxGrants, 64.
		for i := range parent {
			if e, ok := Lookup(parent[i].ID); ok && e.Inheritable {
				out = append(out, parent[i])
			}
		}
		return out, nil
	}
	// Bounded: by MaxGrants, 64.
	for i := range asked {
		e, ok := Lookup(asked[i].ID)
		if !ok || !e.Inheritable {
			return nil, refuse(chain.CodeNotEntitled, "%s cannot be inherited", asked[i].ID)
		}
		from, ok := parent.Find(asked[i].ID)
		if !ok {
			return nil, refuse(chain.CodeNotEntitled, "%s is not the parent's", asked[i].ID)
		}
		if !within(&asked[i], from, p, mustSay) || !growsWithin(&asked[i], from) {
			return nil, refuse(chain.CodeEntitlementParam, "%s goes beyond the parent's", asked[i].ID)
		}
	}
	return asked, nil
}

// within reports whether every parameter of g is within that of the wider
// grant of the same id. One that wider does not have bounds nothing; one that
// only wider has is not met, for g is then unbounded, unless free says so.
func within(g, wider *Grant, p *params.Params, free func(param string) bool) bool {
	// Bounded: by MaxGrants, 64 parameters.
	for i := range wider.Params {
		w := &wider.Params[i]
		if w.Name == Domains || w.Name == DomainSet {
			continue // compared as one list below
		}
		switch n := g.param(w.Name); {
		case n == nil && !free(w.Name), n != nil && !n.within(w):
			return false
		}
	}
	if wider.param(Domains) == nil && wider.param(DomainSet) == nil {
		return true
	}
	return coverAll(wider.AllowedDomains(p), g.AllowedDomains(p))
}

// fewPairs is how many comparisons are less work than to make a list ready.
const fewPairs = 256

// coverAll reports whether each domain is covered by one of the patterns.
func coverAll(list, domains []string) bool {
	if len(list)*len(domains) <= fewPairs {
		// Bounded: by fewPairs.
		return !slices.ContainsFunc(domains, func(d string) bool { return !CoversAny(list, d) })
	}
	ready := PatternsOf(list)
	// Paid: by the spawn that asks (deploy, 100,000 cycles): 256 domains; by who submits a job,
	// job.candidate_cycles for each domain and runner.
	return !slices.ContainsFunc(domains, func(d string) bool { return !ready.Cover(d) })
}

// growsWithin reports whether the named set of g stays within the wider grant
// whatever is added to it.
func growsWithin(g, wider *Grant) bool {
	name, named := g.Text(DomainSet)
	if !named {
		return true
	}
	if same, ok := wider.Text(DomainSet); ok && same == name {
		return true
	}
	listed := wider.param(Domains)
	// Bounded: by MaxListItems, 256.
	return listed == nil && wider.param(DomainSet) == nil || listed != nil && slices.Contains(listed.List, "*")
}

func (q *Param) within(w *Param) bool {
	switch _, by := schema(q.Name); by {
	case ruleRange:
		return q.Uint <= w.Uint
	case ruleEqual:
		return q.Text == w.Text
	default:
		// Bounded: by MaxListItems, 256.
		if slices.Contains(w.List, "*") {
			return true
		}
		// Paid: as in [coverAll]: 256 items, each compared with as many.
		for _, item := range q.List {
			// Bounded: by MaxListItems, 256.
			if !slices.Contains(w.List, item) {
				return false
			}
		}
		return true
	}
}
