package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// A chain that is no development chain is not made with keys in the clear, and a devnet
// whose keys are is not run by who names a passphrase for them.
func TestNewKeys(t *testing.T) {
	words := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(words, []byte("hunter two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(rule, template, file string, want error, sealed bool) {
		t.Helper()
		c := genesisNewCommand{Validators: 1, Out: filepath.Join(t.TempDir(), "chain"), Genesis: template}
		c.File, c.FD = file, -1
		if err := c.Run(); !errors.Is(err, want) {
			t.Fatalf("%s: %v, want %v", rule, err, want)
		}
		if want != nil {
			return
		}
		if info, err := datadir.ShowKeys(datadir.DealtFolder(c.Out, 0)); err != nil || info.Sealed != sealed {
			t.Errorf("%s: encrypted %v, %v", rule, info.Sealed, err)
		}
	}
	f("a development chain", "", "", nil, false)
	f("another, no passphrase", "../../profiles/genesis/mainnet-params.json", "", datadir.ErrDealPlain, false)
	f("another", "../../profiles/genesis/mainnet-params.json", words, nil, true)

	dir := t.TempDir()
	if _, err := setup.PrepareDevnet(dir, setup.DevnetOptions{}); err != nil {
		t.Fatal(err)
	}
	c := devnetCommand{Data: dir, Validators: 1}
	c.File, c.FD = words, -1
	if err := c.Run(t.Context(), nil); exitCode(err, nil) != 2 {
		t.Errorf("keys in the clear and a passphrase: %v", err)
	}
	c.Validators, c.File, c.FD, c.Data = 4, "", 0, t.TempDir()
	if err := c.Run(t.Context(), nil); exitCode(err, nil) != 2 {
		t.Errorf("one descriptor for four processes: %v", err)
	}
}
