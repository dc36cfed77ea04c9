package lanes

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/lanes/sched"
)

// Config bounds the pool. All of it is this node's policy, none of it protocol.
// The zero value is invalid; start from DefaultConfig.
type Config struct {
	SenderTxs   int                 // waiting transactions kept per sender
	SenderBytes int                 // of their bodies; 0: any
	NonceGap    uint64              // nonces kept beyond a sender's first missing one
	LaneTxs     [chain.NumLanes]int // waiting transactions per lane
	LaneBytes   [chain.NumLanes]int // bytes of their bodies per lane, of each body those beyond SmallBytes
	SmallBytes  int                 // of a body that its place has room for
	BumpPercent uint64              // rise of every price that a replacement needs
	PackMisses  int                 // transactions of a lane in a row, none of them large, that do not fit before packing gives the lane up
	ActorBlocks uint64              // blocks for which messages to one actor stand in tiers, beyond what it has saved
	// UnsureBlocks is for how many blocks of a lane there stands in tiers what nobody
	// knows the use of, or what leaves much of its limits unused, all of them counted.
	UnsureBlocks uint64
	AgeMillis    uint64            // for which a transaction waits at most
	Validators   []chain.Validator // whose reward accounts may send validators' instructions; not changed
}

// DefaultConfig returns the settings of a validator. Lanes have caps of their
// own, so that a flood of user transactions cannot push a runner's result out.
// The timer lane has none: due timers come from the state, not from senders.
func DefaultConfig() Config {
	return Config{
		SenderTxs:   256,     // a busy account for half a second on an uncapped chain
		SenderBytes: 4 << 20, // as many as a block: who pays their balance away has all of them spread for one payment
		NonceGap:    64,      // what the network may deliver out of order
		LaneTxs:     [chain.NumLanes]int{chain.LaneSystem: 4_096, chain.LaneRunner: 32_768, chain.LaneUser: 131_072},
		LaneBytes:   [chain.NumLanes]int{chain.LaneSystem: 4 << 20, chain.LaneRunner: 32 << 20, chain.LaneUser: 128 << 20}, // with the small bodies, twice as much
		SmallBytes:  1_024,
		BumpPercent: 10,
		PackMisses:  256,
		ActorBlocks: 8, // seconds

		UnsureBlocks: 8,             // likewise: of new programs, hundreds of first calls
		AgeMillis:    3 * 3_600_000, // nobody waits for longer, and wallets sign anew
	}
}

// Check reports the first setting that cannot work.
func (c Config) Check() error {
	p := chain.DefaultParams()
	return c.pool(&p).Check()
}

// pool is the configuration as the scheduler sees it.
func (c Config) pool(p *chain.Params) sched.Config {
	return sched.Config{
		SenderTxs: c.SenderTxs, SenderBytes: c.SenderBytes, NonceGap: c.NonceGap,
		LaneTxs: c.LaneTxs, LaneBytes: c.LaneBytes, SmallBytes: c.SmallBytes,
		BumpPercent: c.BumpPercent, PackMisses: c.PackMisses, AgeMillis: c.AgeMillis, Measures: c.measures(p),
	}
}

// measures is what the scheduler takes from the parameters.
func (c Config) measures(p *chain.Params) sched.Measures {
	m := sched.Measures{
		UnsureBlocks: c.UnsureBlocks,
		CellWeight:   cellWeight(p),
		ActorRefill:  p.Actor.BlockCycles, ActorMost: p.Actor.BlockCyclesBurst + chain.Cycles(c.ActorBlocks)*p.Actor.BlockCycles,
	}
	for lane := range chain.NumLanes {
		m.LaneRoom[lane] = laneRoom(p, lane)
	}
	return m
}

// laneRoom is what an empty block has for a lane.
func laneRoom(p *chain.Params, lane chain.LaneID) chain.Usage {
	return fees.NewBudget(p).Left(lane).Usage
}
