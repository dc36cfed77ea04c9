// Package epoch says who validates when.
//
// An epoch is a stretch of the chain with one validator set and one group key. What a
// node must know of an epoch is a [Record]; a [Schedule] answers which record is in force
// at an epoch. Whoever needs validators, or the key that certificates verify under, asks
// the schedule for the epoch of the round, header or message at hand: a certificate is
// judged by the set of its own round, a block by that of its own epoch, a transaction by
// that of the next block's.
//
// Today a chain has one epoch, [First], which is made from the genesis; it has no last
// view. Nobody else reads validators or group key from a genesis, but those who make one
// (TestGenesisIsReadOnce; docs/adr/0175).
package epoch

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
)

// ErrUnknown means that the schedule has no record of an epoch. The caller waits, or
// refuses what names it; it must not put another epoch's validators in its place.
var ErrUnknown = errors.New("epoch is not on record")

// Record is what the chain says of one epoch. It never changes.
type Record struct {
	Chain      chain.Hash // of the genesis: what the chain's signatures are bound to
	Epoch      chain.Epoch
	Validators []chain.Validator // in the order of their peer keys, at least one
	GroupKey   [96]byte          // certificates of the epoch verify under it; G2 compressed
	Beacon     chain.Hash        // stands for the beacon before the epoch's first round
}

// First returns the record of epoch 0. It relies on g.Check.
func First(g *genesis.Genesis) *Record {
	return &Record{Chain: g.Hash(), Validators: g.Validators, GroupKey: g.GroupKey, Beacon: g.Beacon}
}

// Find returns the validator with a peer key, or nil.
func (r *Record) Find(key chain.PeerKey) *chain.Validator {
	for i := range r.Validators {
		if r.Validators[i].PeerKey == key {
			return &r.Validators[i]
		}
	}
	return nil
}

// Schedule is the records of the epochs of one chain, from epoch 0 on without a gap. It
// never changes, and is safe for concurrent use.
type Schedule struct{ records []*Record }

// Of returns the schedule of a chain that has its first epoch alone.
func Of(g *genesis.Genesis) *Schedule { return &Schedule{[]*Record{First(g)}} }

// With returns the schedule that goes on with one more epoch.
func (s *Schedule) With(next *Record) (*Schedule, error) {
	if want := s.Newest() + 1; next.Epoch != want || next.Chain != s.Chain() {
		return nil, fmt.Errorf("record of epoch %d of chain %s, want epoch %d of chain %s", next.Epoch, next.Chain, want, s.Chain())
	}
	return &Schedule{append(s.records[:len(s.records):len(s.records)], next)}, nil
}

// At returns the record of an epoch, or [ErrUnknown].
func (s *Schedule) At(e chain.Epoch) (*Record, error) {
	if e > s.Newest() {
		return nil, fmt.Errorf("epoch %d: %w", e, ErrUnknown)
	}
	return s.records[e], nil
}

// Newest returns the newest epoch on record.
func (s *Schedule) Newest() chain.Epoch { return chain.Epoch(len(s.records) - 1) }

// Chain returns the hash of the chain's genesis.
func (s *Schedule) Chain() chain.Hash { return s.records[0].Chain }

// Alone reports whether the chain has had one validator from the start, and so no others
// to talk to.
func (s *Schedule) Alone() bool {
	for _, r := range s.records {
		if len(r.Validators) > 1 {
			return false
		}
	}
	return true
}
