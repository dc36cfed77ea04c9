package engine

import (
	"context"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Answers of an [Application] that are no faults.
var (
	// ErrNoProposal is Propose's way to pass: there is no block to propose
	// now. The view is nullified.
	ErrNoProposal = errors.New("no block to propose")
	// ErrEarly is Verify's way to say that the block's time has not come by this
	// node's clock. It gets no vote, but no verdict either: others' clocks may
	// differ. Recover never returns it.
	ErrEarly = errors.New("block is of a time that has not come")
	// ErrWrongBlock is Verify's way to say that the bytes are not the block of
	// the digest at all. A peer sent them; the block itself is not judged.
	ErrWrongBlock = errors.New("bytes do not belong to the digest")
)

// Application is the chain that the engine orders. Calls may block; the engine
// makes them off its loop and cancels them by ctx. At most one Finalized runs at a time.
// Verify, Recover, Prepare and Fits may overlap, and a Propose with one that was cancelled.
// An error other than those above is a fault of this node and ends Run.
type Application interface {
	// Propose builds a block for the round on the parent and returns its
	// digest and bytes. It waits for the block time to pass. When the view is
	// over first, ctx ends and the answer is ignored.
	Propose(ctx context.Context, req ProposeRequest) (Proposed, error)
	// Verify executes the block and says whether it is valid. The verdict must
	// be the same on every honest node; a block whose validity cannot be told
	// yet is waited for (resolution 11.18). The parent was proposed, verified
	// or recovered before, or is the last finalized block.
	Verify(ctx context.Context, req VerifyRequest) (bool, error)
	// Recover is Verify for a block above the last finalized one that this node
	// accepted before a restart, parents first, or that a quorum has notarized.
	// Rules that look at the clock do not apply.
	Recover(ctx context.Context, req VerifyRequest) (bool, error)
	// Prepare executes the preview of a block whose proposal is still to come, so
	// that Verify finds the work done. It is no verdict, and nothing may depend on
	// it: an error is a fault of this node.
	Prepare(ctx context.Context, req PrepareRequest) error
	// Fits reports whether bytes are the block of a digest, valid or not. It
	// depends on nothing else. An error is a fault of this node, and says nothing about the
	// bytes.
	Fits(digest chain.Hash, block []byte) (bool, error)
	// Finalized is called in order of height for each newly finalized block
	// and returns when that is durable. After a crash it comes again for
	// blocks above [Config.LastFinalized]. There is no way back.
	Finalized(ctx context.Context, f Finalization) error
}

// ParentRef names the block that a proposal extends. For the first block it is
// round 0, the genesis hash and a zero seed.
type ParentRef struct {
	Round  beacon.Round
	Digest chain.Hash
	Seed   [48]byte // threshold seed of the round, for the header (resolution 11.8)
}

// ProposeRequest asks for a block.
type ProposeRequest struct {
	Round  beacon.Round
	Parent ParentRef
	// Preview hands out what is known of the block before it is executed, for the
	// others to execute at the same time. It may be called once, or not at all;
	// what it sends is read by their Prepare alone.
	Preview func(bytes []byte)
}

// PrepareRequest brings the preview of a round's leader.
type PrepareRequest struct {
	Round   beacon.Round
	Preview []byte
}

// Proposed is a block ready to be voted for.
type Proposed struct {
	Digest chain.Hash
	Block  []byte
	// Shards is the encoded body, if the application has it already.
	Shards *shards.Codeword
}

// VerifyRequest asks for a verdict on a block.
type VerifyRequest struct {
	Round  beacon.Round
	Parent ParentRef
	// Leader is the validator that had to propose in the round; the block must
	// be its. It is zero where that is not known: for a block that a quorum
	// notarized, whose honest part knew, when we lack the views before it.
	Leader chain.PeerKey
	Digest chain.Hash
	Block  []byte
	// Rebuilt says that the body comes from shards and is the one that the head
	// commits to.
	Rebuilt bool
	// Fits says that [Application.Fits] was asked about these very bytes, and that they are
	// the block's: what it compared need not be compared again.
	Fits bool
}

// Finalization says that a block is final.
type Finalization struct {
	Round  beacon.Round
	Digest chain.Hash
	Seed   [48]byte // threshold seed of the round
	// Certificate is the encoded finalization, with its proposal, of this
	// block or of a descendant ([simplex.DecodeCertificate]).
	Certificate []byte
	// Own is the encoded certificate of this very block: the same, or its
	// notarization where a descendant made it final. A validator that catches
	// up needs it.
	Own []byte
}

// Archive is the application's store of final blocks. Several calls of Final may run at
// once, off the loop: readsMax for validators and one for full nodes.
type Archive interface {
	// Final returns final blocks from view v on, oldest first: at most limit of
	// them, and of bytesMax bytes, or the first one if that is larger. It may read
	// little more than it returns: a request of ten bytes asks for it. With an error the peer
	// gets what was found before it and asks others for the rest; to tell the
	// operator is the application's part.
	Final(ctx context.Context, v chain.View, limit, bytesMax int) ([]ArchivedBlock, error)
}

// ArchivedBlock is a final block as it was finalized.
type ArchivedBlock struct {
	Certificate []byte // as in [Finalization]
	Own         []byte // as in [Finalization]
	Block       []byte
}

// Guard remembers what this key signed, apart from the journal. Package guard
// has the one of the node. The engine calls it from one goroutine at a time.
type Guard interface {
	// Permit reports whether a vote may be signed, and remembers it if so. An
	// error keeps the vote from being made and is nothing worse.
	Permit(k simplex.Kind, p simplex.Proposal) error
	// Note remembers a vote that the journal knows of.
	Note(k simplex.Kind, p simplex.Proposal)
	// CloseRound remembers that this key spoke in a round, in words that are not known.
	CloseRound(r beacon.Round)
	// Watermark returns what is remembered.
	Watermark() simplex.Watermark
	// Sync makes it durable. An error ends Run.
	Sync() error
}

// memory is the guard of a node without one.
type memory struct{ mark simplex.Watermark }

func (m *memory) Permit(k simplex.Kind, p simplex.Proposal) error { return m.mark.Permit(k, p) }
func (m *memory) Note(k simplex.Kind, p simplex.Proposal)         { m.mark.Note(k, p) }
func (m *memory) CloseRound(r beacon.Round)                       { m.mark.CloseRound(r) }
func (m *memory) Watermark() simplex.Watermark                    { return m.mark }
func (m *memory) Sync() error                                     { return nil }

// Network sends to the other validators, and to the full nodes that follow
// them: the network numbers those from Set.Len() up. Only requests are taken
// from them. It never blocks: a slow peer loses
// messages, not the engine its pace. The engine does not change msg afterwards.
// Run's goroutine alone calls it.
type Network interface {
	Broadcast(msg []byte)
	Send(to beacon.Participant, msg []byte)
}

// Alone is the network of a single validator.
type Alone struct{}

// Broadcast has nobody to send to.
func (Alone) Broadcast([]byte) {}

// Send has nobody to send to.
func (Alone) Send(beacon.Participant, []byte) {}

// Journal keeps records in order across a crash. state/journal is the one of
// the node.
type Journal interface {
	// Append adds a record, which need not be durable yet. It keeps no reference to rec.
	Append(rec []byte) error
	// Sync makes all appended records durable.
	Sync() error
	// Replay calls f with each durable record, oldest first.
	Replay(f func(rec []byte) error) error
	// Prune drops, in one atomic step, the records for which keep is false.
	Prune(keep func(rec []byte) bool) error
}
