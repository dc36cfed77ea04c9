package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/bench/flood"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// contestant is a node that is measured.
type contestant struct {
	name     string
	batch    int // transactions in a request
	accounts int
	limit    int // most transactions sent and in no block
	stock    int // transactions signed for each second; 0 for what the command line says
	start    func(o *options, dir string) (*server, error)
	// load prepares the running node: its language and who encodes for it.
	load func(s *server, accounts int) (flood.Chain, func() flood.Encoder, error)
}

const (
	connections = 4
	nameOurs    = "cowboy"
	nameAgain   = "cowboy-again" // the same, so that the noise is seen
	nameGeth    = "geth"
	nameSigned  = "comet-signed"
	nameKVStore = "comet-kvstore"
)

func contestants() []contestant {
	ours := contestant{name: nameOurs, batch: flood.CowboyBatch, accounts: 1000, limit: 60_000, start: startCowboy, load: loadCowboy}
	again := ours
	again.name = nameAgain
	return []contestant{
		ours, again,
		{name: nameGeth, batch: 50, accounts: 500, limit: 20_000, stock: 15_000, start: startGeth, load: loadGeth},
		{name: nameSigned, batch: 200, accounts: 500, limit: 60_000, stock: 30_000, start: startComet("signed"), load: loadComet(true)},
		{name: nameKVStore, batch: 200, accounts: 500, limit: 60_000, stock: 70_000, start: startComet("kvstore"), load: loadComet(false)},
	}
}

// program is the path of a peer's program, which make builds beside this one.
func (o *options) program(name string) string {
	return filepath.Join(o.root, "bench", "peers", "e2e", "out", name)
}

func names(list []contestant) (out []string) {
	for i := range list {
		out = append(out, list[i].name)
	}
	return out
}

// choose returns the contestants named, all without a name.
func choose(only string) ([]contestant, error) {
	all := contestants()
	if only == "" {
		return all, nil
	}
	var field []contestant
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(c contestant) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no contestant %q: there are %s", name, strings.Join(names(all), ", "))
		}
		field = append(field, all[i])
	}
	return field, nil
}

func startCowboy(o *options, dir string) (*server, error) {
	port, err := freePorts(4)
	if err != nil {
		return nil, err
	}
	s, err := start(dir, fmt.Sprintf("127.0.0.1:%d", port), filepath.Join(o.root, "bin", "cowboyd"), "devnet",
		"--genesis", filepath.Join(o.root, "profiles", "genesis", "unbounded.json"), "--rpc-rate", "0",
		"--data", filepath.Join(dir, "data"), "--block-time", o.block.String(), "--port-offset", strconv.Itoa(port-4000), "--log-level", "warn")
	if err == nil {
		s.admin = fmt.Sprintf("127.0.0.1:%d", port+3)
	}
	return s, err
}

func loadCowboy(s *server, accounts int) (flood.Chain, func() flood.Encoder, error) {
	return flood.NewCowboy(s.host, 1, accounts, setup.DevAccounts()[0].Key.Bytes())
}

// runOnce measures a contestant on a new chain. rate 0 is as much as it takes.
func runOnce(ctx context.Context, o *options, c *contestant, dir string, rate float64) (r outcome, err error) {
	s, err := c.start(o, dir)
	if err != nil {
		return r, err
	}
	defer func() {
		if stopped := s.stop(); err == nil {
			err = stopped
		}
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, s.logTail())
		}
	}()
	if err := s.ready(ctx); err != nil {
		return r, err
	}
	speaker, encoders, err := c.load(s, c.accounts)
	if err != nil {
		return r, err
	}
	stock := c.stock
	if stock == 0 {
		stock = o.stock
	}
	count := float64(stock)
	if rate > 0 {
		count = rate
	}
	load, err := flood.NewLoad(flood.Shape{
		Connections: connections, Batch: c.batch, Accounts: c.accounts,
		Transactions: int(count*(o.warm+o.window).Seconds()) + connections*c.batch,
	}, encoders)
	if err != nil {
		return r, err
	}
	cfg := flood.DefaultConfig(s.host)
	cfg.Limit, cfg.Rate, cfg.Warm, cfg.Window, cfg.PID = c.limit, rate, o.warm, o.window, s.cmd.Process.Pid
	inside := &inside{server: s, profiles: o.profiles}
	if s.admin != "" {
		cfg.During = inside.watch
	}
	result, err := flood.Run(ctx, cfg, speaker, load)
	if err != nil {
		return r, err
	}
	return outcome{Result: *result, Name: c.name, Rate: rate, Inside: inside.found}, result.Check()
}
