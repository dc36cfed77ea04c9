package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// tagBlock marks the journal record of a block; the other records are those of
// package simplex.
const tagBlock = 'B'

// ErrRecord means that the journal holds what this version does not write.
var ErrRecord = errors.New("journal record is not valid")

// records is the part that keeps what must outlast this process: the journal, and beside
// it the guard. Events are the machine's records, and the end of a turn. It returns only
// errors, which end Run: a vote that cannot be kept must not leave.
type records struct {
	journal Journal
	guard   Guard
	stats   *Stats
	blocks  *blocks
	shard   func(simplex.Proposal) []byte // the record of our own shard of a block, if we have one

	room     []byte            // for the record of a block, as large as the largest so far
	dirty    bool              // the journal has records that are not durable
	appended int               // journal bytes
	kept     int               // of these, what the last pruning left
	spoken   simplex.Watermark // what the journal says of our votes at the start
}

// persist appends a record of the machine. The block that a notarize vote or a
// verdict is for goes before it: once others can finalize the block by our vote,
// we must be able to execute it after a crash. Of a block that travels as
// shards, our own goes before the notarize vote: others rely on us to have it.
func (k *records) persist(r simplex.Record) error {
	switch r := r.(type) {
	case simplex.Vote:
		if r.Kind == simplex.Notarize {
			if err := k.persistBlock(r.Proposal); err != nil {
				return err
			}
		}
	case simplex.Certification:
		if err := k.persistBlock(simplex.Proposal{Round: r.Round, Payload: r.Payload}); err != nil {
			return err
		}
	}
	return k.append(simplex.AppendRecord(nil, r))
}

func (k *records) persistBlock(p simplex.Proposal) error {
	b := k.blocks.byDigest(p.Round.View, p.Payload)
	if b == nil || !b.sure() {
		if rec := k.shard(p); rec != nil {
			return k.append(rec)
		}
		return nil
	}
	if b.journaled {
		return nil
	}
	b.journaled = true
	k.room = slices.Grow(k.room[:0], recordHeadBytes+len(b.bytes))
	k.room = appendBlock(k.room, b)
	return k.append(k.room)
}

// recordHeadBytes is more than what the record of a block has before the block.
const recordHeadBytes = 64

func (k *records) append(rec []byte) error {
	if err := k.journal.Append(rec); err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	k.dirty = true
	k.appended += len(rec)
	return nil
}

// sync makes durable what the machine wants kept, in the journal and then in the
// guard. Only then may anything leave. The order keeps the guard from closing a
// view for a block that is nowhere: what is in the guard is in the journal
// (docs/adr/0104).
func (k *records) sync() error {
	if !k.dirty {
		return nil
	}
	start := time.Now()
	if err := k.journal.Sync(); err != nil {
		return fmt.Errorf("sync votes: %w", err)
	}
	if err := k.guard.Sync(); err != nil {
		return fmt.Errorf("sync votes: %w", err)
	}
	k.dirty = false
	k.stats.Stages[StageSync].add(time.Since(start))
	k.stats.Syncs.Add(1)
	return nil
}

// replay calls f with each record of the journal, and counts them.
func (k *records) replay(f func(rec []byte) error) error {
	err := k.journal.Replay(func(rec []byte) error {
		k.appended += len(rec)
		return f(rec)
	})
	if err != nil {
		return fmt.Errorf("replay journal: %w", err)
	}
	// A crash can come when a vote is in the journal and not yet in the guard. It is
	// about to be sent again.
	if err := k.guard.Sync(); err != nil {
		return fmt.Errorf("sync votes: %w", err)
	}
	return nil
}

// addVote takes a vote of ours that the journal has, for the guard and for those who ask
// what we said.
func (k *records) addVote(v simplex.Vote) {
	k.guard.Note(v.Kind, v.Proposal)
	k.spoken.Note(v.Kind, v.Proposal)
}

// prune drops records when enough of them have come together: those below the
// durable tip, and the blocks and shards of views that were given up. Those of the
// tip itself stay: its certificate may be the only place where its seed is.
//
// Votes and certificates above the tip stay whatever happens, so that nothing that
// this key said can be contradicted and no view be missing; they take some hundred
// bytes a view. Where they come to more than half of what is allowed, the journal is
// left to double before it is written anew, so that this costs little.
func (k *records) prune(most int, durable chain.View, givenUp func(chain.View) bool) error {
	if k.appended < max(most, 2*k.kept) {
		return nil
	}
	k.kept = 0
	err := k.journal.Prune(func(rec []byte) bool {
		v, err := recordView(rec)
		keep := err != nil || v >= durable && !(isBody(rec) && givenUp(v))
		if keep {
			k.kept += len(rec)
		}
		return keep
	})
	if err != nil {
		return fmt.Errorf("prune journal: %w", err)
	}
	for _, b := range k.blocks.list {
		if b.journaled && givenUp(b.round.View) {
			b.journaled = false // should a quorum want it after all, it is written again
		}
	}
	k.appended = k.kept
	k.stats.Prunings.Add(1)
	return nil
}

// isBody reports whether a record is a block, or a shard of one.
func isBody(rec []byte) bool { return len(rec) > 0 && (rec[0] == tagBlock || rec[0] == tagOwnShard) }

// recordView returns the view that a record is about.
func recordView(rec []byte) (chain.View, error) {
	r, err := recalled(rec)
	return r.View, err
}

// appendBlock writes tag ‖ 1 if our own, else 0 ‖ round ‖ digest ‖ block.
func appendBlock(dst []byte, b *block) []byte {
	own := byte(0)
	if b.own {
		own = 1
	}
	dst = b.round.Append(append(dst, tagBlock, own))
	return append(append(dst, b.digest[:]...), b.bytes...)
}

func decodeBlock(rec []byte) (*block, error) {
	if len(rec) < 2 || rec[0] != tagBlock || rec[1] > 1 {
		return nil, ErrRecord
	}
	b := &block{own: rec[1] == 1, journaled: true}
	var err error
	if b.round, rec, err = attest.ReadRound(rec[2:]); err != nil {
		return nil, err
	}
	if len(rec) <= len(b.digest) {
		return nil, ErrRecord
	}
	b.bytes = rec[copy(b.digest[:], rec):]
	return b, nil
}
