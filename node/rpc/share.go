package rpc

import (
	"net/netip"
	"sync"
)

// shares is a limit that never waits, of which one client may hold a part: who
// takes all it can get leaves the rest to others. It counts requests or bytes.
type shares struct {
	max, each int64

	mu    sync.Mutex // guards all below
	taken int64
	by    map[netip.Addr]int64
}

// newShares lets one client hold percent of max, and one at least.
func newShares(limit int64, percent int) *shares {
	return &shares{max: limit, each: max(1, limit/100*int64(percent)+limit%100*int64(percent)/100), by: map[netip.Addr]int64{}}
}

// held is what a client got of a limit, to be given back.
type held struct {
	of     *shares
	client netip.Addr
	n      int64
}

// Why a client gets nothing.
type refused uint8

const (
	granted   refused = iota
	allTaken          // by others too
	shareOver         // the client has its share
)

// take takes n for a client, or says why not. What it returns is given back once.
func (s *shares) take(client netip.Addr, n int64) (held, refused) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.taken+n > s.max:
		return held{}, allTaken
	case s.by[client]+n > s.each:
		return held{}, shareOver
	}
	s.taken += n
	s.by[client] += n
	return held{s, client, n}, granted
}

func (h held) give() {
	if h.of == nil {
		return
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.of.taken -= h.n
	if h.of.by[h.client] -= h.n; h.of.by[h.client] == 0 {
		delete(h.of.by, h.client)
	}
}
