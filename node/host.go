package node

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/repair"
	"github.com/cowboy-foundation/cowboy/state/journal"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Host is what a node takes of the machine that it runs on, so that a simulation
// can be that machine: disks that lose power, links that lose packets, a clock
// that steps (docs/adr/0119). Of the zero value, and where a part is nil, it is
// the real one.
type Host struct {
	Store   func(*store.Options) // alters the options of the store, its file system among them
	Votes   journal.Folder       // in place of the data folder, for the vote journal
	Guard   guard.Folder         // the same, for the memory of what the key signed
	Packets func(address string) (net.PacketConn, error)
	Listen  func(what, address string) (net.Listener, error) // for the API and the admin pages
	Now     func() time.Time                                 // the wall clock, by which blocks are dated and judged
	// Between stands between consensus and the rest of the node: it sees, and may
	// alter, what passes either way.
	Between func(engine.Application, engine.Network) (engine.Application, engine.Network)
	Shared  Shared

	repair func(*repair.Config, *repair.ServerConfig) // alters how damaged blocks are mended, for tests
}

// Shared is what many nodes in one process may have together, because it follows from
// the chain alone. Each field that is nil is made by the node for itself.
type Shared struct {
	Proposers *ledger.Proposers
	Runtime   *vm.Runtime
	Checks    func(*simplex.Threshold) simplex.Verifier // see engine.Config
}

// OpenOn is [Open] on a machine that is given.
func OpenOn(host Host, cfg Config, genesis *genesis.Genesis, log *slog.Logger) (*Node, error) {
	return open(host, cfg, genesis, log)
}

// SyncStateOn is [SyncState] on a machine that is given.
func SyncStateOn(ctx context.Context, host Host, cfg Config, genesis *genesis.Genesis, unusedKey bool, log *slog.Logger) error {
	return syncState(ctx, host, cfg, genesis, unusedKey, log)
}

// Consensus returns what the engine has counted.
func (n *Node) Consensus() *engine.Stats { return &n.engine.Stats }

// GuestWaits returns how many requests of full nodes waited for want of budget.
func (n *Node) GuestWaits() uint64 {
	if n.mesh == nil {
		return 0
	}
	_, waits := n.mesh.transport.FullNodeReads()
	return waits
}
