package simnode

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// Report is what a run came to.
type Report struct {
	Hours   float64 // of validators
	Blocks  chain.Height
	Views   chain.View
	Lives   int
	Healed  chain.View // views from the end of the faults until all were level
	Packets packetCounts
	// Most bytes that an honest engine was seen to hold in its inbox and of blocks.
	InboxMax, BlocksMax int64
	Transfers           int            // final ones
	FullMost            float64        // of the budget of blocks, while hoarders withheld their votes
	GuestBytes          int64          // most that one validator sent to guests
	States              map[string]int // rare states, and how often they were reached
	trace               *trace
}

// WriteTrace writes the trace of the run to a file.
func (r *Report) WriteTrace(name string) error { return r.trace.writeTo(name) }

// run is one simulation in progress.
type run struct {
	plan     Plan
	genesis  *genesis.Genesis
	trace    *trace
	net      *network
	witness  *witness
	machines []*machine
	rng      *rand.Rand
	report   *Report
	pact     *pact

	wallets   []*wallet
	strangers []*stranger
	joiner    *machine      // the node that joins
	fetch     fetch         // its state sync
	withholds atomic.Bool   // hoarders keep their votes back
	judged    atomic.Uint64 // the newest view of which a hoarder judged a block before that

	memo      *memo
	proposers *ledger.Proposers
	runtimes  []*vm.Runtime

	banned map[int]bool // machines that an honest one banned
	spoke  map[int]bool // machines that were on for a while
	// Of runs with several lives of one key.
	convictions, stopped int
}

// healViews is how many views of an honest majority pass, after the faults end,
// until all honest validators are level: a liar may lead several of them, what was
// banned is forgiven after minutes only, and who was away catches up meanwhile.
const healViews = 40

// Play plays a plan in a bubble of its own. t's folder keeps the keys.
func Play(t *testing.T, plan Plan) (report Report, err error) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") // there is no socket here
	cryptotest.SetGlobalRandom(t, plan.Seed)                   // the keys, and with them who leads which view
	synctest.Test(t, func(t *testing.T) {
		report, err = play(dir, plan)
	})
	return report, err
}

func play(dir string, plan Plan) (Report, error) {
	r := newRun(plan)
	if err := r.deal(dir); err != nil {
		return *r.report, err
	}
	company, leave := context.WithCancel(context.Background())
	gone := r.welcome(company)
	err := r.storm()
	if err == nil {
		err = r.calm(leave)
	}
	leave()
	<-gone
	r.fetch.giveUp()
	err = errors.Join(err, r.stop())
	r.visited()
	if lie := r.unnoticed(); err == nil && lie != "" {
		err = fmt.Errorf("%w: %s", ErrUnnoticed, lie)
	}
	if breach := r.witness.broke(); breach != nil {
		err = breach
	}
	r.closeReport()
	time.Sleep(time.Minute) // packets and timers that nobody waits for run out
	return *r.report, err
}

// welcome lets wallets and strangers begin. What it returns is closed when they and a
// fetch of state have ended, after ctx.
func (r *run) welcome(ctx context.Context) <-chan struct{} {
	var all sync.WaitGroup
	for _, w := range r.wallets {
		all.Go(func() { w.sendTransfers(ctx) })
	}
	all.Go(func() { r.visits(ctx) })
	gone := make(chan struct{})
	go func() { all.Wait(); close(gone) }()
	return gone
}

// deal makes the chain and its machines.
func (r *run) deal(dir string) error {
	n := r.plan.Validators
	opts := setup.DealOptions{Validators: n, DevnetOptions: setup.DevnetOptions{BlockTime: r.plan.BlockTime}}
	if r.plan.JoinsAt > 0 {
		opts.FullNodes = 1
	}
	if r.plan.Withheld > 0 {
		var err error
		if opts.GenesisFile, err = smallBlocks(dir); err != nil {
			return err
		}
	}
	g, err := setup.Deal(dir, opts)
	if err != nil {
		return err
	}
	r.genesis = g
	if err := r.share(g); err != nil {
		return err
	}
	var addresses []string
	for i := range n {
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", 5001+10*i))
	}
	if err := setup.WriteDealtPeers(dir, g, addresses); err != nil {
		return err
	}
	for i := range n {
		m := &machine{run: r, id: i, place: i, dir: datadir.DealtFolder(dir, i), address: addresses[i]}
		if liar := i - (n - len(r.plan.Liars)); liar >= 0 {
			m.lie = r.plan.Liars[liar]
		}
		m.disk = newDisk(i, rand.New(rand.NewPCG(r.plan.Seed, uint64(100+i))), r.trace)
		m.disk.slow = r.plan.SlowSync
		if i == 0 && r.plan.SlowDisk > 0 {
			m.disk.slow = r.plan.SlowDisk
		}
		keys, err := datadir.LoadKeys(m.dir)
		if err != nil {
			return err
		}
		m.guards = guard.Identity{Genesis: g.Hash(), Peer: chain.PeerKey(keys.Peer.PublicKey())}
		if err := guard.CreateIn(guardFolder{folder{m.disk, m.disk.guard}}, m.guards); err != nil {
			return err
		}
		if r.plan.Skew > 0 {
			m.skew.Store(int64(r.span(2*r.plan.Skew) - r.plan.Skew))
		}
		r.machines = append(r.machines, m)
	}
	if r.plan.JoinsAt > 0 {
		r.joins(dir)
	}
	r.newWallets()
	r.newStrangers()
	return nil
}

// smallBlocks writes the template of a chain whose blocks are small.
func smallBlocks(dir string) (string, error) {
	g := genesis.DevnetTemplate()
	g.Params.MaxTxBytes, g.Params.MaxBlockBytes = 68<<10, smallBlockBytes
	raw, err := g.MarshalJSON()
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "template.json")
	return name, os.WriteFile(name, raw, 0o600)
}

// honest says of a place whether an honest validator is there.
func (r *run) honest(place int) bool {
	return place < len(r.machines) && r.machines[place].honest() && !r.machines[place].follows
}

// closeReport closes the report.
func (r *run) closeReport() {
	r.report.Hours = time.Since(r.trace.began).Hours() * float64(r.plan.Validators)
	_, r.report.Blocks, r.report.Views = r.witness.level(r.honest)
	for _, m := range r.machines {
		r.report.Lives += m.lives
	}
	r.witness.rare(r.report.States)
	r.net.mu.Lock()
	r.report.Packets = r.net.Counts
	for i, e := range r.net.guests {
		if i < len(r.machines) && r.machines[i].honest() {
			r.report.GuestBytes = max(r.report.GuestBytes, e.all)
		}
	}
	r.net.mu.Unlock()
}

// stop ends all lives.
func (r *run) stop() error {
	var errs []error
	for _, m := range r.machines {
		if m.life == nil {
			continue
		}
		if err := m.stop(); err != nil && !errors.Is(err, context.Canceled) && m.honest() {
			errs = append(errs, fmt.Errorf("%w: %d at the stop: %w", ErrEnded, m.id, err))
		}
	}
	return errors.Join(errs...)
}

// span draws a time below d.
func (r *run) span(d time.Duration) time.Duration { return time.Duration(r.rng.Int64N(int64(d))) }
