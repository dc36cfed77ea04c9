package compile

import "github.com/cowboy-foundation/cowboy/exec/pvm/syntax"

func (f *unit) match(s *syntax.Match) { unsupportedf(s.Pos, "match is not compiled yet") }
