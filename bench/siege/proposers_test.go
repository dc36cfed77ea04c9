package siege

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// disk is where a node keeps its chain.
type disk struct {
	options store.Options
	dir     string
}

// node is one that keeps the chain: a ledger on a store of its own. One that proposes has a
// pool besides, and a journal of what its own clients submitted.
type node struct {
	disk  disk
	store *store.Store
	pool  *lanes.Lanes // nil: it judges only
	exec  parallel.Config
	own   []*chain.VerifiedTx // that its clients submitted and it took, in order
	*ledger.Ledger
	stop func()
}

// newNode starts a node with an empty disk.
func (s *siege) newNode(x parallel.Config) *node {
	s.t.Helper()
	n := &node{disk: disk{options: store.DefaultOptions(), dir: "siege"}, exec: x}
	if *siegeFor == 0 {
		n.disk.options.FS = vfs.NewMem()
	} else { // thousands of blocks are gigabytes
		n.disk.dir = s.t.TempDir()
	}
	s.openStore(n)
	delta, err := exec.GenesisDelta(s.genesis)
	if err == nil {
		err = n.store.Init(store.GenesisRecord{Hash: s.genesis.Hash(), Delta: delta})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { n.stop() })
	return n
}

func (s *siege) openStore(n *node) {
	s.t.Helper()
	db, err := store.Open(n.disk.dir, n.disk.options)
	if err != nil {
		s.t.Fatal(err)
	}
	n.store = db
}

// run starts the ledger of a node that has its store. The ones that propose execute one
// transaction after the other and the one that judges does not: they must agree.
func (s *siege) run(n *node) {
	s.t.Helper()
	proposers, err := ledger.NewProposers(epoch.Of(s.genesis))
	if err != nil {
		s.t.Fatal(err)
	}
	cfg := ledger.Config{
		Genesis: s.genesis, Store: n.store, Signatures: &s.bodies, Proposers: proposers,
		PeerKey: s.genesis.Validators[0].PeerKey, OrderKey: s.order, Exec: n.exec, Now: s.clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if n.pool != nil {
		cfg.Pool = n.pool
	}
	if n.Ledger, err = ledger.New(cfg); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	l, db := n.Ledger, n.store
	go func() { done <- l.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			s.t.Errorf("ledger ended with %v", err)
		}
		if err := db.Close(); err != nil {
			s.t.Error(err)
		}
	})
}

// fill gives a node that has its store a pool, as a node does at its start.
func (s *siege) fill(n *node) {
	s.t.Helper()
	header, err := ledger.HeadHeader(n.store, s.genesis)
	if err != nil {
		s.t.Fatal(err)
	}
	height, _ := n.store.HeadInfo()
	head := lanes.FinalizedHead{Height: height, View: n.store.Head(), BaseFees: ledger.BaseFeesAfter(s.params(), &header)}
	if n.pool, err = lanes.New(s.lanes, s.params(), s.genesis.ChainID, head); err != nil {
		s.t.Fatal(err)
	}
}

// restart is a crash of a node that proposes, between two blocks. What it had learned and what
// others had told it is gone; what waited of its own clients comes again, in its order.
func (s *siege) restart(n *node) {
	s.t.Helper()
	n.own = slices.DeleteFunc(n.own, func(tx *chain.VerifiedTx) bool {
		_, waits, err := n.pool.Lookup(s.t.Context(), tx.Hash)
		if err != nil {
			s.t.Fatal(err)
		}
		return !waits
	})
	n.stop()
	s.openStore(n)
	s.fill(n)
	s.run(n)
	for _, tx := range n.own {
		_ = s.pool(n, tx) // refused: its sender has lost it
	}
}

// inTurns is an attack on two makers: they tell each other what the honest send, the attack
// has twins of all that it sends, and the first of them crashes every few blocks.
func inTurns(a attack) attack {
	a.name, a.makers, a.restarts = "in-turns-"+a.name, 2, turnsBlocks/2
	return a
}
