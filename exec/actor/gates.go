//spec:implements entitlements 6.1, 6.3, 9.1-9.2, 9.4, 9.7-9.8, 9.3, 9.5

package actor

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs/ask"
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

// mayAsk is the gate before a job in its one form (resolution 12.56), by its kind:
// http.fetch for what reaches into the network, oracle.llm for models, accel.gpu besides for
// what asks for memory of an accelerator (entitlements §9.3, §9.5). A kind of which the
// registry knows nothing needs no grant.
func (f *frame) mayAsk(a *ask.Asked) error {
	if a.VRAM > 0 {
		g, err := f.need(manifest.GPU)
		if err != nil {
			return err
		}
		if err := within(g, manifest.MinVRAM, a.VRAM); err != nil {
			return err
		}
	}
	switch job := a.Spec.JobType.(type) {
	case *chain.HTTPJob:
		return f.mayFetch(job.URL)
	case *chain.MCPJob:
		return f.mayFetch(job.Server)
	case *chain.LLMJob:
		return f.mayPrompt(uint64(job.MaxTokens))
	case *chain.AgentJob:
		return f.mayPrompt(uint64(a.Spec.Bounds.MaxOutputTokens))
	}
	return nil
}

// mayFetch is the gate before an address of the web, or the name of a host. What is neither,
// as a tool server that runners know by a name of their own, only a grant of every domain
// covers.
func (f *frame) mayFetch(address string) error {
	g, err := f.need(manifest.HTTP)
	if err != nil {
		return err
	}
	name, ok := manifest.HostOf(address)
	if !ok {
		name, ok = manifest.Host(address)
	}
	if !ok {
		name = "*"
	}
	if !manifest.CoversAny(g.AllowedDomains(f.run.block.Params), name) {
		return &Trap{chain.CodeNotEntitled, "http.fetch does not cover " + address}
	}
	return f.countUse(g, manifest.MaxRequests, 1)
}

// mayPrompt is the gate before a model.
func (f *frame) mayPrompt(tokens uint64) error {
	g, err := f.need(manifest.LLM)
	if err != nil {
		return err
	}
	if err := within(g, manifest.MaxTokens, tokens); err != nil {
		return err
	}
	return f.countUse(g, manifest.MaxRequests, 1)
}
