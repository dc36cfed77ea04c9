package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// Config is the place of this node in its chain, the protocol's timers and our
// own limits. The zero value is invalid; start from [DefaultConfig].
type Config struct {
	// Set is the validators of one epoch, the only one the engine serves: a validator that
	// sends a vote, shard or certificate of another is ignored for BlockPeerFor.
	Set     *beacon.ValidatorSet
	Self    beacon.Participant
	Share   *bls.SecretKey      // our threshold share; nil: follow, do not vote
	Peer    *ed25519.PrivateKey // the key of our identity, which signs each vote too; needed with Share
	Weights io.Reader           // unpredictable, for batch verification: crypto/rand.Reader
	// Checks makes what verifies votes and certificates of this node's own scheme: a
	// simulation of many nodes verifies once what all of them hear. Where it signs as
	// well, it signs our votes. Nil: the scheme. A node has none.
	Checks func(*simplex.Threshold) simplex.Verifier
	// Guard keeps this key from contradicting itself when the journal is lost.
	// Nil: the journal alone does.
	Guard Guard
	// Archive serves final blocks to peers that were away for long. Nil: they
	// get what is in memory.
	Archive Archive
	// Billed is told of each answer to a full node what was read for it, before it is
	// sent: so many blocks of so many bytes, times over for what the same node had been
	// sent before. It is called on the loop and must not block. Nil: nobody is billed.
	Billed func(to beacon.Participant, blocks, bytes, times int)
	// Evidence is given proof of each validator that contradicted itself. It is
	// called on the loop and must not block. Nil: such peers are only banned.
	Evidence func(attest.Evidence)
	// Shards sends large blocks piece by piece. Nil: every block goes whole.
	Shards *Sharding
	// LastFinalized is the last block that the application has durably, or
	// genesis.
	LastFinalized Floor

	LeaderTimeout        time.Duration // wait for a proposal; above the block time
	CertificationTimeout time.Duration // wait for the view to end; above LeaderTimeout
	RetryInterval        time.Duration // between reminders in a view that does not end
	// Timing returns the three waits above as they are now, for a chain that changes
	// them. It is called on the loop, when a wait begins. Nil: they stay.
	Timing func() Timing
	// TimeoutMax is how long the certification timeout may grow, and the leader timeout
	// with it, while views in a row end without a block ([patience]). Not above the
	// timeout itself: they stay.
	TimeoutMax time.Duration
	// SkipAfter is after how many views without a sign of a validator, and with
	// signs of a quorum, its own views are given up at once ([simplex.Skip]). 0: a
	// view always waits for its leader.
	SkipAfter int

	FetchTimeout time.Duration // wait for a peer's answer before the next one is asked

	// Watch says how we look for another life of our key.
	Watch Watch
	// Log is told what an operator must know of our own votes. Nil: nobody is.
	Log *slog.Logger

	MaxBlockBytes   int           // largest block, a rule of the chain
	InboxMessages   int           // peers' messages that wait; beyond: refused with ErrBusy
	InboxBytes      int           // their bytes; each validator fills its share at most, or one block; the full nodes one share together
	PendingBytesMax int           // blocks held unasked for, each validator its share at most, or one block; and all blocks that are not known to be valid
	AgainBytes      int           // of blocks that all validators together may be sent again in a second, each its share
	TallyBytes      int           // votes of views that are not final; oldest views are given up first
	PruneBytes      int           // journal growth between prunings
	UndeliveredMax  int           // finalized blocks the application lags before we stop proposing
	Retention       chain.View    // views below the last finalized whose certificates peers can ask for
	BlockPeerFor    time.Duration // how long a peer that sent a provably bad message is ignored
}

// Timing is how long a view waits: see the fields of the same names of [Config].
type Timing struct{ LeaderTimeout, CertificationTimeout, RetryInterval time.Duration }

