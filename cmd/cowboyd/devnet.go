package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/cluster"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/release"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// listenFlags say where a node listens. All is loopback unless told otherwise.
type listenFlags struct {
	RPCAddr    string        `help:"Address of the HTTP API." default:"127.0.0.1:4000" placeholder:"HOST:PORT"`
	P2PAddr    string        `name:"p2p-addr" help:"UDP address for validators." default:"127.0.0.1:4001" placeholder:"HOST:PORT"`
	P2PTell    string        `name:"p2p-advertise" help:"UDP address that other validators are told, where it differs from --p2p-addr." placeholder:"HOST:PORT"`
	FullNodes  int           `name:"full-nodes" help:"Nodes that are no validators and may connect to this one, to follow the chain. 0 lets none in." default:"8"`
	FullMiB    int           `name:"full-node-mib" help:"MiB per second that one of them may be sent. What validators wait for always goes first." default:"8"`
	FullAllMiB int           `name:"full-nodes-mib" help:"MiB per second that all of them together may be sent: a part of the line that votes and blocks can spare." default:"16"`
	RunnerAddr string        `help:"UDP address for runners." default:"127.0.0.1:4002" placeholder:"HOST:PORT"`
	AdminAddr  string        `help:"Address of metrics and profiles." default:"127.0.0.1:4003" placeholder:"HOST:PORT"`
	PortOffset int           `help:"Add this to every port, to run several nodes on one machine." default:"0"`
	Archive    *bool         `help:"Keep old values, so that accounts, storage and code of any height can be asked for, and not only of the last 1024 blocks. The data folder remembers it; --archive=false ends it, and what is not kept cannot be made up later."`
	FreeFloor  int64         `name:"free-floor-mib" help:"MiB of the disk that stay free: below it the node stops before it writes, and can be started again once there is room. 0 for no floor." default:"1024"`
	Memory     int64         `name:"state-memory-mib" help:"MiB that the tries of the state may take: /health says so long before they do. 0 for three quarters of what the machine or its control group has." default:"0"`
	RPCHosts   []string      `name:"rpc-host" help:"Name under which a proxy on this machine passes on API requests, besides localhost. Others are refused on a loopback address, and by a devnet anywhere." placeholder:"NAME"`
	RPCProxies []string      `name:"rpc-proxy" help:"Address or network of a proxy whose X-Forwarded-For names the client that limits count, such as 127.0.0.1 or 10.0.0.0/8." placeholder:"PREFIX"`
	RPCRate    int           `name:"rpc-rate" help:"API requests per second and client address; 0 is unlimited." default:"100"`
	RPCDebt    time.Duration `name:"rpc-debt" help:"What one API request may cost beyond the rate of its client, as time of that rate. One request of a client at a time may, and until that is paid the client gets nothing." default:"1m"`
	ExecMode   string        `name:"exec-mode" help:"How the transactions of a block are executed: seq (one after the other), dag (beside each other, as planned), opt (beside each other, without a plan), auto. The results are the same." enum:"auto,seq,dag,opt" default:"auto"`
	Workers    int           `name:"exec-workers" help:"Transactions executed at a time; 0 for as many as there are processors." default:"0"`
	Build      int           `name:"build-percent" help:"Part of the block time in which a proposal takes transactions; the rest is for everything else." default:"60"`
	MinBlock   time.Duration `name:"min-block-time" help:"On a development chain: propose so long after the last block, and not only after the block time, where the pool holds enough for a block. 0 never does." default:"0s"`
	KeepMiB    int64         `name:"keep-submitted-mib" help:"MiB of the file that keeps what clients submitted here and no block has yet, to offer it to the pool again after a restart. 0 keeps none, as does a devnet without --data." default:"16"`
	ScrubMiB   int64         `name:"scrub-mib" help:"MiB of stored blocks that are read again each second, on a thread of low priority, so that damage is found before somebody needs the block; each block once a day at most. 0 reads none." default:"1"`
	RepairKiB  int64         `name:"repair-kib" help:"KiB of damaged stored blocks that are fetched from other validators and written again each second, on a thread of low priority. 0 mends none: they are only reported." default:"1024"`
	Checkpoint uint64        `name:"checkpoint-blocks" help:"Blocks between two checkpoints of the state, which joining nodes fetch. 0 makes none." default:"10000"`

	Budgets budgetFlags `embed:""`
}

