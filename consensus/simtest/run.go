package simtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Config is one run. Everything that happens follows from it.
type Config struct {
	Seed       uint64
	Validators int
	RealKeys   bool    // BLS12-381 instead of hashes
	Sharded    bool    // blocks have bodies, which travel as shards
	Player     *Player // of validator 0; nil: all are honest

	Latency    time.Duration // of every message
	Jitter     time.Duration // at most this more
	Loss       float64       // share of messages
	Repeat     float64       // share of messages that arrive twice
	Crash      float64       // chance per journal sync and per pruning
	SplitEvery time.Duration // mean length of partitions and of pauses between; 0: none

	BlockTime time.Duration // least time between blocks; 0: none
	Skew      time.Duration // clocks differ by up to so much, and run wrong by up to 2 %

	Busy    float64       // chance per message that its receiver is busy for a while, and then takes what came in one turn
	BusyFor time.Duration // at most so long

	Execution  time.Duration // of a block; leaders hand out previews of whole ones
	NoPreviews bool          // they do not
	SkipAfter  int           // as in [simplex.Skip]; 0: never

	Observers int                  // nodes that follow without a vote
	Twins     int                  // the first validators run twice, with one key and two minds
	Elector   simplex.Elector      // nil: that of the protocol
	Rich      bool                 // validator 0 has more than half of the stake
	Rollback  float64              // chance per crash of the last node that its journal is an old one
	NoGuard   bool                 // no watermark beside the journal
	Stopped   []beacon.Participant // not started; a scenario does it

	Faults time.Duration // how long all of this lasts
	Quiet  time.Duration // how long the network is then sound
}

// Report is what happened in a run.
type Report struct {
	Audit  [32]byte // of every delivery, view and crash
	Blocks int      // finalized
	Views  chain.View
	Hours  float64 // validator-hours simulated

	Steps, Messages, Lost, Cut, Repeated         int
	Crashes, Partitions, Timeouts, Skips         int
	Equivocations, Bans, BlocksFetched, BothEnds int
	Evidence, Rollbacks, Withheld, Fetches       int

	FinalTogether                             int // turns with several finalities
	BlocksRebuilt, ShardsRefused, NotCodeword int
	WrongBlocks                               int // bytes that were not the block of their digest

	PreviewsSent, PreviewsUsed         int
	PreviewsRefused, PreviewsDiscarded int // out of turn; of views that were given up
	BuiltAhead, Abandoned              int // own blocks on a parent not yet final; in views that ended first

	TornSyncs, LostRenames int

	Margins Margins // resolution 11.17
}

