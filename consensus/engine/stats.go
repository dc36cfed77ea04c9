package engine

import (
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Stats counts what the engine has done since it started. Run adds to it;
// anyone may read it.
type Stats struct {
	Resumed         atomic.Bool   // the journal has been replayed
	View            atomic.Uint64 // current view
	FinalizedView   atomic.Uint64 // newest finalized view
	BlocksFinalized atomic.Uint64 // blocks the application has durably

	ProposalsMade         atomic.Uint64 // blocks of our own put to the vote
	ProposalsMissed       atomic.Uint64 // views we led without a block in time
	LeaderTimeouts        atomic.Uint64 // views without a proposal in time
	LeaderSkips           atomic.Uint64 // views whose leader had been silent for long
	CertificationTimeouts atomic.Uint64 // views that did not end in time
	BlocksRejected        atomic.Uint64 // blocks the application judged invalid

	Certificates  [simplex.Finalize + 1]atomic.Uint64 // recovered here from votes, by kind
	VotesVerified atomic.Uint64                       // peers' votes that went through a batch
	Equivocations atomic.Uint64                       // conflicting votes or proposals seen
	Bans          atomic.Uint64                       // times a peer was banned
	Dropped       atomic.Uint64                       // messages of banned or unknown peers
	Refused       atomic.Uint64                       // messages refused because the inbox was full
	RefusedBytes  atomic.Uint64                       // messages refused because the inbox, or the sender's share, was full: of bytes, or of that sender's messages

	InboxBytes      atomic.Int64  // in the inbox
	BlockBytes      atomic.Int64  // of blocks that are not buried
	TimeoutPermille atomic.Int64  // by how much the waits of a view are longer than the parameters say: 1000 is not
	JournalBytes    atomic.Int64  // of the records in the journal
	BlocksDropped   atomic.Uint64 // blocks dropped for want of room, to be fetched if need be
	BackfillsPutOff atomic.Uint64 // fetched blocks that found no room, to be fetched again

	PreviewsSent  atomic.Uint64          // previews of our own blocks handed out
	Evidence      atomic.Uint64          // proofs of a peer's contradiction
	VotesWithheld atomic.Uint64          // own votes not made: listening, or against the guard
	Watching      atomic.Bool            // the start listens for another life of our key
	Silence       atomic.Pointer[string] // see SilenceReason
	ClosedView    atomic.Uint64          // our current view, if the guard closed it; else 0
	OwnQuestions  atomic.Uint64          // what did you hear in our name
	OwnAnswers    atomic.Uint64          // to these
	OwnVotesFound atomic.Uint64          // of an earlier life, which nothing here remembers
	Silences      atomic.Uint64          // times we fell silent after we had voted, to ask again
	FetchesSent   atomic.Uint64          // requests to peers
	FetchesFailed atomic.Uint64          // of these, not answered in time
	BlocksServed  atomic.Uint64          // blocks sent to peers that were behind

	ArchiveFailures atomic.Uint64 // looks into the archive that ended in an error
	AnswersRefused  atomic.Uint64 // requests with too many of the same peer, or of full nodes, before them
	AgainBytes      atomic.Uint64 // of blocks sent to validators that had been sent them
	AgainWithheld   atomic.Uint64 // answers, or blocks of one, not sent to a validator that had been sent them and has used up its budget

	Shards ShardStats

	Peers   []PeerStats   // by participant
	Leaders []LeaderStats // by participant

	Syncs    atomic.Uint64 // journal syncs
	Prunings atomic.Uint64 // journal prunings

	Stages     [NumStages]Durations // wall time, by stage
	OwnerNanos atomic.Uint64        // that the loop did not wait for its next input, syncs included
}

// PeerStats is what we see of one validator. Its lag is the current view less
// LastVoteView.
type PeerStats struct {
	LastVoteView     atomic.Uint64 // of the votes that came in
	BlockedUntilUnix atomic.Int64  // seconds; 0 or past: not banned
	Unanswered       atomic.Uint64 // requests that it did not answer in time
}

// LeaderStats is what one validator made of the views that it led and that we
// were in.
type LeaderStats struct {
	ProposalsMade   atomic.Uint64 // proposals that came in
	ProposalsMissed atomic.Uint64 // views left without one, though others may have got it
	Timeouts        atomic.Uint64 // leader timeouts that ran out
}
