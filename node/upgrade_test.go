package node

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/p2p"
	"github.com/cowboy-foundation/cowboy/node/porttest"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// TestRollingUpgrade starts four validators again one after the other as a release that
// knows one message more, which it sends to all that do not know it yet. Nobody is
// banned, blamed or disconnected for it, and blocks become final at every step.
func TestRollingUpgrade(t *testing.T) {
	dir := t.TempDir()
	g, err := setup.Deal(dir, setup.DealOptions{Validators: 4, DevnetOptions: setup.DevnetOptions{BlockTime: 100 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	ports := porttest.UDP(t, 4)
	var peers []datadir.PeerAddress
	for i, v := range g.Validators {
		peers = append(peers, datadir.PeerAddress{Key: v.PeerKey, Address: ports[i]})
	}
	nodes := make([]*Node, 4)
	stops := make([]func(), 4)
	start := func(i int, version uint16) {
		t.Helper()
		if err := datadir.WritePeers(datadir.DealtFolder(dir, i), peers); err != nil {
			t.Fatal(err)
		}
		cfg := DefaultConfig()
		cfg.DataDir, cfg.P2PAddr, cfg.RPCAddr, cfg.AdminAddr = datadir.DealtFolder(dir, i), ports[i], "127.0.0.1:0", "127.0.0.1:0"
		cfg.wireVersion, cfg.FreeBytesFloor = version, 0
		n, err := Open(cfg, g, slog.New(slog.NewTextHandler(io.Discard, nil)))
		if err == nil {
			err = n.Listen()
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- n.Run(ctx) }()
		stop := func() {
			cancel()
			if err := errors.Join(<-done, n.Close()); err != nil {
				t.Errorf("validator %d: %v", i, err)
			}
		}
		nodes[i], stops[i] = n, stop
	}
	for i := range nodes {
		start(i, p2p.Version)
	}
	t.Cleanup(func() {
		for _, stop := range stops {
			stop()
		}
	})
	finalAfter := func(what string, blocks chain.Height) {
		t.Helper()
		from := nodes[0].ledger.Head().Height()
		for _, n := range nodes {
			from = max(from, n.ledger.Head().Height())
		}
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			level := true
			for _, n := range nodes {
				level = level && n.ledger.Head().Height() >= from+blocks
			}
			if level {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: no %d blocks more on all validators", what, blocks)
			}
		}
	}
	blameless := func(what string) {
		t.Helper()
		for i, n := range nodes {
			for _, p := range n.mesh.transport.Peers() {
				if p.Violations != 0 {
					t.Errorf("%s: validator %d counts %d violations of validator %d", what, i, p.Violations, p.ID)
				}
			}
			if bans := n.engine.Stats.Bans.Load(); bans != 0 {
				t.Errorf("%s: validator %d has banned %d times", what, i, bans)
			}
		}
	}
	finalAfter("before", 2)
	for i := range nodes {
		stops[i]()
		start(i, p2p.Version+1)
		finalAfter("with one back", 2)
		ignored := make([]uint64, 4)
		for to := i + 1; to < 4; to++ {
			ignored[to] = nodes[to].mesh.transport.Stats.NewerIgnored.Load()
			for class := p2p.Votes; class < p2p.NumClasses; class++ {
				if class != p2p.Transactions { // those have no tags
					nodes[i].mesh.transport.Send(to, class, []byte("z of the next release"))
				}
			}
		}
		for to := i + 1; to < 4; to++ {
			for end := time.Now().Add(time.Minute); nodes[to].mesh.transport.Stats.NewerIgnored.Load() < ignored[to]+uint64(p2p.NumClasses)-2; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("validator %d has ignored %d messages of validator %d", to, nodes[to].mesh.transport.Stats.NewerIgnored.Load()-ignored[to], i)
				}
			}
		}
		finalAfter("with the new message", 2)
		blameless("with the new message")
	}
}
