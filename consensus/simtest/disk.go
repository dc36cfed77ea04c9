package simtest

import (
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// disk is what a validator has on its disk: the journal, and the watermark in a
// file of its own that is not rolled back with it. What is not synced may be
// lost, in part or whole, and so may a rename whose folder is not synced.
type disk struct {
	journal  [][]byte
	buffered [][]byte          // appended, not synced
	mark     simplex.Watermark // as synced
	said     simplex.Watermark // mark, and what is not durable of it yet
}

// open forgets what was not durable.
func (d *disk) open() {
	d.buffered = nil
	d.said = d.mark
}

// sync makes the journal and the watermark durable, side by side, as package
// engine does.
func (d *disk) sync() {
	d.journal = append(d.journal, d.buffered...)
	d.buffered = nil
	d.mark = d.said
}

// forgets reports whether our own vote for what c says is not durable yet, and may
// have completed it. Who gets c counts on that vote. A vote that we gave when we had c
// already is none of them.
func (d *disk) forgets(c simplex.Certificate) bool {
	for _, rec := range d.buffered {
		r, err := simplex.DecodeRecord(rec)
		if err != nil {
			continue // a block or a shard
		}
		switch r := r.(type) {
		case simplex.Vote:
			if r.Kind == c.Kind && r.Proposal == c.Proposal {
				return true
			}
		case simplex.Certificate:
			if r.Kind == c.Kind && r.Proposal == c.Proposal {
				return false
			}
		}
	}
	return false
}

// tear is a crash in the middle of a sync: of the two files either may have
// made it, the journal up to any record.
func (v *validator) tear() {
	d := &v.disk
	if landed := v.net.rng.IntN(len(d.buffered) + 1); landed > 0 {
		d.journal = append(d.journal, d.buffered[:landed]...)
		v.net.report.TornSyncs++
	}
	if v.net.chance(0.5) {
		d.mark = d.said
	}
}

// mayCrash draws whether now is the moment.
func (v *validator) mayCrash() bool {
	return !v.net.quiet && v.player == nil && v.net.chance(v.net.cfg.Crash)
}

// prune replaces the journal by one without the records below what the
// application has durably. It reports false for a crash before the new name of
// the file was durable; then either file may be there.
func (v *validator) prune() bool {
	low := v.app.floor().View
	kept := slices.DeleteFunc(slices.Clone(v.disk.journal), func(rec []byte) bool {
		at := 1 // after the tag, a certification's round begins
		if rec[0] != 'a' {
			at = 2 // after a kind or flag
		}
		round, _, err := attest.ReadRound(rec[at:])
		return err == nil && round.View < low
	})
	if v.mayCrash() {
		if v.net.chance(0.5) {
			v.disk.journal = kept
		} else {
			v.net.report.LostRenames++
		}
		v.crash(v.net.between(100*time.Millisecond, 8*time.Second))
		return false
	}
	v.disk.journal = kept
	return true
}

// clockSetEvery is how often a clock that runs wrong is put back to its offset.
// Without that no two would agree in the end, and more than [clockDrift] apart
// they need not agree on a block.
const clockSetEvery = 20 * time.Second

// clock is the validator's idea of the time.
func (v *validator) clock() time.Duration {
	since := v.net.now % clockSetEvery
	return v.net.now + v.offset + time.Duration((v.rate-1)*float64(since))
}

// passing returns how long the validator's clock takes for d.
func (v *validator) passing(d time.Duration) time.Duration {
	return time.Duration(float64(d) / v.rate)
}
