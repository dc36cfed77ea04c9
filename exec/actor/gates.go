//spec:implements entitlements 6.1, 6.3, 9.1-9.2, 9.4, 9.7-9.8, 9.3, 9.5

package actor

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
)

// need traps unless the manifest grants id (entitlements §6.3).
func (f *frame) need(id string) (*manifest.Grant, error) {
	g, ok := f.grants.Find(id)
	if !ok {
		return nil, &Trap{chain.CodeNotEntitled, id + " is not in the manifest"}
	}
	return g, nil
}

// countUse traps when the execution uses a grant more often than its parameter
// says (entitlements §9.12).
func (f *frame) countUse(g *manifest.Grant, param string, n uint64) error {
	most, bounded := g.Uint(param)
	if !bounded {
		return nil
	}
	if f.counts == nil {
		f.counts = map[string]uint64{}
	}
	key := g.ID + "/" + param
	if used := f.counts[key]; n > most-min(used, most) {
		return &Trap{chain.CodeEntitlementQuota, key + " is used up"}
	}
	f.counts[key] += n
	return nil
}

// within traps when value is above what a parameter of the grant allows.
func within(g *manifest.Grant, param string, value uint64) error {
	if most, bounded := g.Uint(param); bounded && value > most {
		return &Trap{chain.CodeEntitlementQuota, g.ID + "/" + param}
	}
	return nil
}

// maySpawn is the gate of exec.spawn: max_children bounds the children of the
// actor's whole life (entitlements §9.1).
func (f *frame) maySpawn(spawned uint64) error {
	g, err := f.need(manifest.Spawn)
	if err != nil {
		return err
	}
	return within(g, manifest.MaxChildren, spawned+1)
}

// mayMoveBlob is the gate of storage.blob: max_bytes bounds what one execution
// commits and reads (entitlements §9.4).
func (f *frame) mayMoveBlob(bytes int) error {
	g, err := f.need(manifest.Blob)
	if err != nil {
		return err
	}
	return f.countUse(g, manifest.MaxBytes, uint64(bytes))
}

// mayReceive refuses a transfer without a message to an actor that may not keep
// it (resolution 11.25). The lack is the receiver's, so the sender may catch it.
func (f *frame) mayReceive(to chain.Address) error {
	if !f.run.block.Params.Actor.EnforceHoldBalance || to == f.env.Self {
		return nil
	}
	ok, err := MayHold(f.run.state, to)
	if err != nil || ok {
		return err
	}
	return &host.Refusal{Code: host.RefusedEntitlement, Text: "the receiver may not hold a balance"}
}

// mayAsk is the gate before a job, by its kind: http.fetch for what reaches into
// the network, oracle.llm for models, accel.gpu besides for what asks for memory
// of an accelerator (entitlements §9.3, §9.5). A kind of which the registry
// knows nothing needs no grant.
func (f *frame) mayAsk(spec []byte) error {
	j := readAsked(spec)
	if j.vram > 0 {
		g, err := f.need(manifest.GPU)
		if err != nil {
			return err
		}
		if err := within(g, manifest.MinVRAM, j.vram); err != nil {
			return err
		}
	}
	switch j.kind {
	case "http", "mcp":
		g, err := f.need(manifest.HTTP)
		if err != nil {
			return err
		}
		if j.url != "" && !f.reaches(g, j.url) {
			return &Trap{chain.CodeNotEntitled, "http.fetch does not cover " + j.url}
		}
		return f.countUse(g, manifest.MaxRequests, 1)
	case "llm":
		g, err := f.need(manifest.LLM)
		if err != nil {
			return err
		}
		if err := within(g, manifest.MaxTokens, j.tokens); err != nil {
			return err
		}
		return f.countUse(g, manifest.MaxRequests, 1)
	}
	return nil
}

// reaches reports whether the grant's domains cover the host of an address.
func (f *frame) reaches(g *manifest.Grant, address string) bool {
	name, ok := hostOf(address)
	if ok {
		name, ok = manifest.Host(name)
	}
	return ok && manifest.CoversAny(g.AllowedDomains(f.run.block.Params), name)
}

// hostOf returns the host of an absolute address of the web. It takes the plain
// form alone, scheme://host[:port][/…]: whatever two readers could take for two
// hosts is none.
func hostOf(address string) (string, bool) {
	// Bounded: by eight bytes.
	rest, ok := strings.CutPrefix(address, "https://")
	if !ok {
		// Bounded: by eight bytes.
		if rest, ok = strings.CutPrefix(address, "http://"); !ok {
			return "", false
		}
	}
	// Paid: by submit_job and what the specification cost to encode, of which it is a part.
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	// Paid: by submit_job, as above.
	name, port, _ := strings.Cut(rest, ":")
	// Paid: by submit_job and what the specification cost to encode, of which it is a part.
	return name, strings.Trim(port, "0123456789") == "" && !strings.ContainsAny(rest, "@\\%[]")
}

// asked is what the gate reads of a job's specification.
type asked struct {
	kind, url    string
	tokens, vram uint64
}

// readAsked reads the fields of a specification that it knows; whatever else
// stands there is for the dispatcher to judge.
func readAsked(spec []byte) (j asked) {
	r := cbor.NewReader(spec)
	n, err := r.Map(cbor.DefaultLimits().Items)
	if err != nil {
		return j
	}
	// Paid: by submit_job and what the specification cost to encode.
	for range n {
		var key string
		var item []byte
		if key, err = r.Text(len(spec)); err == nil {
			item, err = r.Raw(cbor.DefaultLimits())
		}
		if err != nil {
			return j
		}
		v := cbor.NewReader(item)
		switch key {
		case "job_type":
			j.kind, _ = v.Text(len(item))
		case "url":
			j.url, _ = v.Text(len(item))
		case "max_tokens":
			j.tokens, _ = v.Uint()
		case manifest.MinVRAM:
			j.vram, _ = v.Uint()
		}
	}
	return j
}
