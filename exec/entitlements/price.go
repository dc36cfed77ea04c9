//spec:implements CIP-2 7.4

package entitlements

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/service"
)

// Price is what an instruction costs besides what is intrinsic (CIP-2 §7.4).
func Price(p *params.Entitlements, opcode uint64) chain.Usage {
	switch opcode {
	case chain.OpEntitlementGrant, chain.OpRoleCreate:
		return chain.Usage{Cycles: p.GrantCycles, Cells: p.GrantCells}
	case chain.OpEntitlementDelegate:
		return chain.Usage{Cycles: p.DelegateCycles, Cells: p.DelegateCells}
	}
	return chain.Usage{Cycles: p.ChangeCycles, Cells: p.ChangeCells}
}

// OverwritePrice is what an instruction costs besides for the rows that it has written
// again: what was there stays with who keeps old states (ADR 209).
func OverwritePrice(c *service.Call) (chain.Usage, error) {
	bytes, err := c.Run.Overwritten(chain.AddrEntitlements)
	return chain.Usage{
		Cycles: chain.Cycles(bytes) * c.Params.API.StorageWriteByteCycles,
		Cells:  chain.Cells(bytes) * c.Params.API.StorageWriteByteCells,
	}, err
}
