package lanes

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// Config bounds the pool. All of it is this node's policy, none of it protocol.
// The zero value is invalid; start from DefaultConfig.
type Config struct {
	SenderTxs   int                 // waiting transactions kept per sender
	SenderBytes int                 // of their bodies; 0: any
	NonceGap    uint64              // nonces kept beyond a sender's first missing one
	LaneTxs     [chain.NumLanes]int // waiting transactions per lane
	LaneBytes   [chain.NumLanes]int // bytes that those hold together whose bodies have more than SmallBytes, of each beyond as many
	SmallBytes  int                 // of a body that its place has room for: large ones shut nobody else out
	BumpPercent uint64              // rise of every price that a replacement needs
	PackMisses  int                 // transactions of a lane in a row, none of them large, that do not fit before packing gives the lane up
	ActorBlocks uint64              // blocks for which messages to one actor stand in tiers, beyond what it has saved
	// UnsureBlocks is for how many blocks of a lane there stands in tiers what nobody
	// knows the use of, or what leaves much of its limits unused, all of them counted.
	UnsureBlocks uint64
	AgeMillis    uint64          // for which a transaction waits at most; 0: for ever
	Epochs       *epoch.Schedule // of whose validators the reward accounts may send validators' instructions; nil: nobody may
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

// measures are what the pool takes from the parameters in force.
type measures struct {
	cellWeight  uint64       // cycles that a cell counts for when tips are compared
	actorRefill chain.Cycles // that an actor has for a block
	actorMost   chain.Cycles // that messages to one actor may need and stand in tiers; 0: any

	laneRoom     [chain.NumLanes]chain.Usage // of an empty block; 0: nothing is too wide for it
	unsureBlocks uint64                      // of a lane that what may come to nothing may ask for and stand in tiers; 0: any
}

// measures is what the pool takes from the parameters.
func (c Config) measures(p *params.Params) *measures {
	m := &measures{
		unsureBlocks: c.UnsureBlocks,
		cellWeight:   cellWeight(p),
		actorRefill:  p.Actor.BlockCycles, actorMost: p.Actor.BlockCyclesBurst + chain.Cycles(c.ActorBlocks)*p.Actor.BlockCycles,
	}
	for lane := range chain.NumLanes {
		m.laneRoom[lane] = roomOf(p, lane)
	}
	return m
}

// cellWeight is how many cycles a cell counts for when tips are compared: the
// ratio of the two meters' targets.
func cellWeight(p *params.Params) uint64 {
	return uint64(p.CyclesTarget) / max(1, uint64(p.CellsTarget))
}

// roomOf is what an empty block has for a lane.
func roomOf(p *params.Params, lane chain.LaneID) chain.Usage {
	return fees.NewBudget(p).Left(lane).Usage
}

// rooms are what an empty block has for each lane.
type rooms struct {
	under *params.Params
	of    [chain.NumLanes]chain.Usage
}

// roomUnder returns what an empty block has for each lane, which is computed when other
// parameters are asked for.
func (l *Lanes) roomUnder(p *params.Params) *[chain.NumLanes]chain.Usage {
	if r := l.rooms.Load(); r != nil && r.under == p {
		return &r.of
	}
	r := &rooms{under: p}
	for lane := range chain.NumLanes {
		r.of[lane] = roomOf(p, lane)
	}
	l.rooms.Store(r)
	return &r.of
}

// A lane's totals are one word, so that they are read and changed as one, and
// so is the place of a transaction in the order of arrival.
const (
	laneTxsMax   = 1<<20 - 1
	laneBytesMax = 1<<bytesBits - 1
	senderTxsMax = 1<<stepBits - 2
)

// over is how many bytes a transaction holds that its place in a lane has no room for. A
// place has room for all that a small body is decoded into ([SmallTxBytes]).
func (c *Config) over(tx *chain.VerifiedTx) int {
	if len(tx.Body) <= c.SmallBytes {
		return 0
	}
	return tx.HeldBytes() - c.SmallBytes
}

// Check reports the first setting that cannot work.
func (c Config) Check() error {
	if c.SenderTxs < 1 || c.SenderTxs > senderTxsMax {
		return fmt.Errorf("transactions per sender = %d, want 1 to %d", c.SenderTxs, senderTxsMax)
	}
	if c.SenderBytes < 0 {
		return fmt.Errorf("bytes per sender = %d, want at least 0", c.SenderBytes)
	}
	if c.NonceGap >= uint64(c.SenderTxs) {
		return fmt.Errorf("nonce gap = %d, want below the %d transactions of a sender: queued ones would fill its share", c.NonceGap, c.SenderTxs)
	}
	for lane := range chain.NumLanes {
		txs, bytes := c.LaneTxs[lane], c.LaneBytes[lane]
		if txs < 0 || bytes < 0 || txs > laneTxsMax || uint64(bytes) > laneBytesMax {
			return fmt.Errorf("%s lane of %d transactions and %d bytes, want 0 to %d and 0 to %d", lane, txs, bytes, laneTxsMax, uint64(laneBytesMax))
		}
	}
	if c.LaneTxs[chain.LaneUser] == 0 {
		return fmt.Errorf("user lane keeps no transactions")
	}
	if c.BumpPercent > 1000 {
		return fmt.Errorf("replacement bump = %d %%, want at most 1000", c.BumpPercent)
	}
	if c.SmallBytes < 0 {
		return fmt.Errorf("bytes of a small body = %d, want none or more", c.SmallBytes)
	}
	if c.PackMisses < 1 {
		return fmt.Errorf("pack misses = %d, want at least 1", c.PackMisses)
	}
	return nil
}
