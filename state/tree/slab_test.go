package tree

import "testing"

// TestStalePlacesOfOneRecord fills free lists with places of slabs that were given back: no
// record that is made pays for more than reuseStep of them, what is valid below them is used
// again, and none is left in the end.
func TestStalePlacesOfOneRecord(t *testing.T) {
	const chunks, kept, units = 12, 40, 1
	f := NewForest(1, nil)
	p := &f.pools[3]
	at := &p.plots[common]
	var all []ref40
	for range chunks*chunkUnits + 1 {
		r, _ := p.alloc(units, common)
		all = append(all, r)
	}
	valid := map[ref40]bool{} // of the first chunk, where one record stays
	for _, r := range all[:kept] {
		valid[r] = true
		p.release(r, units)
	}
	last := all[chunkUnits : chunks*chunkUnits]
	// A slab is given back when its last record is, so all are emptied first but for one.
	for i, r := range last {
		if i%chunkUnits != 0 {
			p.release(r, units)
		}
	}
	for i := 0; i < len(last); i += chunkUnits {
		p.release(last[i], units)
	}
	if at.stale < 8*reuseStep || at.listed-at.stale != kept {
		t.Fatalf("%d places, %d stale", at.listed, at.stale)
	}
	f.checkLists(t)
	made, most := map[ref40]bool{}, 0
	for len(valid) > 0 {
		was := at.listed
		r, _ := p.alloc(units, common)
		if made[r] {
			t.Fatalf("record %#x is given out twice", uint64(r))
		}
		made[r] = true
		delete(valid, r)
		most = max(most, was-at.listed)
		if len(made) > chunks*chunkUnits {
			t.Fatalf("%d records, and %d free places are not used", len(made), len(valid))
		}
	}
	f.checkLists(t)
	if most > reuseStep || at.stale != 0 || at.listed != 0 {
		t.Errorf("one record looked at %d places; %d are left, %d stale", most, at.listed, at.stale)
	}
}
