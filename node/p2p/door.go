package p2p

import (
	"context"
	"errors"
	"hash/maphash"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboy-foundation/cowboy/chain"
)

// door stands before the handshake and behind it: it holds back networks that knock
// too often, and remembers who was thrown out. What it remembers is bounded, and all
// of it ends by itself.
type door struct {
	mu       sync.Mutex // guards all below
	keys     bans[chain.PeerKey]
	networks bans[netip.Addr]
	unproven knocks // of addresses that anybody may have written into a packet
	proven   knocks // of those that answered
	crowd    bucket // of all strangers whose address is proven
}

// Bounds of what the door remembers.
const (
	bansMax       = 4096 // keys, and as many networks
	knockersMax   = 4096 // networks that knocked lately
	knockersOther = 256  // buckets that further ones share
)

func newDoor(cfg *Config, now time.Time) *door {
	// A network may hold the whole committee, each member of which dials and may
	// have to try again.
	burst := cfg.HandshakesBurst + 2*float64(len(cfg.Committee))
	return &door{
		keys: bans[chain.PeerKey]{}, networks: bans[netip.Addr]{},
		unproven: newKnocks(cfg.HandshakesPerSecond, burst, now),
		proven:   newKnocks(cfg.HandshakesPerSecond, burst, now),
		crowd:    newBucket(cfg.StrangersPerSecond, max(1, cfg.StrangersPerSecond), now),
	}
}

// networkOf is what shares, bans and rates of strangers count: an IPv4 address, or
// an IPv6 /48, of which anybody gets one for the asking (docs/adr/0095).
func networkOf(a net.Addr) netip.Addr {
	addr := addrPortOf(a).Addr()
	if addr.Is6() {
		p, _ := addr.WithZone("").Prefix(48) // never fails for that length
		return p.Addr()
	}
	return addr
}

// addrPortOf returns the address of a peer, the zero value for one that is not of
// UDP.
func addrPortOf(a net.Addr) netip.AddrPort {
	u, ok := a.(*net.UDPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := u.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

// mustProve says whether the first packet of an address is answered with a question
// only: who wrote the address himself gets that far and no further.
func (d *door) mustProve(from net.Addr, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.unproven.spend(networkOf(from), now)
}

// knock reports whether a handshake with a proven address may begin. At the host of a
// member it does not count among those of all strangers.
func (d *door) knock(from net.Addr, member bool, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.proven.spend(networkOf(from), now) && (member || d.crowd.spend(now))
}

// ban shuts a key and the network it came from out until then.
func (d *door) ban(key chain.PeerKey, from net.Addr, until, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys.add(key, until, now)
	d.networks.add(networkOf(from), until, now)
}

// banned reports whether the key or the network is shut out.
func (d *door) banned(key chain.PeerKey, from net.Addr, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return now.Before(d.keys[key]) || now.Before(d.networks[networkOf(from)])
}

// sizes returns how many keys and networks are remembered as banned.
func (d *door) sizes() (keys, networks int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.keys), len(d.networks)
}

// bans says until when somebody is shut out.
type bans[K comparable] map[K]time.Time

// add remembers a ban. Where there is no room, those that are over are forgotten,
// and then the one that ends first.
func (b bans[K]) add(k K, until, now time.Time) {
	if _, there := b[k]; !there && len(b) >= bansMax {
		var first K
		var ends time.Time
		for other, t := range b {
			if !now.Before(t) {
				delete(b, other)
			} else if ends.IsZero() || t.Before(ends) {
				first, ends = other, t
			}
		}
		if len(b) >= bansMax {
			delete(b, first)
		}
	}
	if b[k].Before(until) {
		b[k] = until
	}
}

// knocks is a token bucket for each network. Where the table is full, those that are
// full again are forgotten, which loses nothing; if none is, strangers share buckets
// that a keyed hash names, so that nobody can choose whose he empties.
type knocks struct {
	rate, burst float64
	by          map[netip.Addr]bucket
	others      [knockersOther]bucket
	seed        maphash.Seed
	swept       time.Time
}

func newKnocks(rate, burst float64, now time.Time) knocks {
	k := knocks{rate: rate, burst: burst, by: map[netip.Addr]bucket{}, seed: maphash.MakeSeed()}
	for i := range k.others {
		k.others[i] = newBucket(rate, burst, now)
	}
	return k
}

// spend takes a token of a network, if there is one.
func (k *knocks) spend(network netip.Addr, now time.Time) bool {
	b, known := k.by[network]
	if !known {
		if len(k.by) >= knockersMax && now.Sub(k.swept) >= time.Second {
			k.sweep(now)
		}
		if len(k.by) >= knockersMax {
			return k.others[maphash.Comparable(k.seed, network)%knockersOther].spend(now)
		}
		b = newBucket(k.rate, k.burst, now)
	}
	ok := b.spend(now)
	k.by[network] = b
	return ok
}

// sweep forgets the networks whose buckets are full.
func (k *knocks) sweep(now time.Time) {
	k.swept = now
	for network, b := range k.by {
		if b.tokens+k.rate*now.Sub(b.last).Seconds() >= k.burst {
			delete(k.by, network)
		}
	}
}

// errKnock ends a handshake before it has cost anything.
var errKnock = errors.New("too many handshakes from this network")

// mustProve asks an address to answer before it is served.
func (t *Transport) mustProve(from net.Addr) bool {
	return t.handshakes.Load() > retryAfter || t.door.mustProve(from, time.Now())
}

// knocked counts a handshake that begins, and ends it where there are too many. A
// member at an address that it told us is never turned away: it shows by the answer
// that the address is its own.
func (t *Transport) knocked(ctx context.Context, from *quic.ClientInfo) (context.Context, error) {
	exactly, host := t.book.known(addrPortOf(from.RemoteAddr))
	if from.AddrVerified && !exactly && !t.door.knock(from.RemoteAddr, host, time.Now()) {
		t.refuse(RefusedHandshakes, from.RemoteAddr, errKnock)
		return nil, errKnock
	}
	t.handshakes.Add(1)
	time.AfterFunc(t.cfg.HandshakeTimeout, func() { t.handshakes.Add(-1) })
	return ctx, nil
}
