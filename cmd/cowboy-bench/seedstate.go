package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/workload"
)

type seedStateCommand struct {
	Dir       string        `required:"" type:"path" placeholder:"DIR" help:"Folder of the chain; it must be empty or not there."`
	Genesis   string        `type:"existingfile" placeholder:"FILE" help:"Genesis template. Default: that of profiles/genesis/unbounded.json."`
	BlockTime time.Duration `placeholder:"TIME" help:"Time between blocks. Default: what the genesis says."`
	Accounts  int           `default:"${seedaccounts}" help:"People with money. Their keys follow from the seed: load --seed uses the same."`
	Actors    int           `default:"${seedactors}" help:"Actors that the people deploy, with records and timers."`
	Timers    int           `default:"${seedtimers}" help:"Timers that sleep: half of them in the epoch queue, half beyond it."`
	Runners   int           `default:"0" help:"Accounts with money for runners. The market of runners does not exist yet: they are nothing else."`
	Seed      uint64        `default:"1" help:"Seed of all keys."`
}

// Run is called by kong.
func (c *seedStateCommand) Run(ctx context.Context) error {
	s, err := workload.Seed(ctx, workload.SeedConfig{
		Dir: c.Dir, Genesis: c.Genesis, BlockTime: c.BlockTime, Seed: c.Seed,
		Accounts: c.Accounts, Actors: c.Actors, Timers: c.Timers, Runners: c.Runners,
	}, os.Stderr)
	if err != nil {
		return err
	}
	_, err = fmt.Printf(`state of block %d, root %s, genesis %s
  accounts %d, actors %d, sleeping timers %d
  accounts for runners %d (with money and nothing else)
  %d MiB on disk, made in %v
Go on with
  cowboyd run --data %s
`, s.Height, s.Root, s.Genesis, s.Accounts, s.Actors, s.Timers, s.Runners, s.DiskBytes>>20, s.Took.Round(time.Second), c.Dir)
	return err
}
