package node

import (
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/p2p"
)

// TestMemoryWithoutFinality adds the budgets up: what others can pile up in a validator
// of four while nothing becomes final is at most 1 GiB.
func TestMemoryWithoutFinality(t *testing.T) {
	const most = 1 << 30
	p := params.Default()
	e := engine.DefaultConfig(&p)
	mesh := p2p.DefaultConfig(int(p.MaxBlockBytes))
	hour := int(time.Hour/(time.Duration(p.LeaderTimeoutMillis)*time.Millisecond)) + 1 // views that a liar leads or not
	perView := 3*simplex.CertificateBytesMax + 1024                                    // what stays of a view that was given up
	sum := 0
	for name, bytes := range map[string]int{
		"inbox": e.InboxBytes, "blocks": e.PendingBytesMax + 2*e.MaxBlockBytes, "votes": e.TallyBytes,
		"executed": ledger.DefaultUnfinalBytes, "offline": mesh.OfflineBytes, "views": hour * perView,
	} {
		t.Logf("%-9s %4d MiB", name, bytes>>20)
		sum += bytes
	}
	if sum > most {
		t.Errorf("%d MiB can be piled up, want at most %d", sum>>20, most>>20)
	}
}

// TestTimeoutsOverTheChains: what the operator says goes before what the chain says, and
// never leaves a view that ends before its leader's time is over.
func TestTimeoutsOverTheChains(t *testing.T) {
	of := engine.Timing{LeaderTimeout: 2 * time.Second, CertificationTimeout: 3 * time.Second, RetryInterval: time.Second}
	for _, c := range []struct{ leader, certification, wantLeader, wantCertification time.Duration }{
		{0, 0, 2 * time.Second, 3 * time.Second},
		{8 * time.Second, 0, 8 * time.Second, 12 * time.Second},
		{0, 9 * time.Second, 2 * time.Second, 9 * time.Second},
		{0, 1500 * time.Millisecond, time.Second, 1500 * time.Millisecond},
		{5 * time.Second, 20 * time.Second, 5 * time.Second, 20 * time.Second},
	} {
		t0 := Timeouts{Leader: c.leader, Certification: c.certification}
		if err := t0.check(); err != nil {
			t.Error(err)
		}
		got := t0.override(of)
		if got.LeaderTimeout != c.wantLeader || got.CertificationTimeout != c.wantCertification || got.LeaderTimeout >= got.CertificationTimeout {
			t.Errorf("%+v over the chain's: %v and %v, want %v and %v", t0, got.LeaderTimeout, got.CertificationTimeout, c.wantLeader, c.wantCertification)
		}
	}
	if (Timeouts{Leader: 3, Certification: 3}).check() == nil || (Timeouts{Max: -1}).check() == nil || (Budgets{InboxBytes: -1}).check() == nil {
		t.Error("settings that cannot work are taken")
	}
}
