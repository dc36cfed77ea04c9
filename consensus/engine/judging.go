package engine

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// finality is what judging asks of the machine: what is final. It is a [simplex.Machine], or a test's.
type finality interface {
	Floor() simplex.Floor
	Knows(v chain.View, k simplex.Kind) bool
}

// judging is the part that sees each block through its verdict. Events are what the
// machine wants to know of a block, its bytes, and the verdicts of the application;
// effects are calls of the application, what the machine waits for, and bans of those
// who sent wrong bytes.
type judging struct {
	cfg     *Config
	stats   *Stats
	machine finality
	blocks  *blocks
	shards  *sharding
	backlog func() int // of blocks that came and are not executed or durable
	fits    []arrival  // blocks to be held against their digests
}

// verify asks for a verdict on a proposal whose bytes are here.
func (j *judging) verify(x simplex.RequestVerify) []effect {
	b := j.blocks.byDigest(x.Proposal.Round.View, x.Proposal.Payload)
	b.verifying = &x
	j.blocks.prefer(b, x.Leader)
	return j.verifyOnce(b)
}

// answerCertify answers a certify request whose verdict is known already.
func (j *judging) answerCertify(x simplex.RequestCertify) (effects []effect, known bool) {
	b := j.blocks.put(x.Proposal)
	b.certify = &x
	if b.verdict != valid && b.verdict != invalid {
		return nil, false
	}
	return j.reportVerdict(b), true
}

// certify takes in a notarized block, after fetching it if need be.
func (j *judging) certify(x simplex.RequestCertify) []effect {
	b := j.blocks.byDigest(x.Proposal.Round.View, x.Proposal.Payload)
	if b.bytes != nil {
		return j.verifyOnce(b)
	}
	if b.fitting || b.rebuilding {
		return nil
	}
	effects, coming := j.shards.await(b)
	if !coming {
		effects = append(effects, fetch{simplex.Fetch{View: x.Proposal.Round.View}})
	}
	return effects
}

// wake goes on with a notarized block whose bytes have come.
func (j *judging) wake(p simplex.Proposal) []effect {
	if b := j.blocks.byDigest(p.Round.View, p.Payload); b != nil && b.certify != nil && b.bytes != nil {
		return []effect{redo{*b.certify}}
	}
	return nil
}

// offered takes the bytes that came for the block of p. It reports whether bytes are
// there, these or others.
func (j *judging) offered(from beacon.Participant, p simplex.Proposal, bytes []byte, known bool) []effect {
	if !j.blocks.offer(p, bytes, from, known) {
		return nil
	}
	return append([]effect{sighted{from, p, known}}, j.wake(p)...)
}

// verifyOnce has the application verify b, once.
func (j *judging) verifyOnce(b *block) []effect {
	switch b.verdict {
	case running:
		return nil
	case valid, invalid:
		return j.reportVerdict(b)
	}
	req := VerifyRequest{Round: b.round, Digest: b.digest, Block: b.bytes, Rebuilt: b.rebuilt, Fits: b.fits}
	again := false
	if x := b.certify; x != nil {
		req.Parent, again = parentRef(x.Parent), x.Again
		if x.Known {
			req.Leader = j.cfg.Set.At(x.Leader).PeerKey
		}
	} else {
		req.Parent = parentRef(b.verifying.Parent)
		req.Leader = j.cfg.Set.At(b.verifying.Leader).PeerKey
	}
	b.verdict = running
	// A quorum found that its time had come: a verdict on a notarized block must be the
	// same for all, and clocks are not.
	return []effect{verify{b, req, again || b.rebuilt || b.certify != nil}}
}

// backfill takes the block that came with a good certificate, once it is known to be the
// block that the certificate names.
func (j *judging) backfill(a arrival) {
	p := a.certificate.Proposal
	if a.block == nil || p.Round.View <= j.machine.Floor().View {
		return
	}
	b := j.blocks.put(p)
	if b.sure() || b.fitting {
		return
	}
	if j.blocks.fitting+len(a.block) > j.cfg.PendingBytesMax/2 || b.certify == nil && j.backlog() >= 2*backlogMax {
		j.stats.BackfillsPutOff.Add(1)
		return // it is asked for again
	}
	b.fitting, b.backfilled = true, true
	j.blocks.fitting += len(a.block)
	j.fits = append(j.fits, a)
}

