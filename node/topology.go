package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// The machine on one page: every goroutine that lives as long as the node, and
// every queue between them.
//
//	goroutine        owns                              woken by
//	---------        ----                              --------
//	signatures ×N    scratch buffers                   raw queue
//	consensus        machine, journal, view timers     peers, timers, application's answers
//	its calls        nothing: each waits for the       the engine; one Propose, one Finalized and a
//	                 ledger or sigverify               few Verify at a time
//	ledger           head, tree of executed blocks     its inbox
//	fan-out          how deep the pool is              finalized events
//	evidence         proofs of contradictions          the engine, its submitter, every minute
//	submitter        what it submits against others,   final blocks
//	                 and which cases are settled
//	submissions      file of clients' submissions      its queue, five times a second
//	lanes            nothing: it ends the pool         the end of the node
//	mesh             connections, address book         UDP socket, its queues
//	its dials ×N     the link to one validator         a lost link, pauses that grow
//	its links ×N     a writer, and a reader a stream   the peer, what is queued for it
//	its flood        transactions to be spread         the pool's way in
//	its clocks ×3    nothing: own address record, log  clocks
//	                 of strangers, log of drops
//	its book         file of addresses                 what peers tell of themselves
//	checkpoints      files of recent states            peers' requests, every 10,000th commit
//	room for state   what it has warned of             a clock
//	scrub            blocks known to be damaged        a clock
//	runner market    what it counted last            a clock
//	repair           the damaged block in hand         scrub, a clock, the answer of a peer
//	blocks served    what each peer was given          peers' requests
//	clock            nothing                           every five seconds
//	trials ×2        an engine each                    readers' calls and estimates, client by client
//	RPC, admin pages nothing (snapshots only)          sockets
//	state sync       the state that is fetched         peers' chunks; before the node, with --sync
//
//	queue             from → to            depth      unit           when full    why that depth
//	-----             ---------            -----      ----           ---------    --------------
//	raw               rpc → sigverify      16,384     transactions   refuse       half a second of recovery on one core
//	                                       64 MiB     bytes          refuse       memory
//	peers             network → engine     4,096      messages       refuse       several views of 128 validators
//	                                       32         largest blocks forget       the leaders of two views
//	reorder buffer    sigverify → pool     4/worker   batches        wait         a late batch holds up the rest
//	answers           calls → engine       0          answers        wait         a call has nothing else to do
//	undelivered       engine → ledger      8          blocks         no proposals the disk sets the pace
//	ledger's inbox    calls → ledger       8          requests       wait         consensus has few under way
//	trials            rpc → trials         32         calls          refuse       each takes a tenth of a second at most
//	finalized         ledger → fan-out     256        blocks         wait         no final block may be skipped
//	subscribers       fan-out → rpc        64 each    blocks         drop reader  it resumes from the store
//	evidence          engine → its file    64         proofs         forget       an accused is banned with the first
//	settled           submitter → evidence 64         offences       forget       it says so again with the next block
//	submitted         sigverify → its file 4,096      submissions    drop new     seconds of a slow disk; clients may resend
//	                                       8 MiB      bytes          drop new     memory
//	inbox             mesh → engine        4,096      messages       not read     128 peers' votes of several views
//	votes             engine → each peer   1,024      messages       drop oldest  older views matter less
//	certificates      engine → each peer   512        messages       drop oldest  the same
//	blocks            engine → each peer   16 MiB     bytes, or 4    drop oldest  memory is shared between peers
//	fetch             engine → each peer   64         messages       drop oldest  who lacks something asks again
//	shards            engine → each peer   256        messages       drop oldest  two a view, of large blocks
//	                                       16 MiB     bytes, or 4    drop oldest  memory is shared between peers
//	requests of state mesh → checkpoints   64         requests       not read     each peer has a few
//	chunks of state   mesh → state sync    64         chunks         not read     as many as are asked for
//	requests of parts mesh → blocks served 1,024      requests       not read     one of each peer
//	parts             mesh → repair        1          answers        drop new     one is asked for at a time
//	gossip            pool → mesh's flood  32 MiB     bytes          drop new     half a second of a full network
//	state             checkpoints → peer   2          largest chunks drop new     who lacks something asks again
//	transactions      pool → each peer     32 MiB     bytes          drop new     its leader may have them from others
//
// "Not read" means that the peer's stream is left alone until there is room;
// the mesh has no more on it in node/p2p. A validator without others has none.
// The engine's own inboxes are listed with it (consensus/engine). Requests go
// one way round, engine → ledger → lanes; results come back as the reply to
// the request, or as the one finalized event. The pool of lanes has no
// goroutine: sigverify's workers, the ledger's proposal, the fan-out and the
// API's readers use it in place, under the locks of its shards.

