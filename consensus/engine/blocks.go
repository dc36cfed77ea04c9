package engine

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// block is a block that is not buried yet.
type block struct {
	round      beacon.Round
	digest     chain.Hash
	bytes      []byte // nil: named by a certificate, not here yet
	own        bool   // we proposed it
	supplied   bool   // the bytes are from supplier
	supplier   beacon.Participant
	codeword   *shards.Codeword // of an own block that goes as shards
	rebuilding bool             // its shards are being put together
	rebuilt    bool             // from shards
	backfilled bool             // came with a certificate
	fitting    bool             // bytes that came with a certificate are held against the digest
	journaled  bool
	verdict    verdict
	verifying  *simplex.RequestVerify  // the machine waits for Verified
	certify    *simplex.RequestCertify // the machine waits for Certified
}

type verdict uint8

const (
	unknown verdict = iota
	running         // the application is at it
	valid
	invalid
)

// blocks holds the blocks of recent views. The leader of a view is not always
// known when its block comes, so blocks of others get in too; of those each
// sender has a share of the memory, which nobody else can fill.
type blocks struct {
	list     []*block // ascending by view; few
	bytes    int
	shareMax int // bytes of one sender that nobody asked for
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
func (s *blocks) set(b *block, bytes []byte) {
	s.bytes += len(bytes) - len(b.bytes)
	b.bytes = bytes
}

// offer keeps the bytes that from sent for the block of p: if they are called
// for, as those of the leader of the view are, or the machine waits for them; and
// else within the sender's share. It reports whether bytes are there, these or
// others.
func (s *blocks) offer(p simplex.Proposal, bytes []byte, from beacon.Participant, called bool) bool {
	b := s.find(p.Round.View, p.Payload)
	if b != nil && b.bytes != nil {
		return true
	}
	called = called || b != nil && (b.certify != nil || b.verifying != nil)
	if !called && s.from(from)+len(bytes) > s.shareMax {
		return false
	}
	b = s.put(p)
	s.set(b, bytes)
	b.supplied, b.supplier = true, from
	return true
}

// from returns the bytes of one sender that are not judged yet.
func (s *blocks) from(who beacon.Participant) int {
	n := 0
	for _, b := range s.list {
		if b.supplied && b.supplier == who && b.verdict == unknown {
			n += len(b.bytes)
		}
	}
	return n
}

// unjudged counts the blocks that came as answers and wait to be executed.
func (s *blocks) unjudged() int {
	n := 0
	for _, b := range s.list {
		if b.backfilled && (b.verdict == unknown || b.verdict == running) {
			n++
		}
	}
	return n
}

// bury drops the blocks of views below low.
func (s *blocks) bury(low chain.View) {
	n := 0
	for n < len(s.list) && s.list[n].round.View < low {
		s.set(s.list[n], nil)
		n++
	}
	clear(s.list[:n])
	s.list = s.list[n:]
}
