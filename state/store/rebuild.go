package store

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// RootError means that the flat state does not have the root that the head
// names, not even when it is read again. It matches [ErrCorrupt]: this node must
// not vote on such a state.
type RootError struct {
	Height    chain.Height
	Want, Got chain.Hash
}

func (e *RootError) Error() string {
	return fmt.Sprintf("%v: the flat state has root %s twice, the head at %d names %s: run cowboyd verify, then fetch the state anew",
		ErrCorrupt, e.Got, e.Height, e.Want)
}

// Unwrap makes the error match ErrCorrupt.
func (e *RootError) Unwrap() error { return ErrCorrupt }

// rebuildTries makes the resident tries from the flat state, which must have a root. A
// first failure may be of memory alone, so it is tried once more, from nothing.
func (s *Store) rebuildTries(h chain.Height, want chain.Hash) (image *tree.Image, err error) {
	for range 2 {
		s.generation = newGeneration(&s.opts)
		image, err = s.plant()
		if s.afterPlant != nil {
			s.afterPlant(image)
		}
		if err == nil && image.Root == want {
			return image, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the flat state: %w", err)
	}
	return nil, &RootError{Height: h, Want: want, Got: image.Root}
}

// Rebuild makes the resident tries of the head anew from the flat state, for a
// caller who has reason to believe that they are damaged: a block is final, and
// its root here is another one. All sixteen shards are made anew, because what
// changed one may have changed others, and it takes about a second for a million
// accounts. Every version from before is given up: reads return ErrStale. If the
// flat state does not have the head's root either, the error is a [RootError],
// and the store commits nothing more.
func (s *Store) Rebuild() (*Version, error) {
	done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	if err := s.beginMove(); err != nil {
		return nil, err
	}
	defer s.endMove()
	old := s.head.Load()
	for _, k := range s.recent {
		k.giveUp(ErrStale)
	}
	image, err := s.rebuildTries(old.version.height, old.version.root)
	if err != nil {
		s.stop.setReason(err)
		return nil, fmt.Errorf("rebuild the tries of block %d: %w", old.version.height, err)
	}
	s.dropRows(s.recent...)
	s.recent = s.recent[:0]
	v := newVersion(s, s.generation, old.version.height, image, nil)
	if err := s.takeVersion(v, old.digest); err != nil {
		return nil, fmt.Errorf("rebuild the tries of block %d: %w", old.version.height, err)
	}
	return v, nil
}
