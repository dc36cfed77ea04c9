package tools

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/keystore"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestOfflineIsForAChainOfOne: blocks are made by hand on a development chain of
// one validator and nowhere else, and never two in one view.
func TestOfflineIsForAChainOfOne(t *testing.T) {
	several := t.TempDir()
	if _, err := setup.Deal(several, setup.DealOptions{Validators: 4, DevnetOptions: setup.DevnetOptions{}}); err != nil {
		t.Fatal(err)
	}
	real := t.TempDir()
	pass := func() ([]byte, error) { return []byte("pass"), nil }
	if _, err := setup.Deal(real, setup.DealOptions{Validators: 1, Seal: datadir.Sealing{Passphrase: pass, Cost: keystore.Cost{N: 16, R: 1, P: 1}}, DevnetOptions: setup.DevnetOptions{GenesisFile: "../../profiles/genesis/mainnet-params.json"}}); err != nil {
		t.Fatal(err)
	}
	alone := t.TempDir()
	if _, err := setup.PrepareDevnet(alone, setup.DevnetOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir  string
		want error
	}{
		"four validators":       {datadir.DealtFolder(several, 0), ErrNotAlone},
		"not a development one": {datadir.DealtFolder(real, 0), datadir.ErrNotDevelopment},
		"one validator":         {alone, nil},
	} {
		o, err := OpenOffline(c.dir, store.DefaultOptions())
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if err != nil {
			continue
		}
		p := simplex.Proposal{Round: beacon.Round{Epoch: o.Epoch(), View: 1}, Payload: [32]byte{1}}
		if cert, err := o.Certify(p); err != nil || !o.voice.VerifyCertificate(cert) {
			t.Errorf("%s: certificate %+v, %v", name, cert, err)
		}
		p.Payload[0]++
		if _, err := o.Certify(p); err == nil {
			t.Errorf("%s: two blocks are certified in one view", name)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}
