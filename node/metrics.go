package node

import (
	"bytes"
	"context"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// registry returns the metrics of the node: every stage counts in plain fields,
// and this is where they become Prometheus series.
func (n *Node) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	counter := func(name, help string, read func() uint64) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "cowboy", Name: name, Help: help},
			func() float64 { return float64(read()) }))
	}
	gauge := func(name, help string, read func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "cowboy", Name: name, Help: help}, read))
	}
	n.ledgerMetrics(counter, gauge)
	n.storeMetrics(gauge)
	n.roomMetrics(gauge)
	n.scrubMetrics(counter, gauge)
	n.marketMetrics(r, gauge)
	r.MustRegister(n.mendingMetrics(counter))
	n.ingressMetrics(counter, gauge)
	n.submittedMetrics(counter, gauge)
	n.depthMetrics(gauge)
	n.consensusMetrics(counter, gauge)
	n.rpcMetrics(counter)
	n.clockMetrics(counter, gauge)
	n.evidenceMetrics(counter, gauge)
	r.MustRegister(newAlarmMetrics(n.alarms), newPartMetrics(n.restarts))
	r.MustRegister(newStageMetrics(&n.engine.Stats))
	n.ownerMetrics(r)
	n.shardMetrics(counter)
	n.budgetMetrics(counter, gauge)
	if n.mesh != nil {
		r.MustRegister(newPeerMetrics(n.mesh.transport), newCommitteeMetrics(n))
		n.checkpointMetrics(counter, gauge)
	}
	return r
}

type (
	counterFunc func(name, help string, read func() uint64)
	gaugeFunc   func(name, help string, read func() float64)
)

func (n *Node) ledgerMetrics(counter counterFunc, gauge gaugeFunc) {
	s := &n.ledger.Stats
	gauge("height", "Height of the last finalized block.", func() float64 { return float64(n.ledger.Head().Height()) })
	gauge("head_timestamp_ms", "Timestamp of the last finalized block in milliseconds.", func() float64 {
		return float64(n.ledger.Head().Block.Header.TimestampMillis)
	})
	counter("blocks_proposed_total", "Blocks built by this node.", s.Proposed.Load)
	counter("blocks_verified_total", "Proposals executed and accepted.", s.Verified.Load)
	counter("drafts_executed_total", "Blocks executed ahead of their proposals.", s.Prepared.Load)
	counter("drafts_used_total", "Proposals that had been executed ahead, from their previews.", s.PreviewsUsed.Load)
	counter("blocks_refused_total", "Proposals refused by a rule.", s.Refused.Load)
	counter("blocks_finalized_total", "Blocks committed since start.", s.Finalized.Load)
	counter("transactions_finalized_total", "Transactions committed since start.", s.TxsFinalized.Load)
	counter("transactions_shed_total", "Transactions that execution refused of what was packed for a block.", s.Skipped.Load)
	counter("blocks_refilled_total", "Own proposals packed again for room that limits had reserved and nobody used.", s.Refilled.Load)
	counter("blocks_doubted_total", "Own proposals packed again because transactions used far more than others that ran the same.", s.PackedAnew.Load)
	counter("blocks_hurried_total", "Executions of own proposals that the proposer's clock ended.", s.Hurried.Load)
	counter("transactions_slow_total", "Transactions dropped because they took far longer than their cycles pay for; each is in the log.", s.Slow.Load)
	counter("execution_faults_total", "Transactions dropped, and previews given up, because executing them is a fault of this program; each is in the log.", s.Faults.Load)
	counter("pack_nanoseconds_total", "Time spent choosing transactions.", s.PackNanos.Load)
	counter("exec_nanoseconds_total", "Time spent executing blocks.", s.ExecNanos.Load)
	execMetrics(s, counter)
	counter("root_nanoseconds_total", "Time spent on state, transaction and receipt roots.", s.RootNanos.Load)
	counter("commit_nanoseconds_total", "Time spent committing to disk.", s.CommitNanos.Load)
}

