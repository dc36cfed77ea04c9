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
			b.State.SetStorage(chain.AddrRunnerRegistry, goneKey(b.Height, n), []byte{})
			b.kept++
		}
	}
	if p.was == nil || !stands {
		binary.BigEndian.PutUint64(p.bytes, uint64(b.Height))
	}
	b.State.SetStorage(chain.AddrRunnerRegistry, p.key, p.bytes)
	return nil
}

// ForgetStep is how many kept pages go in a block at least, if nobody asks for them.
const ForgetStep = 64

// Forget takes away kept pages that no job asks for any more: those of before heights up to
// oldest, at which the first job was submitted that may still be drawn for; all if none
// may. A block takes away more than it keeps, and [ForgetStep] besides. The error is a fault.
func (b *Book) Forget(oldest chain.Height, some bool) error {
	rows, err := b.State.Scan(chain.AddrRunnerRegistry, state.Span{Prefix: key(tableGone), Entries: ForgetStep + 2*b.kept, Bytes: 1 << 20})
	if err != nil {
		return err
	}
	// Bounded: by 64 and what the block has kept, for which it is paid.
	for i := range rows {
		h, page, ok := splitGone(rows[i].Key)
		if !ok {
			return ErrRecord
		}
		if some && oldest < h {
			return nil
		}
		b.State.SetStorage(chain.AddrRunnerRegistry, wasKey(page, h), nil)
		b.State.SetStorage(chain.AddrRunnerRegistry, rows[i].Key, nil)
	}
	return nil
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
