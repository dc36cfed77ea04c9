package simplex

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// Reasons why a [Watermark] refuses a statement. Neither is an offence; both
// keep one from being made.
var (
	// ErrBelowWatermark means that this key spoke in a later round, or in this
	// one in words that are not known any more.
	ErrBelowWatermark = errors.New("round is closed: this key signed in it or after it")
	// ErrContradiction means that this key said otherwise in this round.
	ErrContradiction = errors.New("this key signed the contrary")
)

// Watermark is what one key must remember so as never to contradict itself:
// for each kind, its last statement. Rounds below the highest of them are
// closed. That costs an honest validator nothing it needs: it votes in its
// current round, and a vote for an older one can be spared.
//
// The zero value is that of a key that never signed. A Watermark is a value;
// it is compared with ==.
type Watermark [Finalize + 1]Mark

// Mark is the last statement of a kind. The zero value is none.
type Mark struct {
	Proposal Proposal // as in [Vote]
	// Blind marks a round in which something was said, but not known what: it
	// is closed as a whole.
	Blind bool
}

// Permit reports whether this key may say k of p, and remembers it if so. To
// say the same again is always permitted.
func (w *Watermark) Permit(k Kind, p Proposal) error {
	if k == Nullify {
		p = Proposal{Round: p.Round}
	}
	for other := Notarize; other <= Finalize; other++ {
		m := w[other]
		if !m.said() {
			continue
		}
		switch order := compareRounds(p.Round, m.Proposal.Round); {
		case order < 0 || order == 0 && m.Blind:
			return fmt.Errorf("%s of view %d after %s of view %d: %w", k, p.Round.View, other, m.Proposal.Round.View, ErrBelowWatermark)
		case order > 0:
		case other == k && m.Proposal != p, attest.Contradicts(k, p, other, m.Proposal):
			return fmt.Errorf("%s of view %d beside %s: %w", k, p.Round.View, other, ErrContradiction)
		}
	}
	w[k] = Mark{Proposal: p}
	return nil
}

// Note remembers a statement that was made, whatever was made before. It never
// opens what is closed.
func (w *Watermark) Note(k Kind, p Proposal) {
	if k == Nullify {
		p = Proposal{Round: p.Round}
	}
	w.raise(k, Mark{Proposal: p})
}

// CloseRound remembers that something was said in a round, and not what: nothing more may
// be said in it.
func (w *Watermark) CloseRound(r beacon.Round) {
	for k := Notarize; k <= Finalize; k++ {
		w.raise(k, Mark{Proposal: Proposal{Round: r}, Blind: true})
	}
}

// Merge takes in the memory of another process with the same key. The result
// permits nothing that either of them refuses.
func (w *Watermark) Merge(o Watermark) {
	for k := Notarize; k <= Finalize; k++ {
		w.raise(k, o[k])
	}
}

// raise keeps the higher of two marks, and closes the round where two different
// ones meet.
func (w *Watermark) raise(k Kind, m Mark) {
	old := w[k]
	switch order := compareRounds(m.Proposal.Round, old.Proposal.Round); {
	case order > 0:
		w[k] = m
	case order == 0 && m != old:
		w[k] = Mark{Proposal: Proposal{Round: m.Proposal.Round}, Blind: true}
	}
}

// Round returns the highest round in which the key spoke, or the zero round.
func (w *Watermark) Round() beacon.Round {
	var top beacon.Round
	for _, m := range w {
		if compareRounds(m.Proposal.Round, top) > 0 {
			top = m.Proposal.Round
		}
	}
	return top
}

// Said reports whether the statement is covered: made by the holder of this
// memory, or in a round that it closed.
func (w *Watermark) Said(k Kind, p Proposal) bool {
	if k == Nullify {
		p = Proposal{Round: p.Round}
	}
	m := w[k]
	return compareRounds(p.Round, w.Round()) < 0 || compareRounds(p.Round, m.Proposal.Round) == 0 && (m.Blind || m.Proposal == p)
}

func (m Mark) said() bool { return m.Proposal.Round != (beacon.Round{}) }

func compareRounds(a, b beacon.Round) int {
	switch {
	case a.Epoch != b.Epoch:
		return sign(a.Epoch < b.Epoch)
	case a.View != b.View:
		return sign(a.View < b.View)
	}
	return 0
}

func sign(below bool) int {
	if below {
		return -1
	}
	return 1
}

// markBytes is one encoded mark: flag, epoch, view, parent, digest.
const markBytes = 1 + 3*8 + len(chain.Hash{})

// WatermarkBytes is the size of every encoded [Watermark].
const WatermarkBytes = int(Finalize) * markBytes

// ErrWatermark means bytes that no watermark encodes to.
var ErrWatermark = errors.New("watermark is not canonical")

// Append writes w to dst, in [WatermarkBytes] bytes: for each kind 0, 1 or, if
// blind, 2, then epoch, view and parent as big-endian uint64, then the digest.
func (w *Watermark) Append(dst []byte) []byte {
	for k := Notarize; k <= Finalize; k++ {
		m := w[k]
		flag := byte(0)
		if m.said() {
			flag = 1
		}
		if m.Blind {
			flag = 2
		}
		dst = binary.BigEndian.AppendUint64(append(dst, flag), uint64(m.Proposal.Round.Epoch))
		dst = binary.BigEndian.AppendUint64(dst, uint64(m.Proposal.Round.View))
		dst = binary.BigEndian.AppendUint64(dst, uint64(m.Proposal.Parent))
		dst = append(dst, m.Proposal.Payload[:]...)
	}
	return dst
}

// DecodeWatermark reads the whole of b. It accepts only what
// [Watermark.Append] writes.
func DecodeWatermark(b []byte) (Watermark, error) {
	if len(b) != WatermarkBytes {
		return Watermark{}, ErrWatermark
	}
	var w Watermark
	for k := Notarize; k <= Finalize; k++ {
		at := b[int(k-Notarize)*markBytes:]
		p := &w[k].Proposal
		p.Round.Epoch = chain.Epoch(binary.BigEndian.Uint64(at[1:]))
		p.Round.View = chain.View(binary.BigEndian.Uint64(at[9:]))
		p.Parent = chain.View(binary.BigEndian.Uint64(at[17:]))
		copy(p.Payload[:], at[25:])
		w[k].Blind = at[0] == 2
		if k == Nullify && *p != (Proposal{Round: p.Round}) || w[k].Blind && !w[k].said() {
			return Watermark{}, ErrWatermark
		}
	}
	if !bytes.Equal(w.Append(nil), b) {
		return Watermark{}, ErrWatermark
	}
	return w, nil
}
