package node

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitle"
)

// TestDeprecatedEntitlementsAreFlagged: who reads an actor sees which of its
// entitlements go, and when.
func TestDeprecatedEntitlementsAreFlagged(t *testing.T) { // entitlements §9.11
	p := chain.EntitlementParams{Deprecated: []chain.Deprecation{{ID: entitle.Blob, From: 5, Last: 9}}}
	got := entitlements(entitle.Grants{{ID: entitle.Blob}, {ID: entitle.KV}}, &p)
	if !got[0].Deprecated || got[0].LastBlock != 9 || got[1].Deprecated || got[1].LastBlock != 0 {
		t.Errorf("%+v", got)
	}
}
