package boundary

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// entryBytes is what an entry or an account keeps in tries and rows besides key and
// value, at the worst.
const entryBytes = 180

// ownEntries are as many as the protocol makes itself in the first block: of the
// proposer and of the timers' head.
const ownEntries = 2

// KeptPerCell is how many bytes all nodes keep for a cell, entries of the state with
// all that they take, both beyond as many of the smallest transfers. What keeps nothing
// more counts nothing, whatever it pays.
func (s *Spent) KeptPerCell() float64 {
	kept := s.Kept.Beyond() + entryBytes*max(0, s.Kept.Entries-max(1, s.Kept.Txs)-ownEntries)
	if kept <= 0 {
		return 0
	}
	return float64(kept) / math.Max(1, float64(s.Used.Cells))
}

// Thickest lists what every case has kept for what it paid, the most bytes a cell
// first.
func (s *Survey) Thickest() []Spent {
	list := make([]Spent, 0, len(s.ready))
	for _, r := range s.ready {
		list = append(list, r.Spent)
	}
	slices.SortStableFunc(list, func(a, b Spent) int { return cmp.Compare(b.KeptPerCell(), a.KeptPerCell()) })
	return list
}

// KeptTable prints the first of a list.
func KeptTable(w io.Writer, list []Spent, most int) {
	for i := range list[:min(most, len(list))] {
		s := &list[i]
		fmt.Fprintf(w, "  %-12s %-28s %6.2f bytes/cell %8d cells: bodies %6d receipts %6d grown %7d in %5d entries, code %6d\n",
			s.Group, s.Name, s.KeptPerCell(), s.Used.Cells, s.Kept.Bodies, s.Kept.Receipts, s.Kept.Grown, s.Kept.Entries, s.Kept.Codes)
	}
}
