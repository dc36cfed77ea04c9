package node

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestOfflineIsForAChainOfOne: blocks are made by hand on a development chain of
// one validator and nowhere else, and never two in one view.
func TestOfflineIsForAChainOfOne(t *testing.T) {
	several := t.TempDir()
	if _, err := Deal(several, DealOptions{Validators: 4, DevnetOptions: DevnetOptions{}}); err != nil {
		t.Fatal(err)
	}
	real := t.TempDir()
	if _, err := Deal(real, DealOptions{Validators: 1, Seal: Sealing{Passphrase: says("pass"), Cost: quickCost}, DevnetOptions: DevnetOptions{GenesisFile: "../profiles/genesis/mainnet-params.json"}}); err != nil {
		t.Fatal(err)
	}
	alone := t.TempDir()
	if _, err := PrepareDevnet(alone, DevnetOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir  string
		want error
	}{
		"four validators":       {DealtFolder(several, 0), ErrNotAlone},
		"not a development one": {DealtFolder(real, 0), ErrNotDevelopment},
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
