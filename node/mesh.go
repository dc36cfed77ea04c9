package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/p2p"
	"github.com/cowboy-foundation/cowboy/node/repair"
)

// mesh joins the transport to consensus and to the transactions' way in. It is
// the engine's network and the transport's receiver; a peer's number there is
// the validator's number here.
type mesh struct {
	transport *p2p.Transport
	node      *Node
}

// servesCheckpoints is the capability of a node that makes checkpoints of the state.
const servesCheckpoints = 1 << 0

// addressesFile keeps the addresses that validators told of themselves. Unlike
// the peers file it is the node's own; without it, the node asks again.
const addressesFile = "peers.learned"

// newMesh builds the transport, or returns nil for a validator without others.
func newMesh(n *Node) (*mesh, error) {
	if n.set.Len() == 1 {
		return nil, nil
	}
	transport, err := newTransport(n)
	if err != nil {
		return nil, err
	}
	return &mesh{transport, n}, nil
}

// newTransport makes a node's place in the mesh from its settings, keys and
// validator set alone.
func newTransport(n *Node) (*p2p.Transport, error) {
	cfg := p2p.DefaultConfig(int(n.genesis.Params.MaxBlockBytes))
	cfg.Genesis, cfg.Key, cfg.Log = n.chainHash, n.keys.Peer, n.log
	cfg.ListenAddr, cfg.Advertise, cfg.Packets = n.cfg.P2PAddr, n.cfg.P2PAdvertise, n.host.Packets
	cfg.FullNodesMax, cfg.FullNodeBytesPerSecond, cfg.FullNodesBytesPerSecond = n.cfg.FullNodes, n.cfg.FullNodeBytes, n.cfg.FullNodesBytes
	if n.genesis.Devnet { // a developer's nodes all have one address
		cfg.FullNodesPerNetwork = max(1, cfg.FullNodesMax)
	}
	cfg.AnyAddress = n.genesis.Devnet
	if n.cfg.Budgets.OfflineBytes > 0 {
		cfg.OfflineBytes = n.cfg.Budgets.OfflineBytes
	}
	if n.cfg.CheckpointBlocks > 0 {
		cfg.Capabilities |= servesCheckpoints
	}
	if n.store != nil { // a chain, and not only the wish for a state
		cfg.Capabilities |= servesBlocks
	}
	if n.cfg.wireVersion > 0 {
		cfg.Version = n.cfg.wireVersion
	}
	for i := range n.set.Len() {
		cfg.Committee = append(cfg.Committee, n.set.At(beacon.Participant(i)).PeerKey)
	}
	peers, err := datadir.LoadPeers(n.cfg.DataDir)
	if err != nil {
		return nil, err
	}
	cfg.Addresses = make(map[chain.PeerKey]string, len(peers))
	for _, p := range peers {
		cfg.Addresses[p.Key] = p.Address
	}
	cfg.BookFile = filepath.Join(n.cfg.DataDir, addressesFile)
	cfg.SocketFailed = n.socketFailed
	cfg.Linked = func(peer int) {
		if n.engine != nil { // none is made where a state is fetched only
			n.engine.Linked(beacon.Participant(peer))
		}
		if n.mending.client != nil && peer < n.set.Len() { // others are asked for no block
			n.mending.client.Linked()
		}
	}
	cfg.Lost = func(peer int) {
		if n.engine != nil {
			n.engine.Unlinked(beacon.Participant(peer))
		}
	}
	transport, err := p2p.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("mesh: %w", err)
	}
	return transport, nil
}

// socketFailed raises and clears the alarm of the UDP socket.
func (n *Node) socketFailed(err error) {
	if err == nil {
		n.alarms.clear(alarmNetwork)
		return
	}
	n.alarms.raise(alarmNetwork, fmt.Sprintf("the UDP socket cannot be read (%v): nothing comes from other validators; it is tried again, and after %v the node stops, so that it can be started again", err, p2p.DefaultConfig(1).SocketPatience))
}

func (m *mesh) run(ctx context.Context) error { return m.transport.Run(ctx, m) }

// streams is the stream of each class of consensus.
var streams = [...]p2p.Class{
	wire.ClassVotes: p2p.Votes, wire.ClassCertificates: p2p.Certificates, wire.ClassBlocks: p2p.Blocks,
	wire.ClassShards: p2p.Shards, wire.ClassFetch: p2p.Fetch,
}

// classOf names the stream on which a message of consensus travels. It reports false
// for one that this version does not know, which cannot be sent.
func classOf(msg []byte) (p2p.Class, bool) {
	class, known := wire.ClassOf(msg)
	return streams[class], known
}

