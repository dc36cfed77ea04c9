package node

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/p2p"
	"github.com/cowboy-foundation/cowboy/node/repair"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// servesBlocks is the capability of a node that gives parts of its stored blocks to
// those whose own are damaged. One that only fetches a state does not have it.
const servesBlocks = 1 << 1

// mending is what has damaged blocks written again, and gives others theirs (package
// repair).
type mending struct {
	client *repair.Client
	server *repair.Server // nil for a validator without others
}

func (n *Node) newMending() (m mending, err error) {
	cfg := repair.DefaultConfig()
	cfg.Store, cfg.Damage, cfg.Network, cfg.Log = n.store, n.scrub, blockStream{n.mesh}, n.log
	cfg.BytesPerSecond = n.cfg.RepairBytes
	cfg.RecordBytesMax = max(cfg.RecordBytesMax, 2*int(n.genesis.Params.MaxBlockBytes))
	cfg.Peers, cfg.Senders, cfg.Fit = n.blockPeers, n.sendersOf, ledger.FitCertificates
	cfg.Certify = func(rec store.BlockRecord) error {
		return ledger.CheckCertificates(n.sets, n.store, rec, rand.Reader)
	}
	serve := repair.ServerConfig{
		Records: n.store, Network: blockStream{n.mesh}, PartBytesMax: partBytesMax(&n.genesis.Params), BytesPerSecond: repair.ServedPerSecond,
		Unread: func(err error) { n.scrub.met(err) }, Now: time.Now,
	}
	if n.host.repair != nil {
		n.host.repair(&cfg, &serve)
	}
	if err := cfg.Check(); err != nil {
		return m, err
	}
	m.client = repair.NewClient(cfg)
	if n.mesh != nil {
		m.server = repair.NewServer(serve)
	}
	return m, nil
}

// partBytesMax is the largest part of a block that is served: what the stream of state
// takes in one message. Of a part that is more, no piece could be asked for. A block is
// never more, since a message of the mesh holds the largest of the chain, and a receipt is
// not where a transaction can pay for no more than that, as in every profile of ours
// (TestPartsFitIntoMessages).
func partBytesMax(p *params.Params) int { return max(p2p.StateBytesMax, int(p.MaxBlockBytes)) }

// deliver hands over a message of a peer.
func (m mending) deliver(from int, msg []byte) error {
	return repair.Deliver(m.server, m.client, from, msg)
}

// blockStream sends messages of repair on the stream of state sync.
type blockStream struct{ mesh *mesh }

// Send implements repair.Network.
func (s blockStream) Send(to int, msg []byte) { s.mesh.transport.Send(to, p2p.State, msg) }

// Served implements repair.Biller.
func (s blockStream) Served(to, bytes int) { s.mesh.transport.Served(to, 1, bytes, 1) }

// blockPeers are the members that can be asked for a block.
func (n *Node) blockPeers() (peers []int) {
	if n.mesh == nil {
		return nil
	}
	for _, p := range n.mesh.transport.Peers() {
		if p.Member && p.Connected && p.Capabilities&servesBlocks != 0 {
			peers = append(peers, p.ID)
		}
	}
	return peers
}

// sendersOf recovers the senders of a block's transactions.
func (n *Node) sendersOf(ctx context.Context, bodies [][]byte) ([]chain.Address, error) {
	txs, err := n.sigverify.ReadBlock(ctx, bodies)
	if err != nil {
		return nil, err
	}
	senders := make([]chain.Address, len(txs))
	for i, tx := range txs {
		senders[i] = tx.Sender
	}
	return senders, nil
}

func (n *Node) mendingMetrics(counter counterFunc) prometheus.Collector {
	c := &n.mending.client.Stats
	counter("blocks_mended_total", "Damaged blocks that were written again and are whole; each is in the log.", c.Mended.Load)
	counter("block_parts_asked_total", "Requests to other nodes for parts of damaged blocks.", c.Asked.Load)
	counter("block_part_bytes_fetched_total", "Bytes of parts that came for them.", c.Bytes.Load)
	if s := n.mending.server; s != nil {
		counter("block_parts_served_total", "Answers with parts of blocks to nodes whose own are damaged.", s.Stats.Answered.Load)
		counter("block_part_bytes_served_total", "Their bytes.", s.Stats.Bytes.Load)
		counter("block_parts_without_total", "Requests for parts of blocks that this node does not have.", s.Stats.Without.Load)
	}
	return &mendMetrics{c, prometheus.NewDesc("cowboy_block_mends_failed_total",
		"Why a damaged block was not mended with an answer or a try, by reason: silent, none, answer, block, receipts and certificate are of peers, of which the last four are lies.", []string{"reason"}, nil)}
}

// mendMetrics counts what came to nothing, by reason.
type mendMetrics struct {
	stats  *repair.ClientStats
	failed *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (m *mendMetrics) Describe(ch chan<- *prometheus.Desc) { ch <- m.failed }

// Collect implements prometheus.Collector.
func (m *mendMetrics) Collect(ch chan<- prometheus.Metric) {
	for _, r := range repair.Reasons {
		ch <- prometheus.MustNewConstMetric(m.failed, prometheus.CounterValue, float64(m.stats.Failed(r)), string(r))
	}
}
