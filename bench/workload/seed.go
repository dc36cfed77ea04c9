package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/solo"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/timers"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// Refusals of a seeding.
var (
	// ErrNotEmpty means that the folder holds something already. A seeding that was
	// cut off is begun anew in an empty folder.
	ErrNotEmpty = errors.New("folder is not empty: choose another, or remove it")
	// ErrTooManyTimers means more timers than the actors may have.
	ErrTooManyTimers = errors.New("more timers than the actors may have: ask for more actors")
	// ErrShortQueue means that no timer can sleep in the epoch queue of the genesis.
	ErrShortQueue = errors.New("the genesis has too short a queue of timers: timer.queue_epochs must be above 8")
	// ErrNoMoney means that the development accounts cannot pay for the state.
	ErrNoMoney = errors.New("the development accounts have less than the state costs: a genesis with a lower timer.base_deposit, such as profiles/genesis/unbounded.json, or less of everything")
)

// SeedConfig says how large a state is to be.
type SeedConfig struct {
	Dir       string        // made, or empty
	Genesis   string        // template; empty: that of profiles/genesis/unbounded.json
	BlockTime time.Duration // 0: as the genesis says
	Accounts  int           // people with money
	Actors    int           // sleepers, each of one of the people
	Timers    int           // of all sleepers
	Runners   int           // accounts with money: there is no market of runners
	Seed      uint64
}

// DefaultSeedConfig is a state that is made in a minute.
func DefaultSeedConfig() SeedConfig {
	return SeedConfig{Accounts: 1000, Actors: 100, Timers: 100_000, Seed: 1}
}

// Check reports the first number that makes no state.
func (c *SeedConfig) Check() error {
	const most = 100_000_000
	for _, n := range []struct {
		name string
		v    int
	}{{"accounts", c.Accounts}, {"actors", c.Actors}, {"timers", c.Timers}, {"runners", c.Runners}} {
		if n.v < 0 || n.v > most {
			return fmt.Errorf("%d %s, want 0 to %d", n.v, n.name, most)
		}
	}
	if c.Actors > 0 && c.Accounts == 0 {
		return errors.New("actors without accounts: they are deployed by the people")
	}
	return nil
}

// Seeded is what a seeding made.
type Seeded struct {
	Genesis          chain.Hash
	Height           chain.Height
	Root             chain.Hash
	Accounts, Actors int
	Runners          int
	Timers           uint64 // that sleep, as the state counts them
	DiskBytes        uint64
	Took             time.Duration
}

// Seed makes a development chain in an empty folder and fills its state by
// ordinary transactions: payments, and deployments of actors that set timers. The
// folder is one of `cowboyd run`, and all its blocks can be executed again.
func Seed(ctx context.Context, cfg SeedConfig, log io.Writer) (Seeded, error) {
	if err := cfg.Check(); err != nil {
		return Seeded{}, err
	}
	if err := empty(cfg.Dir); err != nil {
		return Seeded{}, err
	}
	if _, err := PrepareChain(cfg.Dir, cfg.Genesis, cfg.BlockTime); err != nil {
		return Seeded{}, err
	}
	opts := solo.DefaultConfig()
	opts.Wall, opts.Exec.Mode = true, parallel.Sequential // all sleepers touch the queue of timers
	c, err := solo.Open(cfg.Dir, opts)
	if err != nil {
		return Seeded{}, err
	}
	s := &seeding{cfg: cfg, chain: c, log: log, began: time.Now()}
	err = s.run(ctx)
	var report Seeded
	if err == nil {
		report, err = s.report()
	}
	return report, errors.Join(err, c.Close())
}

