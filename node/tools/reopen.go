package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/state/journal"
	"github.com/cowboy-foundation/cowboy/state/store"
)

var (
	// ErrOthersPass means that a closed view is no matter of this validator.
	ErrOthersPass = errors.New("the chain has other validators: their votes take it past the closed view, and this key may not speak in it again, for they may have heard it")
	// ErrNothingLeft means that the blocks are gone together with the journal.
	ErrNothingLeft = errors.New("store has no block and votes.journal is missing, so nothing says what the key showed to others: put both back, or one of them")
	// ErrNothingClosed means that the watermark holds nothing that the journal and
	// the store do not.
	ErrNothingClosed = errors.New("no view is closed for a block that is gone: the watermark has nothing that the vote journal and the chain have not")
)

// Reopened says what ReopenGuard did: the newest round that the key had signed in, as its
// watermark knows, the newest final block, and whether a new vote journal began.
type Reopened struct {
	Closed, Head chain.View
	Begun        bool
}

// String is what the operator is told.
func (r Reopened) String() string {
	begun := ""
	if r.Begun {
		begun = "votes.journal was missing and is begun anew; "
	}
	if r.Closed <= r.Head {
		return fmt.Sprintf("%sno view is closed: the key signed nothing above view %d, of the newest final block", begun, r.Head)
	}
	return fmt.Sprintf("%sthe key may speak again above view %d, of the newest final block; it was closed up to view %d", begun, r.Head, r.Closed)
}

// ReopenGuard lets the key of a validator without others speak again in the views
// above its newest final block of which its journal knows nothing.
//
// It is safe for such a validator because nothing of those views has left the
// process: it has no peers, a block is served only once the store has it durably
// (ledger, Finalized), and the store does not lose its end without noticing
// (head.watermark). It is not safe in a folder that was put back from a copy, for
// then the store may be older than what was served; nothing here can tell that, so
// the operator must (docs/adr/0104). Where the vote journal was moved away, a new one
// begins.
func ReopenGuard(dataDir string) (done Reopened, err error) {
	genesis, _, err := validatorOf(dataDir)
	if err != nil {
		return done, err
	}
	if !epoch.Of(genesis).Alone() {
		return done, ErrOthersPass
	}
	s, err := datadir.OpenStore(dataDir, genesis, store.DefaultOptions())
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	head, err := ledger.HeadHeader(s, genesis)
	if err != nil {
		return done, err
	}
	done.Head = head.View
	name := filepath.Join(dataDir, datadir.JournalFile)
	_, missing := os.Stat(name)
	done.Begun = missing != nil // moved away because of damage
	if done.Begun && done.Head == 0 {
		return done, ErrNothingLeft
	}
	remembered, err := journalVotes(name)
	if err != nil {
		return done, err
	}
	err = withGuard(dataDir, func(g *guard.Guard) error {
		mark := g.Watermark()
		done.Closed = mark.Round().View
		if done.Closed <= max(done.Head, remembered.Round().View) {
			if done.Begun {
				return nil // that was all
			}
			return ErrNothingClosed
		}
		if done.Head > 0 {
			round := mark.Round()
			round.View = done.Head
			remembered.CloseRound(round)
		}
		g.Replace(remembered)
		return g.Sync()
	})
	return done, err
}

// journalVotes is what a vote journal knows of its key's votes.
func journalVotes(name string) (mark simplex.Watermark, err error) {
	j, err := journal.Open(name, journal.KindVotes)
	if err != nil {
		return mark, fmt.Errorf("open vote journal: %w", err)
	}
	err = j.Replay(func(rec []byte) error {
		if r, err := simplex.DecodeRecord(rec); err == nil { // others are blocks and shards
			if v, ok := r.(simplex.Vote); ok {
				mark.Note(v.Kind, v.Proposal)
			}
		}
		return nil
	})
	return mark, errors.Join(err, j.Close())
}
