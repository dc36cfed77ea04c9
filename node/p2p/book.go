package p2p

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// book knows where the members can be reached: where the operator says, and
// where they themselves say.
type book struct {
	genesis   chain.Hash
	committee []chain.PeerKey
	static    []string // by member, "" if unknown
	life      time.Duration

	mu      sync.Mutex
	records []record                // by member, timestamp 0 if unknown
	places  map[netip.AddrPort]bool // where members are said to be
	hosts   map[netip.Addr]bool     // of these
	changed chan struct{}           // closed and replaced when a record is new
}

func newBook(cfg *Config) *book {
	b := &book{
		genesis: cfg.Genesis, committee: cfg.Committee, life: cfg.RecordFor,
		static: make([]string, len(cfg.Committee)), records: make([]record, len(cfg.Committee)),
		changed: make(chan struct{}),
	}
	for i, key := range cfg.Committee {
		b.static[i] = cfg.Addresses[key]
	}
	b.index()
	return b
}

// learn takes in a record that is newer than the known one and whose member
// has signed it. It reports whether the record was honest: old news is.
func (b *book) learn(r record, now time.Time) (fault RecordFault, honest bool) {
	if fault := b.timely(r.timestamp, now); fault != recordTaken {
		return fault, true
	}
	b.mu.Lock()
	known := b.newest(r.member, now)
	b.mu.Unlock()
	if r.timestamp <= known {
		return recordTaken, true
	}
	key := b.committee[r.member]
	if !ed25519.Verify(key, r.signedBytes(b.genesis, key), r.signature[:]) {
		return recordTaken, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.timestamp > b.newest(r.member, now) {
		b.records[r.member] = r
		b.index()
		close(b.changed)
		b.changed = make(chan struct{})
	}
	return recordTaken, true
}

// known reports whether a member is said to be at the address, and whether one is at any
// port of that host: who is behind a translator of addresses calls from another one.
func (b *book) known(a netip.AddrPort) (exactly, host bool) {
	if !a.IsValid() {
		return false, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.places[a], b.hosts[a.Addr()]
}

// index notes the addresses by which a packet's sender is looked up. b.mu is held, or
// nobody else has b yet.
func (b *book) index() {
	b.places, b.hosts = map[netip.AddrPort]bool{}, map[netip.Addr]bool{}
	for i := range b.records {
		for _, text := range [...]string{b.static[i], b.records[i].address} {
			if at, err := netip.ParseAddrPort(text); err == nil {
				at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
				b.places[at], b.hosts[at.Addr()] = true, true
			}
		}
	}
}

// candidates returns the addresses to try, the operator's first.
func (b *book) candidates(member int, now time.Time) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	if s := b.static[member]; s != "" {
		out = append(out, s)
	}
	if r := &b.records[member]; b.newest(member, now) != 0 && r.address != b.static[member] {
		out = append(out, r.address)
	}
	return out
}

// news returns up to recordsMax records other than those in told, which it
// brings up to date, and the channel that is closed when there are others.
func (b *book) news(told []uint64, now time.Time) ([]record, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []record
	for i := range b.records {
		if at := b.newest(i, now); at != 0 && at != told[i] && len(out) < recordsMax {
			out = append(out, b.records[i])
			told[i] = at
		}
	}
	return out, b.changed
}

// checkAddress accepts what an operator may write: host:port with a name or a
// number.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("want HOST:PORT")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" {
		return errors.New("want HOST:PORT with a port of 1 to 65535")
	}
	return nil
}
