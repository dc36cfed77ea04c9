package tree

import (
	"cmp"
	"math/bits"
	"slices"
)

// Retire takes back what only the parent of im still needed: no image that was
// made before im, nor any built on such a one but not on im, may be used any
// more.
func (f *Forest) Retire(im *Image) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retire(im)
}

func (f *Forest) retire(im *Image) {
	for shard := range im.retired {
		for _, r := range im.retired[shard] {
			if r.units == wholeTrie {
				f.felled = append(f.felled, r.ref)
			} else {
				f.pools[r.ref.pool()].release(r.ref, int(r.units))
			}
		}
		im.retired[shard] = im.retired[shard][:0]
	}
	if len(f.spareRetired) < spareMax {
		f.spareRetired = append(f.spareRetired, im.retired)
	}
	im.retired = [pools][]retired{}
	if im.round == f.round && im.moved.left() == 0 {
		f.moving = false // nobody reads a record that was moved any more
	}
	f.fell(fellStep)
}

// fellStep is how many records of dropped storage tries one call of Retire frees
// at most, so that it takes no longer after the eviction of a large actor.
const fellStep = 8192

// Release takes back what the given images made: neither they nor any image
// built on them may be used any more. Their parents stay as they are.
func (f *Forest) Release(images ...*Image) {
	if len(images) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	// Children go before what they are built on, whose records they refer to.
	slices.SortFunc(images, func(a, b *Image) int { return cmp.Compare(b.epoch, a.epoch) })
	for _, im := range images {
		if im.top != 0 {
			f.prune(im.top, im.epoch)
		}
		*im = Image{}
	}
}

// prune frees the records of one epoch at and below r. Records of another
// epoch are older, and so is everything below them: a record refers only to records that
// existed when it was made, and none is changed afterwards.
func (f *Forest) prune(r ref40, epoch uint32) {
	b := f.at(r)
	if epochOf(b) != epoch {
		return
	}
	f.below(b, func(kid ref40) { f.prune(kid, epoch) })
	f.pools[r.pool()].release(r, recordUnits(b))
}

// fell frees up to n records of tries that no version has any more: depth first from a
// stack, so that the memory for it stays below sixteen refs for each level.
func (f *Forest) fell(n int) {
	for ; n > 0 && len(f.felled) > 0; n-- {
		last := len(f.felled) - 1
		r := f.felled[last]
		f.felled = f.felled[:last]
		b := f.at(r)
		f.below(b, func(kid ref40) { f.felled = append(f.felled, kid) })
		f.pools[r.pool()].release(r, recordUnits(b))
	}
}

// below calls do with each record that the record b refers to.
func (f *Forest) below(b []byte, do func(ref40)) {
	if b[0] == kindLeaf {
		if leafIsAccount(b) {
			if root := storageOf(leafPayload(b)); root != 0 {
				do(root)
			}
		}
		return
	}
	v := asBranch(b)
	for rank := range bits.OnesCount16(v.mask()) {
		do(v.kid(rank))
	}
}

// Footprint is the memory that a forest takes.
type Footprint struct {
	Bytes int64 // taken from the system
	Free  int64 // of them, not in records: given back, or not used yet
}

// Footprint returns the memory taken now.
func (f *Forest) Footprint() (total Footprint) {
	f.mu.Lock()
	defer f.mu.Unlock()
	total.Bytes = f.yard.bytes
	_, live := f.held()
	total.Free = total.Bytes - live
	return total
}

// held returns the bytes of all slabs, and those of the records in them.
func (f *Forest) held() (held, live int64) {
	for i := range f.pools {
		held += f.pools[i].held
		live += f.pools[i].live
	}
	return held, live
}

// Use is how far the space that refs can name is used.
type Use struct {
	Chunks      int64 // of all pools
	Most, Limit int   // chunks of the fullest pool, and where each pool ends
}

// Share is the part in use of the pool that will end first.
func (u Use) Share() float64 { return float64(u.Most) / float64(u.Limit) }

// Use returns the use of the arena now.
func (f *Forest) Use() (u Use) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.pools {
		p := &f.pools[i]
		n := p.used - 1 - len(p.spare) // none has number 0
		u.Chunks += int64(n)
		if u.Limit == 0 || float64(n)/float64(p.limit) > u.Share() {
			u.Most, u.Limit = n, p.limit
		}
	}
	return u
}
