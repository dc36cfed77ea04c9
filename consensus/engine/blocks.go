package engine

import (
	"bytes"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// block is a block that is not buried yet.
type block struct {
	round     beacon.Round
	digest    chain.Hash
	bytes     []byte             // nil: named by a certificate, not here yet
	from      beacon.Participant // who sent bytes, if they came in an offer
	others    []copyOf           // what others sent for it, until it is judged
	own       bool               // we proposed it
	journaled bool
	verdict   verdict
	verifying *simplex.RequestVerify  // the machine waits for Verified
	certify   *simplex.RequestCertify // the machine waits for Certified
}

// copyOf is what one validator says a block is. Only the application can tell
// whether bytes are the block of a digest, so all are kept until it has.
type copyOf struct {
	from  beacon.Participant
	bytes []byte
}

type verdict uint8

const (
	unknown verdict = iota
	running         // the application is at it
	valid
	invalid
)

// blocks holds the blocks of recent views, at most bytesMax of them. The
// leader of a view is not always known when its block comes, so blocks of
// others get in too; the bound keeps them from filling the memory.
type blocks struct {
	list     []*block // ascending by view; few
	bytes    int
	bytesMax int
}

func (s *blocks) find(v chain.View, digest chain.Hash) *block {
	for _, b := range s.list {
		if b.round.View == v && b.digest == digest {
			return b
		}
	}
	return nil
}

// put returns the block of p, made if it is not there.
func (s *blocks) put(p simplex.Proposal) *block {
	if b := s.find(p.Round.View, p.Payload); b != nil {
		return b
	}
	b := &block{round: p.Round, digest: p.Payload}
	i := len(s.list)
	for i > 0 && s.list[i-1].round.View > p.Round.View {
		i--
	}
	s.list = append(s.list, nil)
	copy(s.list[i+1:], s.list[i:])
	s.list[i] = b
	return b
}

// set gives b its bytes, whatever room there is.
func (s *blocks) set(b *block, raw []byte) {
	s.bytes += len(raw) - len(b.bytes)
	b.bytes = raw
}

// offer keeps what a validator sent as the block of a proposal, if there is
// room. It reports whether bytes are there.
func (s *blocks) offer(p simplex.Proposal, c copyOf) bool {
	b := s.find(p.Round.View, p.Payload)
	room := s.bytes+len(c.bytes) <= s.bytesMax
	switch {
	case b == nil || b.bytes == nil:
		if !room {
			return false
		}
		b = s.put(p)
		s.set(b, c.bytes)
		b.from = c.from
	case room && b.verdict == unknown && !b.heard(c.from) && !bytes.Equal(b.bytes, c.bytes):
		b.others = append(b.others, c)
		s.bytes += len(c.bytes)
	}
	return true
}

// heard reports whether a copy of from is kept.
func (b *block) heard(from beacon.Participant) bool {
	return b.from == from || slices.ContainsFunc(b.others, func(c copyOf) bool { return c.from == from })
}

// prefer makes the copy of from the block's bytes, if there is one.
func (b *block) prefer(from beacon.Participant) {
	for i, c := range b.others {
		if c.from == from && b.from != from {
			b.others[i] = copyOf{b.from, b.bytes}
			b.from, b.bytes = c.from, c.bytes
			return
		}
	}
}

// next drops the block's bytes, which are not it, and takes up another copy. It
// reports whether there was one.
func (s *blocks) next(b *block) bool {
	s.set(b, nil)
	if len(b.others) == 0 {
		return false
	}
	c := b.others[0]
	b.others = b.others[1:]
	b.from, b.bytes = c.from, c.bytes // counted when it came
	return true
}

// settle drops the copies that are not needed any more.
func (s *blocks) settle(b *block) {
	for _, c := range b.others {
		s.bytes -= len(c.bytes)
	}
	b.others = nil
}

// fill gives a block that we wait for its bytes.
func (s *blocks) fill(p simplex.Proposal, raw []byte) {
	if b := s.find(p.Round.View, p.Payload); b != nil && b.bytes == nil && b.certify != nil {
		s.set(b, raw)
	}
}

// bury drops the blocks of views below low.
func (s *blocks) bury(low chain.View) {
	n := 0
	for n < len(s.list) && s.list[n].round.View < low {
		s.settle(s.list[n])
		s.set(s.list[n], nil)
		n++
	}
	clear(s.list[:n])
	s.list = s.list[n:]
}