func (f *listenFlags) config(dataDir string, devnet bool) (node.Config, error) {
	cfg := node.DefaultConfig()
	cfg.DataDir, cfg.Devnet, cfg.Version = dataDir, devnet, release.Version
	cfg.RPCAddr, cfg.P2PAddr, cfg.RunnerAddr, cfg.AdminAddr = f.RPCAddr, f.P2PAddr, f.RunnerAddr, f.AdminAddr
	cfg.RPCPerSec, cfg.RPCDebt, cfg.P2PAdvertise, cfg.FreeBytesFloor = f.RPCRate, f.RPCDebt, f.P2PTell, f.FreeFloor<<20
	cfg.FullNodes, cfg.FullNodeBytes, cfg.FullNodesBytes = f.FullNodes, f.FullMiB<<20, f.FullAllMiB<<20
	if f.Archive != nil {
		if cfg.Archive = node.ArchiveEnd; *f.Archive {
			cfg.Archive = node.ArchiveKeep
		}
	}
	cfg.RPCHosts, cfg.StateMemory = f.RPCHosts, f.Memory<<20
	for _, text := range f.RPCProxies {
		p, err := proxyPrefix(text)
		if err != nil {
			return cfg, err
		}
		cfg.RPCProxies = append(cfg.RPCProxies, p)
	}
	cfg.CheckpointBlocks, cfg.BuildPercent, cfg.MinBlock, cfg.SubmittedBytes = f.Checkpoint, f.Build, f.MinBlock, f.KeepMiB<<20
	f.Budgets.into(&cfg)
	cfg.ScrubBytes, cfg.RepairBytes = f.ScrubMiB<<20, f.RepairKiB<<10
	mode, err := parallel.ParseMode(f.ExecMode)
	if err != nil {
		return cfg, err
	}
	if cfg.Exec.Mode = mode; f.Workers != 0 {
		cfg.Exec.Workers = f.Workers
	}
	cfg, err = cfg.OffsetPorts(f.PortOffset)
	if err != nil {
		return cfg, err
	}
	return cfg, cfg.Check()
}

// proxyPrefix reads the network of a proxy; a single address is one of its own.
func proxyPrefix(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("--rpc-proxy %q: want an address or a network such as 10.0.0.0/8", text)
	}
	return p.Masked(), nil
}

type devnetCommand struct {
	Data       string        `help:"Data folder. Without it the chain is thrown away at the end." type:"path" placeholder:"DIR"`
	Genesis    string        `help:"Genesis file to complete, such as profiles/genesis/unbounded.json." type:"existingfile" placeholder:"FILE"`
	BlockTime  time.Duration `help:"Time between blocks, such as 200ms. Default: what the genesis says (1s)."`
	Lanes      string        `help:"Shares of the lanes: ${lanes}. Default: what the genesis says." placeholder:"NAME"`
	Validators int           `help:"Number of validators, each a process of its own, with ports 10 apart." default:"1"`
	Byzantine  string        `help:"Let the last of at least four validators lie: ${kinds}." placeholder:"KIND"`
	passphraseFlags
	listenFlags

	childLogLevel string // of the processes of several validators
}

// Run starts a development chain and serves it until interrupted.
func (c *devnetCommand) Run(ctx context.Context, log *slog.Logger) error {
	if c.Byzantine != "" && c.Validators < shards.MinValidators {
		return usageError{fmt.Errorf("--byzantine needs --validators %d or more: one liar among fewer leaves no quorum", shards.MinValidators)}
	}
	dataDir := c.Data
	if dataDir == "" {
		temp, err := os.MkdirTemp("", "cowboy-devnet-")
		if err != nil {
			return fmt.Errorf("make a data folder: %w", err)
		}
		defer os.RemoveAll(temp)
		dataDir, c.KeepMiB = temp, 0
	}
	if c.Validators != 1 {
		return c.runSeveral(ctx, log, dataDir)
	}
	seal := c.sealing()
	seal.Passphrase = once(seal.Passphrase)
	genesis, err := setup.PrepareSealedDevnet(dataDir, setup.DevnetOptions{GenesisFile: c.Genesis, BlockTime: c.BlockTime, Lanes: c.Lanes}, seal)
	if err != nil {
		return err
	}
	if err := c.sealedAsAsked(dataDir); err != nil {
		return err
	}
	cfg, err := c.config(dataDir, true)
	if err != nil {
		return err
	}
	if cfg.Passphrase = seal.Passphrase; !c.given() {
		cfg.Passphrase = once(c.source(false))
	}
	limitHeap(cfg.StateMemory, log)
	n, err := node.Open(cfg, genesis, log)
	if err != nil {
		return err
	}
	defer n.Close()
	if err := n.Listen(); err != nil {
		return err
	}
	welcome(os.Stdout, n, genesis, c.Data == "")
	return n.Run(ctx)
}

