package lanes

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Config bounds the pool. All of it is this node's policy, none of it protocol.
// The zero value is invalid; start from DefaultConfig.
type Config struct {
	SenderTxs     int                 // waiting transactions kept per sender
	NonceGap      uint64              // nonces kept beyond a sender's first missing one
	LaneTxs       [chain.NumLanes]int // waiting transactions per lane
	LaneBytes     [chain.NumLanes]int // bytes of their bodies per lane
	BumpPercent   uint64              // rise of every price that a replacement needs
	PackMisses    int                 // transactions of a lane that do not fit before packing gives the lane up
	InboxRequests int                 // requests that may wait for the owner
}

// DefaultConfig returns the settings of a validator. Lanes have caps of their
// own, so that a flood of user transactions cannot push a runner's result out.
// The timer lane has none: due timers come from the state, not from senders.
func DefaultConfig() Config {
	return Config{
		SenderTxs:     256, // a busy account for half a second on an uncapped chain
		NonceGap:      64,  // what the network may deliver out of order
		LaneTxs:       [chain.NumLanes]int{chain.LaneSystem: 4_096, chain.LaneRunner: 32_768, chain.LaneUser: 131_072},
		LaneBytes:     [chain.NumLanes]int{chain.LaneSystem: 8 << 20, chain.LaneRunner: 64 << 20, chain.LaneUser: 256 << 20},
		BumpPercent:   10,
		PackMisses:    256,
		InboxRequests: 256,
	}
}

// Check reports the first setting that cannot work.
func (c Config) Check() error {
	if c.SenderTxs < 1 {
		return fmt.Errorf("transactions per sender = %d, want at least 1", c.SenderTxs)
	}
	if c.NonceGap >= uint64(c.SenderTxs) {
		return fmt.Errorf("nonce gap = %d, want below the %d transactions of a sender: parked ones would fill its share", c.NonceGap, c.SenderTxs)
	}
	for lane := range chain.NumLanes {
		if c.LaneTxs[lane] < 0 || c.LaneBytes[lane] < 0 {
			return fmt.Errorf("%s lane of %d transactions and %d bytes, want no negative cap", lane, c.LaneTxs[lane], c.LaneBytes[lane])
		}
	}
	if c.LaneTxs[chain.LaneUser] == 0 {
		return fmt.Errorf("user lane keeps no transactions")
	}
	if c.BumpPercent > 1000 {
		return fmt.Errorf("replacement bump = %d %%, want at most 1000", c.BumpPercent)
	}
	if c.PackMisses < 1 {
		return fmt.Errorf("pack misses = %d, want at least 1", c.PackMisses)
	}
	if c.InboxRequests < 1 {
		return fmt.Errorf("inbox of %d requests, want at least 1", c.InboxRequests)
	}
	return nil
}
