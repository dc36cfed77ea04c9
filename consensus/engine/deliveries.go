package engine

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// deliveries are the final blocks that the application does not have durably yet, in the
// order in which it gets them: one at a time.
type deliveries struct {
	cfg     *Config
	blocks  *blocks
	waiting []Finalization // the first of them is being delivered
	durable chain.View     // newest view that the application has durably
}

// add lines up what a finalization made final, oldest first. It returns what to deliver
// now: nothing while something is on its way.
func (d *deliveries) add(x simplex.Finalized) (next Finalization, due bool) {
	certificate := simplex.AppendCertificate(nil, x.Certificate)
	idle := len(d.waiting) == 0
	for _, own := range x.Chain {
		d.waiting = append(d.waiting, Finalization{
			Round: own.Proposal.Round, Digest: own.Proposal.Payload, Seed: own.Seed,
			Certificate: certificate, Own: simplex.AppendCertificate(nil, own),
		})
	}
	if !idle || len(d.waiting) == 0 {
		return Finalization{}, false
	}
	return d.waiting[0], true
}

// done takes note that the application has the first durably, up to view v, and returns
// the one after it, if there is one.
func (d *deliveries) done(v chain.View) (next Finalization, due bool) {
	d.durable = v
	d.waiting[0] = Finalization{}
	d.waiting = d.waiting[1:]
	d.bury(v)
	if len(d.waiting) == 0 {
		return Finalization{}, false
	}
	return d.waiting[0], true
}

// bury drops what is durable and need not be in memory for peers any more: without an
// archive nobody else has what a peer lacks that missed some seconds.
func (d *deliveries) bury(durable chain.View) {
	low := durable - min(durable, servedViews)
	oldest, bytes := low, 0
	if d.cfg.Archive == nil {
		oldest, bytes = durable-min(durable, d.cfg.Retention), d.cfg.PendingBytesMax/8
	}
	d.blocks.bury(low, oldest, bytes)
}