// What every transaction or every block passes one after the other is counted, as wall
// time at work: cowboy_serial_seconds_total by owner (ownerMetrics). More cores do not
// shorten the longest of them (docs/performance/many-cores.md).
//
//   - ledger: one goroutine builds, executes and verifies blocks, one at a time; what it
//     hands to workers meanwhile is within its time.
//   - disk: the call of Finalized commits one block after the other, beside the ledger.
//   - listeners: the fan-out tells one final block after the other to pool, readers and log.
//   - admission: whoever holds the turn of the reorder buffer admits one batch after the
//     other, though the pool itself could take several.
//   - engine: the loop takes one input after the other, and waits for the journal's sync
//     before its votes leave.
//   - rebuild: a block that came as shards is put together and held to its root by one
//     goroutine, before anything else can be done with it.
//   - submissions: one goroutine writes down what clients submitted here; nobody waits for
//     it, but what it cannot keep up with is not kept.
//   - spread: one goroutine frames what goes on to other members and puts it into their
//     queues; behind these every connection has writers of its own.

// Run starts everything, in an order in which each part finds those it asks
// running, and stops in the reverse order when ctx ends or a part fails that the node
// cannot do without: parts.go says which.
func (n *Node) Run(ctx context.Context) error {
	g := newGroup(ctx, n.restarts)
	inner := newGroup(context.WithoutCancel(ctx), n.restarts) // outlives the doors and the engine

	inner.start(partLanes, n.lanes.Run)
	inner.start(partSignatures, n.sigverify.Run)
	inner.start(partLedger, n.ledger.Run)
	inner.start(partFanOut, n.fanOut)
	inner.start(partEvidence, n.evidence.Run)
	inner.start(partRoom, n.room.run)
	inner.start(partScrub, n.scrub.run)
	inner.start(partMarket, n.market.run)
	inner.start(partRepair, n.mending.client.Run)
	inner.start(partClock, n.watchClock)
	inner.start(partSubmissions, n.submitted.Run)
	inner.start(partSubmitter, n.submitter.Run)

	if n.mesh != nil {
		g.start(partMesh, n.mesh.run)
		inner.start(partCheckpoints, n.states.Run)
		inner.start(partBlocksServed, n.mending.server.Run)
	}
	g.start(partConsensus, n.engine.Run)
	api, err := rpc.New(n.rpcConfig(), n.answers)
	if err != nil {
		inner.stop()
		g.stop()
		return errors.Join(err, g.wait(), inner.wait())
	}
	inner.start(partTrials, n.answers.Run)
	n.api.Store(api)
	rpcFirst, adminFirst := n.rpcListener, n.adminListener
	g.start(partRPC, func(ctx context.Context) error {
		n.awaitReplay(ctx)
		return n.serveOn(ctx, &rpcFirst, "RPC", n.RPCAddr(), api.Serve)
	})
	g.start(partAdmin, func(ctx context.Context) error {
		return n.serveOn(ctx, &adminFirst, "admin", n.AdminAddr(), n.serveAdmin)
	})
	n.log.Info("node is running", "chain", n.genesis.ChainID, "genesis", n.chainHash,
		"height", n.ledger.Head().Height(), "rpc", n.RPCAddr(), "admin", n.AdminAddr(),
		"senders", secp256k1.NewRecoverer(cpu.Chosen()).Name(), "digests", keccak.NewSummer(cpu.Chosen()).Name())

	select {
	case <-g.ended():
	case <-inner.ended():
	}
	n.stopping.Store(true)
	n.log.Info("stopping", "height", n.ledger.Head().Height())
	n.answers.Stop()
	g.stop()
	err = g.wait()
	inner.stop()
	err = errors.Join(err, inner.wait())
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrDiskFull) {
		err = n.refused(datadir.StoreFolder, err)
	}
	n.log.Info("stopped", "height", n.ledger.Head().Height())
	return err
}

