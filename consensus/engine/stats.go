package engine

import (
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Stats counts what the engine has done since it started. Run adds to it;
// anyone may read it.
type Stats struct {
	View            atomic.Uint64 // current view
	FinalizedView   atomic.Uint64 // newest finalized view
	BlocksFinalized atomic.Uint64 // blocks the application has durably

	ProposalsMade         atomic.Uint64 // blocks of our own put to the vote
	ProposalsMissed       atomic.Uint64 // views we led without a block in time
	LeaderTimeouts        atomic.Uint64 // views without a proposal in time
	CertificationTimeouts atomic.Uint64 // views that did not end in time
	BlocksRejected        atomic.Uint64 // blocks the application judged invalid

	Certificates  [simplex.Finalize + 1]atomic.Uint64 // recovered here from votes, by kind
	VotesVerified atomic.Uint64                       // peers' votes that went through a batch
	Equivocations atomic.Uint64                       // conflicting votes or proposals seen
	Bans          atomic.Uint64                       // times a peer was banned
	Dropped       atomic.Uint64                       // messages of banned or unknown peers
	Refused       atomic.Uint64                       // messages refused because the inbox was full

	Syncs    atomic.Uint64 // journal syncs
	Prunings atomic.Uint64 // journal prunings

	ProposeNanos     atomic.Uint64 // wall time in Propose, block time included
	ApplicationNanos atomic.Uint64 // wall time in Verify and Recover
	FinalizeNanos    atomic.Uint64 // wall time in Finalized
	SyncNanos        atomic.Uint64 // wall time in journal syncs
	VerifyNanos      atomic.Uint64 // wall time verifying votes and certificates
	RecoverNanos     atomic.Uint64 // wall time recovering certificates
}
