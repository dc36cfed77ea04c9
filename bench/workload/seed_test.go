package workload

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/tools"
)

// TestSeededChainIsAChain seeds a small state and holds it to what was asked for,
// and to what any chain is held to: its blocks can be executed again.
func TestSeededChainIsAChain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	cfg := SeedConfig{Dir: dir, BlockTime: time.Millisecond, Accounts: 20, Actors: 7, Timers: 600, Runners: 3, Seed: 5}
	s, err := Seed(t.Context(), cfg, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if s.Timers != 600 || s.Height == 0 {
		t.Errorf("seeded %+v", s)
	}
	v, err := tools.VerifyChain(context.Background(), dir, func(string, chain.Height, chain.Height) {})
	if err != nil || v.Height != s.Height || v.Root != s.Root {
		t.Errorf("verified %+v, %v, want %+v", v, err, s)
	}
	holdToConfig(t, &cfg)
	if _, err := Seed(t.Context(), cfg, io.Discard); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("seeded again: %v", err)
	}
}

// holdToConfig looks for everybody of a seeding on its chain, which then goes on.
func holdToConfig(t *testing.T, cfg *SeedConfig) {
	t.Helper()
	c := openChain(t, cfg.Dir)
	people, err := People(cfg.Seed, cfg.Accounts)
	if err != nil {
		t.Fatal(err)
	}
	crew, err := runners(cfg.Seed, cfg.Runners)
	if err != nil {
		t.Fatal(err)
	}
	deployed := uint64(0)
	for _, p := range append(people, crew...) {
		a, _, err := c.Head().State.Account(p.Address)
		if err != nil || a.Balance < purse {
			t.Errorf("%s has %d, %v", p.Address, a.Balance, err)
		}
		deployed += a.Nonce
	}
	if deployed != uint64(cfg.Actors) {
		t.Errorf("%d actors deployed, want %d", deployed, cfg.Actors)
	}
	if held, _, err := c.Head().State.Account(chain.AddrTimers); err != nil || held.Balance < chain.Wei(cfg.Timers)*c.Genesis().Params.Timer.BaseDeposit {
		t.Errorf("the timers' deposits are %d, %v", held.Balance, err)
	}
	before := c.Head().Height()
	if b, err := c.Block(t.Context()); err != nil || b.Height != before+1 {
		t.Errorf("next block %d, %v, want %d", b.Height, err, before+1)
	}
}

func TestSeedingRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  SeedConfig
		want error
	}{
		"a timer more than the actors may have": {SeedConfig{Accounts: 1, Actors: 2, Timers: 2*1024 + 1}, ErrTooManyTimers},
		"timers without actors":                 {SeedConfig{Accounts: 1, Timers: 1}, ErrTooManyTimers},
		"more than there is":                    {SeedConfig{Accounts: 90_000_000}, ErrNoMoney},
	} {
		c.cfg.Dir = t.TempDir()
		if _, err := Seed(t.Context(), c.cfg, io.Discard); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for name, cfg := range map[string]SeedConfig{
		"nobody deploys":  {Actors: 1},
		"fewer than none": {Accounts: -1},
		"too many":        {Timers: 1 << 40},
	} {
		if err := cfg.Check(); err == nil {
			t.Errorf("%s: nothing is wrong", name)
		}
	}
}

// TestShortQueue: a genesis whose queue of timers ends before the first sleeper's
// would put all of them beyond it.
func TestShortQueue(t *testing.T) {
	template := genesis.UnboundedTemplate()
	template.Params.Timer.QueueEpochs = epochsSpared
	cfg := SeedConfig{Dir: t.TempDir(), Genesis: writeTemplate(t, template), Accounts: 1, Actors: 1, Timers: 1}
	if _, err := Seed(t.Context(), cfg, io.Discard); !errors.Is(err, ErrShortQueue) {
		t.Errorf("%v, want %v", err, ErrShortQueue)
	}
}
