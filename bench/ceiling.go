package bench

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Ceiling is how many transfers the genesis lets through, whatever the engine
// can do. Transfers travel in the user lane, which may use all that the other
// lanes leave: when nothing else is sent, the whole block (resolutions 2.3,
// 2.4, 11.14). A plain transfer uses no cells (resolution 2.10), so cycles and
// bytes are the limits.
type Ceiling struct {
	Genesis         string  `json:"genesis"`
	BlockTimeMillis uint64  `json:"block_time_ms"`
	PerBlock        uint64  `json:"transfers_per_block"`        // at the cap, fees rising each block
	PerBlockTarget  uint64  `json:"transfers_per_block_target"` // at the target, fees at rest
	PerSecond       float64 `json:"transfers_per_second"`       // 0: the block time sets no limit
	PerSecondTarget float64 `json:"transfers_per_second_target"`
	Limit           string  `json:"limit"`               // what the cap is a cap of
	LaneProfile     string  `json:"lane_profile"`        // table that the lanes' shares come from
	UserShare       float64 `json:"user_lane_of_target"` // guaranteed to the user lane when others are busy
}

// ceilingOf returns nil when the node does not tell its parameters.
func ceilingOf(p *rpc.ParamsReply, txs []signed) *Ceiling {
	if p == nil || p.TransferIntrinsicCycles == 0 || len(txs) == 0 {
		return nil
	}
	bytes := uint64(0)
	for _, tx := range txs[:min(len(txs), 1000)] {
		bytes = max(bytes, uint64(len(tx.wire)))
	}
	c := &Ceiling{
		Genesis: p.Name, BlockTimeMillis: p.BlockTimeMillis,
		PerBlock: p.CyclesCap / p.TransferIntrinsicCycles, Limit: "cycles",
		PerBlockTarget: p.CyclesTarget / p.TransferIntrinsicCycles,
		LaneProfile:    p.LaneProfile,
		UserShare:      float64(p.LaneShareBasisPoints["user"]) / 10_000,
	}
	if byBytes := p.MaxBlockBytes / bytes; byBytes < c.PerBlock {
		c.PerBlock, c.Limit = byBytes, "bytes"
	}
	c.PerBlockTarget = min(c.PerBlockTarget, c.PerBlock)
	if p.BlockTimeMillis > 0 {
		c.PerSecond = float64(c.PerBlock) * 1000 / float64(p.BlockTimeMillis)
		c.PerSecondTarget = float64(c.PerBlockTarget) * 1000 / float64(p.BlockTimeMillis)
	}
	return c
}

// String is the ceiling in words.
func (c *Ceiling) String() string {
	if c == nil {
		return "not known: the node does not answer GET /params"
	}
	if c.PerSecond == 0 {
		return fmt.Sprintf("genesis %q: %d transfers a block (%s); the block time sets no limit", c.Genesis, c.PerBlock, c.Limit)
	}
	return fmt.Sprintf("genesis %q: %.0f transfers/s (%d a block by %s, block time %d ms); %.0f/s at the fee target",
		c.Genesis, c.PerSecond, c.PerBlock, c.Limit, c.BlockTimeMillis, c.PerSecondTarget)
}
