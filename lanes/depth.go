package lanes

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Depth is how much waits at most: the caps that follow the chain while a node runs. Those
// of the other lanes stay as [Config] says.
type Depth struct {
	UserTxs   int // in the user lane
	SenderTxs int // of one sender, in all lanes
}

// Depth returns what the config says.
func (c Config) Depth() Depth { return Depth{c.LaneTxs[chain.LaneUser], c.SenderTxs} }

// SmallTxBytes is about the most that one more transaction in the user lane takes of the
// heap, itself decoded, its own sender and all, if its body is small; what bodies have
// beyond that is bounded by [Config.LaneBytes]. TestWhatATransactionTakes measures it.
const SmallTxBytes = 5 << 10

// DepthMax is the most transactions that any lane can hold.
const DepthMax = laneTxsMax

// Resize sets the caps. Nothing leaves because of it: a lane that holds more than it may
// from now on is closed at what it holds, as a full lane is, where who pays more pushes out
// who pays less, one for one; and so is a sender. The places of what blocks take and of what
// grows too old are gone with it, until the lane is as small as it should be, whoever waits
// for them. Resize returns the caps that hold now.
//
// It takes all shards for a moment. Depths that [Config.Check] refuses change nothing.
func (l *Lanes) Resize(to Depth) (Depth, error) { return l.pool.resize(to) }

func (s *pool) resize(to Depth) (Depth, error) {
	s.holdAll()
	defer s.releaseAll()
	r := &s.lanes[chain.LaneUser]
	now := Depth{int(r.txsMax.Load()), s.cfg.SenderTxs}
	least := to.UserTxs
	held, _ := unpack(r.held.Load())
	to.UserTxs = max(to.UserTxs, held) // between operations nothing is reserved that is not held
	cfg := s.cfg
	cfg.LaneTxs[chain.LaneUser], cfg.SenderTxs = to.UserTxs, to.SenderTxs
	if err := cfg.Check(); err != nil {
		return now, fmt.Errorf("resize the pool: %w", err)
	}
	s.cfg.LaneTxs[chain.LaneUser], s.cfg.SenderTxs = to.UserTxs, to.SenderTxs
	r.setCap(to.UserTxs, least)
	return to, nil
}