// ownerMetrics say how long each goroutine, of those through which every transaction or
// every block passes, was at work: the largest of them a transaction is what no number of
// cores makes shorter (topology.go, docs/performance/many-cores.md).
func (n *Node) ownerMetrics(r *prometheus.Registry) {
	owners := map[string]func() uint64{
		"ledger": n.ledger.Stats.OwnerNanos.Load, "disk": n.ledger.Stats.CommitNanos.Load,
		"listeners": n.fanOutNanos.Load, "admission": n.sigverify.Stats.AdmitNanos.Load,
		"engine":      n.engine.Stats.OwnerNanos.Load,
		"rebuild":     func() uint64 { return uint64(n.engine.Stats.Stages[engine.StageRebuild].Sum()) },
		"submissions": n.submitted.Stats.OwnerNanos.Load,
	}
	if n.mesh != nil {
		owners["spread"] = n.mesh.transport.Stats.SpreadNanos.Load
	}
	for owner, nanos := range owners {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "cowboy", Name: "serial_seconds_total", ConstLabels: prometheus.Labels{"owner": owner},
			Help: "Time that one goroutine after another cannot share: who builds and executes blocks, writes the disk, tells final blocks, admits batches in order, runs consensus, puts blocks together from shards, writes down submissions, spreads transactions.",
		}, func() float64 { return float64(nanos()) / 1e9 }))
	}
}

// execMetrics splits the time of execution: all but committing and finishing is added
// up over the workers, so it may exceed exec_nanoseconds_total.
func execMetrics(s *ledger.Stats, counter counterFunc) {
	for _, c := range []struct {
		name, help string
		of         func(x *parallel.Stats) uint64
	}{
		{"blocks", "Blocks executed.", func(x *parallel.Stats) uint64 { return x.Blocks }},
		{"parallel_blocks", "Of them, blocks executed by several workers.", func(x *parallel.Stats) uint64 { return x.Parallel }},
		{"abandoned_blocks", "Of these, blocks finished one by one for their conflicts.", func(x *parallel.Stats) uint64 { return x.Abandoned }},
		{"transactions", "Transactions executed by several workers.", func(x *parallel.Stats) uint64 { return x.Txs }},
		{"executions", "How often they were executed.", func(x *parallel.Stats) uint64 { return x.Executions }},
		{"reruns", "Executions that a conflict made necessary.", func(x *parallel.Stats) uint64 { return x.Reexecuted }},
		{"unforeseen", "Transactions, of those learned from, that touched what was not foreseen.", func(x *parallel.Stats) uint64 { return x.Mispredicted }},
		{"waited", "Transactions that the plan made wait for another.", func(x *parallel.Stats) uint64 { return x.Waited }},
		{"alone", "Transactions that ran at their turn, as those of the same target or sender had conflicts.", func(x *parallel.Stats) uint64 { return x.Alone }},
		{"prepare_nanoseconds", "Time spent on footprints.", func(x *parallel.Stats) uint64 { return x.PrepareNanos }},
		{"plan_nanoseconds", "Time spent on the plan.", func(x *parallel.Stats) uint64 { return x.PlanNanos }},
		{"run_nanoseconds", "Time spent running transactions, of all workers.", func(x *parallel.Stats) uint64 { return x.RunNanos }},
		{"settle_nanoseconds", "Time spent committing them, in order.", func(x *parallel.Stats) uint64 { return x.CommitNanos }},
		{"finish_nanoseconds", "Time spent on the ends of blocks executed by several workers.", func(x *parallel.Stats) uint64 { return x.FinishNanos }},
	} {
		counter("exec_"+c.name+"_total", c.help, func() uint64 { x := s.Exec(); return c.of(&x) })
	}
}

