package node

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// What a keys command that was cut short left beside the key file is gone after the
// next start, and after the next such command; a start whose keys cannot be read
// touches nothing.
func TestHalfKeysGo(t *testing.T) {
	g := func(dir string) (*Node, *bytes.Buffer) {
		genesis, err := datadir.LoadGenesis(dir)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		cfg := DefaultConfig()
		cfg.DataDir, cfg.Passphrase = dir, says("pass")
		n, err := Open(cfg, genesis, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			return nil, &log
		}
		return n, &log
	}
	dir := t.TempDir()
	if _, err := setup.PrepareSealedDevnet(dir, setup.DevnetOptions{}, datadir.Sealing{Passphrase: says("pass"), Always: true, Cost: quickCost}); err != nil {
		t.Fatal(err)
	}
	keys, err := datadir.UnlockKeys(dir, says("pass"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := keys.Encode()
	if err != nil {
		t.Fatal(err)
	}
	name, half := filepath.Join(dir, datadir.KeysFile), filepath.Join(dir, datadir.KeysFile+datadir.HalfKeys)
	leave := func() { // as DecryptKeys does, up to the rename
		t.Helper()
		if err := datadir.WriteNew(half, plain, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(after string) {
		t.Helper()
		if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: keys.json.new is there: %v", after, err)
		}
	}
	leave()
	n, log := g(dir)
	if n == nil {
		t.Fatal(log)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	gone("a start")
	if !strings.Contains(log.String(), half) {
		t.Errorf("the log does not name the file: %s", log)
	}
	leave()
	if err := datadir.DecryptKeys(dir, says("pass")); err != nil {
		t.Error(err)
	}
	gone("keys decrypt")
	leave()
	if err := datadir.EncryptKeys(dir, []byte("pass"), quickCost); err != nil {
		t.Error(err)
	}
	gone("keys encrypt")
	leave()
	if err := os.Truncate(name, 10); err != nil {
		t.Fatal(err)
	}
	if n, _ := g(dir); n != nil {
		t.Error("a node started without keys")
	}
	if _, err := os.Stat(half); err != nil {
		t.Errorf("the only whole keys were removed: %v", err)
	}
}
