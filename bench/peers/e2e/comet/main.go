// Command comet is one CometBFT validator of a chain of its own, with its application in
// the same process: the kvstore of its examples, which checks no signature, or signed
// transfers with one recovery each. It stops when it is told to.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cometbft/cometbft/abci/example/kvstore"
	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cometbft/cometbft/config"
	"github.com/cometbft/cometbft/libs/log"
	"github.com/cometbft/cometbft/node"
	"github.com/cometbft/cometbft/p2p"
	"github.com/cometbft/cometbft/privval"
	"github.com/cometbft/cometbft/proxy"
	"github.com/cometbft/cometbft/types"
)

func main() {
	home := flag.String("home", "", "data folder")
	rpc := flag.String("rpc", "127.0.0.1:26657", "address of the API")
	app := flag.String("app", "kvstore", "kvstore or signed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *home, *rpc, *app); err != nil {
		fmt.Fprintln(os.Stderr, "comet:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, home, rpc, name string) error {
	var app abci.Application
	switch name {
	case "kvstore":
		app = kvstore.NewInMemoryApplication()
	case "signed":
		app = newTransfers()
	default:
		return fmt.Errorf("no application %q", name)
	}
	cfg := settings(home, rpc)
	for _, folder := range []string{"config", "data"} {
		if err := os.MkdirAll(filepath.Join(home, folder), 0o755); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
	}
	key := privval.LoadOrGenFilePV(cfg.PrivValidatorKeyFile(), cfg.PrivValidatorStateFile())
	nodeKey, err := p2p.LoadOrGenNodeKey(cfg.NodeKeyFile())
	if err != nil {
		return fmt.Errorf("node key: %w", err)
	}
	pub, err := key.GetPubKey()
	if err != nil {
		return fmt.Errorf("validator key: %w", err)
	}
	genesis := func() (*types.GenesisDoc, error) {
		return &types.GenesisDoc{
			ChainID: "bench", GenesisTime: time.Now(), ConsensusParams: types.DefaultConsensusParams(),
			Validators: []types.GenesisValidator{{Address: pub.Address(), PubKey: pub, Power: 10}},
		}, nil
	}
	n, err := node.NewNode(cfg, key, nodeKey, proxy.NewConnSyncLocalClientCreator(app), genesis,
		config.DefaultDBProvider, node.DefaultMetricsProvider(cfg.Instrumentation), log.NewFilter(log.NewTMLogger(os.Stderr), log.AllowError()))
	if err != nil {
		return fmt.Errorf("make the node: %w", err)
	}
	if err := n.Start(); err != nil {
		return fmt.Errorf("start the node: %w", err)
	}
	<-ctx.Done()
	if err := n.Stop(); err != nil {
		return fmt.Errorf("stop the node: %w", err)
	}
	n.Wait()
	return nil
}

// settings are the defaults but for what would be measured instead of the node: limits of
// its pool and its API, the index, the pause behind a block.
func settings(home, rpc string) *config.Config {
	cfg := config.DefaultConfig()
	cfg.SetRoot(home)
	cfg.P2P.ListenAddress = "tcp://127.0.0.1:0"
	cfg.RPC.ListenAddress = "tcp://" + rpc
	cfg.RPC.MaxRequestBatchSize = 1000
	cfg.TxIndex.Indexer = "null"
	cfg.Consensus.TimeoutCommit = 0
	cfg.Mempool.Size, cfg.Mempool.CacheSize, cfg.Mempool.MaxTxsBytes = 2_000_000, 2_000_000, 4<<30
	return cfg
}
