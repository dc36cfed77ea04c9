package permit

import "github.com/cowboy-foundation/cowboy/chain"

// ReadsPerLook is what one of [Book.Looks] reads of the state.
const ReadsPerLook = 2

// Price is what an instruction costs besides what is intrinsic (CIP-2 §7.4).
func Price(opcode uint64) chain.Usage {
	switch opcode {
	case chain.OpEntitlementGrant, chain.OpRoleCreate:
		return chain.Usage{Cycles: 5_000, Cells: 500}
	case chain.OpEntitlementDelegate:
		return chain.Usage{Cycles: 3_000, Cells: 300}
	}
	return chain.Usage{Cycles: 2_000, Cells: 100}
}

// CheckCycles is what one check costs whoever relies on grants (CIP-2 §7.4).
const CheckCycles chain.Cycles = 500