// Draw returns the configuration that a seed stands for.
func Draw(seed uint64) Config {
	rng := rand.New(rand.NewPCG(seed, 1))
	pick := func(odds float64, f func()) {
		if rng.Float64() < odds {
			f()
		}
	}
	cfg := Config{
		Seed: seed, Validators: 4, RealKeys: seed%20 == 7,
		Latency: time.Duration(1+rng.IntN(100)) * time.Millisecond,
		Faults:  90 * time.Second, Quiet: 90 * time.Second,
	}
	pick(0.1, func() { cfg.Validators = 1 })
	pick(0.15, func() { cfg.Validators = 5 + rng.IntN(3) })
	pick(0.1, func() { cfg.Observers = 1 })
	pick(0.2, func() { cfg.Rich = true })
	pick(0.6, func() { cfg.Jitter = time.Duration(rng.IntN(600)) * time.Millisecond })
	pick(0.5, func() { cfg.Loss = 0.4 * rng.Float64() })
	pick(0.4, func() { cfg.Repeat = 0.3 * rng.Float64() })
	pick(0.5, func() { cfg.Crash = 0.03 * rng.Float64() })
	pick(0.4, func() { cfg.SplitEvery = time.Duration(1+rng.IntN(15)) * time.Second })
	pick(0.3, func() { cfg.Rollback = 0.5 })
	pick(0.5, func() { cfg.BlockTime = time.Second })
	pick(0.4, func() { cfg.Skew = 2 * time.Second })
	pick(0.4, func() { cfg.Execution = time.Duration(10+rng.IntN(200)) * time.Millisecond })
	pick(0.8, func() { cfg.SkipAfter = 1 + rng.IntN(12) })
	if cfg.Validators == 1 {
		cfg.Rollback = 0 // nobody else knows what it forgets
	}
	if cfg.Validators > 1 {
		pick(0.6, func() { players := Players(); cfg.Player = players[int(seed+seed/8)%len(players)] })
	}
	cfg.Sharded = cfg.Validators > 3 && (seed%3 == 0 || cfg.Player != nil && cfg.Player.shards)
	if cfg.Observers > 0 { // it executes whole answers, block after block
		cfg.Execution = min(cfg.Execution, 50*time.Millisecond)
	}
	if cfg.Player != nil && cfg.Player.previews {
		cfg.Sharded, cfg.Execution = false, max(cfg.Execution, 50*time.Millisecond)
	}
	pick(0.4, func() { cfg.Busy, cfg.BusyFor = 0.03*rng.Float64(), time.Duration(100+rng.IntN(1400))*time.Millisecond })
	if cfg.RealKeys {
		cfg.Validators = min(cfg.Validators, 4)
		cfg.Faults, cfg.Quiet = 55*time.Second, 55*time.Second
		if seed%3 == 0 && cfg.Validators > 1 { // only with these keys can a contradiction be proven
			cfg.Player = &Player{Name: "conflicter", rewrite: contradictSelf}
		}
	}
	return cfg
}

// String names the circumstances.
func (c Config) String() string {
	player := "none"
	if c.Player != nil {
		player = c.Player.Name
	}
	return fmt.Sprintf("n=%d+%d real=%v shards=%v rich=%v player=%q latency=%v+%v loss=%.2f repeat=%.2f crash=%.3f rollback=%.1f split=%v block=%v skew=%v skip=%d execution=%v busy=%.3f*%v",
		c.Validators, c.Observers, c.RealKeys, c.Sharded, c.Rich, player, c.Latency, c.Jitter, c.Loss, c.Repeat, c.Crash, c.Rollback, c.SplitEvery, c.BlockTime, c.Skew, c.SkipAfter, c.Execution, c.Busy, c.BusyFor)
}

// Run plays cfg and returns what happened. The error is the first invariant
// that did not hold.
func Run(cfg Config) (Report, error) {
	n, err := newNetwork(cfg)
	if err != nil {
		return Report{}, err
	}
	n.startAll()
	if cfg.SplitEvery > 0 {
		n.after(n.between(0, cfg.SplitEvery), n.split)
	}
	n.runUntil(cfg.Faults)
	n.quiet = true
	n.heal()
	// Everyone is back within the longest absence; what happens until then is
	// still the faults' doing.
	n.runUntil(cfg.Faults + 10*time.Second)
	before := n.heights()
	n.runUntil(cfg.Faults + cfg.Quiet)
	n.liveness(before)
	n.closeReport()
	return n.report, n.err
}

// newNetwork returns the world of cfg, in which nobody has started yet.
func newNetwork(cfg Config) (*network, error) {
	set, schemes, err := committee(cfg)
	if err != nil {
		return nil, err
	}
	nodes := cfg.Validators + cfg.Twins + cfg.Observers
	n := &network{
		cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 2)),
		side: make([]int, nodes), links: make(map[[2]int]*Link), audit: keccak.New(),
	}
	n.ledger = newAuditor(n)
	code, err := newCode(cfg)
	if err != nil {
		return nil, err
	}
	genesis := chain.Hash{0xcb, byte(cfg.Seed)}
	for node := range nodes {
		v := &validator{net: n, node: node, id: beacon.Participant(node), set: set, elector: cfg.Elector, app: &application{genesis: genesis, code: code}}
		twin := node - cfg.Validators
		switch {
		case twin >= 0 && twin < cfg.Twins:
			v.id, v.player = beacon.Participant(twin), &Player{Name: "twin"}
		case twin >= 0:
			v.id -= beacon.Participant(cfg.Twins)
		case node < cfg.Twins:
			v.player = &Player{Name: "twin"}
		case node == 0:
			v.player = cfg.Player
		}
		if v.elector == nil {
			v.elector = set
		}
		v.rate = 1
		if cfg.Skew > 0 {
			v.offset = n.between(-cfg.Skew, cfg.Skew)
			v.rate += 0.04 * (n.rng.Float64() - 0.5)
		}
		v.scheme = schemes[min(int(v.id), cfg.Validators-1)] // an observer only verifies
		n.validators = append(n.validators, v)
	}
	return n, nil
}

