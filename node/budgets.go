package node

import (
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/node/ledger"
)

// Budgets is what a validator spends on what others may pile up, in bytes. 0 means
// the default of the part (docs/operating.md, "Memory while nothing is final").
type Budgets struct {
	InboxBytes   int // peers' messages that consensus has not taken yet
	BlockBytes   int // blocks that are not known to be valid
	VoteBytes    int // votes of views that are not final
	JournalBytes int // of the vote journal between two prunings
	UnfinalBytes int // executed blocks that are not final
	OfflineBytes int // messages for members that are not connected
	AgainBytes   int // of blocks that members are sent again, in a second
	PoolBytes    int // that the pool's user lane may grow to
}

// budgetBytesMax keeps a budget from being one in name only.
const budgetBytesMax = 1 << 40

func (b Budgets) check() error {
	for name, n := range map[string]int{
		"inbox": b.InboxBytes, "blocks": b.BlockBytes, "votes": b.VoteBytes, "journal": b.JournalBytes,
		"unfinal": b.UnfinalBytes, "offline": b.OfflineBytes, "again": b.AgainBytes,
		"pool": b.PoolBytes,
	} {
		if n < 0 || n > budgetBytesMax {
			return fmt.Errorf("budget of %s = %d bytes, want 0 for the default, or up to %d", name, n, budgetBytesMax)
		}
	}
	return nil
}

// into sets what is said.
func (b Budgets) into(cfg *engine.Config) {
	for _, s := range []struct {
		to *int
		n  int
	}{{&cfg.InboxBytes, b.InboxBytes}, {&cfg.PendingBytesMax, b.BlockBytes}, {&cfg.TallyBytes, b.VoteBytes}, {&cfg.PruneBytes, b.JournalBytes}, {&cfg.AgainBytes, b.AgainBytes}} {
		if s.n > 0 {
			*s.to = s.n
		}
	}
}

// unfinal returns the budget of executed blocks.
func (b Budgets) unfinal() int {
	if b.UnfinalBytes > 0 {
		return b.UnfinalBytes
	}
	return ledger.DefaultUnfinalBytes
}

// Timeouts are an operator's own waits of a view, where the chain's parameters do not
// fit: they can be changed by a block only, which may be what they prevent. 0 means the
// chain's.
type Timeouts struct {
	Leader, Certification time.Duration
	// Max is how long the certification timeout may grow while views end without a block.
	Max time.Duration
}

func (t Timeouts) check() error {
	switch {
	case t.Leader < 0 || t.Certification < 0 || t.Max < 0:
		return fmt.Errorf("timeouts of a view = %v, %v and %v at most, want at least 0", t.Leader, t.Certification, t.Max)
	case t.Leader > 0 && t.Certification > 0 && t.Certification <= t.Leader:
		return fmt.Errorf("certification timeout = %v, want above the leader timeout %v", t.Certification, t.Leader)
	}
	return nil
}

// override returns the waits with what the operator says in the place of the chain's. One
// that is said alone takes the other along.
func (t Timeouts) override(chain engine.Timing) engine.Timing {
	if t.Leader > 0 {
		chain.LeaderTimeout = t.Leader
		chain.CertificationTimeout = max(chain.CertificationTimeout, t.Leader*3/2)
	}
	if t.Certification > 0 {
		chain.CertificationTimeout = t.Certification
		chain.LeaderTimeout = min(chain.LeaderTimeout, t.Certification*2/3)
	}
	return chain
}
