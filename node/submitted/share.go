package submitted

import (
	"hash/maphash"
	"net/netip"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// shares are what clients have in the file: one may hold a part of what others leave,
// so that transactions that wait for ever, which cost nothing, leave others room.
// Nothing of it is written: what an earlier run left is nobody's.
type shares struct {
	most    int64 // of the file
	percent int64

	by  map[uint64]*part // by client
	all int64            // of the file, with what is nobody's
}

// part is what one client has in the file, in bytes.
type part struct {
	all   int64
	fresh int64 // since the last cleaning, so that cleaning again may free it
}

// shareCleanEvery is the least time between two cleanings because a client has its
// share. Not before half of that is new, so that nobody makes the file be written again
// by asking.
const shareCleanEvery = 5 * time.Second

func newShares(most int64, percent int) shares {
	return shares{most: most, percent: int64(percent), by: map[uint64]*part{}}
}

// clientKey is asked on the goroutines of clients, and so needs nothing of the owner's.
func (j *Journal) clientKey(client netip.Addr) uint64 { return maphash.Comparable(j.seed, client) }

// txKey tells a transaction from all others that are in the file: the first half of its
// hash.
type txKey [16]byte

func keyOf(hash chain.Hash) txKey { return txKey(hash[:]) }

// held is what is remembered of a record in the file.
type held struct {
	key    txKey
	client uint64
	known  bool // whose it is; else it is an earlier run's
}

// holds reports whether a client's share has room for so many bytes.
func (s *shares) holds(client uint64, bytes int64) bool {
	own := int64(0)
	if p := s.by[client]; p != nil {
		own = p.all
	}
	return own+bytes <= (s.most-s.all+own)*s.percent/100
}

// fresh reports whether half of what a client has is new.
func (s *shares) fresh(client uint64) bool {
	p := s.by[client]
	return p != nil && p.fresh >= p.all/2
}

// add books a record.
func (s *shares) add(client uint64, bytes int64) {
	p := s.by[client]
	if p == nil {
		p = &part{}
		s.by[client] = p
	}
	p.all += bytes
	p.fresh += bytes
	s.all += bytes
}

// again begins to book the records that a cleaning keeps.
func (s *shares) again() shares {
	return newShares(s.most, int(s.percent))
}

// carryOver books a record that a cleaning keeps.
func (s *shares) carryOver(h *held, bytes int64) {
	if !h.known {
		s.all += bytes
		return
	}
	s.add(h.client, bytes)
	s.by[h.client].fresh = 0
}