func (n *Node) rpcConfig() rpc.Config {
	cfg := rpc.DefaultConfig()
	cfg.Devnet, cfg.Genesis, cfg.Log = n.cfg.Devnet, n.genesis, n.log
	cfg.Metrics = metricsServer(n.registry())
	cfg.RequestsPerSecond, cfg.DebtMax, cfg.Hosts, cfg.Proxies = n.cfg.RPCPerSec, n.cfg.RPCDebt, n.cfg.RPCHosts, n.cfg.RPCProxies
	cfg.ClientShare, cfg.Starting, cfg.Explain = clientShare(cfg.Devnet), n.starting, n.scrub.explain
	return cfg
}

// clientShare is how much one client may hold of what others leave, in percent.
func clientShare(devnet bool) int {
	if devnet {
		return 100 // a developer's programs all call from one address
	}
	return rpc.DefaultConfig().ClientShare
}

// finalListener is a part of the node that hears of each final block, in order.
type finalListener struct {
	name string
	// hear takes the block. The next one waits until it returns, so it does not wait
	// for the outside; its error ends the fan-out and with it the node.
	hear func(ctx context.Context, e ledger.Event) error
}

// finalListeners are those who hear of a final block, in the order in which they do:
// the lanes first, so that a client that sees the block and sends the next nonce is
// not refused.
func (n *Node) finalListeners() []finalListener {
	return []finalListener{
		{"lanes", n.advanceLanes},
		{"depth of the pool", n.deepen},
		{"readers", func(_ context.Context, e ledger.Event) error { n.answers.Finalized(e); return nil }},
		{"log", func(_ context.Context, e ledger.Event) error { n.logBlock(e); return nil }},
	}
}

// fanOut hands each finalized block to the listeners.
func (n *Node) fanOut(ctx context.Context) error {
	listeners := n.finalListeners()
	for {
		var e ledger.Event
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e = <-n.ledger.Events():
		}
		began := time.Now()
		for _, l := range listeners {
			if err := l.hear(ctx, e); err != nil {
				if ctx.Err() != nil {
					return ctx.Err() // an orderly stop, in which the lanes may have ended first
				}
				return fmt.Errorf("%s: %w", l.name, err)
			}
		}
		n.fanOutNanos.Add(uint64(time.Since(began)))
	}
}

func (n *Node) advanceLanes(ctx context.Context, e ledger.Event) error {
	return advance(ctx, n.lanes, e.Head(), func() state.View { return n.store.Head() })
}

// quietBlocks is how many empty blocks pass between two lines of the log.
const quietBlocks = 60

func (n *Node) logBlock(e ledger.Event) {
	h := &e.Block.Header
	if len(e.Txs) == 0 && h.Height%quietBlocks != 0 {
		n.log.Debug("block is final", "height", h.Height, "view", h.View)
		return
	}
	n.log.Info("block is final", "height", h.Height, "view", h.View, "txs", len(e.Txs), "bytes", len(e.Encoded), "hash", e.Digest)
}

// serveOn serves on the listener that was taken at the start, which it does once, and
// when that has failed on a new one at the same address.
func (n *Node) serveOn(ctx context.Context, first *net.Listener, what, addr string, serve func(context.Context, net.Listener) error) error {
	l := *first
	if *first = nil; l == nil {
		var err error
		if l, err = n.listen(what, addr); err != nil {
			return err
		}
	}
	defer l.Close()
	return serve(ctx, l)
}

// serveAdmin serves metrics and profiles until ctx ends, and the health of the node,
// which the API may be unable to tell.
func (n *Node) serveAdmin(ctx context.Context, l net.Listener) error {
	mux := adminMux(promhttp.HandlerFor(n.registry(), promhttp.HandlerOpts{}))
	mux.Handle("GET /health", n.api.Load())
	mux.Handle("GET /health/ready", n.api.Load())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		_ = server.Close() // the connections that stood
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		_ = server.Close() // a profile under way does not hold the node up
	}
	<-done
	return ctx.Err()
}

// headTaker is the lanes, as advance needs them.
type headTaker interface {
	Finalized(ctx context.Context, head lanes.FinalizedHead) error
}

// advance tells the lanes of a finalized block. If so many blocks were final
// meanwhile that its state is no longer kept, they read the newest instead: its
// nonces are further on, and the blocks between follow.
func advance(ctx context.Context, to headTaker, head lanes.FinalizedHead, newest func() state.View) error {
	err := to.Finalized(ctx, head)
	if errors.Is(err, store.ErrStale) {
		head.View = newest()
		err = to.Finalized(ctx, head)
	}
	return err
}
