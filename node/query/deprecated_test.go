package query

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// TestDeprecatedEntitlementsAreFlagged: who reads an actor sees which of its
// entitlements go, and when.
func TestDeprecatedEntitlementsAreFlagged(t *testing.T) { // entitlements §9.11
	p := params.Entitlements{Deprecated: []params.Deprecation{{ID: manifest.Blob, From: 5, Last: 9}}}
	got := entitlements(manifest.Grants{{ID: manifest.Blob}, {ID: manifest.KV}}, &p)
	if !got[0].Deprecated || got[0].LastBlock != 9 || got[1].Deprecated || got[1].LastBlock != 0 {
		t.Errorf("%+v", got)
	}
}
