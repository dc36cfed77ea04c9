package tools_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/node/tools"
)

func TestVerifyMakesNoChain(t *testing.T) {
	dir := t.TempDir()
	if _, err := setup.PrepareDevnet(dir, setup.DevnetOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := tools.VerifyChain(t.Context(), dir, func(string, chain.Height, chain.Height) {}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("verified a folder without a store: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, datadir.StoreFolder)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("verify left a store behind: %v", err)
	}
}
