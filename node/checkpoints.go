package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/p2p"
	"github.com/cowboy-foundation/cowboy/node/repair"
	"github.com/cowboy-foundation/cowboy/node/statesync"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// buildStates makes the server of checkpoints and returns what the ledger calls
// behind each commit. A validator without others has nobody to serve.
func (n *Node) buildStates() func(chain.Height) {
	if n.mesh == nil {
		return nil
	}
	n.states = statesync.NewServer(statesync.ServerConfig{
		Dir: filepath.Join(n.cfg.DataDir, datadir.CheckpointFolder), Interval: n.cfg.CheckpointBlocks,
		Store: n.store, Certificate: ledger.FinalCertificate, Network: stateStream{n.mesh.transport}, Log: n.log,
		Delay: n.checkpointDelay(), Alarm: func(reason string) {
			if reason == "" {
				n.alarms.clear(alarmCheckpoints)
			} else {
				n.alarms.raise(alarmCheckpoints, reason)
			}
		},
	})
	return n.states.Committed
}

// checkpointSpread is over how much time the validators spread the cutting of one
// checkpoint: each holds the state of its block still until it has cut it, which takes
// memory for what is written meanwhile. A quarter of the time between two if that is less.
const checkpointSpread = 5 * time.Minute

// checkpointDelay is how long after its block this node cuts a checkpoint: validators
// take turns by their number, others by their key.
func (n *Node) checkpointDelay() time.Duration {
	between := time.Duration(n.cfg.CheckpointBlocks) * time.Duration(n.genesis.Params.BlockTimeMillis) * time.Millisecond
	key := chain.PeerKey(n.keys.Peer.PublicKey())
	turn := uint64(key[0])
	if self, ok := n.set.Find(key); ok {
		turn = uint64(self)
	}
	size := uint64(n.set.Len())
	return min(checkpointSpread, between/4) * time.Duration(turn%size) / time.Duration(size)
}

// stateStream sends messages of state sync on their own stream.
type stateStream struct{ transport *p2p.Transport }

// Send implements statesync.Network.
func (s stateStream) Send(to int, msg []byte) { s.transport.Send(to, p2p.State, msg) }

// Served implements statesync.Biller.
func (s stateStream) Served(to, bytes int) { s.transport.Served(to, 1, bytes, 1) }

// Broadcast implements statesync.Broadcaster.
func (s stateStream) Broadcast(msg []byte) { s.transport.Broadcast(p2p.State, msg) }

// busy lets the mesh withhold what state sync has no room for.
func busy(err error) error {
	switch {
	case errors.Is(err, statesync.ErrBusy), errors.Is(err, repair.ErrBusy):
		return p2p.ErrBusy
	case errors.Is(err, statesync.ErrUnknown):
		return fmt.Errorf("%w: %w", p2p.ErrUnknown, err)
	}
	return err
}

// joiner takes what the mesh delivers to a node that has no chain yet: state,
// and nothing else.
type joiner struct{ client *statesync.Client }

// Deliver implements p2p.Receiver.
func (j joiner) Deliver(from int, class p2p.Class, msg []byte) error {
	if class != p2p.State {
		return nil
	}
	return busy(j.client.Deliver(from, msg))
}

// Transactions implements p2p.Receiver.
func (joiner) Transactions(_ int, bodies [][]byte) (int, error) { return len(bodies), nil }

// SyncState fills the data folder of a node that joins with the state of a
// recent checkpoint, which it fetches from the validators. It does nothing where
// there is a chain already, and can be cut off and called again. The error is a
// *[datadir.TablesError] where this build could not go on from the state.
func SyncState(ctx context.Context, cfg Config, genesis *genesis.Genesis, unusedKey bool, log *slog.Logger) error {
	return syncState(ctx, Host{}, cfg, genesis, unusedKey, log)
}

func syncState(ctx context.Context, host Host, cfg Config, genesis *genesis.Genesis, unusedKey bool, log *slog.Logger) error {
	if err := errors.Join(cfg.Check(), cpu.CheckVariable()); err != nil {
		return err
	}
	if err := datadir.CheckTables(genesis); err != nil { // before a state is fetched that this build cannot go on from
		return fmt.Errorf("genesis: %w", err)
	}
	folder := filepath.Join(cfg.DataDir, datadir.StoreFolder)
	opts := store.DefaultOptions()
	if host.Store != nil {
		host.Store(&opts)
	}
	if has, err := hasChain(folder, opts); err != nil || has {
		return err
	}
	trust, err := ledger.CheckpointTrust(genesis)
	if err != nil {
		return err
	}
	n := &Node{cfg: cfg, host: host, genesis: genesis, chainHash: trust.Genesis, log: log}
	if n.keys, err = datadir.UnlockKeys(cfg.DataDir, cfg.Passphrase); err != nil {
		return err
	}
	if err := errors.Join(n.keys.CheckAgainst(genesis), n.keys.MayServe(genesis)); err != nil {
		return err
	}
	if err := n.dropHalfKeys(); err != nil {
		return err
	}
	if n.set, err = n.setAt(0); err != nil {
		return fmt.Errorf("validator set: %w", err)
	}
	if n.set.Len() == 1 {
		return errors.New("a chain of one validator has nobody to fetch state from")
	}
	if err := datadir.PrepareKeys(cfg.DataDir, datadir.GuardIdentity(genesis, n.keys), n.keys.Validates(), unusedKey); err != nil {
		return err
	}
	transport, err := newTransport(n)
	if err != nil {
		return err
	}
	if err := transport.Listen(); err != nil {
		return errors.Join(err, transport.Close())
	}
	client := statesync.DefaultClientConfig()
	client.Trust, client.Dir, client.Network, client.Log = trust, folder, stateStream{transport}, log
	client.Members = n.set.Len()
	client.Options = opts
	return errors.Join(runClient(ctx, transport, statesync.NewClient(client)), transport.Close())
}

// runClient runs the mesh for as long as the client works.
func runClient(ctx context.Context, transport *p2p.Transport, client *statesync.Client) error {
	g := newGroup(ctx, nil)
	g.start(partMesh, func(ctx context.Context) error { return transport.Run(ctx, joiner{client}) })
	var done error
	g.start(partStateSync, func(ctx context.Context) error { done = client.Run(ctx); return done })
	if err := g.wait(); err != nil {
		return err
	}
	return done // nil, or that ctx ended
}

// hasChain reports whether a store folder holds a chain, and not only the
// beginning of an import.
func hasChain(folder string, opts store.Options) (bool, error) {
	var err error
	if opts.FS == nil {
		_, err = os.Stat(folder)
	} else {
		_, err = opts.FS.Stat(folder)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	s, err := store.Open(folder, opts)
	if errors.Is(err, store.ErrImporting) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open store: %w", err)
	}
	_, has := s.Genesis()
	return has, s.Close()
}
