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
	"slices"
	"strconv"
	"strings"
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
	var o options
	flag.StringVar(&o.home, "home", "", "data folder")
	flag.StringVar(&o.rpc, "rpc", "127.0.0.1:26657", "address of the first validator's API; others have none")
	flag.StringVar(&o.app, "app", "kvstore", "kvstore or signed")
	flag.IntVar(&o.validators, "validators", 1, "number of validators, all in this process")
	flag.IntVar(&o.p2p, "p2p", 26700, "port of the first of them on loopback; the others follow")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &o); err != nil {
		fmt.Fprintln(os.Stderr, "comet:", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	home, rpc, app  string
	validators, p2p int
}

func (o *options) application() (abci.Application, error) {
	switch o.app {
	case "kvstore":
		return kvstore.NewInMemoryApplication(), nil
	case "signed":
		return newTransfers(), nil
	default:
		return nil, fmt.Errorf("no application %q", o.app)
	}
}

// validator is one of them, before it is made.
type validator struct {
	cfg     *config.Config
	key     *privval.FilePV
	nodeKey *p2p.NodeKey
}

func run(ctx context.Context, o *options) error {
	list := make([]validator, o.validators)
	doc := &types.GenesisDoc{ChainID: "bench", GenesisTime: time.Now(), ConsensusParams: types.DefaultConsensusParams()}
	var peers []string
	for i := range list {
		v := &list[i]
		v.cfg = settings(o, i)
		for _, folder := range []string{"config", "data"} {
			if err := os.MkdirAll(filepath.Join(v.cfg.RootDir, folder), 0o755); err != nil {
				return fmt.Errorf("data folder: %w", err)
			}
		}
		v.key = privval.LoadOrGenFilePV(v.cfg.PrivValidatorKeyFile(), v.cfg.PrivValidatorStateFile())
		var err error
		if v.nodeKey, err = p2p.LoadOrGenNodeKey(v.cfg.NodeKeyFile()); err != nil {
			return fmt.Errorf("node key: %w", err)
		}
		pub, err := v.key.GetPubKey()
		if err != nil {
			return fmt.Errorf("validator key: %w", err)
		}
		doc.Validators = append(doc.Validators, types.GenesisValidator{Address: pub.Address(), PubKey: pub, Power: 10})
		peers = append(peers, fmt.Sprintf("%s@127.0.0.1:%d", v.nodeKey.ID(), o.p2p+i))
	}
	var nodes []*node.Node
	for i := range list {
		list[i].cfg.P2P.PersistentPeers = strings.Join(slices.Delete(slices.Clone(peers), i, i+1), ",")
		n, err := list[i].start(o, doc)
		if err != nil {
			return err
		}
		nodes = append(nodes, n)
	}
	<-ctx.Done()
	for _, n := range nodes {
		if err := n.Stop(); err != nil {
			return fmt.Errorf("stop the node: %w", err)
		}
		n.Wait()
	}
	return nil
}

// start makes a validator with an application of its own and starts it.
func (v *validator) start(o *options, doc *types.GenesisDoc) (*node.Node, error) {
	app, err := o.application()
	if err != nil {
		return nil, err
	}
	genesis := func() (*types.GenesisDoc, error) { return doc, nil }
	n, err := node.NewNode(v.cfg, v.key, v.nodeKey, proxy.NewConnSyncLocalClientCreator(app), genesis,
		config.DefaultDBProvider, node.DefaultMetricsProvider(v.cfg.Instrumentation), log.NewFilter(log.NewTMLogger(os.Stderr), log.AllowError()))
	if err != nil {
		return nil, fmt.Errorf("make the node: %w", err)
	}
	if err := n.Start(); err != nil {
		return nil, fmt.Errorf("start the node: %w", err)
	}
	return n, nil
}

// settings are the defaults but for what would be measured instead of the node: limits of
// its pool, its API and its links, the index, the pause behind a block, and the polling
// intervals of its gossip, which are made for links that take longer than loopback.
func settings(o *options, i int) *config.Config {
	cfg := config.DefaultConfig()
	cfg.SetRoot(filepath.Join(o.home, strconv.Itoa(i)))
	cfg.RPC.ListenAddress = ""
	if i == 0 {
		cfg.RPC.ListenAddress = "tcp://" + o.rpc
	}
	cfg.RPC.MaxRequestBatchSize = 1000
	cfg.TxIndex.Indexer = "null"
	cfg.Consensus.TimeoutCommit = 0
	cfg.Mempool.Size, cfg.Mempool.CacheSize, cfg.Mempool.MaxTxsBytes = 2_000_000, 2_000_000, 4<<30
	cfg.P2P.ListenAddress = fmt.Sprintf("tcp://127.0.0.1:%d", o.p2p+i)
	cfg.P2P.AddrBookStrict, cfg.P2P.AllowDuplicateIP = false, true
	cfg.P2P.SendRate, cfg.P2P.RecvRate = 512<<20, 512<<20
	if o.validators > 1 {
		cfg.P2P.FlushThrottleTimeout = 5 * time.Millisecond
		cfg.Consensus.PeerGossipSleepDuration = 5 * time.Millisecond
	}
	return cfg
}
