package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/ceremony"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

type genesisCommand struct {
	Check genesisCheckCommand `cmd:"" default:"withargs" help:"Check a genesis file and print the chain's identity."`
	New   genesisNewCommand   `cmd:"" help:"Make keys and genesis for several validators in one place (a trusted deal: development and tests only)."`
}

type genesisCheckCommand struct {
	File string `arg:"" help:"Genesis file, complete or a template." type:"existingfile"`
}

// Run checks a genesis file.
func (c *genesisCheckCommand) Run() error {
	raw, err := os.ReadFile(c.File)
	if err != nil {
		return fmt.Errorf("read genesis: %w", err)
	}
	g, err := genesis.Parse(raw)
	if err == nil {
		if err := errors.Join(g.Check(), ceremony.Check(g), datadir.CheckTables(g)); err != nil {
			return err
		}
		fmt.Printf("ok: %q, chain id %d, %d validators, quorum %d, genesis hash %s\n", g.Name, g.ChainID, len(g.Validators), chain.Quorum(len(g.Validators)), g.Hash())
		fmt.Println(lanesOf(&g.Params))
		fmt.Println("keys, possession proofs and public shares belong together")
		if setup.TrustedDeal(filepath.Dir(c.File), g) {
			fmt.Println("trusted deal: one process knew every key; for development and tests only")
		}
		return nil
	}
	t, templateErr := genesis.ParseTemplate(raw)
	if templateErr == nil {
		fmt.Printf("ok: template %q, chain id %d; it has no validators yet (cowboyd devnet --genesis completes it)\n", t.Name, t.ChainID)
		fmt.Println(lanesOf(&t.Params))
		return nil
	}
	return err
}

// lanesOf says how the targets are shared out, in the order of the lanes.
func lanesOf(p *params.Params) string {
	text := "lanes " + p.LaneProfile + ":"
	for lane := range chain.NumLanes {
		text += fmt.Sprintf(" %s %g %%", lane, float64(p.LaneShareBasisPoints[lane])/100)
	}
	return text
}

type genesisNewCommand struct {
	Validators int           `help:"Number of validators." default:"4"`
	FullNodes  int           `help:"Number of full nodes, which follow and do not vote." default:"0"`
	Out        string        `help:"Folder to make." required:"" type:"path" placeholder:"DIR"`
	Genesis    string        `help:"Genesis template to complete. Default: the built-in devnet." type:"existingfile" placeholder:"FILE"`
	BlockTime  time.Duration `help:"Time between blocks, such as 200ms. Default: what the template says."`
	Lanes      string        `help:"Shares of the lanes: ${lanes}. Default: what the template says." placeholder:"NAME"`
	Address    []string      `help:"UDP address of each validator, in order. Default: 127.0.0.1 with ports 4001, 4011 and so on." placeholder:"HOST:PORT"`

	// Keys of a chain that is no development chain are never made in the clear.
	passphraseFlags
}

// Run deals the keys and writes one data folder per validator.
func (c *genesisNewCommand) Run() error {
	addresses := c.Address
	if len(addresses) == 0 {
		cfg := node.DefaultConfig()
		var err error
		if addresses, err = spacedAddresses(cfg.P2PAddr, c.Validators); err != nil {
			return err
		}
	}
	if len(addresses) != c.Validators {
		return fmt.Errorf("%d addresses for %d validators: give --address once for each, or not at all", len(addresses), c.Validators)
	}
	g, err := setup.Deal(c.Out, setup.DealOptions{
		Validators:    c.Validators,
		FullNodes:     c.FullNodes,
		Seal:          c.sealing(),
		DevnetOptions: setup.DevnetOptions{GenesisFile: c.Genesis, BlockTime: c.BlockTime, Lanes: c.Lanes},
	})
	if err != nil {
		return err
	}
	if err := setup.WriteDealtPeers(c.Out, g, addresses); err != nil {
		return err
	}
	fmt.Printf("genesis %s: chain id %d, %d validators, quorum %d\n", g.Hash(), g.ChainID, len(g.Validators), chain.Quorum(len(g.Validators)))
	fmt.Println("trusted deal: this process knew every key; for development and tests only")
	for i, address := range addresses {
		fmt.Printf("  %s  p2p %s\n", filepath.Join(c.Out, filepath.Base(datadir.DealtFolder(c.Out, i))), address)
	}
	for i := range c.FullNodes {
		fmt.Printf("  %s\n", datadir.FullNodeFolder(c.Out, i))
	}
	with := ""
	if info, err := datadir.ShowKeys(datadir.DealtFolder(c.Out, 0)); err == nil && info.Sealed {
		fmt.Println("all keys are under one passphrase: give each folder its own with cowboyd keys decrypt and encrypt, where its operator is")
		with = " --passphrase-file FILE"
	}
	fmt.Printf("Run each with\n  cowboyd run --data %s --port-offset 0%s\n", datadir.DealtFolder(c.Out, 0), with)
	return nil
}

// portStep is the distance between the ports of validators on one machine.
const portStep = 10

// spacedAddresses returns n addresses, portStep apart.
func spacedAddresses(first string, n int) ([]string, error) {
	host, port, err := net.SplitHostPort(first)
	if err != nil {
		return nil, fmt.Errorf("address %q: want HOST:PORT", first)
	}
	p, err := strconv.Atoi(port)
	if err != nil || p < 1 || p+portStep*(n-1) > 65535 {
		return nil, errors.New("ports of several validators: out of range")
	}
	out := make([]string, n)
	for i := range out {
		out[i] = net.JoinHostPort(host, strconv.Itoa(p+portStep*i))
	}
	return out, nil
}
