package state

import (
	"cmp"
	"slices"
)

// keyOrder is a set of storage keys in ascending order, cut into pieces so that
// to add or remove one moves few.
type keyOrder struct {
	pieces [][]StorageKey // none is empty
}

// pieceKeys is the most that a piece holds; a full one is cut in half.
const pieceKeys = 256

func newKeyOrder(keys []StorageKey) *keyOrder {
	slices.Sort(keys)
	k := &keyOrder{}
	for piece := range slices.Chunk(keys, pieceKeys/2) {
		k.pieces = append(k.pieces, slices.Clone(piece))
	}
	return k
}

// find returns where a key is, or belongs: in the last piece that begins at or
// below it.
func (k *keyOrder) find(key StorageKey) (piece, at int, found bool) {
	piece, found = slices.BinarySearchFunc(k.pieces, key, func(p []StorageKey, key StorageKey) int {
		return cmp.Compare(p[0], key)
	})
	if found {
		return piece, 0, true
	}
	if piece = max(piece-1, 0); len(k.pieces) > 0 {
		at, found = slices.BinarySearch(k.pieces[piece], key)
	}
	return piece, at, found
}

func (k *keyOrder) add(key StorageKey) {
	i, at, found := k.find(key)
	switch {
	case found:
		return
	case len(k.pieces) == 0:
		k.pieces = [][]StorageKey{{key}}
		return
	case len(k.pieces[i]) == pieceKeys:
		half := pieceKeys / 2
		k.pieces = slices.Insert(k.pieces, i+1, slices.Clone(k.pieces[i][half:]))
		k.pieces[i] = k.pieces[i][:half]
		if at > half {
			i, at = i+1, at-half
		}
	}
	k.pieces[i] = slices.Insert(k.pieces[i], at, key)
}

func (k *keyOrder) remove(key StorageKey) {
	i, at, found := k.find(key)
	if !found {
		return
	}
	if k.pieces[i] = slices.Delete(k.pieces[i], at, at+1); len(k.pieces[i]) == 0 {
		k.pieces = slices.Delete(k.pieces, i, i+1)
	}
}

// lowestFrom returns the lowest key from key on, false if there is none.
func (k *keyOrder) lowestFrom(key StorageKey) (StorageKey, bool) {
	i, at, _ := k.find(key)
	if i < len(k.pieces) && at == len(k.pieces[i]) {
		i, at = i+1, 0
	}
	if i >= len(k.pieces) {
		return "", false
	}
	return k.pieces[i][at], true
}

// Gaps remembers ranges of keys in which a storage is known to have no entries:
// there stand only keys that were removed and have not been forgotten yet. Whoever
// walks the storage passes over them at one step, so that to walk it often costs
// no more than to have removed them. The zero value knows of none.
type Gaps struct {
	list []gap // ascending, apart from each other
}

// gap are the keys from one on and below another.
type gap struct{ from, below StorageKey }

// WorthAGap is from how many removed keys in a row on a gap is worth its memory.
const WorthAGap = 32

// mostGaps bounds what is remembered of one storage. Beyond it stands what more
// than a hundred thousand removals left behind, and all is found anew.
const mostGaps = 4096

// at returns the index of the first gap that ends above key.
func (g *Gaps) at(key StorageKey) int {
	i, found := slices.BinarySearchFunc(g.list, key, func(x gap, key StorageKey) int { return cmp.Compare(x.below, key) })
	if found {
		i++
	}
	return i
}

// Pass returns the lowest key from key on that is in no gap.
func (g *Gaps) Pass(key StorageKey) StorageKey {
	if i := g.at(key); i < len(g.list) && g.list[i].from <= key {
		return g.list[i].below
	}
	return key
}

// Add notes that there is no entry from a key on and below another.
func (g *Gaps) Add(from, below StorageKey) {
	if from >= below {
		return
	}
	i := g.at(from)
	if i > 0 && g.list[i-1].below == from {
		i--
	}
	last := i
	for last < len(g.list) && g.list[last].from <= below {
		from, below = min(from, g.list[last].from), max(below, g.list[last].below)
		last++
	}
	if last == i && len(g.list) == mostGaps {
		g.list, i, last = g.list[:0], 0, 0
	}
	g.list = slices.Replace(g.list, i, last, gap{from, below})
}

// Fill notes that there may be an entry under a key.
func (g *Gaps) Fill(key StorageKey) {
	i := g.at(key)
	if i == len(g.list) || g.list[i].from > key {
		return
	}
	parts := make([]gap, 0, 2)
	for _, part := range []gap{{g.list[i].from, key}, {key.Next(), g.list[i].below}} {
		if part.from < part.below {
			parts = append(parts, part)
		}
	}
	if len(parts) == 2 && len(g.list) >= mostGaps {
		parts = parts[:1] // what is behind the key is found anew
	}
	g.list = slices.Replace(g.list, i, i+1, parts...)
}

// Empty reports whether no gap is known.
func (g *Gaps) Empty() bool { return len(g.list) == 0 }
