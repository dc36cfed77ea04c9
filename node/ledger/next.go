package ledger

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
)

// NextInputs guesses the inputs of the block after e, for trials of transactions
// that nobody relies on: its time is one block time later, its proposer and its
// randomness those of e. They have no engine. It may be called from any goroutine.
func (l *Ledger) NextInputs(e *Executed) exec.Inputs {
	p, last := e.Force.Params, &e.Block.Header
	h := chain.Header{
		Parent: e.Digest, Height: last.Height + 1, Epoch: last.Epoch, View: last.View + 1, Proposer: last.Proposer,
		TimestampMillis: last.TimestampMillis + p.BlockTimeMillis,
		BaseFees:        BaseFeesAfter(p, last),
	}
	leaveInputsEmpty(&h)
	beacon := l.cfg.Genesis.Beacon
	if last.Height > 0 {
		beacon = l.parentBeacon(last)
	}
	in := inputsOf(l.cfg.Genesis, l.cfg.Proposers.epochs, &h, beacon)
	in.Params = p
	return in
}
