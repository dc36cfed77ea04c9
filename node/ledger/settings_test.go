package ledger

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestStartUnderSettingsOfOtherBuilds: a chain whose governance went beyond what this
// build's Check takes goes on; one that uses what this build has not ends the start by
// the parameter's name.
func TestStartUnderSettingsOfOtherBuilds(t *testing.T) { // soundness W6
	f := newFixture(t)
	open := func(path string, value uint64) *store.Store {
		t.Helper()
		delta, err := exec.GenesisDelta(f.genesis)
		if err != nil {
			t.Fatal(err)
		}
		all := statetest.NewMaps(delta)
		o := state.NewOverlay(all)
		kept := cbor.AppendUint(cbor.AppendText(cbor.AppendMap(nil, 1), path), value)
		o.SetStorage(chain.AddrGovernance, state.NewStorageKey(state.VMNamespaceSystem, []byte("settings")), kept)
		options := store.DefaultOptions()
		options.FS = vfs.NewMem()
		s, err := store.Open("state", options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := s.Init(store.GenesisRecord{Hash: f.genesis.Hash(), Delta: all.With(o.Delta()).Delta()}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open("base_fee_alpha", 1_001)
	if p, err := HeadParams(s, f.genesis); err != nil || p.BaseFeeAlpha != 1_001 || p.Check() == nil {
		t.Errorf("a value above this build's bound: %v", err)
	}
	if _, err := HeadHeader(s, f.genesis); err != nil {
		t.Error(err)
	}
	_, err := HeadHeader(open("base_fee_beta", 9), f.genesis)
	var other *params.KeptSettingError
	if !errors.As(err, &other) || other.Path != "base_fee_beta" || !strings.Contains(err.Error(), "a newer build is needed") {
		t.Errorf("a parameter that this build has not: %v", err)
	}
}
