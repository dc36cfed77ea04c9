package node

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/keystore"
)

// quickCost derives a key at once: for tests alone.
var quickCost = keystore.Cost{N: 16, R: 1, P: 1}

func says(words string) datadir.Passphrase {
	return func() ([]byte, error) { return []byte(words), nil }
}

// TestPlainKeysAreForDevelopment: on a chain that matters a node does not start with
// keys in the clear, and says what to do; encrypted ones get past that.
func TestPlainKeysAreForDevelopment(t *testing.T) {
	top, g := dealt(t, 4)
	dir := datadir.DealtFolder(top, 1)
	serious := *g
	serious.Devnet = false
	cfg := DefaultConfig()
	cfg.DataDir = dir
	_, err := Open(cfg, &serious, slog.New(slog.DiscardHandler))
	if !errors.Is(err, datadir.ErrKeysPlain) || !strings.Contains(err.Error(), filepath.Join(dir, datadir.KeysFile)) {
		t.Errorf("in the clear: %v", err)
	}
	if err := SyncState(t.Context(), cfg, &serious, true, slog.New(slog.DiscardHandler)); !errors.Is(err, datadir.ErrKeysPlain) {
		t.Errorf("in the clear, fetching a state: %v", err)
	}
	if err := datadir.EncryptKeys(dir, []byte("pass"), quickCost); err != nil {
		t.Fatal(err)
	}
	cfg.Passphrase = says("pass")
	keys, err := datadir.UnlockKeys(dir, cfg.Passphrase)
	if err != nil || keys.MayServe(&serious) != nil || keys.MayServe(g) != nil {
		t.Errorf("encrypted: %v", err)
	}
	n, err := Open(cfg, g, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}
