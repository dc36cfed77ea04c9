package simtest

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// preview is a block before its leader has executed it. Who gets it executes it
// meanwhile. Package engine has the same, with [simplex.Machine.Leads] in front.
type preview struct {
	round  beacon.Round
	parent chain.View
	place  []byte
}

func (d *preview) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(d.round.Append(append(b, 'f')), uint64(d.parent))
	return append(b, d.place...)
}

// ahead is the work that was done before it was asked for, all of it volatile:
// the execution of previews, and our own block while it is being executed. It is
// worth nothing once its view is over.
type ahead struct {
	newest   chain.View // that a preview was taken for
	previews []*prepared
	own      chain.View // of the block that we are building; 0: none
}

// prepared is a preview with the end of its execution.
type prepared struct {
	view     chain.View
	digest   chain.Hash // of the block that it leads to
	standing standing
	done     time.Duration // on the network's clock
}

// previewsKept bounds the previews that wait for their proposals.
const previewsKept = 2

// announce sends a preview of our own block.
func (v *validator) announce(x simplex.RequestProposal, body []byte) {
	v.net.report.PreviewsSent++
	v.broadcast(message{preview: &preview{x.Round, x.Parent.Round.View, body}})
}

// receivePreview takes the preview of a leader, one for each view, and executes it.
func (v *validator) receivePreview(from beacon.Participant, d *preview) {
	if !v.machine.Leads(from, d.round, d.parent) || d.round.View <= v.ahead.newest {
		v.net.report.PreviewsRefused++
		return
	}
	v.ahead.newest = d.round.View
	p, ok := v.app.foretell(d)
	if !ok {
		return // the leader's loss
	}
	p.done = v.net.now + v.slowness + v.net.cfg.Execution
	if len(v.ahead.previews) == previewsKept {
		v.ahead.previews = v.ahead.previews[1:]
	}
	v.ahead.previews = append(v.ahead.previews, p)
}

// foretell returns what a preview leads to, if its parent is here.
func (a *application) foretell(d *preview) (*prepared, bool) {
	if len(d.place) != placeBytes {
		return nil, false
	}
	parent, ok := a.executed[chain.Hash(d.place[1:33])]
	if !ok || timeOf(d.place) <= parent.at || binary.BigEndian.Uint64(d.place[placeBytes-16:]) != parent.height+1 {
		return nil, false
	}
	return &prepared{view: d.round.View, digest: digestOf(d.place), standing: standing{parent.height + 1, timeOf(d.place)}}, true
}

// executing returns how long the execution of a block still takes: no time at all
// if its preview was executed, for a digest binds all that execution depends on. A
// preview decides nothing: the block is judged like any other.
func (v *validator) executing(p simplex.Proposal, body []byte) time.Duration {
	for _, d := range v.ahead.previews {
		if d.digest != p.Payload || !v.app.fits(p.Payload, body) {
			continue
		}
		v.net.report.PreviewsUsed++
		if d.standing.at != timeOf(body) || !bytes.Equal(binary.BigEndian.AppendUint64(nil, d.standing.height), body[placeBytes-16:placeBytes-8]) {
			v.net.recordBreach("validator %d: a preview foretold another block of view %d", v.id, p.Round.View)
		}
		return max(0, d.done-v.net.now)
	}
	return v.net.cfg.Execution
}

// discard drops what was done for views before the one entered.
func (v *validator) discard(entered chain.View) {
	kept := v.ahead.previews[:0]
	for _, d := range v.ahead.previews {
		if _, notarized := v.machine.Certificate(d.view, simplex.Notarize); d.view >= entered || notarized {
			kept = append(kept, d)
			continue
		}
		v.net.report.PreviewsDiscarded++
	}
	v.ahead.previews = kept
	if v.ahead.own != 0 && v.ahead.own < entered {
		v.ahead.own = 0
		v.net.report.Abandoned++
	}
}
