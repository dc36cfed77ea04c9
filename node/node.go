package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/ceremony"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/statesync"
	"github.com/cowboy-foundation/cowboy/node/submitted"
	"github.com/cowboy-foundation/cowboy/state/journal"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Version of the programs in this module.
const Version = rpc.Version

// Node is an assembled validator. Open builds it, Listen takes its ports, Run
// works until its context ends, Close releases the files.
type Node struct {
	cfg       Config
	host      Host
	genesis   *chain.Genesis
	keys      *Keys
	log       *slog.Logger
	store     *store.Store
	chainHash chain.Hash // of the genesis, which takes its whole document to compute
	votes     *journal.Journal
	guard     *guard.Guard
	evidence  *evidence
	alarms    *alarms
	restarts  *restarts // of parts that consensus can do without
	set       *beacon.ValidatorSet
	ledger    *ledger.Ledger
	lanes     *lanes.Lanes
	sigverify *sigverify.Pipeline
	shards    *shards.Code // nil: too few validators for shards
	engine    *engine.Engine
	mesh      *mesh             // nil for a validator without others
	states    *statesync.Server // of checkpoints; nil without mesh
	source    *source
	accuser   *accuser // submits evidence
	room      *room    // watches how near the state is to its limits
	scrub     *scrub   // finds damaged blocks
	mending   mending  // has them written again
	submitted *submitted.Journal

	rpcListener, adminListener net.Listener

	recall   *recall     // what the journal has beyond the store
	leveled  atomic.Bool // the ledger has it, too
	stopping atomic.Bool
	api      atomic.Pointer[rpc.Server] // from when it serves
}

// Open opens the data folder and builds every part, without starting any. It
// fails when the folder belongs to another chain or is in use. Without a log nothing is
// logged.
func Open(cfg Config, genesis *chain.Genesis, log *slog.Logger) (*Node, error) {
	return open(Host{}, cfg, genesis, log)
}