// TimingOf returns the waits that the parameters of a chain ask for.
func TimingOf(p *params.Params) Timing {
	return Timing{
		LeaderTimeout:        time.Duration(p.LeaderTimeoutMillis) * time.Millisecond,
		CertificationTimeout: time.Duration(p.CertificationTimeoutMillis) * time.Millisecond,
		RetryInterval:        time.Duration(p.NullifyRetryMillis) * time.Millisecond,
	}
}

// Floor is a finalized block as the application recorded it. For genesis it is
// round 0, the genesis hash and no certificate.
type Floor struct {
	Round       beacon.Round
	Digest      chain.Hash
	Certificate []byte // as it came with the Finalization
	// Own is the certificate of this very block, as it came with the Finalization.
	// It may be missing where Certificate is this block's, or the journal has it.
	Own []byte
}

// DefaultConfig returns the timers of the chain and limits that fit a node
// with a few gigabytes of memory. Set, Self, Share, Weights and LastFinalized
// are left to the caller.
func DefaultConfig(p *params.Params) Config {
	t := TimingOf(p)
	return Config{
		LeaderTimeout:        t.LeaderTimeout,
		CertificationTimeout: t.CertificationTimeout,
		RetryInterval:        t.RetryInterval,
		TimeoutMax:           time.Minute,
		SkipAfter:            10,          // lets a restart pass, and some lost votes
		FetchTimeout:         time.Second, // a slow round trip and a block
		MaxBlockBytes:        int(p.MaxBlockBytes),
		InboxMessages:        4096,                                // 128 peers, 3 votes and a few certificates each, for several views
		InboxBytes:           max(64<<20, 8*int(p.MaxBlockBytes)), // a turn takes what there is: this is for the length of one
		PendingBytesMax:      32 * int(p.MaxBlockBytes),           // the leaders of two views, and the unfinalized chain
		AgainBytes:           32 << 20,                            // a quarter of a line of 1 Gbit/s; what got lost is had again at once
		TallyBytes:           32 << 20,                            // minutes of views of a hundred validators
		PruneBytes:           max(16<<20, 4*int(p.MaxBlockBytes)), // an hour of small blocks, seconds of the largest
		UndeliveredMax:       8,
		Retention:            256,              // minutes of absence without help of a store
		BlockPeerFor:         10 * time.Minute, // long enough to stop a flood, short enough to forgive a bug
	}
}

