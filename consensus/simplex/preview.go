package simplex

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// Leads reports whether p is known to lead round r with a block on the parent's
// view, r being the current round or the next one. Work that p announces is worth
// doing before its proposal is here. A preview that comes too early for us to know
// the leader is of no use: by the time we do, so is the proposal. Nor does
// anybody lead past a view of which we do not know that it was given up.
func (m *Machine) Leads(p beacon.Participant, r beacon.Round, parent chain.View) bool {
	v := r.View
	if r.Epoch != m.cfg.Epoch || v < m.view || v > m.view+1 {
		return false
	}
	if _, given := m.Certificate(v-1, Nullify); parent+1 != v && !given {
		return false
	}
	who, known := m.LeaderOf(v, parent)
	return known && who == p
}