// sends returns the stream of a message that this node may send. A full node only
// asks: what else it says, it has from those it would tell.
func (m *mesh) sends(msg []byte) (p2p.Class, bool) {
	class, known := classOf(msg)
	return class, known && (class == p2p.Fetch || m.node.keys.Validates())
}

// Broadcast implements engine.Network.
func (m *mesh) Broadcast(msg []byte) {
	if class, may := m.sends(msg); may {
		m.transport.Broadcast(class, msg)
	}
}

// Send implements engine.Network.
func (m *mesh) Send(to beacon.Participant, msg []byte) {
	if class, may := m.sends(msg); may {
		m.transport.Send(int(to), class, msg)
	}
}

// ForgetVotes implements engine.Forgetter.
func (m *mesh) ForgetVotes() { m.transport.Forget(p2p.Votes) }

// Errors for which a peer is disconnected.
var (
	errWrongStream = errors.New("message on another class's stream")
	errNotMember   = errors.New("a full node may only ask and send transactions")
)

// Deliver implements p2p.Receiver.
func (m *mesh) Deliver(from int, class p2p.Class, msg []byte) error {
	switch {
	case class == p2p.State && repair.Is(msg):
		return busy(m.node.mending.deliver(from, msg))
	case class == p2p.State:
		return busy(m.node.states.Deliver(from, msg))
	}
	switch is, known := classOf(msg); {
	case !known:
		return fmt.Errorf("tag %#x: %w", msg[0], p2p.ErrUnknown)
	case is != class:
		return errWrongStream
	case from >= m.node.set.Len() && class != p2p.Fetch:
		return errNotMember
	}
	err := m.node.engine.Deliver(beacon.Participant(from), msg)
	if errors.Is(err, engine.ErrBusy) {
		return p2p.ErrBusy
	}
	return err
}

// sourceOf names a peer to the signature queue, where zero is this node's RPC.
func sourceOf(peer int) sigverify.Source { return sigverify.Source(peer) + 1 }

// Transactions implements p2p.Receiver: it takes as much as the peer's share of
// the signature queue has room for. What the pool admits goes on; a peer that
// sends what no pool can admit is left unread for a while.
func (m *mesh) Transactions(from int, bodies [][]byte) (int, error) {
	source := sourceOf(from)
	// Without credit one is tried all the same, so that the refusal is counted.
	n := min(len(bodies), max(1, m.node.sigverify.Credit(source)))
	err := m.node.sigverify.SubmitFrom(source, bodies[:n], func(verdicts []sigverify.Verdict) {
		m.flood(from, verdicts)
		for _, v := range verdicts {
			if v.Tx == nil && !errors.Is(v.Err, sigverify.ErrStopped) {
				m.transport.Pause(from)
				return
			}
		}
	})
	switch {
	case errors.Is(err, sigverify.ErrBusy), errors.Is(err, sigverify.ErrStopped):
		return 0, p2p.ErrBusy
	case err != nil:
		return 0, err
	}
	return n, nil
}

// flood spreads the transactions that the pool has admitted; origin is the peer they came
// from, or -1. A validator without others (m is nil) has nobody to tell.
func (m *mesh) flood(origin int, verdicts []sigverify.Verdict) {
	if m != nil {
		m.spread(origin, sigverify.Admitted(verdicts))
	}
}

// spread sends transactions to the other nodes.
func (m *mesh) spread(origin int, txs []*chain.VerifiedTx) {
	if m == nil || len(txs) == 0 {
		return
	}
	bodies := make([][]byte, len(txs))
	for i, tx := range txs {
		bodies[i] = tx.Body
	}
	m.transport.Flood(origin, bodies)
}

// network is what the engine sends through.
func (m *mesh) network() engine.Network {
	if m == nil {
		return engine.Alone{}
	}
	return m
}

// billed charges a full node for what consensus read for it.
func (m *mesh) billed(to beacon.Participant, blocks, bytes, times int) {
	m.transport.Served(int(to), blocks, bytes, times)
}

// heard says whether what is sent reaches anybody. A validator without others has
// nobody to wait for.
func (m *mesh) heard() bool {
	if m == nil {
		return true
	}
	for _, p := range m.transport.Peers() {
		if p.Connected {
			return true
		}
	}
	return false
}

// connected counts the validators that this node reaches, itself included if it
// is one.
func (m *mesh) connected() int {
	if m == nil {
		return 1
	}
	sum := 0
	if m.node.keys.Validates() {
		sum = 1
	}
	for _, p := range m.transport.Peers() {
		if p.Member && p.Connected {
			sum++
		}
	}
	return sum
}
