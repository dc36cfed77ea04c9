package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cometbft/cometbft/config"
	"github.com/cometbft/cometbft/libs/log"
	"github.com/cometbft/cometbft/node"
	"github.com/cometbft/cometbft/p2p"
	"github.com/cometbft/cometbft/privval"
	"github.com/cometbft/cometbft/proxy"
	"github.com/cometbft/cometbft/types"
)

// cometChain is four CometBFT nodes with the settings that make blocks follow
// each other at once: no time after a commit, empty blocks without waiting.
// Proposals wait inside the application, where no timeout runs out.
type cometChain struct {
	*gate
	dir   string
	nodes []*node.Node
}

func newCometChain() (chain, error) {
	const n = 4
	dir, err := os.MkdirTemp("", "bench-comet-")
	if err != nil {
		return nil, err
	}
	c := &cometChain{gate: newGate(n), dir: dir}
	if err := c.open(n); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *cometChain) open(n int) error {
	configs := make([]*config.Config, n)
	keys := make([]*privval.FilePV, n)
	doc := &types.GenesisDoc{ChainID: "bench", GenesisTime: time.Now(), ConsensusParams: types.DefaultConsensusParams()}
	for i := range n {
		cfg, err := cometConfig(filepath.Join(c.dir, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		configs[i] = cfg
		keys[i] = privval.LoadOrGenFilePV(cfg.PrivValidatorKeyFile(), cfg.PrivValidatorStateFile())
		public, err := keys[i].GetPubKey()
		if err != nil {
			return err
		}
		doc.Validators = append(doc.Validators, types.GenesisValidator{Address: public.Address(), PubKey: public, Power: 10})
	}
	var peers []string
	for i, cfg := range configs {
		key, err := p2p.LoadOrGenNodeKey(cfg.NodeKeyFile())
		if err != nil {
			return err
		}
		cfg.P2P.PersistentPeers = strings.Join(peers, ",")
		peers = append(peers, p2p.IDAddressString(key.ID(), strings.TrimPrefix(cfg.P2P.ListenAddress, "tcp://")))
		nd, err := node.NewNode(cfg, keys[i], key, proxy.NewLocalClientCreator(&cometApp{gate: c.gate, self: i}),
			func() (*types.GenesisDoc, error) { return doc, nil }, config.DefaultDBProvider,
			node.DefaultMetricsProvider(cfg.Instrumentation), log.NewNopLogger())
		if err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		if err := nd.Start(); err != nil {
			return fmt.Errorf("start node %d: %w", i, err)
		}
		c.nodes = append(c.nodes, nd)
	}
	return nil
}

func cometConfig(home string) (*config.Config, error) {
	cfg := config.DefaultConfig()
	cfg.SetRoot(home)
	config.EnsureRoot(home)
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	cfg.P2P.ListenAddress = "tcp://" + port.Addr().String()
	if err := port.Close(); err != nil {
		return nil, err
	}
	cfg.P2P.AddrBookStrict, cfg.P2P.AllowDuplicateIP, cfg.P2P.PexReactor = false, true, false
	cfg.P2P.FlushThrottleTimeout = time.Millisecond
	cfg.RPC.ListenAddress = ""
	cfg.DBBackend = "memdb" // stores in memory, which outlive a node's last readers; the log of votes is on the disk
	cfg.Consensus.TimeoutPropose, cfg.Consensus.TimeoutCommit = standingStill, 0
	cfg.Consensus.SkipTimeoutCommit = true
	cfg.Consensus.PeerGossipSleepDuration = time.Millisecond
	return cfg, nil
}

func (c *cometChain) close() error {
	var errs []error
	c.extendForever()
	for _, n := range c.nodes {
		errs = append(errs, n.Stop())
		n.Wait()
	}
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}

// extendForever lets a proposal go that waits, so that its node can stop.
func (c *cometChain) extendForever() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = 1 << 30
	c.wake()
}

// cometApp has no state and takes no transactions.
type cometApp struct {
	abci.BaseApplication
	gate *gate
	self int

	mu     sync.Mutex
	height int64
}

func (a *cometApp) PrepareProposal(ctx context.Context, req *abci.RequestPrepareProposal) (*abci.ResponsePrepareProposal, error) {
	if err := a.gate.pass(ctx, int(req.Height)); err != nil {
		return nil, err
	}
	return &abci.ResponsePrepareProposal{}, nil
}

func (a *cometApp) FinalizeBlock(_ context.Context, req *abci.RequestFinalizeBlock) (*abci.ResponseFinalizeBlock, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.height = req.Height
	return &abci.ResponseFinalizeBlock{TxResults: make([]*abci.ExecTxResult, len(req.Txs))}, nil
}

func (a *cometApp) Commit(context.Context, *abci.RequestCommit) (*abci.ResponseCommit, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gate.final(a.self, int(a.height))
	return &abci.ResponseCommit{}, nil
}