// dequeueDue returns the blocks that are to be held against their digests now.
func (j *judging) dequeueDue() []arrival {
	next := j.fits
	j.fits = nil
	return next
}

// fitted takes a block that was held against its digest.
func (j *judging) fitted(a arrival, ok bool) (out []effect) {
	j.blocks.fitting -= len(a.block)
	p := a.certificate.Proposal
	b := j.blocks.byDigest(p.Round.View, p.Payload)
	if b != nil {
		b.fitting = false
	}
	switch {
	case !ok:
		out = append(out, ban{a.from})
		if b != nil && b.certify != nil && b.bytes == nil {
			out = append(out, redo{simplex.Fetch{View: p.Round.View}})
		}
		out = append(out, lied{a.from})
	case p.Round.View > j.machine.Floor().View:
		b := j.blocks.put(p)
		if !b.sure() && b.verdict != running {
			j.blocks.makeRoom(len(a.block))
			j.blocks.assignBytes(b, a.block)
			b.fits = true
		} else if b.verdict == running {
			j.blocks.offer(p, a.block, a.from, true)
		}
		out = j.wake(p)
	}
	return out
}

// judged takes the application's verdict. An error that is none of its answers ends Run.
func (j *judging) judged(b *block, ok bool, err error) ([]effect, error) {
	switch {
	case errors.Is(err, ErrWrongBlock):
		return j.wrongBytes(b), nil
	case errors.Is(err, ErrEarly):
		return j.early(b), nil
	case err != nil:
		return nil, fmt.Errorf("verify block %v of view %d: %w", b.digest, b.round.View, err)
	case ok:
		b.verdict = valid
	default:
		b.verdict = invalid
		j.stats.BlocksRejected.Add(1)
	}
	j.blocks.assignBytes(b, b.bytes)
	return j.reportVerdict(b), nil
}

// wrongBytes blames who sent bytes that are not the block, and goes on with what
// else there is of it: other bytes, then shards. A leader that sent nothing better
// loses its view.
func (j *judging) wrongBytes(b *block) (out []effect) {
	blamed, supplied := b.supplier, b.supplied
	if supplied {
		out = append(out, ban{blamed})
	}
	more := j.blocks.wrong(b)
	if x := b.verifying; x != nil && supplied && blamed == x.Leader {
		b.verifying = nil
		out = append(out, step{simplex.Verified{View: b.round.View, Payload: b.digest}})
	}
	if x := b.verifying; x != nil && !more && j.shards.own(b) != nil {
		b.verifying = nil
		effects, _ := j.shards.glance(*x)
		out = append(out, effects...)
	}
	if x := b.certify; x != nil {
		out = append(out, redo{*x})
	} else if more && b.verifying != nil {
		out = append(out, j.verifyOnce(b)...)
	}
	return out
}

// early leaves a block without our vote but open: once it is notarized, it is
// judged again without the clock.
func (j *judging) early(b *block) (out []effect) {
	b.verdict = unknown
	if b.verifying != nil {
		b.verifying = nil
		out = append(out, step{simplex.Verified{View: b.round.View, Payload: b.digest}})
	}
	if b.certify != nil {
		out = append(out, redo{*b.certify})
	}
	return out
}

// reportVerdict tells the machine the verdict that it waits for. What is final is valid,
// whatever came out here: the application gets it as final, and mends what is
// wrong with it or ends Run.
func (j *judging) reportVerdict(b *block) (out []effect) {
	if b.verifying != nil {
		b.verifying = nil
		out = append(out, step{simplex.Verified{View: b.round.View, Payload: b.digest, OK: b.verdict == valid}})
	}
	if b.certify != nil {
		b.certify = nil
		ok := b.verdict == valid || j.machine.Knows(b.round.View, simplex.Finalize)
		out = append(out, step{simplex.Certified{View: b.round.View, Payload: b.digest, OK: ok}})
	}
	return out
}

func parentRef(p simplex.Parent) ParentRef {
	return ParentRef{Round: p.Round, Digest: p.Payload, Seed: p.Seed}
}
