package node

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/node/byzantine"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/porttest"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// liarsAtOnce bounds how many committees run at a time.
const liarsAtOnce = 7

// TestHonestValidatorsGoOn runs each kind of liar among three honest validators,
// over real connections: the chain goes on past views that the liar leads, all
// have the same blocks, and who contradicts itself is convicted.
func TestHonestValidatorsGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("runs twenty committees for seconds each: left out of -short runs, runs in make test")
	}
	slots := make(chan struct{}, liarsAtOnce)
	for _, kind := range byzantine.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			playLiar(t, kind)
		})
	}
}

// committeeOf starts four validators in this process, the last of which lies.
func committeeOf(t *testing.T, kind string) []*Node {
	t.Helper()
	template := genesis.DevnetTemplate()
	p := &template.Params
	p.BlockTimeMillis, p.LeaderTimeoutMillis, p.CertificationTimeoutMillis, p.NullifyRetryMillis = 20, 250, 500, 300
	raw, err := template.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "template.json")
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	g, err := setup.Deal(dir, setup.DealOptions{Validators: 4, DevnetOptions: setup.DevnetOptions{GenesisFile: file}})
	if err != nil {
		t.Fatal(err)
	}
	addresses := porttest.UDP(t, 4)
	if err := setup.WriteDealtPeers(dir, g, addresses); err != nil {
		t.Fatal(err)
	}
	var nodes []*Node
	for i, address := range addresses {
		cfg := DefaultConfig()
		cfg.DataDir, cfg.Devnet, cfg.RPCAddr, cfg.AdminAddr, cfg.P2PAddr = datadir.DealtFolder(dir, i), true, "127.0.0.1:0", "127.0.0.1:0", address
		if i == 3 {
			cfg.Byzantine = kind
		}
		n, err := Open(cfg, g, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func playLiar(t *testing.T, kind byzantine.Kind) {
	nodes := committeeOf(t, kind.Name)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, len(nodes))
	for _, n := range nodes {
		if err := n.Listen(); err != nil {
			t.Fatal(err)
		}
		go func() { ended <- n.Run(ctx) }()
	}
	defer func() {
		cancel()
		for range nodes {
			if err := <-ended; err != nil {
				t.Errorf("a validator ended with %v", err)
			}
		}
		for _, n := range nodes {
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	const blocks, led = 8, 1
	honest := nodes[:3]
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		over := uint64(0) // at whom sees most: one may have all blocks withheld
		for _, n := range honest {
			s := &n.engine.Stats.Leaders[3]
			over = max(over, s.ProposalsMade.Load()+s.ProposalsMissed.Load())
		}
		lowest := min(honest[0].ledger.Head().Height(), honest[1].ledger.Head().Height(), honest[2].ledger.Head().Height())
		if over >= led && lowest >= blocks && (!kind.Convicts || convicted(honest) && onChain(t, nodes) == len(nodes)) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d blocks, %d views led by the liar, convicted %v, on the chain of %d", lowest, over, convicted(honest), onChain(t, nodes))
		}
	}
	equalBlocks(t, honest)
	if !kind.Convicts && (convicted(honest) || onChain(t, honest) > 0) {
		t.Error("evidence of what is no contradiction")
	}
	for i, n := range honest {
		for j := range honest {
			if n.engine.Stats.Peers[j].BlockedUntilUnix.Load() != 0 {
				t.Errorf("validator %d bans the honest validator %d", i, j)
			}
		}
	}
}

func convicted(honest []*Node) bool {
	for _, n := range honest {
		if n.engine.Stats.Evidence.Load() > 0 {
			return true
		}
	}
	return false
}

// onChain counts the nodes whose state has a conviction, which must be the last
// validator's.
func onChain(t *testing.T, nodes []*Node) (convicting int) {
	t.Helper()
	for i, n := range nodes {
		view := n.ledger.Head().State
		total, err := staking.Convictions(view)
		if err != nil {
			continue // the head has moved on
		}
		for number := range total {
			c, err := staking.ReadConviction(view, number+1)
			if err != nil {
				continue
			}
			if c.Offence.Accused != n.set.At(3).PeerKey || c.Validator != 3 || c.Stake != setup.DevValidatorStake {
				t.Fatalf("validator %d has the conviction %+v", i, c)
			}
		}
		if total > 0 {
			convicting++
		}
	}
	return convicting
}

func equalBlocks(t *testing.T, nodes []*Node) {
	t.Helper()
	lowest := nodes[0].ledger.Head().Height()
	for _, n := range nodes {
		lowest = min(lowest, n.ledger.Head().Height())
	}
	for h := chain.Height(1); h <= lowest; h++ {
		first, _, err := nodes[0].store.BlockByHeight(h)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range nodes {
			if rec, ok, err := n.store.BlockByHeight(h); err != nil || !ok || rec.Digest != first.Digest {
				t.Fatalf("block %d of validator %d is %s, want %s (%v)", h, i, rec.Digest, first.Digest, err)
			}
		}
	}
}

// No chain that matters has a liar, and no liar is alone.
func TestLiarsAreRefused(t *testing.T) {
	dir, g := dealt(t, 4)
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Byzantine = datadir.DealtFolder(dir, 0), "equivocator"
	quiet := slog.New(slog.DiscardHandler)
	serious := *g
	serious.Devnet = false
	if _, err := Open(cfg, &serious, quiet); !errors.Is(err, datadir.ErrNotDevelopment) {
		t.Errorf("on a chain that matters: %v, want %v", err, datadir.ErrNotDevelopment)
	}
	cfg.Byzantine = "saint"
	if _, err := Open(cfg, g, quiet); !errors.Is(err, byzantine.ErrKind) {
		t.Errorf("of no kind: %v, want %v", err, byzantine.ErrKind)
	}
	alone := t.TempDir()
	single, err := setup.PrepareDevnet(alone, setup.DevnetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.DataDir, cfg.Byzantine = alone, "equivocator"
	if _, err := Open(cfg, single, quiet); !errors.Is(err, errLiarAlone) {
		t.Errorf("alone: %v, want %v", err, errLiarAlone)
	}
}
