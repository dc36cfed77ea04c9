package simnode

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/wire"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/node/p2p"
)

// guestBytes is what a validator may send to one guest, and to all, in a second: the
// least that the mesh allows, so that little traffic reaches it. Where a node joins it is
// room for it beside two that ask for everything: each block that is read for a guest
// counts for 16 KiB.
func (p *Plan) guestBytes() (one, all int) {
	if p.JoinsAt > 0 {
		return 512 << 10, 1536 << 10
	}
	return 64 << 10, 96 << 10
}

// guestSlack is what may be on its way to guests beyond the budget: bursts of one and of
// all, the handshakes, greetings and acknowledgements that are billed with the next
// piece, and what the weather makes a validator say again.
const guestSlack = 512 << 10

// ErrGuests means that a validator sent more to guests than its budget.
var ErrGuests = errors.New("an honest validator sends more to guests than its budget")

// ErrForeigner means that a node of another chain was let in.
var ErrForeigner = errors.New("a node that announced another chain was let in")

// stranger is a program with a key that nobody knows, and a port.
type stranger struct {
	run     *run
	kind    string
	place   int
	address string
	linked  atomic.Int64
}

// newStrangers makes the plan's guests, each with an address of its own: bans are by
// address, too.
func (r *run) newStrangers() {
	for i, kind := range r.plan.Guests {
		r.strangers = append(r.strangers, &stranger{run: r, kind: kind, place: guestPlaces + i, address: fmt.Sprintf("127.0.1.%d:9001", 1+i)})
	}
}

// guestPlaces is the first place on the network that is a guest's.
const guestPlaces = 1000

// visits brings the strangers, one after the other, until ctx ends.
func (r *run) visits(ctx context.Context) {
	part := r.plan.Storm / time.Duration(len(r.strangers)+2)
	for _, s := range r.strangers {
		if pause(ctx, part) != nil {
			return
		}
		stay, leave := context.WithTimeout(ctx, part+20*time.Second)
		r.trace.note("a %s comes to place %d", s.kind, s.place)
		s.act(stay)
		leave()
		r.trace.note("the %s leaves, %d links were made", s.kind, s.linked.Load())
	}
}

// visited takes down what came of the visits.
func (r *run) visited() {
	for _, s := range r.strangers {
		r.report.States["guest: "+s.kind]++
		if s.linked.Load() == 0 {
			continue
		}
		r.report.States["guest let in"]++
		if s.kind == "foreigner" {
			r.witness.fault(fmt.Errorf("%w: %d times", ErrForeigner, s.linked.Load()))
		}
	}
}

// act does what the kind does, until ctx ends.
func (s *stranger) act(ctx context.Context) {
	switch s.kind {
	case "knocker": // a new key each time, for as long as a greeting takes
		for ctx.Err() == nil {
			once, done := context.WithTimeout(ctx, time.Second)
			s.stay(once, s.run.genesis.Hash(), nil)
			done()
		}
	case "foreigner":
		other := s.run.genesis.Hash()
		other[0] ^= 1
		s.stay(ctx, other, nil)
	case "talker": // says what only members may
		vote := append([]byte{wire.TagVote}, make([]byte, 200)...)
		s.stay(ctx, s.run.genesis.Hash(), func(t *p2p.Transport) { t.Broadcast(p2p.Votes, vote) })
	default: // "asker": all blocks, again and again
		request := (beacon.Round{View: 1}).Append([]byte{wire.TagRequest})
		s.stay(ctx, s.run.genesis.Hash(), func(t *p2p.Transport) { t.Broadcast(p2p.Fetch, request) })
	}
}

// stay is a guest until ctx ends, and says something every 100 ms.
func (s *stranger) stay(ctx context.Context, of chain.Hash, say func(*p2p.Transport)) {
	t, err := s.transport(of)
	if err != nil {
		s.run.witness.fault(fmt.Errorf("stranger: %w", err))
		return
	}
	defer t.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause(ctx, 100*time.Millisecond) == nil {
			if say != nil {
				say(t)
			}
		}
	}()
	_ = t.Run(ctx, deaf{}) // ends with ctx
	<-done
}

func (s *stranger) transport(of chain.Hash) (*p2p.Transport, error) {
	g := s.run.genesis
	cfg := p2p.DefaultConfig(int(g.Params.MaxBlockBytes))
	cfg.Genesis, cfg.ListenAddr, cfg.AnyAddress = of, s.address, true
	cfg.RedialMin, cfg.RedialMax = 200*time.Millisecond, time.Second
	cfg.Packets = func(address string) (net.PacketConn, error) { return s.run.net.listen(s.place, address) }
	cfg.Linked = func(int) { s.linked.Add(1) }
	cfg.Addresses = map[chain.PeerKey]string{}
	for i, v := range g.Validators {
		cfg.Committee = append(cfg.Committee, v.PeerKey)
		cfg.Addresses[v.PeerKey] = s.run.machines[i].address
	}
	seed := make([]byte, 32)
	_, err := rand.Read(seed)
	if err != nil {
		return nil, err
	}
	if cfg.Key, err = ed25519.NewPrivateKey(seed); err != nil {
		return nil, err
	}
	t, err := p2p.New(cfg)
	if err != nil {
		return nil, err
	}
	return t, t.Listen()
}

// deaf takes what comes and does nothing with it.
type deaf struct{}

func (deaf) Deliver(int, p2p.Class, []byte) error { return nil }

func (deaf) Transactions(_ int, bodies [][]byte) (int, error) { return len(bodies), nil }

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// egress is what one machine sends to guests: a bucket that leaks at its budget.
type egress struct {
	bytes float64
	at    time.Time
	all   int64
}

// meter takes a packet to a guest down, and reports whether it is within the budget.
func (e *egress) meter(size, perSecond int, now time.Time) bool {
	e.bytes = max(0, e.bytes-float64(perSecond)*now.Sub(e.at).Seconds()) + float64(size)
	e.at = now
	e.all += int64(size)
	return e.bytes <= guestSlack
}
