package actor

import (
	"errors"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/state"
)

// The code of an actor changes in three ways, all of which need sys.upgrade in
// its manifest: by its own program, by decision of governance, and by the system
// deployer that made it. The manifest never changes (entitlements §7.1, §9.2;
// resolutions 8.2, 11.11).

// EventUpgraded says [actor, code hash] of an instruction of its deployer.
const EventUpgraded = "ActorUpgraded"

// Upgrade puts other source in place of that of an actor, by decision of
// governance, at the price of compiling it, each stage before its work (ADR 59). The
// code is of a receipt, with the cycles that it took of those it may; the error is a
// fault.
func (b *Block) Upgrade(o *state.Overlay, e *pvm.Engine, addr chain.Address, source []byte, most chain.Cycles) (uint16, chain.Cycles, error) {
	rec, err := ReadRecord(o, addr)
	if err != nil || rec == nil {
		return chain.CodeNotFound, 0, err
	}
	if !rec.Upgrades {
		return chain.CodeForbidden, 0, nil
	}
	if uint64(len(source)) > b.Params.Actor.SourceBytes {
		return chain.CodeCodeInvalid, 0, nil
	}
	if err := ready(e); err != nil {
		return 0, 0, err
	}
	cost := b.sourceCycles(source)
	if cost > most {
		return chain.CodeCyclesExhausted, most, nil
	}
	p, spent, err := b.programOf(e, source, most)
	switch cost = max(cost, spent); {
	case errors.Is(err, pvm.ErrCycles):
		return chain.CodeCyclesExhausted, most, nil
	case err != nil:
		return chain.CodeCodeInvalid, cost, nil
	}
	_, err = b.setCode(o, addr, source, p)
	return chain.CodeOK, cost, err
}

// Replacement is other source for an actor, from its deployer.
type Replacement struct {
	By     chain.Address
	Actor  chain.Address
	Source []byte
}

// replace carries a replacement out, at the price of compiling it.
func replace(c *service.Call, a service.Args) ([]byte, error) {
	r, p := c.Run.(*serving).run, a.(*Replacement)
	p.By = c.By
	r.spelled = chain.Hash(keccak.Sum256(p.Source))
	v, err := r.replace(p)
	if err != nil {
		return nil, err
	}
	r.cycles -= min(v.used, r.cycles)
	if v.code != chain.CodeOK {
		return nil, &Trap{v.code, v.detail}
	}
	return nil, nil
}

func (r *Run) replace(p *Replacement) (ending, error) {
	rec, err := ReadRecord(r.state, p.Actor)
	switch {
	case err != nil:
		return ending{}, err
	case rec == nil:
		return refused(chain.CodeNotFound, "%s is no actor", p.Actor), nil
	case rec.Creator != p.By:
		return refused(chain.CodeForbidden, "%s has made %s", rec.Creator, p.Actor), nil
	// Bounded: by the deployers that the genesis lists.
	case !slices.Contains(r.block.Params.Entitlements.SystemDeployers, p.By):
		return refused(chain.CodeSystemEntitlement, "%s is no system deployer", p.By), nil
	case !rec.Upgrades:
		return refused(chain.CodeForbidden, "the code of a regular actor never changes"), nil
	}
	program, v := r.compile(p.Source, 0)
	if v.code != chain.CodeOK {
		return v, nil
	}
	hash, err := r.block.setCode(r.state, p.Actor, p.Source, program)
	if err != nil {
		return v, err
	}
	data := cbor.AppendBytes(cbor.AppendBytes(cbor.AppendArray(nil, 2), p.Actor[:]), hash[:])
	var trap *Trap
	if errors.As(r.announce(chain.AddrActors, EventUpgraded, data), &trap) {
		v.code, v.detail = trap.Code, trap.Text
	}
	return v, nil
}

// setCode gives an actor other code, and notes what loading it costs.
func (b *Block) setCode(o *state.Overlay, addr chain.Address, source []byte, p *pvm.Program) (chain.Hash, error) {
	rec, err := ReadRecord(o, addr)
	if err != nil || rec == nil {
		return chain.Hash{}, err
	}
	a, _, err := o.Account(addr)
	if err != nil {
		return chain.Hash{}, err
	}
	if a.CodeHash, err = keepCode(o, source); err != nil {
		return chain.Hash{}, err
	}
	o.SetAccount(addr, a)
	rec.Load = b.loadCycles(p, source)
	writeRecord(o, addr, rec)
	return a.CodeHash, nil
}
