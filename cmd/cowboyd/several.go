package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/byzantine"
	"github.com/cowboy-foundation/cowboy/node/cluster"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// runSeveral runs a devnet of several validators, each a process of its own,
// until ctx ends.
func (c *devnetCommand) runSeveral(ctx context.Context, log *slog.Logger, dataDir string) error {
	if c.Byzantine != "" {
		if _, err := byzantine.Find(c.Byzantine); err != nil {
			return err
		}
	}
	if c.FD >= 0 {
		return usageError{errors.New("--passphrase-fd is for one process: give --passphrase-file FILE, which each validator reads")}
	}
	g, err := c.dealt(dataDir)
	if err != nil {
		return err
	}
	for i := range c.Validators {
		if err := c.sealedAsAsked(datadir.DealtFolder(dataDir, i)); err != nil {
			return err
		}
	}
	configs := make([]node.Config, c.Validators)
	addresses := make([]string, c.Validators)
	for i := range configs {
		cfg, err := c.config(datadir.DealtFolder(dataDir, i), true)
		if err != nil {
			return err
		}
		if cfg, err = cfg.OffsetPorts(portStep * i); err != nil {
			return err
		}
		if _, port, _ := net.SplitHostPort(cfg.P2PAddr); port == "0" {
			return errors.New("validators must know each other's p2p ports: give --p2p-addr a port")
		}
		configs[i], addresses[i] = cfg, cfg.P2PAddr
	}
	if err := setup.WriteDealtPeers(dataDir, g, addresses); err != nil {
		return err
	}
	run := cluster.DefaultConfig()
	run.Log = log
	if run.Binary, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	for _, cfg := range configs {
		run.Children = append(run.Children, cluster.Child{
			Name:    filepath.Base(cfg.DataDir),
			LogFile: filepath.Join(cfg.DataDir, "cowboyd.log"),
			Args: append([]string{
				"--log-level", c.childLogLevel, "run", "--stop-with-stdin", "--data", cfg.DataDir,
				"--rpc-addr", cfg.RPCAddr, "--p2p-addr", cfg.P2PAddr, "--runner-addr", cfg.RunnerAddr, "--admin-addr", cfg.AdminAddr,
				"--rpc-rate", strconv.Itoa(c.RPCRate), "--rpc-debt", c.RPCDebt.String(), "--state-memory-mib", strconv.FormatInt(c.Memory, 10), "--free-floor-mib", strconv.FormatInt(c.FreeFloor, 10),
				"--checkpoint-blocks", strconv.FormatUint(c.Checkpoint, 10), "--keep-submitted-mib", strconv.FormatInt(c.KeepMiB, 10),
				"--scrub-mib", strconv.FormatInt(c.ScrubMiB, 10), "--repair-kib", strconv.FormatInt(c.RepairKiB, 10), "--exec-mode", c.ExecMode, "--exec-workers", strconv.Itoa(c.Workers),
			}, append(c.passedArgs(), c.passphraseArgs()...)...),
		})
	}
	if c.Byzantine != "" {
		liar := &run.Children[len(run.Children)-1]
		liar.Args = append(liar.Args, "--byzantine", c.Byzantine)
		fmt.Printf("%s lies: %s\n", liar.Name, c.Byzantine)
	}
	welcomeSeveral(os.Stdout, g, configs)
	return cluster.Run(ctx, run)
}

// dealt makes the chain, or returns the one that is there.
func (c *devnetCommand) dealt(dataDir string) (*genesis.Genesis, error) {
	opts := setup.DevnetOptions{GenesisFile: c.Genesis, BlockTime: c.BlockTime, Lanes: c.Lanes}
	g, err := setup.ResumeDevnet(dataDir, opts)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return setup.Deal(dataDir, setup.DealOptions{DevnetOptions: opts, Validators: c.Validators, Seal: c.sealing()})
	case err != nil:
		return nil, err
	case len(g.Validators) != c.Validators:
		return nil, fmt.Errorf("the chain in %s has %d validators: give --validators %d", dataDir, len(g.Validators), len(g.Validators))
	}
	return g, nil
}

func welcomeSeveral(w io.Writer, g *genesis.Genesis, configs []node.Config) {
	fmt.Fprintf(w, "Cowboy devnet of %d validators (keys by trusted deal: development only)\n  chain id   %d\n  genesis    %s\n",
		len(configs), g.ChainID, g.Hash())
	for i, cfg := range configs {
		fmt.Fprintf(w, "  RPC %-6d http://%s  metrics http://%s/metrics  log %s\n",
			i, cfg.RPCAddr, cfg.AdminAddr, filepath.Join(cfg.DataDir, "cowboyd.log"))
	}
	secret := setup.DevAccounts()[0].Key.Bytes()
	fmt.Fprintf(w, `
Try
  export COWBOY_RPC_URL=http://%s COWBOY_PRIVATE_KEY=0x%s
  bin/cowboy transfer --to %s --amount 1.5 --wait
Kill one of the processes: the others go on, and it is started again.
Stop with Ctrl-C.

`, configs[0].RPCAddr, hex.EncodeToString(secret[:]), setup.DevAccounts()[1].Address)
}

// passphraseArgs passes on where the passphrase is.
func (f *passphraseFlags) passphraseArgs() []string {
	if f.File == "" {
		return nil
	}
	return []string{"--passphrase-file", f.File}
}

// passedArgs passes on what a child may be told or not.
func (f *listenFlags) passedArgs() (args []string) {
	if f.Archive != nil {
		args = append(args, "--archive="+strconv.FormatBool(*f.Archive))
	}
	args = append(args, "--full-nodes", strconv.Itoa(f.FullNodes),
		"--full-node-mib", strconv.Itoa(f.FullMiB), "--full-nodes-mib", strconv.Itoa(f.FullAllMiB))
	args = append(args, f.Budgets.args()...)
	for _, p := range f.RPCProxies {
		args = append(args, "--rpc-proxy", p)
	}
	for _, name := range f.RPCHosts {
		args = append(args, "--rpc-host", name)
	}
	return args
}
