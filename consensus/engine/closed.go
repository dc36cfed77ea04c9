package engine

import (
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// nameClosed tells the operator of a view that the guard closed and of which the
// journal, which spoken is of, knows nothing: its end is lost. No vote of ours leaves in it.
func (w *watch) nameClosed(spoken simplex.Watermark) {
	mark := w.guard.Watermark()
	top := mark.Round()
	if w.cfg.Share == nil || top.View <= w.cfg.LastFinalized.Round.View || top.View <= spoken.Round().View {
		return
	}
	next := "the others' votes take the chain past it: nothing is to be done while a quorum of them is up"
	if w.cfg.Set.Len() == 1 {
		next = "no other can pass it: stop, and see cowboyd guard reopen --help"
	}
	for k := simplex.Notarize; k <= simplex.Finalize; k++ {
		m := mark[k]
		if m.Proposal.Round != top {
			continue
		}
		args := []any{"view", top.View, "vote", k, "next", next}
		if k != simplex.Nullify && !m.Blind {
			args = append(args, "block", m.Proposal.Payload)
		}
		w.cfg.Log.Warn("this key signed in a view of which the vote journal knows nothing, so it is closed to us: the journal lost its end, or was put back", args...)
	}
}
