package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/ceremony"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/query"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/statesync"
	"github.com/cowboy-foundation/cowboy/node/submitted"
	"github.com/cowboy-foundation/cowboy/state/journal"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Node is an assembled validator. Open builds it, Listen takes its ports, Run
// works until its context ends, Close releases the files.
type Node struct {
	cfg       Config
	host      Host
	genesis   *genesis.Genesis
	keys      *datadir.Keys
	log       *slog.Logger
	store     *store.Store
	chainHash chain.Hash // of the genesis, which takes its whole document to compute
	votes     *journal.Journal
	guard     *guard.Guard
	evidence  *evidence
	// fanOutNanos is for how long final blocks were told to listeners.
	fanOutNanos atomic.Uint64
	alarms      *alarms
	restarts    *restarts // of parts that consensus can do without
	epochs      *epoch.Schedule
	sets        *beacon.Sets         // of all epochs on record
	set         *beacon.ValidatorSet // of the epoch that runs
	ledger      *ledger.Ledger
	lanes       *lanes.Lanes
	sigverify   *sigverify.Pipeline
	depth       *poolDepth
	shards      *shards.Code // nil: too few validators for shards
	engine      *engine.Engine
	mesh        *mesh              // nil for a validator without others
	states      *statesync.Server  // of checkpoints; nil without mesh
	answers     *query.Source      // to readers
	submitter   *evidenceSubmitter // submits evidence
	room        *room              // watches how near the state is to its limits
	scrub       *scrub             // finds damaged blocks
	market      *marketWatch       // counts runners and jobs
	mending     mending            // has them written again
	submitted   *submitted.Journal

	rpcListener, adminListener net.Listener

	recall   *recall     // what the journal has beyond the store
	leveled  atomic.Bool // the ledger has it, too
	stopping atomic.Bool
	api      atomic.Pointer[rpc.Server] // from when it serves
}

// Open opens the data folder and builds every part, without starting any. It
// fails when the folder belongs to another chain or is in use. Without a log nothing is
// logged.
func Open(cfg Config, genesis *genesis.Genesis, log *slog.Logger) (*Node, error) {
	return open(Host{}, cfg, genesis, log)
}

