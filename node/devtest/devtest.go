// Package devtest runs development chains inside the process of a test, for the
// tests of programs that talk to a node.
//
// In: a folder, options, changed parameters. Out: the address of a node's API, and
// what stops it. A node listens on free ports of the loopback and takes any number
// of requests. It is a kit for tests.
package devtest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// Start runs the devnet of a folder, a new one if there is none, until stop is
// called.
func Start(t *testing.T, dir string, options setup.DevnetOptions) (url string, stop func()) {
	t.Helper()
	genesis, err := setup.PrepareDevnet(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	cfg := node.DefaultConfig()
	cfg.DataDir, cfg.Devnet, cfg.RPCPerSec = dir, true, 0
	cfg.RPCAddr, cfg.AdminAddr = "127.0.0.1:0", "127.0.0.1:0"
	n, err := node.Open(cfg, genesis, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Listen(); err != nil {
		t.Fatal(errors.Join(err, n.Close()))
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	return "http://" + n.RPCAddr(), func() {
		cancel()
		if err := errors.Join(<-done, n.Close()); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
}

// Genesis writes a devnet's template with other parameters and returns the name of
// the file, for [setup.DevnetOptions].
func Genesis(t *testing.T, change func(*params.Params)) string {
	t.Helper()
	g := genesis.DevnetTemplate()
	change(&g.Params)
	raw, err := g.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "template.json")
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
