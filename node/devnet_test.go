package node

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestLanesOfADevnet: either table of the specification by its name (resolution
// 2.1), and no other chain in the same folder.
func TestLanesOfADevnet(t *testing.T) {
	for _, profile := range chain.LaneProfiles() {
		dir := t.TempDir()
		g, err := PrepareDevnet(dir, DevnetOptions{Lanes: profile})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := chain.LaneProfileShares(profile)
		if g.Params.LaneProfile != profile || g.Params.LaneShareBasisPoints != want {
			t.Errorf("%s: %q with %v", profile, g.Params.LaneProfile, g.Params.LaneShareBasisPoints)
		}
		for _, again := range chain.LaneProfiles() {
			if _, err := PrepareDevnet(dir, DevnetOptions{Lanes: again}); again == profile && err != nil || again != profile && !errors.Is(err, ErrDevnetExists) {
				t.Errorf("%s, then %s: %v", profile, again, err)
			}
		}
	}
	if _, err := PrepareDevnet(t.TempDir(), DevnetOptions{Lanes: "custom"}); err == nil {
		t.Error("custom names no shares")
	}
}