func open(host Host, cfg Config, genesis *genesis.Genesis, log *slog.Logger) (*Node, error) {
	if err := errors.Join(cfg.Check(), cpu.CheckVariable()); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	n := &Node{cfg: cfg, host: host, genesis: genesis, log: log, alarms: newAlarms(log)}
	n.restarts = newRestarts(n.alarms, log)
	if err := n.open(); err != nil {
		if errors.Is(err, store.ErrCorrupt) {
			err = n.refused(datadir.StoreFolder, err)
		}
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Node) open() error {
	if n.cfg.Byzantine != "" && !n.genesis.Devnet {
		return fmt.Errorf("a validator that lies: %w", datadir.ErrNotDevelopment)
	}
	if err := errors.Join(n.genesis.Check(), ceremony.Check(n.genesis)); err != nil {
		return fmt.Errorf("genesis: %w", err)
	}
	if err := datadir.CheckTables(n.genesis); err != nil {
		return fmt.Errorf("genesis: %w", err)
	}
	if err := n.sayUnbuilt(); err != nil {
		return err
	}
	var err error
	if n.keys, err = datadir.UnlockKeys(n.cfg.DataDir, n.cfg.Passphrase); err != nil {
		return n.refused(datadir.KeysFile, err)
	}
	if err := n.keys.MayServe(n.genesis); err != nil {
		return n.refused(datadir.KeysFile, fmt.Errorf("%s: %w", filepath.Join(n.cfg.DataDir, datadir.KeysFile), err))
	}
	if err := n.keys.CheckAgainst(n.genesis); err != nil {
		return n.refused(datadir.KeysFile, fmt.Errorf("%s: %w", filepath.Join(n.cfg.DataDir, datadir.KeysFile), err))
	}
	if err := n.dropHalfKeys(); err != nil {
		return n.refused(datadir.KeysFile, err)
	}
	if n.store, err = datadir.OpenStore(n.cfg.DataDir, n.genesis, n.storeOptions()); err != nil {
		return n.refused(datadir.StoreFolder, err)
	}
	n.chainHash, _ = n.store.Genesis()
	switch {
	case n.store.KeepsHistory():
		n.log.Info("archive: old values are kept for ever")
	case n.cfg.Archive == ArchiveEnd:
		n.log.Warn("archive: what it kept is given up with the next block")
	}
	if n.keys.Validates() {
		if n.guard, err = n.openGuard(); err != nil {
			return n.refused(guard.FileName, err)
		}
	}
	if n.votes, err = n.openVotes(); err != nil {
		return n.refused(datadir.JournalFile, err)
	}
	if n.recall, err = recallJournal(n.votes, n.store, n.genesis); errors.Is(err, store.ErrCorrupt) {
		return n.refused(datadir.StoreFolder, err)
	} else if err != nil {
		return n.refused(datadir.JournalFile, err)
	}
	n.sayRecalled()
	n.sayRepaired()
	head, err := ledger.HeadHeader(n.store, n.genesis)
	if err != nil {
		return n.refused(datadir.StoreFolder, err)
	}
	if n.set, err = n.setAt(head.Epoch); err != nil {
		return fmt.Errorf("validator set: %w", err)
	}
	if n.evidence, err = openEvidence(n.cfg.DataDir, n.set, n.alarms, n.log); err != nil {
		return n.refused(datadir.EvidenceFile, err)
	}
	return n.build()
}

// setAt returns the validator set of an epoch of the node's chain.
func (n *Node) setAt(e chain.Epoch) (*beacon.ValidatorSet, error) {
	if n.epochs == nil {
		var err error
		n.epochs = epoch.Of(n.genesis)
		if n.sets, err = beacon.NewSets(n.epochs); err != nil {
			return nil, err
		}
	}
	return n.sets.At(e)
}

// sayUnbuilt names the parameters that the genesis moved and nothing reads yet.
func (n *Node) sayUnbuilt() error {
	moved, err := n.genesis.Params.Unbuilt()
	if len(moved) > 0 {
		n.log.Info("the genesis sets parameters of parts that are not built yet: nothing follows from them", "parameters", strings.Join(moved, " "))
	}
	return err
}

// build makes the owners of topology.go.
func (n *Node) build() error {
	var err error
	proposers := n.host.Shared.Proposers
	if proposers == nil {
		if proposers, err = ledger.NewProposers(n.epochs); err != nil {
			return err
		}
	}
	// The ledger asks lanes and sigverify, which admit against its head: they
	// are built in that order, on the store's head.
	head := n.store.Head()
	height, _ := n.store.HeadInfo()
	params, err := ledger.HeadParams(n.store, n.genesis)
	if err != nil {
		return err
	}
	fees, err := headFees(n.store, n.genesis, params)
	if err != nil {
		return err
	}
	pool := lanes.DefaultConfig()
	pool.Epochs = n.epochs
	n.lanes, err = lanes.New(pool, params, n.genesis.ChainID,
		lanes.FinalizedHead{Height: height, Epoch: n.set.Epoch(), View: head, BaseFees: fees})
	if err != nil {
		return err
	}
	if n.sigverify, err = sigverify.New(sigverify.DefaultConfig(runtime.GOMAXPROCS(0)), n.lanes); err != nil {
		return err
	}
	n.depth = newPoolDepth(pool.Depth(), poolBudget(n.cfg.Budgets.PoolBytes), n.resizePool)
	n.log.Info("the pool follows the rate of the chain", "least_txs", n.depth.floor.UserTxs, "most_txs", n.depth.most, "budget_mib", n.depth.bytes>>20)
	if n.shards, err = shards.ForSet(n.set.Len(), &n.genesis.Params, cpu.Chosen()); err != nil {
		return err
	}
	if n.mesh, err = newMesh(n); err != nil {
		return err
	}
	n.scrub = n.newScrub()
	n.market = &marketWatch{head: n.store.Head, alarms: n.alarms}
	n.ledger, err = ledger.New(ledger.Config{
		Committed: n.buildStates(), Defect: writeDefects(n.cfg.DataDir, n.log),
		Genesis: n.genesis, Store: n.store, Pool: n.lanes, Signatures: n.sigverify,
		Proposers: proposers, Shards: n.shards, PeerKey: chain.PeerKey(n.keys.Peer.PublicKey()), OrderKey: n.keys.Own, Log: n.log,
		Exec: n.cfg.Exec, BuildPercent: n.cfg.BuildPercent, MinBlock: n.cfg.MinBlock, UnfinalBytes: n.cfg.Budgets.unfinal(), Now: n.host.Now, Runtime: n.host.Shared.Runtime,
		Unread: n.scrub.met,
	})
	if err != nil {
		return err
	}
	if err := n.buildEngine(); err != nil {
		return err
	}
	if n.answers, err = newAnswers(n); err != nil {
		return err
	}
	n.submitter = newEvidenceSubmitter(n)
	n.evidence.judged, n.evidence.stale = n.isConvicted, n.submitter.isStale
	n.evidence.view = func() chain.View { return n.ledger.Head().Round.View }
	n.room = newRoom(roomConfig{memory: stateMemory(n.cfg.StateMemory), tries: n.store.Resident, chain: n.chainRoom, log: n.log})
	if n.mending, err = n.newMending(); err != nil {
		return err
	}
	n.submitted = submitted.Open(submitted.Config{
		Path: filepath.Join(n.cfg.DataDir, datadir.SubmittedFile), Bytes: n.cfg.SubmittedBytes, Share: clientShare(n.cfg.Devnet),
		AgeMillis: pool.AgeMillis, Log: n.log,
	}, &submissions{node: n})
	return n.depth.open(n.submitted.Returning)
}

func (n *Node) buildEngine() error {
	self, ok := n.set.Find(chain.PeerKey(n.keys.Peer.PublicKey()))
	if !ok {
		self = beacon.Participant(n.set.Len()) // nobody: a full node follows
	}
	var err error
	head := n.ledger.Head()
	cfg := engine.DefaultConfig(head.Force.Params)
	cfg.Timing = func() engine.Timing { return n.cfg.Timeouts.override(engine.TimingOf(n.ledger.Head().Force.Params)) }
	wait := cfg.Timing()
	cfg.LeaderTimeout, cfg.CertificationTimeout, cfg.TimeoutMax = wait.LeaderTimeout, wait.CertificationTimeout, n.cfg.Timeouts.Max
	n.cfg.Budgets.into(&cfg)
	cfg.Set, cfg.Self, cfg.Share, cfg.Peer, cfg.Weights = n.set, self, n.keys.Share.Key, n.keys.Peer, rand.Reader
	cfg.Checks = n.host.Shared.Checks
	cfg.Archive, cfg.Evidence = n.ledger, n.evidence.enqueue
	if n.mesh != nil {
		cfg.Billed = n.mesh.billed
	}
	if n.shards != nil {
		cfg.Shards = &engine.Sharding{Code: n.shards, Format: shards.ChainBlocks{}, Glance: n.ledger.Glance}
	}
	if n.guard != nil {
		cfg.Guard = n.guard
	}
	cfg.Log = n.log
	if cfg.Watch, err = n.watch(); err != nil {
		return err
	}
	cfg.LastFinalized = head.Floor()
	app, network, err := n.honestOrNot(&cfg)
	if err != nil {
		return err
	}
	if n.host.Between != nil {
		app, network = n.host.Between(app, network)
	}
	n.engine, err = engine.New(cfg, app, network, n.votes)
	if err != nil {
		return fmt.Errorf("consensus: %w", err)
	}
	return nil
}

// storeOptions are those of a node that runs; tools take the default ones.
func (n *Node) storeOptions() store.Options {
	opts := store.DefaultOptions()
	opts.History, opts.EndHistory = n.cfg.Archive == ArchiveKeep, n.cfg.Archive == ArchiveEnd
	opts.FreeBytesFloor, opts.Log = n.cfg.FreeBytesFloor, n.log
	if n.host.Store != nil {
		n.host.Store(&opts)
	}
	return opts
}

// headFees returns the base fees of the block after the stored head.
func headFees(s *store.Store, g *genesis.Genesis, p *params.Params) ([chain.NumLanes]chain.FeePair, error) {
	header, err := ledger.HeadHeader(s, g)
	if err != nil {
		return [chain.NumLanes]chain.FeePair{}, err
	}
	return ledger.BaseFeesAfter(p, &header), nil
}

// Listen takes the ports of the API, of the admin pages and of the mesh.
func (n *Node) Listen() error {
	var err error
	if n.rpcListener, err = n.listen("RPC", n.cfg.RPCAddr); err != nil {
		return err
	}
	if n.adminListener, err = n.listen("admin", n.cfg.AdminAddr); err != nil {
		return err
	}
	if n.mesh != nil {
		return n.mesh.transport.Listen()
	}
	return nil
}

func (n *Node) listen(what, addr string) (net.Listener, error) {
	if n.host.Listen != nil {
		return n.host.Listen(what, addr)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%s address %s: %w (is another node running? try --port-offset 10)", what, addr, err)
	}
	return l, nil
}

// RPCAddr is where the API listens, after Listen.
func (n *Node) RPCAddr() string { return n.rpcListener.Addr().String() }

// AdminAddr is where metrics and profiles are served, after Listen.
func (n *Node) AdminAddr() string { return n.adminListener.Addr().String() }

// Close releases ports and files. Run must have returned.
func (n *Node) Close() error {
	var errs []error
	for _, l := range []net.Listener{n.rpcListener, n.adminListener} {
		if l != nil {
			_ = l.Close() // a listener that served is closed already
		}
	}
	if n.mesh != nil {
		errs = append(errs, n.mesh.transport.Close())
	}
	if n.submitted != nil {
		n.submitted.Close()
	}
	if n.guard != nil {
		errs = append(errs, n.guard.Close())
	}
	if n.evidence != nil {
		errs = append(errs, n.evidence.Close())
	}
	if n.states != nil {
		errs = append(errs, n.states.Close())
	}
	if n.votes != nil {
		errs = append(errs, n.votes.Close())
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	return errors.Join(errs...)
}
