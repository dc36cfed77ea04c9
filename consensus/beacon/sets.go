package beacon

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
)

// Sets are the validator sets of all epochs on record. They never change, and are safe for
// concurrent use.
type Sets struct{ sets []*ValidatorSet } // by epoch

// NewSets makes the sets of a schedule.
func NewSets(s *epoch.Schedule) (*Sets, error) {
	var out Sets
	for e := chain.Epoch(0); e <= s.Newest(); e++ {
		r, err := s.At(e)
		if err != nil {
			return nil, err
		}
		set, err := NewValidatorSet(r)
		if err != nil {
			return nil, fmt.Errorf("validator set of epoch %d: %w", e, err)
		}
		out.sets = append(out.sets, set)
	}
	return &out, nil
}

// At returns the set of an epoch, or [epoch.ErrUnknown].
func (s *Sets) At(e chain.Epoch) (*ValidatorSet, error) {
	if e > s.Newest() {
		return nil, fmt.Errorf("epoch %d: %w", e, epoch.ErrUnknown)
	}
	return s.sets[e], nil
}

// Newest returns the newest epoch on record.
func (s *Sets) Newest() chain.Epoch { return chain.Epoch(len(s.sets) - 1) }

// VerifySeed reports whether seed is the threshold signature of round r, under the key of
// its epoch.
func (s *Sets) VerifySeed(r Round, seed [48]byte) bool {
	set, err := s.At(r.Epoch)
	return err == nil && set.VerifySeed(r, seed)
}
