package node

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestMarketsBooksAlarm: a coin in escrow that no job has is an alarm while it lasts, and
// nothing that ends the part.
func TestMarketsBooksAlarm(t *testing.T) {
	n := opened(t)
	head := n.store.Head()
	o := state.NewOverlay(head)
	if err := funds.Issue(o, chain.AddrJobDispatcher, 1); err != nil {
		t.Fatal(err)
	}
	wrong, err := head.Apply(o.Delta())
	if err != nil {
		t.Fatal(err)
	}
	a := newAlarms(slog.New(slog.DiscardHandler))
	seen := head
	m := &marketWatch{head: func() *store.Version { return seen }, alarms: a}
	for _, step := range []struct {
		at   *store.Version
		want string
	}{{head, ""}, {wrong, "has 1 wei, and records come to 0"}, {head, ""}} {
		seen = step.at
		if err := m.look(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(a.reasons(), "; "); !strings.Contains(got, step.want) || (got == "") != (step.want == "") {
			t.Fatalf("alarms: %q, want %q", got, step.want)
		}
	}
}
