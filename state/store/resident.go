package store

import "github.com/cowboy-foundation/cowboy/state/tree"

// Resident is the memory of the tries.
type Resident struct {
	Bytes, Free int64   // taken, and of it free for new records
	Arena       float64 // part of what references can name that is in use
}

// Resident returns what the tries take now. It waits for a block that is being
// applied.
func (s *Store) Resident() Resident {
	forest := s.Head().made.forest
	size, use := forest.Footprint(), forest.Use()
	return Resident{Bytes: size.Bytes, Free: size.Free, Arena: use.Share()}
}

// Work is what making versions has taken since the store was opened. It waits for a block
// that is being applied.
func (s *Store) Work() tree.Work { return s.Head().made.forest.Work() }
