package main

import (
	"strconv"
	"time"

	"github.com/cowboy-foundation/cowboy/node"
)

// budgetFlags bound what others can pile up in this node, and say how long a view waits.
type budgetFlags struct {
	InboxMiB   int `name:"inbox-mib" help:"MiB of peers' messages that wait for consensus; beyond them messages are refused, and a validator has a quarter at most. 0 for the default: 64, or 8 blocks." default:"0"`
	BlocksMiB  int `name:"pending-blocks-mib" help:"MiB of blocks that are not known to be valid; beyond them the oldest are dropped, and fetched again if a quorum wants them. 0 for the default: 32 blocks." default:"0"`
	VotesMiB   int `name:"pending-votes-mib" help:"MiB of votes of views that are not final; beyond them those of the oldest views are dropped. 0 for the default: 32." default:"0"`
	JournalMiB int `name:"journal-prune-mib" help:"MiB that votes.journal grows before it is written anew without what is not needed any more. 0 for the default: 16, or 4 blocks." default:"0"`
	UnfinalMiB int `name:"unfinal-mib" help:"MiB of executed blocks that are not final; beyond them this validator makes empty blocks and votes for empty ones only. 0 for the default: 512." default:"0"`
	OfflineMiB int `name:"offline-mib" help:"MiB of messages that wait for validators that are not connected, for all of them together; beyond them each loses its oldest. 0 for the default: 64, or 4 blocks." default:"0"`

	AgainMiB int `name:"again-mib" help:"MiB a second of blocks that validators may be sent again, each its share; what they were not sent yet is not limited. One that asks for the same all day then leaves the line and the disk to the others. 0 for the default: 32." default:"0"`

	PoolMiB int `name:"pool-mib" help:"MiB that the transactions waiting in the user lane may grow to; how many wait follows the rate of the chain within it, and is never less than by default. 0 for the default: a quarter of the heap's limit." default:"0"`

	LeaderTimeout        time.Duration `help:"How long a view waits for its leader's block, such as 10s, in place of what the chain says: for the day when that is too short and no block can change it. 0 for the chain's." default:"0"`
	CertificationTimeout time.Duration `help:"How long a view waits for its end before this validator votes to give it up, in place of what the chain says. 0 for the chain's." default:"0"`
	TimeoutMax           time.Duration `help:"How long the wait for the end of a view may grow by itself while views end without a block; with the first blocks it falls back. At or below the wait itself it never grows." default:"1m"`
}

func (f *budgetFlags) into(cfg *node.Config) {
	cfg.Budgets = node.Budgets{
		InboxBytes: f.InboxMiB << 20, BlockBytes: f.BlocksMiB << 20, VoteBytes: f.VotesMiB << 20,
		JournalBytes: f.JournalMiB << 20, UnfinalBytes: f.UnfinalMiB << 20, OfflineBytes: f.OfflineMiB << 20, PoolBytes: f.PoolMiB << 20,
		AgainBytes: f.AgainMiB << 20,
	}
	cfg.Timeouts = node.Timeouts{Leader: f.LeaderTimeout, Certification: f.CertificationTimeout, Max: f.TimeoutMax}
}

// args passes them on to a process of its own.
func (f *budgetFlags) args() []string {
	return []string{
		"--inbox-mib", strconv.Itoa(f.InboxMiB), "--pending-blocks-mib", strconv.Itoa(f.BlocksMiB),
		"--pending-votes-mib", strconv.Itoa(f.VotesMiB), "--journal-prune-mib", strconv.Itoa(f.JournalMiB),
		"--unfinal-mib", strconv.Itoa(f.UnfinalMiB), "--offline-mib", strconv.Itoa(f.OfflineMiB), "--again-mib", strconv.Itoa(f.AgainMiB), "--pool-mib", strconv.Itoa(f.PoolMiB),
		"--leader-timeout", f.LeaderTimeout.String(), "--certification-timeout", f.CertificationTimeout.String(),
		"--timeout-max", f.TimeoutMax.String(),
	}
}
