package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type initCommand struct {
	Environment string `arg:"" enum:"dev,local" help:"dev (the node given with --rpc-url) or local (a node on this machine)."`
	NoFaucet    bool   `name:"no-faucet" help:"Do not ask the node's faucet for funds."`
}

// Help teaches the command.
func (initCommand) Help() string {
	return `Makes .cowboy/key and .cowboy/config.json in the project folder, keeps what is there already, and asks the faucet of a development network for funds.

Example:

    cowboy init local
    cowboy --rpc-url http://10.0.0.7:4000 init dev`
}

// initReply is what init did.
type initReply struct {
	Environment string `json:"environment"`
	Address     string `json:"wallet_address"`
	RPCURL      string `json:"rpc_url"`
	KeyFile     string `json:"key_file"`
	KeyCreated  bool   `json:"key_created"`
	Config      string `json:"config"`
	FaucetTx    string `json:"faucet_tx_hash"`
}

// faucetPatience bounds how long init waits for a node that may not be there.
const faucetPatience = 3 * time.Second

// Run makes the project.
func (c *initCommand) Run(ctx context.Context, s *session) error {
	p, err := s.project()
	if err != nil {
		return err
	}
	reply := initReply{Environment: c.Environment, Config: p.SettingsPath()}
	if err := c.configure(s, p, &reply); err != nil {
		return err
	}
	addr, err := client.ParseAddress(reply.Address)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Environment: %s", c.Environment)
	if reply.KeyCreated {
		text.add("Private key saved to: %s (keep a copy: nobody can restore it)", reply.KeyFile)
	} else {
		text.add("Private key kept: %s", reply.KeyFile)
	}
	text.add("Configuration: %s", reply.Config)
	text.add("Node: %s", reply.RPCURL)
	text.add("Wallet address: %s", reply.Address)
	if !c.NoFaucet {
		text.add("Faucet: %s", c.fund(ctx, s, addr, &reply))
	}
	text.add("")
	text.add("Next steps:")
	text.add("  cowboy wallet balance")
	text.add("  cowboy transfer --to 0x… --amount 1.5 --wait")
	if reply.FaucetTx == "" {
		text.add("  make devnet                # a node of your own, if none runs")
		text.add("  cowboy wallet fund         # money from its faucet")
	}
	return s.show(reply, text)
}

// configure makes sure of a key and writes the environment into the settings.
func (c *initCommand) configure(s *session, p *client.Project, reply *initReply) error {
	p.Settings.SetActive(c.Environment)
	if err := p.Settings.SetEnvironment(c.Environment, client.Environment{}); err != nil {
		return err
	}
	env, err := p.Settings.Environment()
	if err != nil {
		return err
	}
	env.RPCURL = c.nodeURL(s, env.RPCURL)
	if env.KeyFile == "" {
		if env.KeyFile, err = filepath.Rel(p.Root, p.DefaultKeyPath()); err != nil {
			return err
		}
	}
	if err := p.Settings.SetEnvironment(c.Environment, env); err != nil {
		return err
	}
	if reply.KeyFile, err = p.KeyPath(); err != nil {
		return err
	}
	key, err := client.ReadKey(reply.KeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		reply.KeyCreated = true
		if key, err = client.NewKey(); err == nil {
			err = client.WriteKey(reply.KeyFile, key)
		}
	}
	if err != nil {
		return err
	}
	env.WalletAddress = client.AddressOf(key).String()
	if err := p.Settings.SetEnvironment(c.Environment, env); err != nil {
		return err
	}
	reply.Address, reply.RPCURL = env.WalletAddress, env.RPCURL
	return p.Settings.Write(p.SettingsPath())
}

// nodeURL chooses the node of the environment. Callers that pass the address
// of a public node with every command must not turn "local" into it.
func (c *initCommand) nodeURL(s *session, configured string) string {
	given := s.flags.RPCURL
	if given == "" {
		given = s.world.env("COWBOY_RPC_URL")
	}
	if c.Environment == "local" && given != "" && !onThisMachine(given) {
		s.note("local means a node on this machine: not using %s", given)
		given = ""
	}
	switch {
	case given != "":
		return given
	case configured != "":
		return configured
	default:
		return client.DefaultURL
	}
}

func onThisMachine(text string) bool {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// fund asks the faucet and says how it went; a project is useful without it.
func (c *initCommand) fund(ctx context.Context, s *session, addr chain.Address, reply *initReply) string {
	cfg := client.DefaultConfig()
	cfg.URL, cfg.Timeout = reply.RPCURL, faucetPatience
	api, err := client.New(cfg)
	if err != nil {
		return "skipped, " + err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, faucetPatience)
	defer cancel()
	grant, err := api.Faucet(ctx, addr)
	var unreachable *client.UnreachableError
	switch {
	case errors.As(err, &unreachable):
		return "skipped, no node answers at " + reply.RPCURL
	case client.IsCode(err, rpc.CodeDevnetOnly):
		return "none, this is no development network"
	case err != nil:
		return "refused, " + err.Error()
	}
	reply.FaucetTx = grant.TxHash
	return cby(grant.Amount) + " in transaction " + grant.TxHash
}