// rpcMetrics counts what goes wrong for readers. The server is made after the registry.
func (n *Node) rpcMetrics(counter counterFunc) {
	of := func(read func(*rpc.Stats) uint64) func() uint64 {
		return func() uint64 {
			if api := n.api.Load(); api != nil {
				return read(&api.Stats)
			}
			return 0
		}
	}
	counter("rpc_requests_total", "Requests to the API.", of(func(s *rpc.Stats) uint64 { return s.Requests.Load() }))
	counter("rpc_refused_total", "Requests refused for the load.", of(func(s *rpc.Stats) uint64 { return s.Refused.Load() }))
	counter("rpc_failed_total", "Requests that this node failed on.", of(func(s *rpc.Stats) uint64 { return s.Failed.Load() }))
	counter("rpc_panics_total", "Of them, and of event streams, those that met a defect of this program; each is in the log.",
		of(func(s *rpc.Stats) uint64 { return s.Panics.Load() }))
	counter("rpc_connections_refused_total", "Connections closed at once for want of a place.", of(func(s *rpc.Stats) uint64 { return s.ConnsRefused.Load() }))
	counter("rpc_connections_evicted_total", "Idle connections closed for others.", of(func(s *rpc.Stats) uint64 { return s.ConnsEvicted.Load() }))
}

func (n *Node) storeMetrics(gauge gaugeFunc) {
	gauge("store_bytes", "Size of the store on disk.", func() float64 { return float64(n.store.DiskBytes()) })
	gauge("store_block_bytes", "Of it, files of finalized blocks.", func() float64 { return float64(n.store.BlockBytesOnDisk()) })
	gauge("store_undo_bytes", "Of it, about what old values of the last blocks take once they are out of the log.",
		func() float64 { return float64(n.store.UndoBytes()) })
}

func (n *Node) checkpointMetrics(counter counterFunc, gauge gaugeFunc) {
	s := &n.states.Stats
	gauge("checkpoint_height", "Height of the newest checkpoint that is served; 0 for none.", func() float64 { return float64(s.Height.Load()) })
	counter("checkpoint_failures_total", "Checkpoints that were not made, and folders of them that could not be read; the log has each.", s.Failed.Load)
	counter("checkpoint_chunks_served_total", "Chunks of state handed to joining nodes.", s.Served.Load)
	counter("checkpoint_bytes_served_total", "Their bytes.", s.Bytes.Load)
}

// adminMux serves metrics and profiles on the admin address.
func adminMux(metrics http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// gatheredFor is how long metrics are served again as they were gathered. That takes
// milliseconds and the locks of the store, and anybody may ask.
const gatheredFor = 500 * time.Millisecond

// metricsServer answers anybody with the metrics of a registry, gathered now or a moment
// ago. On the admin address they are always of now.
func metricsServer(r prometheus.Gatherer) *gathered {
	return &gathered{from: promhttp.HandlerFor(r, promhttp.HandlerOpts{DisableCompression: true}), now: time.Now}
}

// gathered is an answer that is given again for a moment.
type gathered struct {
	from http.Handler
	now  func() time.Time

	mu   sync.Mutex // guards all below
	at   time.Time
	last *page
}

// ServeHTTP implements http.Handler.
func (g *gathered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := g.fresh(r)
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(p.body.Bytes()) // or the client has left
}

// fresh gathers anew, in one form for all who ask, if the last time is too long ago.
func (g *gathered) fresh(r *http.Request) *page {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := g.now(); g.last == nil || now.Sub(g.at) >= gatheredFor {
		p := &page{header: http.Header{}, status: http.StatusOK}
		plain := r.Clone(context.WithoutCancel(r.Context()))
		plain.Header = http.Header{}
		g.from.ServeHTTP(p, plain)
		g.last, g.at = p, now
	}
	return g.last
}

// page is an answer in memory. Once it is written, nothing in it changes.
type page struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (p *page) Header() http.Header { return p.header }

// WriteHeader implements http.ResponseWriter.
func (p *page) WriteHeader(status int) { p.status = status }

// Write implements http.ResponseWriter.
func (p *page) Write(b []byte) (int, error) { return p.body.Write(b) }