func empty(dir string) error {
	found, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && len(found) > 0 {
		err = ErrNotEmpty
	}
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// PrepareChain makes a development chain of one validator in dir. Without a
// template it is one whose block space is no limit.
func PrepareChain(dir, template string, blockTime time.Duration) (*genesis.Genesis, error) {
	if template == "" {
		raw, err := genesis.UnboundedTemplate().MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("encode genesis: %w", err)
		}
		temp, err := os.MkdirTemp("", "cowboy-genesis-")
		if err != nil {
			return nil, fmt.Errorf("folder for a genesis: %w", err)
		}
		defer os.RemoveAll(temp)
		template = filepath.Join(temp, "genesis.json")
		if err := os.WriteFile(template, raw, 0o600); err != nil {
			return nil, fmt.Errorf("write genesis: %w", err)
		}
	}
	return setup.PrepareDevnet(dir, setup.DevnetOptions{GenesisFile: template, BlockTime: blockTime})
}

// seeding is a state that is being made.
type seeding struct {
	cfg   SeedConfig
	chain *solo.Chain
	log   io.Writer
	began time.Time
	told  time.Time // when progress was printed last

	bank   *Bank
	people []*Person
	each   int // most timers of a sleeper
}

// A step's transactions are signed and put into blocks by and by, so that memory
// does not grow with the state.
const (
	paymentsAStep = 20_000
	timersAStep   = 25_000
	actorsAStep   = 2_000
)

func (s *seeding) run(ctx context.Context) (err error) {
	if s.bank, err = NewBank(s.chain); err != nil {
		return err
	}
	p := s.chain.Head().Force.Params
	if s.cfg.Timers > 0 {
		if s.cfg.Actors == 0 || uint64(s.cfg.Timers) > uint64(s.cfg.Actors)*p.Timer.MaxPerActor {
			return fmt.Errorf("%w: %d timers, %d actors of %d", ErrTooManyTimers, s.cfg.Timers, s.cfg.Actors, p.Timer.MaxPerActor)
		}
		if p.Timer.QueueEpochs <= epochsSpared {
			return ErrShortQueue
		}
		s.each = (s.cfg.Timers + s.cfg.Actors - 1) / s.cfg.Actors
	}
	if err := s.afford(p); err != nil {
		return err
	}
	if s.people, err = People(s.cfg.Seed, s.cfg.Accounts); err != nil {
		return err
	}
	if err := s.pay(ctx, "accounts", s.people, p); err != nil {
		return err
	}
	if err := s.deploySleepers(ctx, p); err != nil {
		return err
	}
	list, err := runners(s.cfg.Seed, s.cfg.Runners)
	if err != nil {
		return err
	}
	return s.pay(ctx, "runners", list, nil)
}

// afford refuses a state that costs more than there is, before anything is done.
func (s *seeding) afford(p *params.Params) error {
	have, err := s.bank.Money(s.chain)
	if err != nil {
		return err
	}
	need := float64(s.cfg.Accounts+s.cfg.Runners)*float64(purse) + float64(s.cfg.Actors)*float64(s.dowry(p))
	if need > 0.9*float64(have) {
		return fmt.Errorf("%w: %.0f of %d CBY", ErrNoMoney, need/float64(chain.WeiPerCBY), have/chain.WeiPerCBY)
	}
	return nil
}

// dowry is what a sleeper gets: deposits, escrows and fees of its timers, and
// something to live on.
func (s *seeding) dowry(p *params.Params) chain.Wei {
	n := chain.Wei(s.each)
	limits := timers.Limits(p, chain.Usage{})
	deposit := p.Timer.BaseDeposit * (1 + n/chain.Wei(p.Timer.DepositStepTimers))
	escrow := chain.Wei(p.Timer.EscrowMultiple) * (chain.Wei(limits.Cycles) + chain.Wei(limits.Cells)) * p.InitialBaseFee.PerCycle
	return n*(deposit+2*escrow+p.Timer.InitialBaseFee) + chain.WeiPerCBY
}

