package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/flood"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// contestant is a node that is measured.
type contestant struct {
	name     string
	batch    int // transactions in a request
	accounts int
	limit    int           // most transactions sent and in no block
	stock    int           // transactions signed for each second; 0 for what the command line says
	rate     float64       // transactions a second, unless the command line says; 0 for as many as the node takes
	block    time.Duration // block time of ours; 0 for what the command line says
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
	nameFour    = "cowboy-four"
	namePeers4  = "comet-four"
	nameSmall   = "cowboy-small" // four validators at small loads, one transaction a request
	nameSmallP  = "comet-small"
)

// What small loads are: a transaction every ten milliseconds, and blocks far shorter than
// what people notice.
const (
	smallRate  = 100
	smallBlock = 20 * time.Millisecond
)

func contestants() []contestant {
	ours := contestant{name: nameOurs, batch: flood.CowboyBatch, accounts: 1000, limit: 60_000, start: startCowboy, load: loadCowboy}
	again := ours
	again.name = nameAgain
	return []contestant{
		ours, again,
		{name: nameGeth, batch: 50, accounts: 500, limit: 20_000, stock: 15_000, start: startGeth, load: loadGeth},
		{name: nameSigned, batch: 200, accounts: 500, limit: 15_000, stock: 30_000, start: startComet("signed", 1), load: loadComet(true)},
		{name: nameKVStore, batch: 200, accounts: 500, limit: 15_000, stock: 70_000, start: startComet("kvstore", 1), load: loadComet(false)},
		{name: nameFour, batch: flood.CowboyBatch, accounts: 1000, limit: 30_000, stock: 40_000, start: startFour, load: loadCowboy},
		{name: namePeers4, batch: 200, accounts: 500, limit: 30_000, stock: 40_000, start: startComet("kvstore", 4), load: loadComet(false)},
		{name: nameSmall, batch: 1, accounts: 200, limit: 1_000, rate: smallRate, block: smallBlock, start: startFour, load: loadCowboy},
		{name: nameSmallP, batch: 1, accounts: 200, limit: 1_000, rate: smallRate, start: startComet("kvstore", 4), load: loadComet(false)},
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
	return startDevnet(o, dir, 4)
}

// startFour starts four validators, each a process of its own, of which the first is
// spoken to.
func startFour(o *options, dir string) (*server, error) {
	return startDevnet(o, dir, 3*portStep+4, "--validators", "4")
}

// portStep is how far the ports of a devnet's validators are apart.
const portStep = 10

func startDevnet(o *options, dir string, ports int, more ...string) (*server, error) {
	port, err := freePorts(ports)
	if err != nil {
		return nil, err
	}
	s, err := start(dir, fmt.Sprintf("127.0.0.1:%d", port), filepath.Join(o.root, "bin", "cowboyd"), append([]string{
		"--log-level", "warn", "devnet", "--genesis", filepath.Join(o.root, "profiles", "genesis", "unbounded.json"), "--rpc-rate", "0",
		"--data", filepath.Join(dir, "data"), "--block-time", o.block.String(), "--port-offset", strconv.Itoa(port - 4000),
	}, more...)...)
	if err == nil {
		s.admin = fmt.Sprintf("127.0.0.1:%d", port+3)
	}
	return s, err
}

func loadCowboy(s *server, accounts int) (flood.Chain, func() flood.Encoder, error) {
	if err := finalizing(s.host); err != nil {
		return nil, nil, err
	}
	return flood.NewCowboy(s.host, 1, accounts, setup.DevAccounts()[0].Key.Bytes())
}

// finalizing waits until a node has a block: validators must have found each other.
func finalizing(host string) error {
	conn, err := flood.Dial(host, time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var reply struct{ Height uint64 }
		if err := conn.GetJSON("/height", &reply); err == nil && reply.Height > 0 {
			return nil
		}
	}
	return errNoBlocks
}

// runOnce measures a contestant on a new chain. rate 0 is as much as it takes.
func runOnce(ctx context.Context, o *options, c *contestant, dir string, rate float64) (r outcome, err error) {
	if c.block > 0 {
		own := *o
		own.block = c.block
		o = &own
	}
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
	cfg.Limit, cfg.Rate, cfg.Warm, cfg.Window, cfg.PIDs = c.limit, rate, o.warm, o.window, s.processes()
	if o.limit > 0 {
		cfg.Limit = o.limit
	}
	inside := &inside{server: s, profiles: o.profiles}
	if s.admin != "" {
		cfg.During = inside.watch
	}
	if o.prints != nil {
		o.prints.server, cfg.During = s, both(inside.watch, o.prints.watch)
	}
	result, err := flood.Run(ctx, cfg, speaker, load)
	if err != nil {
		return r, err
	}
	return outcome{Result: *result, Name: c.name, Rate: rate, Inside: inside.found}, result.Check()
}