func open(host Host, cfg Config, genesis *chain.Genesis, log *slog.Logger) (*Node, error) {
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
			err = n.refused(storeFolder, err)
		}
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Node) open() error {
	if n.cfg.Byzantine != "" && !n.genesis.Devnet {
		return fmt.Errorf("a validator that lies: %w", ErrNotDevelopment)
	}
	if err := errors.Join(n.genesis.Check(), ceremony.Check(n.genesis)); err != nil {
		return fmt.Errorf("genesis: %w", err)
	}
	if err := CheckTables(n.genesis); err != nil {
		return fmt.Errorf("genesis: %w", err)
	}
	if err := n.sayUnbuilt(); err != nil {
		return err
	}
	var err error
	if n.keys, err = UnlockKeys(n.cfg.DataDir, n.cfg.Passphrase); err != nil {
		return n.refused(keysFile, err)
	}
	if err := n.keys.mayServe(n.genesis); err != nil {
		return n.refused(keysFile, fmt.Errorf("%s: %w", filepath.Join(n.cfg.DataDir, keysFile), err))
	}
	if err := n.keys.checkAgainst(n.genesis); err != nil {
		return n.refused(keysFile, fmt.Errorf("%s: %w", filepath.Join(n.cfg.DataDir, keysFile), err))
	}
	if err := n.dropHalfKeys(); err != nil {
		return n.refused(keysFile, err)
	}
	if n.store, err = openStore(n.cfg.DataDir, n.genesis, n.storeOptions()); err != nil {
		return n.refused(storeFolder, err)
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
		return n.refused(journalFile, err)
	}
	if n.recall, err = recallJournal(n.votes, n.store, n.genesis); errors.Is(err, store.ErrCorrupt) {
		return n.refused(storeFolder, err)
	} else if err != nil {
		return n.refused(journalFile, err)
	}
	n.sayRecalled()
	n.sayRepaired()
	if n.set, err = beacon.NewValidatorSet(n.genesis); err != nil {
		return fmt.Errorf("validator set: %w", err)
	}
	if n.evidence, err = openEvidence(n.cfg.DataDir, n.set, n.alarms, n.log); err != nil {
		return n.refused(evidenceFile, err)
	}
	return n.build()
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
		if proposers, err = ledger.NewProposers(n.genesis); err != nil {
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
	pool.Validators = n.genesis.Validators
	n.lanes, err = lanes.New(pool, params, n.genesis.ChainID,
		lanes.FinalizedHead{Height: height, View: head, BaseFees: fees})
	if err != nil {
		return err
	}
	if n.sigverify, err = sigverify.New(sigverify.DefaultConfig(runtime.GOMAXPROCS(0)), n.lanes); err != nil {
		return err
	}
	if n.shards, err = shards.ForGenesis(n.genesis, cpu.Chosen()); err != nil {
		return err
	}
	if n.mesh, err = newMesh(n); err != nil {
		return err
	}
	n.scrub = n.newScrub()
	n.ledger, err = ledger.New(ledger.Config{
		Committed: n.buildStates(), Defect: writeDefects(n.cfg.DataDir, n.log),
		Genesis: n.genesis, Store: n.store, Pool: n.lanes, Signatures: n.sigverify,
		Proposers: proposers, Shards: n.shards, PeerKey: chain.PeerKey(n.keys.Peer.PublicKey()), OrderKey: n.keys.Own, Log: n.log,
		Exec: n.cfg.Exec, BuildPercent: n.cfg.BuildPercent, UnfinalBytes: n.cfg.Budgets.unfinal(), Now: n.host.Now, Runtime: n.host.Shared.Runtime,
		Unread: n.scrub.met,
	})
	if err != nil {
		return err
	}
	if err := n.buildEngine(); err != nil {
		return err
	}
	n.source = newSource(n)
	if n.source.trials, err = newTrials(n.source); err != nil {
		return err
	}
	n.accuser = newAccuser(n)
	n.evidence.judged, n.evidence.stale = n.isConvicted, n.accuser.isStale
	n.evidence.view = func() chain.View { return n.ledger.Head().Round.View }
	n.room = newRoom(roomConfig{memory: stateMemory(n.cfg.StateMemory), tries: n.store.Resident, chain: n.chainRoom, log: n.log})
	if n.mending, err = n.newMending(); err != nil {
		return err
	}
	n.submitted = submitted.Open(submitted.Config{
		Path: filepath.Join(n.cfg.DataDir, submittedFile), Bytes: n.cfg.SubmittedBytes, Share: clientShare(n.cfg.Devnet),
		AgeMillis: pool.AgeMillis, Log: n.log,
	}, &submissions{node: n})
	return nil
}

func (n *Node) buildEngine() error {
	self, ok := n.set.Find(chain.PeerKey(n.keys.Peer.PublicKey()))
	if !ok {
		self = beacon.Participant(n.set.Len()) // nobody: a full node follows
	}
	var err error
	head := n.ledger.Head()
	cfg := engine.DefaultConfig(head.Force.Params)
	cfg.Timing = func() engine.Timing { return n.cfg.Timeouts.over(engine.TimingOf(n.ledger.Head().Force.Params)) }
	wait := cfg.Timing()
	cfg.LeaderTimeout, cfg.CertificationTimeout, cfg.TimeoutMax = wait.LeaderTimeout, wait.CertificationTimeout, n.cfg.Timeouts.Max
	n.cfg.Budgets.into(&cfg)
	cfg.Set, cfg.Self, cfg.Share, cfg.Peer, cfg.Weights = n.set, self, n.keys.Share.Key, n.keys.Peer, rand.Reader
	cfg.Checks = n.host.Shared.Checks
	cfg.Archive, cfg.Evidence = n.ledger, n.evidence.take
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

// openStore opens the chain's store and writes the genesis into a new one.
func openStore(dataDir string, g *chain.Genesis, opts store.Options) (*store.Store, error) {
	s, err := store.Open(filepath.Join(dataDir, storeFolder), opts)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	delta, err := exec.GenesisDelta(g)
	if err == nil {
		err = s.Init(store.GenesisRecord{Hash: g.Hash(), Delta: delta})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.Close())
	}
	return s, nil
}

// ErrVotesMissing means that this key has voted before and the record of it is
// gone. Voting on would risk two votes in one view.
var ErrVotesMissing = errors.New("votes.journal is missing although the chain has blocks")

// openVotes opens the vote journal, on the disk that the host gives.
func (n *Node) openVotes() (*journal.Journal, error) {
	if n.host.Votes == nil {
		return openVotes(n.cfg.DataDir, n.store)
	}
	j, err := journal.OpenIn(n.host.Votes, journalFile, journal.KindVotes)
	if err != nil {
		return nil, fmt.Errorf("open vote journal: %w", err)
	}
	return j, nil
}

// openVotes opens the vote journal, which must not be missing on a used chain.
func openVotes(dataDir string, s *store.Store) (*journal.Journal, error) {
	name := filepath.Join(dataDir, journalFile)
	if height, _ := s.HeadInfo(); height > 0 {
		if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
			return nil, ErrVotesMissing
		}
	}
	j, err := journal.Open(name, journal.KindVotes)
	if err != nil {
		return nil, fmt.Errorf("open vote journal: %w", err)
	}
	return j, nil
}

// headFees returns the base fees of the block after the stored head.
func headFees(s *store.Store, g *chain.Genesis, p *chain.Params) ([chain.NumLanes]chain.FeePair, error) {
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