// startAll starts everybody who is not to be started later.
func (n *network) startAll() {
	for _, v := range n.validators {
		if !slices.Contains(n.cfg.Stopped, v.id) {
			n.after(n.between(0, 100*time.Millisecond), v.start)
		}
	}
}

func (n *network) heights() []int {
	out := make([]int, len(n.validators))
	for i, v := range n.validators {
		out[i] = len(v.app.chain)
	}
	return out
}

// liveness wants every honest validator to have gone on, and to be near the
// others.
func (n *network) liveness(before []int) {
	if n.err != nil {
		return
	}
	tip := len(n.ledger.chain)
	for i, v := range n.validators {
		height := len(v.app.chain) + v.app.undelivered()
		lag := 5
		if v.observes() {
			lag = 20 // it fetches what validators get, and some answers are lies
		}
		if v.player == nil && (!v.up || height < before[i]+3 || height < tip-lag) {
			n.recordBreach("validator %d (up: %v) has %d blocks in view %d, %d when the faults ended, the longest chain %d: %w",
				i, v.up, height, v.machine.View(), before[i], tip, errNoProgress)
		}
	}
}

var errNoProgress = errors.New("no progress in a sound network")

// closeReport looks at all that was said and closes the report.
func (n *network) closeReport() {
	n.ledger.inspect()
	n.report.Margins = n.ledger.margins.report(n.ledger)
	n.report.Audit = n.audit.Sum256()
	n.report.Blocks = len(n.ledger.chain)
	n.report.Hours = float64(len(n.validators)) * n.now.Hours()
	for _, v := range n.validators {
		if v.machine != nil {
			n.report.Views = max(n.report.Views, v.machine.View())
		}
	}
}

// add sums reports over runs.
func (r *Report) add(o Report) {
	r.Blocks += o.Blocks
	r.Hours += o.Hours
	r.Steps += o.Steps
	r.Messages += o.Messages
	r.Lost += o.Lost
	r.Cut += o.Cut
	r.Repeated += o.Repeated
	r.Crashes += o.Crashes
	r.Partitions += o.Partitions
	r.Timeouts += o.Timeouts
	r.Skips += o.Skips
	r.Equivocations += o.Equivocations
	r.Bans += o.Bans
	r.BlocksFetched += o.BlocksFetched
	r.BothEnds += o.BothEnds
	r.Evidence += o.Evidence
	r.Rollbacks += o.Rollbacks
	r.Withheld += o.Withheld
	r.Fetches += o.Fetches
	r.FinalTogether += o.FinalTogether
	r.BlocksRebuilt += o.BlocksRebuilt
	r.ShardsRefused += o.ShardsRefused
	r.NotCodeword += o.NotCodeword
	r.WrongBlocks += o.WrongBlocks
	r.PreviewsSent += o.PreviewsSent
	r.PreviewsUsed += o.PreviewsUsed
	r.PreviewsRefused += o.PreviewsRefused
	r.PreviewsDiscarded += o.PreviewsDiscarded
	r.BuiltAhead += o.BuiltAhead
	r.Abandoned += o.Abandoned
	r.TornSyncs += o.TornSyncs
	r.LostRenames += o.LostRenames
	r.Margins.add(o.Margins)
}
