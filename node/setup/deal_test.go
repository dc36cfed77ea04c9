package setup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/ceremony"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/keystore"
)

// cheapCost derives a key at once: for tests alone.
var cheapCost = keystore.Cost{N: 16, R: 1, P: 1}

func phrase(words string) datadir.Passphrase {
	return func() ([]byte, error) { return []byte(words), nil }
}

func stands(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func dealtChain(t *testing.T, n int) (string, *genesis.Genesis) {
	t.Helper()
	dir := t.TempDir()
	g, err := Deal(dir, DealOptions{Validators: n})
	if err != nil {
		t.Fatal(err)
	}
	return dir, g
}

// TestDealMakesWholeFolders: each folder opens with its keys and the same
// genesis, in the order of consensus, and the deal says what it is.
func TestDealMakesWholeFolders(t *testing.T) {
	dir, g := dealtChain(t, 5)
	if err := errors.Join(g.Check(), ceremony.Check(g)); err != nil {
		t.Fatal(err)
	}
	mark, err := os.ReadFile(filepath.Join(dir, ceremonyFile))
	if err != nil || !bytes.Contains(mark, []byte(ceremonyTrustedDeal)) {
		t.Errorf("ceremony.json does not say how the keys were made: %s (%v)", mark, err)
	}
	_, other := dealtChain(t, 4)
	if !TrustedDeal(dir, g) || !TrustedDeal(datadir.DealtFolder(dir, 2), g) || TrustedDeal(dir, other) || TrustedDeal(t.TempDir(), g) {
		t.Error("the mark of the deal is not recognised, or another chain's is")
	}
	for i, v := range g.Validators {
		own, err := datadir.LoadGenesis(datadir.DealtFolder(dir, i))
		if err != nil {
			t.Fatal(err)
		}
		if own.Hash() != g.Hash() {
			t.Errorf("validator %d has another genesis", i)
		}
		keys, err := datadir.LoadKeys(datadir.DealtFolder(dir, i))
		if err != nil {
			t.Fatal(err)
		}
		if chain.PeerKey(keys.Peer.PublicKey()) != v.PeerKey || keys.Share.Index != uint32(i) {
			t.Errorf("folder %d does not hold the keys of participant %d", i, i)
		}
		if err := keys.CheckAgainst(g); err != nil {
			t.Error(err)
		}
	}
	if _, err := Deal(dir, DealOptions{Validators: 5}); !errors.Is(err, ErrDealExists) {
		t.Errorf("a second deal in the same folder: %v, want %v", err, ErrDealExists)
	}
}

func TestDealRefusesWrongNumbers(t *testing.T) {
	for _, n := range []int{-1, 0, 100_000} {
		if _, err := Deal(t.TempDir(), DealOptions{Validators: n}); err == nil {
			t.Errorf("%d validators: accepted", n)
		}
	}
}

const realParams = "../../profiles/genesis/mainnet-params.json"

// Keys that are made for a chain that matters are never in the clear, not even for a
// moment; those of a development chain are encrypted where that is asked for.
func TestNewKeysAreSealed(t *testing.T) {
	f := func(rule, template string, seal datadir.Sealing, want error, sealed bool) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "chain")
		seal.Cost = cheapCost
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
		for _, folder := range []string{datadir.DealtFolder(dir, 0), datadir.DealtFolder(dir, 3), datadir.FullNodeFolder(dir, 0)} {
			info, err := datadir.ShowKeys(folder)
			if err != nil || info.Sealed != sealed {
				t.Errorf("%s: %s is encrypted: %v, want %v, %v", rule, folder, info.Sealed, sealed, err)
			}
			keys, err := datadir.UnlockKeys(folder, phrase("pass"))
			if err == nil {
				err = errors.Join(keys.CheckAgainst(g), keys.MayServe(g))
			}
			if err != nil {
				t.Errorf("%s: %v", rule, err)
			}
		}
	}
	never := func() ([]byte, error) { t.Error("asked for a passphrase"); return nil, errors.New("no") }
	f("a real chain, no passphrase", realParams, datadir.Sealing{}, datadir.ErrDealPlain, false)
	f("a real chain, an empty one", realParams, datadir.Sealing{Passphrase: phrase("")}, keystore.ErrEmpty, false)
	f("a real chain", realParams, datadir.Sealing{Passphrase: phrase("pass")}, nil, true)
	f("a development chain", "", datadir.Sealing{Passphrase: never}, nil, false)
	f("a development chain, asked for", "", datadir.Sealing{Passphrase: phrase("pass"), Always: true}, nil, true)
	f("a development chain, asked for in vain", "", datadir.Sealing{Always: true}, datadir.ErrDealPlain, false)

	dir := t.TempDir()
	if _, err := PrepareSealedDevnet(dir, DevnetOptions{}, datadir.Sealing{Passphrase: phrase("pass"), Always: true, Cost: cheapCost}); err != nil {
		t.Fatal(err)
	}
	if info, err := datadir.ShowKeys(dir); err != nil || !info.Sealed {
		t.Errorf("a devnet of one: encrypted %v, %v", info.Sealed, err)
	}
}