// pay gives everybody a purse, and those who will deploy sleepers what these get.
func (s *seeding) pay(ctx context.Context, what string, to []*Person, p *params.Params) error {
	for done := 0; done < len(to); {
		var orders []Order
		for i := done; i < min(done+paymentsAStep, len(to)); i++ {
			value := purse
			if p != nil {
				owned := (s.cfg.Actors + s.cfg.Accounts - 1 - i) / s.cfg.Accounts
				value += chain.Wei(owned) * (s.dowry(p) + chain.WeiPerCBY/10)
			}
			orders = append(orders, s.bank.Pay(to[i].Address, value))
		}
		if _, err := perform(ctx, s.chain, "pay "+what, orders); err != nil {
			return err
		}
		done += len(orders)
		s.logProgress(what, done, len(to))
	}
	return nil
}

// deploySleepers has the people deploy them, in turns. Sleeper by sleeper, the
// timers are for later and later blocks: the first half of them from four epochs
// ahead to the end of the epoch queue, the others beyond it.
func (s *seeding) deploySleepers(ctx context.Context, p *params.Params) error {
	epoch := p.Timer.RingBlocks / 2
	soon, far := 4*epoch, (p.Timer.QueueEpochs+10)*epoch
	slots := uint64(s.cfg.Timers/sleepersABlock/2 + s.each + 1) // blocks with timers, in each half
	apart := max(1, (p.Timer.QueueEpochs-min(epochsSpared, p.Timer.QueueEpochs))*epoch/slots)
	step := actorsAStep
	if s.each > 0 {
		step = max(1, min(step, timersAStep/s.each))
	}
	set := 0
	for done := 0; done < s.cfg.Actors; {
		var orders []Order
		for i := done; i < min(done+step, s.cfg.Actors); i++ {
			count := s.cfg.Timers*(i+1)/s.cfg.Actors - s.cfg.Timers*i/s.cfg.Actors
			first := soon + uint64(set/sleepersABlock)*apart
			if half := s.cfg.Timers / 2; set >= half {
				first = far + uint64((set-half)/sleepersABlock)*apart
			}
			owner := s.people[i%len(s.people)]
			order, _ := deploy(owner, sleeperSource(i), []byte(fmt.Sprint("sleeper ", i)), sleeperInit(first, apart, count), s.dowry(p))
			orders, set = append(orders, order), set+count
		}
		if _, err := perform(ctx, s.chain, "deploy sleepers", orders); err != nil {
			return err
		}
		done += len(orders)
		s.logProgress("actors", done, s.cfg.Actors)
	}
	return nil
}

// epochsSpared is how many epochs of the queue stay without timers: four before the
// first and four behind the last.
const epochsSpared = 8

// recordsEach is how many records a sleeper keeps.
const recordsEach = 4

func sleeperInit(first, apart uint64, count int) *actor.Init {
	return &actor.Init{Handler: "init", Payload: cbor.AppendUints(nil, first, apart, uint64(count), recordsEach)}
}

// tellEvery is how long nothing is said.
const tellEvery = 2 * time.Second

func (s *seeding) logProgress(what string, done, of int) {
	if now := time.Now(); now.Sub(s.told) >= tellEvery {
		s.told = now
		fmt.Fprintf(s.log, "%s %d of %d, block %d, %v\n", what, done, of, s.chain.Head().Height(), now.Sub(s.began).Round(time.Second))
	}
}

func (s *seeding) report() (Seeded, error) {
	head := s.chain.Head()
	queue, err := timers.ReadHead(head.State, head.Force.Params)
	if err != nil {
		return Seeded{}, err
	}
	if queue.Depth != uint64(s.cfg.Timers) {
		return Seeded{}, fmt.Errorf("%d timers sleep, want %d", queue.Depth, s.cfg.Timers)
	}
	return Seeded{
		Genesis: s.chain.Genesis().Hash(), Height: head.Height(), Root: head.State.Root(),
		Accounts: s.cfg.Accounts, Actors: s.cfg.Actors, Runners: s.cfg.Runners, Timers: queue.Depth,
		DiskBytes: s.chain.Store().DiskBytes(), Took: time.Since(s.began),
	}, nil
}
