package strictjson

import "errors"

// ErrSteps means that the budget is used up (resolution 12.42).
var ErrSteps = errors.New("steps are used up")

// Steps is a budget of work. Its zero value is empty.
type Steps struct{ limit, left uint64 }

// NewSteps returns a budget of so many steps.
func NewSteps(limit uint64) *Steps { return &Steps{limit, limit} }

// Spend takes n steps, or all that is left and returns ErrSteps.
func (s *Steps) Spend(n uint64) error {
	if n > s.left {
		s.left = 0
		return ErrSteps
	}
	s.left -= n
	return nil
}

// Used returns how many steps were taken.
func (s *Steps) Used() uint64 { return s.limit - s.left }
