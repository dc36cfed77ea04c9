package node

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/keystore"
)

const realParams = "../profiles/genesis/mainnet-params.json"

// Keys that are made for a chain that matters are never in the clear, not even for a
// moment; those of a development chain are encrypted where that is asked for.
func TestNewKeysAreSealed(t *testing.T) {
	f := func(rule, template string, seal Sealing, want error, sealed bool) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "chain")
		seal.Cost = quickCost
		g, err := Deal(dir, DealOptions{Validators: 4, FullNodes: 1, Seal: seal, DevnetOptions: DevnetOptions{GenesisFile: template}})
		if !errors.Is(err, want) {
			t.Fatalf("%s: %v, want %v", rule, err, want)
		}
		if want != nil {
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%s: %v is left of what was refused", rule, left)
			}
			return
		}
		for _, folder := range []string{DealtFolder(dir, 0), DealtFolder(dir, 3), FullNodeFolder(dir, 0)} {
			info, err := ShowKeys(folder)
			if err != nil || info.Sealed != sealed {
				t.Errorf("%s: %s is encrypted: %v, want %v, %v", rule, folder, info.Sealed, sealed, err)
			}
			keys, err := UnlockKeys(folder, says("pass"))
			if err == nil {
				err = errors.Join(keys.checkAgainst(g), keys.mayServe(g))
			}
			if err != nil {
				t.Errorf("%s: %v", rule, err)
			}
		}
	}
	never := func() ([]byte, error) { t.Error("asked for a passphrase"); return nil, errors.New("no") }
	f("a real chain, no passphrase", realParams, Sealing{}, ErrDealPlain, false)
	f("a real chain, an empty one", realParams, Sealing{Passphrase: says("")}, keystore.ErrEmpty, false)
	f("a real chain", realParams, Sealing{Passphrase: says("pass")}, nil, true)
	f("a development chain", "", Sealing{Passphrase: never}, nil, false)
	f("a development chain, asked for", "", Sealing{Passphrase: says("pass"), Always: true}, nil, true)
	f("a development chain, asked for in vain", "", Sealing{Always: true}, ErrDealPlain, false)

	dir := t.TempDir()
	if _, err := PrepareSealedDevnet(dir, DevnetOptions{}, Sealing{Passphrase: says("pass"), Always: true, Cost: quickCost}); err != nil {
		t.Fatal(err)
	}
	if info, err := ShowKeys(dir); err != nil || !info.Sealed {
		t.Errorf("a devnet of one: encrypted %v, %v", info.Sealed, err)
	}
}

// What a keys command that was cut short left beside the key file is gone after the
// next start, and after the next such command; a start whose keys cannot be read
// touches nothing.
func TestHalfKeysGo(t *testing.T) {
	g := func(dir string) (*Node, *bytes.Buffer) {
		genesis, err := LoadGenesis(dir)
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
	if _, err := PrepareSealedDevnet(dir, DevnetOptions{}, Sealing{Passphrase: says("pass"), Always: true, Cost: quickCost}); err != nil {
		t.Fatal(err)
	}
	keys, err := UnlockKeys(dir, says("pass"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := keys.encode()
	if err != nil {
		t.Fatal(err)
	}
	name, half := filepath.Join(dir, keysFile), filepath.Join(dir, keysFile+halfKeys)
	leave := func() { // as DecryptKeys does, up to the rename
		t.Helper()
		if err := writeNew(half, plain, 0o600); err != nil {
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
	if err := DecryptKeys(dir, says("pass")); err != nil {
		t.Error(err)
	}
	gone("keys decrypt")
	leave()
	if err := EncryptKeys(dir, []byte("pass"), quickCost); err != nil {
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