// sealedAsAsked refuses keys in the clear to who names a passphrase and so believes
// that they are not.
func (c *devnetCommand) sealedAsAsked(folder string) error {
	if !c.given() {
		return nil
	}
	info, err := datadir.ShowKeys(folder)
	if err == nil && !info.Sealed {
		err = usageError{fmt.Errorf("the keys in %s are in the clear: cowboyd keys encrypt --data %s, or leave the passphrase out", folder, folder)}
	}
	return err
}

// welcome tells a newcomer what runs and what to try.
func welcome(w io.Writer, n *node.Node, g *genesis.Genesis, throwAway bool) {
	fmt.Fprintf(w, "Cowboy devnet\n  chain id   %d\n  genesis    %s\n  RPC        http://%s\n  metrics    http://%s/metrics\n",
		g.ChainID, g.Hash(), n.RPCAddr(), n.AdminAddr())
	if throwAway {
		fmt.Fprintln(w, "  data       thrown away at the end (keep it with --data DIR)")
	}
	fmt.Fprintln(w, "\nFunded development accounts (their keys are public: never use them elsewhere)")
	for _, a := range setup.DevAccounts() {
		secret := a.Key.Bytes()
		fmt.Fprintf(w, "  %s  key 0x%s\n", a.Address, hex.EncodeToString(secret[:]))
	}
	governor := setup.DevGovernor()
	secret := governor.Key.Bytes()
	fmt.Fprintf(w, "Member of the multisig (cowboy gov), without funds\n  %s  key 0x%s\n", governor.Address, hex.EncodeToString(secret[:]))
	secret = setup.DevAccounts()[0].Key.Bytes()
	fmt.Fprintf(w, `
Try
  export COWBOY_RPC_URL=http://%s COWBOY_PRIVATE_KEY=0x%s
  bin/cowboy transfer --to %s --amount 1.5 --wait
  bin/cowboy account info %s
  curl -s http://%s/block/latest
Stop with Ctrl-C.

`, n.RPCAddr(), hex.EncodeToString(secret[:]), setup.DevAccounts()[1].Address, setup.DevAccounts()[1].Address, n.RPCAddr())
}

type runCommand struct {
	Data          string        `help:"Data folder with genesis.json, keys.json and, with several validators, peers.json." required:"" type:"existingdir" placeholder:"DIR"`
	Sync          bool          `help:"Where the folder has no chain yet, fetch the state of a recent checkpoint from the validators instead of executing the past."`
	UnusedKey     bool          `help:"With --sync: this validator's key has never signed anything, here or elsewhere."`
	WatchFor      time.Duration `help:"Longest time that the start listens for another process with this key, without voting. How long is drawn, from a fifth of it up, so that two that start together notice each other. Default: 10s, on a development chain 500ms." default:"-1ns" placeholder:"TIME"`
	Alone         bool          `help:"Vote at once, without asking others what they heard from this key. I know that no other process has this key and that this folder is no older copy. Wrong, it costs the stake."`
	StopWithStdin bool          `hidden:"" help:"Stop when standard input ends."`
	Byzantine     string        `hidden:"" help:"Lie. Refused unless the genesis says devnet." placeholder:"KIND"`
	passphraseFlags
	listenFlags
}

// Run serves the validator of a data folder until interrupted.
func (c *runCommand) Run(ctx context.Context, log *slog.Logger) error {
	if c.StopWithStdin {
		var cancel context.CancelFunc
		ctx, cancel = cluster.WithParent(ctx, os.Stdin)
		defer cancel()
	}
	genesis, err := datadir.LoadGenesis(c.Data)
	if err != nil {
		return err
	}
	cfg, err := c.config(c.Data, genesis.Devnet)
	if err != nil {
		return err
	}
	cfg.Byzantine, cfg.WatchFor, cfg.Alone = c.Byzantine, c.WatchFor, c.Alone
	cfg.Passphrase = once(c.source(false))
	if c.Sync {
		if err := node.SyncState(ctx, cfg, genesis, c.UnusedKey, log); err != nil {
			return err
		}
	}
	limitHeap(cfg.StateMemory, log)
	n, err := node.Open(cfg, genesis, log)
	if err != nil {
		return err
	}
	defer n.Close()
	if err := n.Listen(); err != nil {
		return err
	}
	fmt.Printf("  genesis    %s\n  RPC        http://%s\n  metrics    http://%s/metrics\n", genesis.Hash(), n.RPCAddr(), n.AdminAddr())
	return n.Run(ctx)
}