// Check reports the first setting that cannot work.
func (c *Config) Check() error {
	switch {
	case c.Set == nil:
		return errors.New("validator set is missing")
	case c.Share != nil && int(c.Self) >= c.Set.Len():
		return fmt.Errorf("self = %d in a set of %d", c.Self, c.Set.Len())
	case c.Weights == nil:
		return errors.New("weights are missing: predictable ones let bad signatures pass")
	case c.LeaderTimeout <= 0:
		return fmt.Errorf("leader timeout = %v, want above 0", c.LeaderTimeout)
	case c.CertificationTimeout <= c.LeaderTimeout:
		return fmt.Errorf("certification timeout = %v, want above the leader timeout %v", c.CertificationTimeout, c.LeaderTimeout)
	case c.Share != nil && c.Peer == nil:
		return errors.New("peer key is missing: votes without its signature count nowhere")
	case c.TimeoutMax < 0:
		return fmt.Errorf("longest timeout = %v, want at least 0", c.TimeoutMax)
	case c.SkipAfter < 0:
		return fmt.Errorf("skip after %d views, want at least 0", c.SkipAfter)
	case c.FetchTimeout <= 0:
		return fmt.Errorf("fetch timeout = %v, want above 0", c.FetchTimeout)
	case c.Watch.check() != nil:
		return c.Watch.check()
	case c.RetryInterval <= 0:
		return fmt.Errorf("retry interval = %v, want above 0", c.RetryInterval)
	case c.MaxBlockBytes < 1:
		return fmt.Errorf("block limit = %d bytes, want at least 1", c.MaxBlockBytes)
	case c.InboxMessages < 1:
		return fmt.Errorf("inbox = %d messages, want at least 1", c.InboxMessages)
	case c.AgainBytes < 1:
		return fmt.Errorf("blocks sent again = %d bytes a second, want at least 1", c.AgainBytes)
	case c.PendingBytesMax < 4*c.MaxBlockBytes:
		return fmt.Errorf("pending blocks = %d bytes, want room for 4 of %d", c.PendingBytesMax, c.MaxBlockBytes)
	case c.InboxBytes < 2*(wire.EnvelopeBytesMax+c.MaxBlockBytes):
		return fmt.Errorf("inbox = %d bytes, want room for 2 blocks of %d", c.InboxBytes, c.MaxBlockBytes)
	case c.TallyBytes < 1:
		return fmt.Errorf("votes = %d bytes, want at least 1", c.TallyBytes)
	case c.PruneBytes < 1:
		return fmt.Errorf("prune after %d bytes, want at least 1", c.PruneBytes)
	case c.UndeliveredMax < 1:
		return fmt.Errorf("undelivered blocks = %d, want at least 1", c.UndeliveredMax)
	case c.BlockPeerFor <= 0:
		return fmt.Errorf("block peers for %v, want above 0", c.BlockPeerFor)
	}
	if err := c.Shards.check(c.Set.Len()); err != nil {
		return err
	}
	if _, err := c.LastFinalized.machine(c.Set.Epoch()); err != nil {
		return fmt.Errorf("last finalized: %w", err)
	}
	return nil
}

// isSelf reports whether p is this validator.
func (c *Config) isSelf(p beacon.Participant) bool { return c.Share != nil && p == c.Self }

// wholeMax returns the length of the longest block that an honest leader sends
// whole.
func (c *Config) wholeMax() int {
	if c.Shards == nil {
		return c.MaxBlockBytes
	}
	return min(c.MaxBlockBytes, c.Shards.Code.WholeBlockMax())
}

// machine returns the floor as the machine wants it. When a crash cut the
// delivery of several blocks short, the certificate is of a descendant; then
// the seed is in the floor's own. Where the application has not kept that, it is
// left to the journal, which a restore may have set back.
func (f Floor) machine(epoch chain.Epoch) (simplex.Floor, error) {
	out := simplex.Floor{View: f.Round.View, Payload: f.Digest}
	if f.Round.Epoch != epoch {
		return out, fmt.Errorf("epoch %d, but the validator set is of epoch %d", f.Round.Epoch, epoch)
	}
	if f.Round.View == 0 {
		if len(f.Certificate)+len(f.Own) != 0 {
			return out, errors.New("genesis with a certificate")
		}
		return out, nil
	}
	c, err := simplex.DecodeCertificate(f.Certificate)
	if err != nil {
		return out, err
	}
	switch {
	case c.Kind != simplex.Finalize || c.Proposal.Round.View < f.Round.View:
		return out, fmt.Errorf("certificate is a %s of view %d", c.Kind, c.Proposal.Round.View)
	case c.Proposal.Round == f.Round && c.Proposal.Payload != f.Digest:
		return out, errors.New("certificate is of another block")
	case c.Proposal.Round == f.Round:
		out.Seed = c.Seed
		return out, nil
	case len(f.Own) == 0 || bytes.Equal(f.Own, f.Certificate):
		return out, nil
	}
	own, err := simplex.DecodeCertificate(f.Own)
	if err != nil {
		return out, fmt.Errorf("own certificate: %w", err)
	}
	if own.Kind == simplex.Nullify || own.Proposal.Round != f.Round || own.Proposal.Payload != f.Digest {
		return out, fmt.Errorf("own certificate is a %s of view %d, or of another block", own.Kind, own.Proposal.Round.View)
	}
	out.Seed = own.Seed
	return out, nil
}
