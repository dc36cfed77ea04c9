package sched

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Config bounds the scheduler. All of it is this node's policy, none of it
// protocol. Package lanes says why its defaults are what they are.
type Config struct {
	SenderTxs   int                 // waiting transactions kept per sender
	NonceGap    uint64              // nonces kept beyond a sender's first missing one
	LaneTxs     [chain.NumLanes]int // waiting transactions per lane
	LaneBytes   [chain.NumLanes]int // bytes of their bodies per lane, of each body those beyond SmallBytes
	SmallBytes  int                 // of a body that a place has room for: large ones shut nobody else out
	BumpPercent uint64              // rise of every price that a replacement needs
	PackMisses  int                 // transactions of a lane in a row, none of them large, that do not fit before picking gives the lane up
	AgeMillis   uint64              // for which a transaction waits at most; 0: for ever
	SenderBytes int                 // of the bodies of waiting transactions kept per sender; 0: any
	Measures                        // until a head has others
}

// Measures are what the pool takes from the parameters in force.
type Measures struct {
	CellWeight  uint64       // cycles that a cell counts for when tips are compared
	ActorRefill chain.Cycles // that an actor has for a block
	ActorMost   chain.Cycles // that messages to one actor may need and stand in tiers; 0: any

	LaneRoom     [chain.NumLanes]chain.Usage // of an empty block; 0: nothing is too wide for it
	UnsureBlocks uint64                      // of a lane that what may come to nothing may ask for and stand in tiers; 0: any
}

// A lane's totals are one word, so that they are read and changed as one, and
// so is the place of a transaction in the order of arrival.
const (
	laneTxsMax   = 1<<20 - 1
	laneBytesMax = 1<<bytesBits - 1
	senderTxsMax = 1<<stepBits - 2
)

// Check reports the first setting that cannot work.
func (c Config) Check() error {
	if c.SenderTxs < 1 || c.SenderTxs > senderTxsMax {
		return fmt.Errorf("transactions per sender = %d, want 1 to %d", c.SenderTxs, senderTxsMax)
	}
	if c.SenderBytes < 0 {
		return fmt.Errorf("bytes per sender = %d, want at least 0", c.SenderBytes)
	}
	if c.NonceGap >= uint64(c.SenderTxs) {
		return fmt.Errorf("nonce gap = %d, want below the %d transactions of a sender: parked ones would fill its share", c.NonceGap, c.SenderTxs)
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
