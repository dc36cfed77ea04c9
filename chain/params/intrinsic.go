package params

import (
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Of returns what a transaction pays before anything of it runs
// (whitepaper §17.2): the cycles of its cost rule, and cells for every byte of
// the payload and of the access list, since cells are calldata and bandwidth
// (whitepaper §4): all nodes send and keep the whole body. The source of a
// deployment is part of its payload, so the table's code_size is in the payload's
// length. A sum above 64 bits saturates, which no limit can cover.
func (c *IntrinsicCosts) Of(i chain.Instruction) chain.Usage {
	var u chain.Usage
	switch i.Cost {
	case chain.CostTransfer:
		u.Cycles = c.TransferCycles
	case chain.CostDeploy:
		u.Cycles = c.DeployCycles
	case chain.CostMessage:
		u.Cycles = c.MessageCycles
	case chain.CostJobSubmit:
		u.Cycles = c.JobSubmitCycles
	case chain.CostTimerSchedule:
		u.Cycles, u.Cells = c.TimerScheduleCycles, c.TimerScheduleCells
	case chain.CostHeartbeat:
		u.Cycles = c.HeartbeatCycles
	default:
		u.Cycles = c.InstructionCycles
	}
	high, spelled := bits.Mul64(uint64(i.PayloadBytes)+uint64(i.AccessBytes), uint64(c.PayloadByteCells))
	sum, carry := bits.Add64(spelled, uint64(u.Cells), 0)
	if high != 0 || carry != 0 {
		sum = math.MaxUint64
	}
	u.Cells = chain.Cells(sum)
	return u
}
