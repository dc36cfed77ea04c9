package engine

import (
	"slices"
	"sort"

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
	fits       bool             // and are the block's
	others     []supply         // other bytes, one of each sender, in case those here are wrong
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

// sure reports whether the bytes are the block's. Others may be anything that some
// validator sent, until the application has looked.
func (b *block) sure() bool {
	return b.bytes != nil && (b.own || b.journaled || b.rebuilt || b.fits || b.verdict == valid || b.verdict == invalid)
}

// supply is bytes that a validator sent for a block that has others already.
type supply struct {
	from  beacon.Participant
	bytes []byte
}

// blocks holds the blocks of recent views. The leader of a view is not always
// known when its block comes, so blocks of others get in too; of those each
// sender has a share of the memory, which nobody else can fill, and which takes
// at least one block. All together have a budget: beyond it, what can be had
// again is dropped, blocks of the oldest views first, whoever led them.
type blocks struct {
	list     []*block // ascending by view
	bytes    int
	fitting  int        // bytes that came with certificates and are being hashed
	shareMax int        // bytes of one sender that nobody asked for
	max      int        // bytes above which what can be had again is dropped; 0: no bound
	live     chain.View // the current view: its blocks, and later ones, stay
	dropped  uint64     // blocks dropped for want of room
}

func (s *blocks) byDigest(v chain.View, digest chain.Hash) *block {
	i := sort.Search(len(s.list), func(i int) bool { return s.list[i].round.View >= v })
	for ; i < len(s.list) && s.list[i].round.View == v; i++ {
		if s.list[i].digest == digest {
			return s.list[i]
		}
	}
	return nil
}

// spare reports whether the bytes of b can be dropped: they were not judged, nobody
// waits for them, and its view is over. Should a quorum want the block after all, it
// is fetched. Valid blocks stay, and are not many: the application refuses to take
// more than its budget while nothing is final ([ErrEarly]).
func (s *blocks) spare(b *block) bool {
	return b.round.View < s.live && (b.bytes != nil || len(b.others) > 0) && (b.verdict == unknown || b.verdict == invalid) &&
		b.verifying == nil && b.certify == nil && !b.rebuilding && !b.fitting && !b.backfilled && !b.own && !b.journaled
}

// makeRoom drops what can be had again, of the oldest views first, until n bytes
// more are within the budget.
func (s *blocks) makeRoom(n int) {
	if s.max == 0 || s.bytes+n <= s.max {
		return
	}
	s.list = slices.DeleteFunc(s.list, func(b *block) bool {
		if s.bytes+n <= s.max || !s.spare(b) {
			return false
		}
		s.assignBytes(b, nil)
		b.supplied = false
		s.dropped++
		return b.verdict == unknown
	})
}

// enterView makes v the current view. An own block that goes on is cut anew.
func (s *blocks) enterView(v chain.View) {
	for i := len(s.list) - 1; i >= 0 && s.list[i].round.View >= s.live; i-- {
		if s.list[i].round.View < v {
			s.list[i].codeword = nil // as large as several blocks
		}
	}
	s.live = v
}

// put returns the block of p, made if it is not there.
func (s *blocks) put(p simplex.Proposal) *block {
	if b := s.byDigest(p.Round.View, p.Payload); b != nil {
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

// assignBytes gives b bytes that are its own, or none, and forgets all others.
func (s *blocks) assignBytes(b *block, bytes []byte) {
	s.set(b, bytes)
	for _, o := range b.others {
		s.bytes -= len(o.bytes)
	}
	b.others = nil
}

// supply gives b bytes that may be its own.
func (s *blocks) supply(b *block, o supply) {
	s.set(b, o.bytes)
	b.supplied, b.supplier = true, o.from
}

// offer keeps the bytes that from sent for the block of p: if they are called
// for, as those of the leader of the view are, or the machine waits for them; and
// else within the sender's share. It reports whether bytes are there, these or
// others. Bytes do not keep others out before it is known whose are right.
func (s *blocks) offer(p simplex.Proposal, bytes []byte, from beacon.Participant, called bool) bool {
	b := s.byDigest(p.Round.View, p.Payload)
	if b != nil && (b.sure() || b.supplier == from && b.bytes != nil || b.otherOf(from) >= 0) {
		return true
	}
	if b != nil && b.bytes == nil {
		called = called || b.certify != nil || b.verifying != nil
	}
	if !called && !s.room(from, len(bytes), p.Round.View) {
		return b != nil && b.bytes != nil
	}
	s.makeRoom(len(bytes))
	b = s.put(p)
	switch {
	case b.bytes == nil:
		s.supply(b, supply{from, bytes})
	default:
		b.others = append(b.others, supply{from, bytes})
		s.bytes += len(bytes)
	}
	return true
}

func (b *block) otherOf(from beacon.Participant) int {
	return slices.IndexFunc(b.others, func(o supply) bool { return o.from == from })
}

// prefer puts the bytes of from, if there are any, in the place of those that are
// next to be judged.
func (s *blocks) prefer(b *block, from beacon.Participant) {
	if i := b.otherOf(from); i >= 0 && b.verdict == unknown && !b.sure() {
		next := b.others[i]
		b.others = slices.Delete(b.others, i, i+1)
		s.bytes -= len(next.bytes)
		if b.bytes != nil {
			b.others = append(b.others, supply{b.supplier, b.bytes})
			s.bytes += len(b.bytes)
		}
		s.supply(b, next)
	}
}

// wrong drops bytes that are not the block's. It reports whether there are others
// to look at.
func (s *blocks) wrong(b *block) bool {
	s.set(b, nil)
	b.verdict, b.supplied, b.fits = unknown, false, false
	if len(b.others) == 0 {
		return false
	}
	s.prefer(b, b.others[0].from)
	return true
}

// room reports whether n bytes more are within the share of a sender, who gives up
// what it sent for views before v and nobody waits for.
func (s *blocks) room(who beacon.Participant, n int, v chain.View) bool {
	for _, b := range s.list {
		if s.from(who)+n <= s.shareMax {
			return true
		}
		if b.round.View < v && b.supplied && b.supplier == who && b.verdict == unknown && b.verifying == nil && b.certify == nil && !b.sure() {
			s.wrong(b)
		}
	}
	return s.from(who)+n <= s.shareMax
}

// from returns the bytes of one sender that are not judged yet.
func (s *blocks) from(who beacon.Participant) int {
	n := 0
	for _, b := range s.list {
		if b.supplied && b.supplier == who && b.verdict == unknown {
			n += len(b.bytes)
		}
		if i := b.otherOf(who); i >= 0 {
			n += len(b.others[i].bytes)
		}
	}
	return n
}

// unjudged counts the blocks that came as answers and wait to be executed, and
// their bytes.
func (s *blocks) unjudged() (n, bytes int) {
	for _, b := range s.list {
		if b.backfilled && (b.verdict == unknown || b.verdict == running) {
			n++
			bytes += len(b.bytes)
		}
	}
	return n, bytes
}

// bury drops the blocks of views below low. Of those that are valid the newest stay, from
// view oldest on, while they are no more than bytes.
func (s *blocks) bury(low, oldest chain.View, bytes int) {
	n := sort.Search(len(s.list), func(i int) bool { return s.list[i].round.View >= low })
	kept := n
	for i := n - 1; i >= 0; i-- {
		b := s.list[i]
		if b.verdict == valid && b.round.View >= oldest && len(b.bytes) <= bytes {
			bytes -= len(b.bytes)
			kept--
			s.list[kept] = b
			continue
		}
		if b.verdict == valid {
			bytes = 0 // older ones would be of no use without it
		}
		s.assignBytes(b, nil)
	}
	clear(s.list[:kept])
	s.list = s.list[kept:]
}
