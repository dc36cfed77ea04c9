package checkpoint

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// ErrOrder means that checked chunks do not follow one another: one is missing,
// repeated or out of its place.
var ErrOrder = errors.New("chunks are not in order")

// Sequence follows all chunks of a checkpoint in order: accounts by key, behind
// each chunk the storage that its accounts have apart, then lists by job. The
// zero value is ready for the first.
type Sequence struct {
	next  chain.Hash   // first key that is not covered
	done  bool         // all accounts are
	apart []chain.Hash // accounts whose storage must follow
	slot  chain.Hash   // first storage key of apart[0] that is not covered
	jobs  []JobRoot
}

// Take notes the next chunk, with the span that its check gave; lists have none.
func (s *Sequence) Take(c Chunk, span Span) error {
	switch c := c.(type) {
	case *Accounts:
		if s.done || len(s.apart) > 0 || len(s.jobs) > 0 || c.From != s.next {
			return fmt.Errorf("%w: accounts from %s, want %s", ErrOrder, c.From, s.next)
		}
		for i := range c.Accounts {
			if c.Accounts[i].Storage == Apart {
				s.apart = append(s.apart, c.Accounts[i].Key)
			}
		}
		s.next, s.done = successor(span.Last), !span.More
	case *Slots:
		if len(s.apart) == 0 || c.Account != s.apart[0] || c.From != s.slot {
			return fmt.Errorf("%w: storage of %s from %s", ErrOrder, c.Account, c.From)
		}
		if s.slot = successor(span.Last); !span.More {
			s.apart, s.slot = s.apart[1:], chain.Hash{}
		}
	case *List:
		if !s.done || len(s.apart) > 0 {
			return fmt.Errorf("%w: list of job %s before all accounts", ErrOrder, c.Job)
		}
		if n := len(s.jobs); n > 0 && bytes.Compare(s.jobs[n-1].Job[:], c.Job[:]) >= 0 {
			return fmt.Errorf("%w: list of job %s", ErrOrder, c.Job)
		}
		s.jobs = append(s.jobs, c.Root())
	}
	return nil
}

// Finish reports whether all accounts and their storage have come, and returns the
// lists.
func (s *Sequence) Finish() ([]JobRoot, error) {
	if !s.done || len(s.apart) > 0 {
		return nil, fmt.Errorf("%w: the state ends at key %s", ErrOrder, s.next)
	}
	return s.jobs, nil
}

// Covered returns how much of the key space is covered, in 1/65,536.
func (s *Sequence) Covered() uint32 {
	if s.done {
		return 1 << 16
	}
	return uint32(s.next[0])<<8 | uint32(s.next[1])
}

// successor returns the next key; behind the last, the first.
func successor(key chain.Hash) chain.Hash {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i]++; key[i] != 0 {
			break
		}
	}
	return key
}
