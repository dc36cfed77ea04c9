package lanes

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
)

// ErrShunned means a transaction that took this node far longer than its cycles pay
// for when it was executed. It is taken again after some hundreds of blocks.
var ErrShunned = errors.New("transaction took far longer than its cycles pay for: not taken for now")

const (
	shunnedMost   = 4_096 // beyond which the oldest is forgotten
	shunnedBlocks = 600   // ten minutes of blocks of a second
)

// shunned are transactions that are refused for a while.
type shunned struct {
	some  atomic.Bool // there are any, which is rare: nobody waits for the lock otherwise
	mu    sync.Mutex
	until map[chain.Hash]chain.Height
	order []chain.Hash // the oldest first
}

func (s *shunned) add(hashes []chain.Hash, until chain.Height) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until == nil {
		s.until = map[chain.Hash]chain.Height{}
	}
	for _, hash := range hashes {
		if _, ok := s.until[hash]; !ok {
			s.order = append(s.order, hash)
		}
		s.until[hash] = until
	}
	s.expire(func(chain.Height) bool { return len(s.order) > shunnedMost })
	s.some.Store(len(s.order) > 0)
}

// expire forgets the oldest while it may go.
func (s *shunned) expire(may func(until chain.Height) bool) {
	for len(s.order) > 0 && may(s.until[s.order[0]]) {
		delete(s.until, s.order[0])
		s.order = s.order[1:]
	}
}

// at forgets those whose time is over.
func (s *shunned) at(h chain.Height) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(func(until chain.Height) bool { return until <= h })
	s.some.Store(len(s.order) > 0)
}

func (s *shunned) has(hash chain.Hash) bool {
	if !s.some.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.until[hash]
	return ok
}
