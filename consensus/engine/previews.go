package engine

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// A preview is what a leader knows of its block before it has executed it. The
// others execute it at the same time, so that the execution of a block takes its
// time once on the way from view to view, not once at the leader and once more
// at everybody else. A preview decides nothing: the proposal comes later and is
// judged as always, only with the work done. Of each view one preview counts, and
// only from its known leader.

// previewing is the part that takes previews in. Events are previews, of others and of our own
// block; effects are messages. What came in waits to be executed.
type previewing struct {
	cfg     *Config
	stats   *Stats
	leads   func(p beacon.Participant, r beacon.Round, parent chain.View) bool // [simplex.Machine.Leads]
	view    chain.View                                                         // the newest that a preview was taken for
	waiting []wire.Preview
}

// receive takes the preview of a view's leader.
func (d *previewing) receive(from beacon.Participant, preview wire.Preview) {
	v := preview.Round.View
	if !d.leads(from, preview.Round, preview.Parent) || v <= d.view {
		d.stats.Dropped.Add(1)
		return
	}
	d.view = v
	d.waiting = append(d.waiting, preview)
}

// dequeue returns what came in, to be executed.
func (d *previewing) dequeue() []wire.Preview {
	next := d.waiting
	d.waiting = nil
	return next
}

// announce hands the preview of our own block out, while its view lasts.
func (d *previewing) announce(preview wire.Preview, view chain.View) []effect {
	if preview.Round.View != view || len(preview.Bytes) > d.cfg.MaxBlockBytes {
		return nil
	}
	d.stats.PreviewsSent.Add(1)
	return []effect{broadcast{preview}}
}
