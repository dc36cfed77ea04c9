package engine

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Who is asked for blocks is a matter of how fast it answered, in bytes a second from
// the question to the end of the answer. So a peer that keeps us waiting is left after
// one answer, whatever it sends in between; whom nobody was asked yet is tried at random,
// which no choice of key can foresee, until one of them is sure to be honest.

// ask is a request that is out.
type ask struct {
	peer   beacon.Participant
	view   chain.View // asked for: the end of the answer names it
	at     time.Time
	first  time.Duration // until the first block
	newest chain.View    // that came in answer
	below  chain.View    // as of the want
	bodies int           // blocks below that, up to answerBlocks of them, and the view of the last
	last   chain.View
	blocks int // certificates, in fact, most of which bring a block
	bytes  int
	late   bool // not waited for any more
}

// countReceived counts what came in answer. Answers ascend: what is sent twice counts once.
func (a *ask) countReceived(now time.Time, v chain.View, n int) {
	if v < a.view || v <= a.newest {
		return
	}
	if a.blocks == 0 {
		a.first = now.Sub(a.at)
	}
	a.newest = v
	if n > simplex.CertificateBytesMax && v < a.below && a.bodies < answerBlocks {
		a.bodies, a.last = a.bodies+1, v
	}
	a.blocks++
	a.bytes += n
}

// rate is how fast a peer answered lately.
type rate struct {
	bytesPerSecond float64
	first          time.Duration // until the first block of an answer
	at             time.Time     // of the newest answer; zero: not known
	late           bool          // that was given up: a measure of the peer, not of the line
}

// Limits of what is known of peers.
const (
	ratesLast  = time.Minute // after which a peer is as good as unknown: what held it up may be over
	exploreMax = 8           // peers that are tried before the best of them is asked for most
	exploreOf  = 8           // one request in so many is to a peer that is not known
)

// rates is what is known of peers. It belongs to the loop.
type rates struct {
	peers   []rate  // by participant
	honest  int     // of as many peers one is honest, or exploreMax
	largest float64 // bytes of a block, of late
	random  *rand.Rand
}

func newRates(cfg *Config) (rates, error) {
	var seed [16]byte
	if _, err := io.ReadFull(cfg.Weights, seed[:]); err != nil {
		return rates{}, err
	}
	n := cfg.Set.Len()
	return rates{
		peers: make([]rate, n), honest: min(exploreMax, n-cfg.Set.Quorum()+1),
		random: rand.New(rand.NewPCG(binary.LittleEndian.Uint64(seed[:8]), binary.LittleEndian.Uint64(seed[8:]))),
	}, nil
}

func (r *rate) known(now time.Time) bool { return !r.at.IsZero() && now.Sub(r.at) < ratesLast }

// recordAnswer takes in what an answer was, or, of one that is given up, what there is of it.
func (r *rates) recordAnswer(at time.Time, a *ask, complete bool) {
	p := &r.peers[a.peer]
	elapsed := max(at.Sub(a.at), time.Millisecond)
	now := rate{float64(a.bytes) / elapsed.Seconds(), elapsed, at, !complete}
	if a.blocks > 0 {
		now.first = a.first
		r.largest = max(r.largest*7/8, float64(a.bytes)/float64(a.blocks))
	}
	if p.known(at) && !(complete && a.late) { // what was noted when it was given up is mended
		now.bytesPerSecond = (now.bytesPerSecond + p.bytesPerSecond) / 2
		now.first = (now.first + p.first) / 2
	}
	*p = now
}

// best returns the fastest of the peers that answered in full, once they are so many
// that one of them is honest. Till then it returns nil.
func (r *rates) best(now time.Time) (best *rate) {
	known := 0
	for i := range r.peers {
		p := &r.peers[i]
		if !p.known(now) || p.late || p.bytesPerSecond == 0 {
			continue
		}
		if known++; best == nil || p.bytesPerSecond > best.bytesPerSecond {
			best = p
		}
	}
	if known < r.honest {
		return nil
	}
	return best
}

// pick returns a peer to be asked, of those that may be.
func (r *rates) pick(now time.Time, may func(beacon.Participant) bool) (beacon.Participant, bool) {
	var best, fresh beacon.Participant
	var known, freshes int
	found := false
	for i := range r.peers {
		p := beacon.Participant(i)
		rate := &r.peers[i]
		if rate.known(now) {
			known++
		}
		switch {
		case !may(p):
		case !rate.known(now):
			if freshes++; r.random.IntN(freshes) == 0 {
				fresh = p
			}
		case !found || rate.bytesPerSecond > r.peers[best].bytesPerSecond:
			best, found = p, true
		}
	}
	switch {
	case freshes > 0 && (!found || known < r.honest || r.random.IntN(exploreOf) == 0):
		return fresh, true
	default:
		return best, found
	}
}

// overdue reports whether the answer to a takes longer than that of a good peer would:
// twice what the best one takes for its first block and for what has come so far.
// While too few are known, who gives us slowBytesPerSecond has time, and else half a
// fetch timeout is enough, or for a single view a whole one: to ask one more costs
// little. Nobody is waited for longer than answerTimeouts.
func (f *fetches) overdue(w *want, a *ask) bool {
	elapsed := f.now.Sub(a.at)
	patience := f.cfg.FetchTimeout
	if w.below > 0 {
		patience /= 2
	}
	if best := f.rates.best(f.now); best != nil {
		bytes := 2*float64(a.bytes) + 4*f.rates.largest
		learned := 2*best.first + time.Duration(bytes/best.bytesPerSecond*float64(time.Second))
		if w.below > 0 {
			patience /= 4
		}
		patience = max(patience, learned)
	} else if float64(a.bytes) >= slowBytesPerSecond*elapsed.Seconds() {
		patience = answerTimeouts * f.cfg.FetchTimeout
	}
	return elapsed >= min(patience, answerTimeouts*f.cfg.FetchTimeout)
}

// slowBytesPerSecond is what the line of a validator carries in any case.
const slowBytesPerSecond = 256 << 10

// answerTimeouts is how many fetch timeouts a whole answer may take.
const answerTimeouts = 30
