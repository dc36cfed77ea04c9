package node

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cowboy-foundation/cowboy/node/p2p"
)

// peerMetrics turns the transport's counts into series with a label for the
// peer's number, and one for the class where there is one.
type peerMetrics struct {
	transport *p2p.Transport

	connected, rtt, connections, violations, banned, lastReceived *prometheus.Desc
	bytes, messages, dropped, queued                              *prometheus.Desc
	refused                                                       *prometheus.Desc
}

func newPeerMetrics(t *p2p.Transport) *peerMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("cowboy_p2p_"+name, help, labels, nil)
	}
	return &peerMetrics{
		transport:    t,
		connected:    desc("peer_connected", "1 while the peer is connected.", "peer"),
		rtt:          desc("peer_rtt_seconds", "Smoothed round-trip time.", "peer"),
		connections:  desc("peer_connections_total", "Connections to the peer since start.", "peer"),
		violations:   desc("peer_violations_total", "Times the peer sent what no honest one sends.", "peer"),
		banned:       desc("peer_banned_seconds", "Time until the peer is spoken to again.", "peer"),
		lastReceived: desc("peer_last_message_timestamp_seconds", "Unix time of the peer's last message.", "peer"),
		bytes:        desc("peer_bytes_total", "Payload bytes exchanged with the peer.", "peer", "class", "direction"),
		messages:     desc("peer_messages_total", "Messages exchanged with the peer.", "peer", "class", "direction"),
		dropped:      desc("peer_dropped_total", "Messages to the peer that its full queue lost.", "peer", "class"),
		queued:       desc("peer_queued", "Messages that wait to be sent to the peer.", "peer", "class"),
		refused:      desc("refused_total", "Incoming handshakes refused.", "reason"),
	}
}

// Describe implements prometheus.Collector.
func (m *peerMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		m.connected, m.rtt, m.connections, m.violations, m.banned, m.lastReceived,
		m.bytes, m.messages, m.dropped, m.queued, m.refused,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *peerMetrics) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	counter(m.refused, m.transport.Stats.RefusedGenesis.Load(), "genesis")
	counter(m.refused, m.transport.Stats.RefusedUnknown.Load(), "unknown")
	for _, p := range m.transport.Peers() {
		peer := strconv.Itoa(p.ID)
		up := 0.0
		if p.Connected {
			up = 1
		}
		gauge(m.connected, up, peer)
		gauge(m.rtt, p.RTT.Seconds(), peer)
		gauge(m.banned, p.BannedFor.Seconds(), peer)
		if !p.LastReceived.IsZero() {
			gauge(m.lastReceived, float64(p.LastReceived.UnixMilli())/1e3, peer)
		}
		counter(m.connections, p.Connections, peer)
		counter(m.violations, p.Violations, peer)
		for class, c := range p.Classes {
			name := p2p.Class(class).String()
			counter(m.bytes, c.BytesIn, peer, name, "in")
			counter(m.bytes, c.BytesOut, peer, name, "out")
			counter(m.messages, c.MessagesIn, peer, name, "in")
			counter(m.messages, c.MessagesOut, peer, name, "out")
			counter(m.dropped, c.Dropped, peer, name)
			gauge(m.queued, float64(c.Queued), peer, name)
		}
	}
}
