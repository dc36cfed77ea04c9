package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// tagBlock marks the journal record of a block; the other records are those of
// package simplex.
const tagBlock = 'B'

// ErrRecord means that the journal holds what this version does not write.
var ErrRecord = errors.New("journal record is not valid")

// persist appends a record of the machine. The block that a notarize vote or a
// verdict is for goes before it: once others can finalize the block by our vote,
// we must be able to execute it after a crash. Of a block that travels as
// shards, our own goes before the notarize vote: others rely on us to have it.
func (e *Engine) persist(r simplex.Record) error {
	switch r := r.(type) {
	case simplex.Vote:
		if r.Kind == simplex.Notarize {
			if err := e.persistBlock(r.Proposal); err != nil {
				return err
			}
		}
	case simplex.Certification:
		if err := e.persistBlock(simplex.Proposal{Round: r.Round, Payload: r.Payload}); err != nil {
			return err
		}
	}
	return e.append(simplex.AppendRecord(nil, r))
}

func (e *Engine) persistBlock(p simplex.Proposal) error {
	b := e.blocks.find(p.Round.View, p.Payload)
	if b == nil || !b.sure() {
		return e.persistShard(p)
	}
	if b.journaled {
		return nil
	}
	b.journaled = true
	return e.append(appendBlock(make([]byte, 0, 64+len(b.bytes)), b))
}

func (e *Engine) append(rec []byte) error {
	if err := e.journal.Append(rec); err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	e.dirty = true
	e.appended += len(rec)
	return nil
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

// resume makes the machine what it was when the journal ended.
func (e *Engine) resume() error {
	floor, err := e.cfg.LastFinalized.machine(e.cfg.Set.Epoch())
	if err != nil {
		return fmt.Errorf("last finalized: %w", err)
	}
	machine := simplex.Config{
		Epoch: e.cfg.Set.Epoch(), Self: e.cfg.Self, Elector: e.cfg.Set,
		GenesisBeacon: e.cfg.Set.GenesisBeacon(), Floor: floor, Retention: e.cfg.Retention,
		Skip: simplex.Skip{After: e.cfg.SkipAfter, Members: e.cfg.Set.Len(), Quorum: e.cfg.Set.Quorum()},
	}
	if e.cfg.Share != nil {
		machine.Signer, machine.Permit = e.signer, e.permit
	}
	e.machine = simplex.New(machine)
	e.tally = simplex.NewTally(e.cfg.Set.Quorum())
	e.tally.Advance(floor.View)
	e.blocks = blocks{shareMax: max(e.cfg.PendingBytesMax/e.cfg.Set.Len(), e.cfg.wholeMax()), max: e.cfg.PendingBytesMax}
	e.banned = make(map[beacon.Participant]time.Time)
	e.peers = make([]peer, e.cfg.Set.Len())
	e.sharding = newSharding(&e.cfg)
	e.guests = make(map[beacon.Participant]*guest)
	if e.fetches.rates, err = newRates(&e.cfg); err != nil {
		return fmt.Errorf("draw the order of peers: %w", err)
	}
	e.delivered = floor.View
	if err := e.journal.Replay(e.replay); err != nil {
		return fmt.Errorf("replay journal: %w", err)
	}
	// A crash can come when a vote is in the journal and not yet in the guard. It is
	// about to be sent again.
	if err := e.guard.Sync(); err != nil {
		return fmt.Errorf("sync votes: %w", err)
	}
	if floor.View > 0 && !e.machine.Knows(floor.View, simplex.Finalize) {
		return fmt.Errorf("view %d: %w", floor.View, ErrNoSeed)
	}
	e.nameClosed()
	e.watchStart()
	e.step(simplex.Resumed{})
	return nil
}

// replay takes one record of the journal.
func (e *Engine) replay(rec []byte) error {
	e.appended += len(rec)
	if len(rec) > 0 && rec[0] == tagBlock {
		old, err := decodeBlock(rec)
		if err != nil {
			return err
		}
		if old.round.Epoch != e.cfg.Set.Epoch() || old.round.View <= e.delivered {
			return nil
		}
		b := e.blocks.put(simplex.Proposal{Round: old.round, Payload: old.digest})
		e.blocks.set(b, append([]byte(nil), old.bytes...)) // the journal may reuse rec
		b.own, b.journaled = old.own, true
		return nil
	}
	if len(rec) > 0 && rec[0] == tagOwnShard {
		return e.replayShard(rec)
	}
	r, err := simplex.DecodeRecord(rec)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRecord, err)
	}
	for _, effect := range e.machine.Step(simplex.Replayed{Record: r}) {
		if halt, ok := effect.(simplex.Halt); ok {
			return halt.Err
		}
	}
	if v, ok := r.(simplex.Vote); ok {
		e.guard.Note(v.Kind, v.Proposal)
		e.spoken.Note(v.Kind, v.Proposal)
	}
	if c, ok := r.(simplex.Certificate); ok && c.Proposal.Round.View > e.delivered {
		e.tally.Close(c)
	}
	return nil
}

// prune drops records when enough of them have come together: those below the
// durable tip, and the blocks and shards of views that were given up. Those of the
// tip itself stay: its certificate may be the only place where its seed is.
//
// Votes and certificates above the tip stay whatever happens, so that nothing that
// this key said can be contradicted and no view be missing; they take some hundred
// bytes a view. Where they come to more than half of what is allowed, the journal is
// left to double before it is written anew, so that this costs little.
func (e *Engine) prune() error {
	if e.appended < max(e.cfg.PruneBytes, 2*e.kept) {
		return nil
	}
	e.kept = 0
	err := e.journal.Prune(func(rec []byte) bool {
		v, err := recordView(rec)
		keep := err != nil || v >= e.delivered && !(isBody(rec) && e.givenUp(v))
		if keep {
			e.kept += len(rec)
		}
		return keep
	})
	if err != nil {
		return fmt.Errorf("prune journal: %w", err)
	}
	for _, b := range e.blocks.list {
		if b.journaled && e.givenUp(b.round.View) {
			b.journaled = false // should a quorum want it after all, it is written again
		}
	}
	e.appended = e.kept
	e.Stats.Prunings.Add(1)
	return nil
}

// isBody reports whether a record is a block, or a shard of one.
func isBody(rec []byte) bool { return len(rec) > 0 && (rec[0] == tagBlock || rec[0] == tagOwnShard) }

// givenUp reports whether view v ended without a block, as far as we know. A block of
// it that others took in has a notarization which they hold, and those who vote for a
// child of it have it.
func (e *Engine) givenUp(v chain.View) bool {
	return v+1 < e.machine.View() && e.machine.Knows(v, simplex.Nullify) &&
		!e.machine.Knows(v, simplex.Notarize) && !e.machine.Knows(v, simplex.Finalize)
}

// recordView returns the view that a record is about.
func recordView(rec []byte) (chain.View, error) {
	r, err := recalled(rec)
	return r.View, err
}
