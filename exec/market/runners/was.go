//spec:implements resolutions 12.B

package runners

import (
	"bytes"
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// Weights are those of the end of the block in which a job was submitted, however late a
// committee is drawn. So a page of standings is kept as it was before it changes, if a job
// still asks for it.

// Waiting are the jobs that may still be drawn for.
type Waiting interface {
	// SubmittedWithin reports whether one of them was submitted at or behind a height and
	// before another.
	SubmittedWithin(from, before chain.Height) (bool, error)
}

// KeptBytes is what a kept page takes of the state: the row of the page and that of the queue,
// with their keys. Who changes a runner's standing pays for it, as its page may be kept then
// and no other: each change keeps one page at most, whatever number of jobs ask for it. So
// what is kept in all is paid, by whoever moves the registry, and a job that only waits costs
// nothing more in a large registry.
const KeptBytes = standingHead + standingPage*standingBytes + 2*keptKeyBytes + 8

const keptKeyBytes = 24

// turn writes a page of standings back, and before its first change in a block keeps what
// it was if a job that may still be drawn for was submitted since the change before. So a
// job has each page kept once at most, whatever else waits. A page that only grows says of
// those that were on it what it said before.
func (b *Book) turn(p *page, jobs Waiting) error {
	since := binary.BigEndian.Uint64(p.bytes)
	// Bounded: by a page, 776 bytes.
	stands := bytes.HasPrefix(p.bytes, p.was)
	if p.was != nil && !stands && since < uint64(b.Height) {
		asked, err := jobs.SubmittedWithin(chain.Height(since), b.Height)
		if err != nil {
			return err
		}
		if asked {
			n := pageOf(p.key)
			b.State.SetStorage(chain.AddrRunnerRegistry, wasKey(n, b.Height), p.was)
			b.State.SetStorage(chain.AddrRunnerRegistry, goneKey(b.Height, n), be8(chain.Height(since)))
			b.kept++
		}
	}
	if p.was == nil || !stands {
		binary.BigEndian.PutUint64(p.bytes, uint64(b.Height))
	}
	b.State.SetStorage(chain.AddrRunnerRegistry, p.key, p.bytes)
	return nil
}

// ForgetStep is how many kept pages a block looks at, at least.
const ForgetStep = 64

// Forget takes away kept pages that no job asks for any more. A kept page holds from one
// change of the page to the next: it goes when no job that may still be drawn for was
// submitted between the two, however long older jobs live.
//
// The queue is walked in a circle: a block looks at [ForgetStep] pages and at twice as many
// as it has kept, and the next block goes on behind them. While a queue of Q pages is walked
// once, at most Q/2 pages are added, so those that no job asks for are at most half of Q. The
// error is a fault.
func (b *Book) Forget(jobs Waiting) error {
	at, err := b.State.Storage(chain.AddrRunnerRegistry, cursorKey())
	if err != nil {
		return err
	}
	left := ForgetStep + 2*b.kept
	next, seen, err := b.forgetFrom(at, left, jobs)
	if left -= seen; err == nil && left > 0 && at != nil { // the end: once more from the front
		next, seen, err = b.forgetFrom(nil, left, jobs)
		left -= seen
	}
	if err != nil {
		return err
	}
	if left > 0 { // all were looked at, so the next block begins at the front
		next = nil
	}
	// Bounded: by a height and a page, 12 bytes.
	if !bytes.Equal(at, next) {
		b.State.SetStorage(chain.AddrRunnerRegistry, cursorKey(), next)
	}
	return nil
}

// forgetFrom looks at up to room rows of the queue from one on, and returns behind which it
// is and how many it saw.
func (b *Book) forgetFrom(at []byte, room int, jobs Waiting) (last []byte, seen int, err error) {
	span := state.Span{Prefix: key(tableGone), Entries: room, Bytes: 1 << 20}
	if at != nil {
		span.From = key(tableGone, at)
	}
	rows, err := b.State.Scan(chain.AddrRunnerRegistry, span)
	if err != nil {
		return nil, 0, err
	}
	// Bounded: by 64 and twice what the block has kept, for which it is paid.
	for i := range rows {
		h, page, ok := splitGone(rows[i].Key)
		if !ok || len(rows[i].Value) != 8 {
			return nil, 0, ErrRecord
		}
		last = append(be8(h), be4(page+1)...) // no page has the largest number
		since := chain.Height(binary.BigEndian.Uint64(rows[i].Value))
		asked, err := jobs.SubmittedWithin(since, h)
		if err != nil {
			return nil, 0, err
		}
		if asked {
			continue
		}
		b.State.SetStorage(chain.AddrRunnerRegistry, wasKey(page, h), nil)
		b.State.SetStorage(chain.AddrRunnerRegistry, rows[i].Key, nil)
	}
	return last, len(rows), nil
}

// View is what old standings are read from: a state, or one asked over a wire.
type View interface {
	Reader
	Scan(addr chain.Address, s state.Span) ([]state.Entry, error)
}

// Weighed is a runner as weights see it.
type Weighed struct {
	Address  chain.Address
	Stake    chain.Wei
	Standing selection.Standing
}

// WeighedAt returns the runners of a bitmap over the active list as they were at the end of
// a block, in the order of the list. A job that may still be drawn for must have been
// submitted in the block. The error is a fault.
func WeighedAt(view View, h chain.Height, of selection.Bitmap) ([]Weighed, error) {
	var out []Weighed
	var active, standing []byte
	opened := -1
	// Paid: job.candidate_cycles for each registered runner (resolution 12.21).
	for index := range uint32(8 * len(of)) {
		if !of.Has(index) {
			continue
		}
		if n := int(index / standingPage); n != opened {
			var err error
			if active, err = view.Storage(chain.AddrRunnerRegistry, activeKey(index/listPage)); err != nil {
				return nil, err
			}
			if standing, err = standingAt(view, uint32(n), h); err != nil {
				return nil, err
			}
			opened = n
		}
		a, s := int(index%listPage)*activeBytes, standingHead+int(index%standingPage)*standingBytes
		if len(active) < a+activeBytes || len(standing) < s+standingBytes {
			return nil, ErrRecord
		}
		w := Weighed{Address: chain.Address(active[a : a+activeBytes])}
		w.Stake, w.Standing = readStanding(standing[s:])
		out = append(out, w)
	}
	return out, nil
}

// standingAt returns a page of standings as it was at the end of a block: what was kept of
// it before the first change since, or what it is.
func standingAt(view View, page uint32, h chain.Height) ([]byte, error) {
	kept, err := view.Scan(chain.AddrRunnerRegistry, state.Span{Prefix: key(tableWas, be4(page)), From: wasKey(page, h+1), Entries: 1, Bytes: 1})
	if err != nil {
		return nil, err
	}
	if len(kept) > 0 {
		return kept[0].Value, nil
	}
	return view.Storage(chain.AddrRunnerRegistry, standingKey(page))
}

func readStanding(b []byte) (chain.Wei, selection.Standing) {
	u := binary.BigEndian.Uint64
	return chain.Wei(u(b)), selection.Standing{ReputationX1e9: u(b[8:]), Height: chain.Height(u(b[16:]))}
}
