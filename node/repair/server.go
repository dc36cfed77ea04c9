package repair

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// ErrBusy means that a peer has had its share for now, or a request of it waits.
var ErrBusy = errors.New("blocks are given out at a bounded rate")

// Network sends to peers by their number. It never blocks.
type Network interface{ Send(to int, msg []byte) }

// Biller is the network of a server.
type Biller interface {
	Network
	// Served is told what a request of a peer had read for it, in bytes, before the
	// answer is sent. It is called for each request, answered or not.
	Served(to, bytes int)
}

// Records are the blocks that a server gives out.
type Records interface {
	// BlockParts is that of a store.Store.
	BlockParts(h chain.Height, digest chain.Hash, first, end uint32, bytesMax int) (parts [][]byte, ok bool, err error)
}

// ServerConfig is what a server is made of.
type ServerConfig struct {
	Records Records
	Network Biller
	// PartBytesMax is the largest part that an answer can carry.
	PartBytesMax int
	// BytesPerSecond is what one peer is given: enough for a repair, and little of a disk
	// if every member asks for all day.
	BytesPerSecond int64
	// Unread is told of what cannot be read here, which may be damage; nil for nobody.
	Unread func(err error)
	Now    func() time.Time
}

// The sizes of answers.
const (
	// answerBytes is about what an answer takes, or one part that takes more.
	answerBytes = 256 << 10
	// readBytesMin is what an answer counts for at least, as reads for full nodes do.
	readBytesMin = 16 << 10
	// ServedPerSecond is the default of ServerConfig.BytesPerSecond.
	ServedPerSecond = 512 << 10
)

// Server gives parts of stored blocks to nodes whose own are damaged.
type Server struct {
	cfg   ServerConfig
	inbox chan asked
	Stats ServerStats

	mu    sync.Mutex // guards all below
	peers map[int]*account
}

// ServerStats counts a server's work.
type ServerStats struct {
	Answered, Bytes atomic.Uint64 // answers with parts, and the bytes of these
	Without         atomic.Uint64 // requests for what is not here
}

type asked struct {
	from int
	want want
}

// account is what one peer has had.
type account struct {
	paid    time.Time // when what it was given is within its rate
	waiting bool      // a request of it waits
}

// peersMax bounds the accounts: all members, and more full nodes than there are places.
const peersMax = 1024

// NewServer returns a server that has not begun.
func NewServer(cfg ServerConfig) *Server {
	return &Server{cfg: cfg, inbox: make(chan asked, peersMax), peers: map[int]*account{}}
}

// request takes a request of a peer in: one at a time, and none while the peer owes for
// those before, so that it is left unread for a while.
func (s *Server) request(from int, w want) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now()
	a := s.peers[from]
	if a == nil {
		if len(s.peers) >= peersMax {
			s.dropIdleAccounts(now)
		}
		if len(s.peers) >= peersMax {
			return ErrBusy
		}
		a = &account{paid: now}
		s.peers[from] = a
	}
	if a.waiting || now.Before(a.paid) {
		return ErrBusy
	}
	a.waiting = true
	s.inbox <- asked{from, w} // has a place for each account
	return nil
}

// dropIdleAccounts drops the accounts of those who owe nothing. s.mu is held.
func (s *Server) dropIdleAccounts(now time.Time) {
	for peer, a := range s.peers {
		if !a.waiting && !now.Before(a.paid) {
			delete(s.peers, peer)
		}
	}
}

// Run answers until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case a := <-s.inbox:
			s.answer(a.from, a.want)
		}
	}
}

func (s *Server) answer(to int, w want) {
	w.end = uint32(min(uint64(w.end), uint64(w.first)+partsMax))
	found, ok, err := s.cfg.Records.BlockParts(w.height, w.digest, w.first, w.end, answerBytes)
	if err == nil && ok && len(found) == 0 { // one part alone is larger
		found, ok, err = s.cfg.Records.BlockParts(w.height, w.digest, w.first, w.first+1, s.cfg.PartBytesMax)
	}
	if err != nil && s.cfg.Unread != nil {
		s.cfg.Unread(err)
	}
	size := 0
	for _, p := range found {
		size += len(p)
	}
	s.cfg.Network.Served(to, size)
	s.charge(to, max(size, readBytesMin))
	if err != nil || !ok || len(found) == 0 {
		s.Stats.Without.Add(1)
		s.cfg.Network.Send(to, none{w.id}.append(nil))
		return
	}
	s.Stats.Answered.Add(1)
	s.Stats.Bytes.Add(uint64(size))
	s.cfg.Network.Send(to, parts{w.id, w.first, found}.append(nil))
}

// charge takes an answer from a peer's rate.
func (s *Server) charge(peer, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.peers[peer]
	a.waiting = false
	if now := s.cfg.Now(); a.paid.Before(now) {
		a.paid = now
	}
	a.paid = a.paid.Add(time.Duration(int64(bytes) * int64(time.Second) / s.cfg.BytesPerSecond))
}
