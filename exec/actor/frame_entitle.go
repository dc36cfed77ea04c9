package actor

import (
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
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
	if _, err := f.need(manifest.Upgrade); err != nil {
		return err
	}
	if err := f.run.block.fitsSource(source); err != nil {
		return err
	}
	p, err := f.compile(source, code.Cycles(f.run.block.sourceCycles(source))) // the length is charged already
	if err != nil {
		return err
	}
	_, err = f.run.block.setCode(f.run.state, f.env.Self, source, p)
	return err
}
