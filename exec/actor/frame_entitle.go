package actor

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitle"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/state"
)

// Entitlement implements host.Chain.
func (f *frame) Entitlement(id string) ([]byte, bool, error) {
	g, ok := f.grants.Find(id)
	if !ok {
		return nil, false, nil
	}
	return g.AppendParams(nil), true, nil
}

// UpgradeSelf implements host.Chain. A regular actor never changes (entitlements
// §7.1, §9.2).
func (f *frame) UpgradeSelf(source []byte) error {
	if err := f.changes(); err != nil {
		return err
	}
	if _, err := f.need(entitle.Upgrade); err != nil {
		return err
	}
	p, err := f.run.engine.Program(source, sourceName)
	if err != nil {
		return &host.Refusal{Code: host.RefusedArgument, Text: "the source does not compile: " + err.Error()}
	}
	byLength := f.run.block.costs.DeployByte * code.Cycles(len(source))
	if more := code.Cycles(p.CompileCycles); more > byLength { // the length is charged already
		f.machine.Charge(more - byLength)
	}
	return setCode(f.run.state, f.env.Self, source)
}

// SubmitJob implements host.Runners. The gate is before what the market of
// runners will do with it.
func (f *frame) SubmitJob(j host.Job) (host.ID, error) {
	if err := f.changes(); err != nil {
		return host.ID{}, err
	}
	if err := f.mayAsk(j.Spec); err != nil {
		return host.ID{}, err
	}
	return host.ID{}, errNoMarket
}

// Upgrade puts other source in place of that of an actor with sys.upgrade, by
// decision of governance (resolutions 8.2, 11.11). The code is of a receipt; the
// error is a fault.
func Upgrade(o *state.Overlay, e *pvm.Engine, addr chain.Address, source []byte) (uint16, error) {
	rec, err := ReadRecord(o, addr)
	if err != nil || rec == nil {
		return chain.CodeNotFound, err
	}
	grants, err := entitle.Parse(rec.Manifest)
	if err != nil {
		return 0, err
	}
	if !grants.Has(entitle.Upgrade) {
		return chain.CodeForbidden, nil
	}
	if _, err := e.Program(source, sourceName); err != nil {
		return chain.CodeCodeInvalid, nil // which text is refused depends on the text alone
	}
	return chain.CodeOK, setCode(o, addr, source)
}

func setCode(o *state.Overlay, addr chain.Address, source []byte) error {
	a, _, err := o.Account(addr)
	if err == nil {
		a.CodeHash = o.SetCode(source)
		o.SetAccount(addr, a)
	}
	return err
}
