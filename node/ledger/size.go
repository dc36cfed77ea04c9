package ledger

import (
	"time"

	"github.com/cowboy-foundation/cowboy/chain/params"
)

// blockSize decides how many bytes of transactions a proposal may hold, so that
// it is ready before the view ends. Without it, a backlog that takes longer to
// execute than the leader timeout would be packed again in every view and the
// chain would stand still.
//
// A proposal that came too late is followed by one of half its bytes, though not
// below an eighth of the size before: a small one was late for another reason.
// One that took most of its time keeps the size, any other lets it grow. The
// rule is this proposer's own: a verifier knows only max_block_bytes.
type blockSize struct {
	limit int           // bytes for the next proposal
	most  int           // what the protocol allows
	least int           // room for the largest transaction
	quick time.Duration // a build within this may have been larger
}

func newBlockSize(p *params.Params) blockSize {
	most := int(p.MaxBlockBytes) - blockEnvelopeBytes
	s := blockSize{limit: most, most: most}
	s.applyParams(p)
	return s
}

// applyParams takes in the parameters in force in the next block.
func (s *blockSize) applyParams(p *params.Params) {
	s.least = min(s.most, int(p.MaxTxBytes)+blockEnvelopeBytes)
	s.limit = max(s.limit, s.least)
	// Building starts when the block time has passed; half of what then is left is
	// for the journal and for a machine that is busy otherwise.
	s.quick = time.Duration(p.LeaderTimeoutMillis-p.BlockTimeMillis) * time.Millisecond / 2
}

// built takes in how a proposal of so many bytes went.
func (s *blockSize) built(bytes int, took time.Duration, late bool) {
	switch {
	case late:
		s.limit = max(s.least, s.limit/8, min(s.limit, bytes)/2)
	case took <= s.quick:
		s.limit = min(s.most, s.limit+s.limit/16+1)
	}
}
