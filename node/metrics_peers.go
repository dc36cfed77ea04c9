package node

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/p2p"
)

// committeeMetrics turns what consensus sees of each validator into series with
// a label for its number.
type committeeMetrics struct {
	stats *engine.Stats
	drift *ledger.Drift
	set   *beacon.ValidatorSet
	self  int // our number: of our own votes none come in

	made, missed, timeouts           *prometheus.Desc
	lastVote, lag, until, unanswered *prometheus.Desc
	ahead                            *prometheus.Desc
}

func newCommitteeMetrics(n *Node) *committeeMetrics {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("cowboy_"+name, help, []string{"validator"}, nil)
	}
	self, ok := n.set.Find(chain.PeerKey(n.keys.Peer.PublicKey()))
	if !ok {
		self = beacon.Participant(n.set.Len()) // a full node is none of them
	}
	return &committeeMetrics{
		self:       int(self),
		stats:      &n.engine.Stats,
		drift:      &n.ledger.Drift,
		set:        n.set,
		made:       desc("leader_proposals_made_total", "Proposals that came in time from the validator as leader."),
		missed:     desc("leader_proposals_missed_total", "Views that the validator led and left without a proposal."),
		timeouts:   desc("leader_view_timeouts_total", "Leader timeouts that ran out on the validator."),
		lastVote:   desc("validator_last_vote_view", "View of the validator's newest vote."),
		lag:        desc("validator_lag_views", "Views between the current one and the validator's newest vote."),
		until:      desc("validator_blocked_until_timestamp_seconds", "Unix time until which the validator's messages are ignored; 0 if they are not."),
		unanswered: desc("validator_unanswered_total", "Requests that the validator did not answer in time."),
		ahead:      desc("validator_clock_ahead_seconds", "Timestamp of the newest proposal that the validator led, less our clock when it came: a little below 0 if the clocks agree. Absent before the first."),
	}
}

// Describe implements prometheus.Collector.
func (m *committeeMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.made, m.missed, m.timeouts, m.lastVote, m.lag, m.until, m.unanswered, m.ahead} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *committeeMetrics) Collect(ch chan<- prometheus.Metric) {
	view := m.stats.View.Load()
	for i := range m.stats.Peers {
		p, l, label := &m.stats.Peers[i], &m.stats.Leaders[i], strconv.Itoa(i)
		last := p.LastVoteView.Load()
		lag := view - min(view, last)
		series := []struct {
			desc  *prometheus.Desc
			kind  prometheus.ValueType
			value float64
		}{
			{m.made, prometheus.CounterValue, float64(l.ProposalsMade.Load())},
			{m.missed, prometheus.CounterValue, float64(l.ProposalsMissed.Load())},
			{m.timeouts, prometheus.CounterValue, float64(l.Timeouts.Load())},
			{m.lastVote, prometheus.GaugeValue, float64(last)},
			{m.lag, prometheus.GaugeValue, float64(lag)},
			{m.until, prometheus.GaugeValue, float64(p.BlockedUntilUnix.Load())},
			{m.unanswered, prometheus.CounterValue, float64(p.Unanswered.Load())},
		}
		if i == m.self {
			series = series[:3]
		}
		for _, s := range series {
			ch <- prometheus.MustNewConstMetric(s.desc, s.kind, s.value, label)
		}
		if ahead, ok := m.drift.Of(m.set.At(beacon.Participant(i)).PeerKey); ok {
			ch <- prometheus.MustNewConstMetric(m.ahead, prometheus.GaugeValue, ahead.Seconds(), label)
		}
	}
}

// peerMetrics turns the transport's counts into series with a label for the
// peer's number, and one for the class where there is one.
type peerMetrics struct {
	transport *p2p.Transport

	connected, rtt, connections, violations, banned, lastReceived *prometheus.Desc
	bytes, messages, dropped, queued                              *prometheus.Desc
	refused, flood, guests, guestBytes                            *prometheus.Desc
	guestReads, guestWaits                                        *prometheus.Desc
	version, capabilities, newer, stalled, socket, records        *prometheus.Desc
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
		refused:      desc("refused_total", "Incoming connections refused, and full nodes shown the door.", "reason"),
		version:      desc("peer_version", "Version of the messages that the peer knows.", "peer"),
		capabilities: desc("peer_capabilities", "What the peer says it can do, as a sum: 1 for checkpoints of the state.", "peer"),
		newer:        desc("newer_ignored_total", "Messages of unknown kinds from peers of a newer version, left out."),
		stalled:      desc("stalled_total", "Connections that ended in the middle of a frame."),
		socket:       desc("socket_failures_total", "Reads of the UDP socket that failed and were tried again."),
		records:      desc("records_ignored_total", "Addresses of validators that were not taken from peers.", "reason"),
		guests:       desc("full_nodes", "Full nodes that are connected."),
		guestBytes:   desc("full_nodes_sent_bytes_total", "Bytes sent to full nodes, as their budget counts them: with envelopes and repeated packets."),
		guestReads:   desc("full_nodes_read_bytes_total", "What was read for full nodes, as their budget counts it: a block or a chunk of state is 16 KiB at least, and what is asked for again counts several times."),
		guestWaits:   desc("full_nodes_waits_total", "Requests of full nodes that were left unread for a while for want of budget."),
		flood:        desc("flood_suppressed_total", "Transactions left out of the flood.", "reason"),
	}
}

// Describe implements prometheus.Collector.
func (m *peerMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		m.connected, m.rtt, m.connections, m.violations, m.banned, m.lastReceived,
		m.bytes, m.messages, m.dropped, m.queued, m.refused, m.flood, m.guests, m.guestBytes, m.guestReads, m.guestWaits,
		m.version, m.capabilities, m.newer, m.stalled, m.socket, m.records,
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
	for why := range p2p.NumRefusals {
		counter(m.refused, m.transport.Stats.Refused[why].Load(), why.String())
	}
	for why := range p2p.NumRecordFaults {
		counter(m.records, m.transport.Stats.RecordsIgnored[why].Load(), why.String())
	}
	counter(m.newer, m.transport.Stats.NewerIgnored.Load())
	counter(m.stalled, m.transport.Stats.Stalled.Load())
	counter(m.socket, m.transport.Stats.SocketFailures.Load())
	places, sent := m.transport.FullNodes()
	gauge(m.guests, float64(places))
	counter(m.guestBytes, sent)
	read, waits := m.transport.FullNodeReads()
	counter(m.guestReads, read)
	counter(m.guestWaits, waits)
	counter(m.flood, m.transport.Stats.TxsRepeated.Load(), "repeated")
	counter(m.flood, m.transport.Stats.TxsNotSpread.Load(), "no room")
	for _, p := range m.transport.Peers() {
		peer := strconv.Itoa(p.ID)
		up := 0.0
		if p.Connected {
			up = 1
		}
		gauge(m.connected, up, peer)
		gauge(m.version, float64(p.Version), peer)
		gauge(m.capabilities, float64(p.Capabilities), peer)
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
