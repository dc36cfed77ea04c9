package p2p

import (
	"net"
	"net/netip"
	"time"
)

// RecordFault says why a member's address is not taken. It is no offence: clocks differ,
// and so do the networks from which peers are seen.
type RecordFault uint8

// The reasons.
const (
	RecordAhead   RecordFault = iota // signed at a time that has not come
	RecordOld                        // signed too long ago
	RecordPrivate                    // of a narrower network than the one it was told from
	NumRecordFaults
	recordTaken // or known already
)

// String names the fault in metrics.
func (f RecordFault) String() string { return [...]string{"ahead", "old", "private", "", "none"}[f] }

// recordAhead is how far the clock of a member may be ahead of ours.
const recordAhead = 10 * time.Minute

// timely says whether a record of that time, in Unix milliseconds, counts.
func (b *book) timely(timestamp uint64, now time.Time) RecordFault {
	switch {
	case timestamp > uint64(now.Add(recordAhead).UnixMilli()):
		return RecordAhead
	case timestamp < uint64(max(0, now.Add(-b.life).UnixMilli())):
		return RecordOld
	}
	return recordTaken
}

// newest returns the time of the record that counts for a member, 0 if none does:
// whatever is signed under a wrong clock can be replaced. b.mu is held.
func (b *book) newest(member int, now time.Time) uint64 {
	known := b.records[member].timestamp
	if b.timely(known, now) != recordTaken {
		return 0
	}
	return known
}

// learn takes in a record that a peer told from an address. It reports whether the
// record was honest.
func (t *Transport) learn(r record, from net.Addr) bool {
	fault, honest := RecordPrivate, true
	if via := addrPortOf(from).Addr(); t.cfg.AnyAddress || reachOf(r.host()) >= reachOf(via) {
		fault, honest = t.book.learn(r, time.Now())
	}
	if fault < NumRecordFaults {
		t.Stats.RecordsIgnored[fault].Add(1)
	}
	return honest
}

// host returns the address of a record without its port. The record is decoded, so it
// has one.
func (r *record) host() netip.Addr {
	a, _ := netip.ParseAddrPort(r.address)
	return a.Addr()
}

// reach is how far away an address can be called from. A peer tells of addresses that
// reach at least as far as its own: another one could send all members to dial a
// machine of their own networks.
type reach uint8

const (
	reachMachine reach = iota
	reachNetwork
	reachWorld
)

// carrierNetwork is what providers share among their customers (RFC 6598).
var carrierNetwork = netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10)

func reachOf(a netip.Addr) reach {
	a = a.Unmap()
	switch {
	case a.IsLoopback():
		return reachMachine
	case a.IsPrivate(), a.IsLinkLocalUnicast(), carrierNetwork.Contains(a):
		return reachNetwork
	}
	return reachWorld
}
