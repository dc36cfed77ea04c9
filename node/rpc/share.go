package rpc

import (
	"net/netip"
	"sync"
)

// shares is a limit that never waits, of which one client may hold a part of what
// others leave: who takes all it can get leaves most of the rest, so that it takes
// many, from many networks, to leave nothing (docs/adr/0095). It counts requests or
// bytes.
type shares struct {
	max, least, percent int64

	mu    sync.Mutex // guards all below
	taken int64
	by    map[netip.Addr]int64 // by network
}

// newShares lets one client hold percent of what others leave of a limit, or least
// of it where there is so much.
func newShares(limit, least int64, percent int) *shares {
	return &shares{max: limit, least: least, percent: int64(percent), by: map[netip.Addr]int64{}}
}

// partOf is a percentage, without overflow.
func partOf(n, percent int64) int64 { return n/100*percent + n%100*percent/100 }

// share is what a network may hold, all together. The caller holds mu.
func (s *shares) share(network netip.Addr) int64 {
	return max(s.least, partOf(s.max-s.taken+s.by[network], s.percent))
}

// held is what a client got of a limit, to be given back.
type held struct {
	of      *shares
	network netip.Addr
	n       int64
}

// Why a client gets nothing.
type refused uint8

const (
	granted   refused = iota
	allTaken          // by others too
	shareOver         // the client has its share
)

// acquire takes n for a client, or says why not. What it returns is given back once.
func (s *shares) acquire(client netip.Addr, n int64) (held, refused) {
	network := networkOf(client)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.taken+n > s.max:
		return held{}, allTaken
	case s.by[network]+n > s.share(network):
		return held{}, shareOver
	}
	s.taken += n
	s.by[network] += n
	return held{s, network, n}, granted
}

// none is what a client holds who took nothing yet, to be added to.
func (s *shares) none(client netip.Addr) held { return held{of: s, network: networkOf(client)} }

// more adds to what a client holds.
func (h *held) more(n int64) refused {
	next, why := h.of.acquire(h.network, n)
	h.n += next.n
	return why
}

func (h held) give() {
	if h.of == nil {
		return
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.of.taken -= h.n
	if h.of.by[h.network] -= h.n; h.of.by[h.network] == 0 {
		delete(h.of.by, h.network)
	}
}
